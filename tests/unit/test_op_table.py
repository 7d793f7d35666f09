"""The table of ops: what counts as tested, and that no op lacks anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stablehlo_ref.evidence import checked_by
from stablehlo_ref.op_table import Row, listing, rows


def checked(tmp_path: Path, text: str) -> set[str]:
    path = tmp_path / "test.mlir"
    path.write_text(text)
    return {name.partition(".")[2] for name in checked_by(path) if name.startswith("stablehlo.")}


def test_an_op_counts_as_tested_if_a_check_depends_on_it(tmp_path: Path) -> None:
    text = """
    func.func @main() {
      %0 = stablehlo.constant dense<1.0> : tensor<f32>
      %1 = call @f(%0) : (tensor<f32>) -> tensor<f32>
      %2 = stablehlo.cosine %0 : tensor<f32>
      check.expect_eq_const %1, dense<1.0> : tensor<f32>
      return
    }
    func.func private @f(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.sqrt %x : tensor<f32>
      %1 = stablehlo.sine %x : tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @nobody_calls(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.tanh %x : tensor<f32>
      return %0 : tensor<f32>
    }
    // -----
    func.func @main() {
      %0 = stablehlo.constant dense<4.0> : tensor<f32>
      %1 = stablehlo.log %0 : tensor<f32>
      return
    }
    """
    assert checked(tmp_path, text) == {"constant", "sqrt"}


def test_an_op_that_gives_nothing_counts_as_tested_where_there_are_checks(tmp_path: Path) -> None:
    text = """
    func.func @main() {
      %0 = stablehlo.after_all : !stablehlo.token
      %1 = stablehlo.constant dense<1> : tensor<i32>
      check.expect_eq %1, %1 : tensor<i32>
      return
    }
    """
    assert checked(tmp_path, text) == {"after_all", "constant"}
    assert checked(tmp_path, re.sub("check.*", "", text)) == set()


def test_what_can_not_be_read_tests_nothing(tmp_path: Path) -> None:
    text = """
    func.func @main() {
      %0 = stablehlo.constant dense<1> : tensor<i32>
      check.expect_eq %0, %0 : tensor<i32>
      return
    }
    """
    assert checked(tmp_path, text) == {"constant"}
    assert checked(tmp_path, text + "}") == set()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_no_op_lacks_anything(row: Row) -> None:
    assert row.is_evaluated and row.is_verified and row.has_lit_test
    assert row.has_oracle or not row.needs_oracle


def test_what_only_the_repository_tells_is_unknown_without_it(tmp_path: Path) -> None:
    assert re.search(r"^stablehlo.gather +yes +\? +23 +\? +\?$", listing(tmp_path), re.M)
    assert re.search(r"^stablehlo: 118 of 118 evaluated$", listing(tmp_path), re.M)
