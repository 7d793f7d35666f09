"""The table of ops: which ops count as tested, and that all ops are complete."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from stablehlo_ref.cli.list_ops import listing, own_definitions
from tools.coverage import REPOSITORY, Row, checked_by, rows

PROPERTIES = "\n".join(p.read_text("utf-8") for p in (REPOSITORY / "spec_checks").glob("test_*.py"))


def checked(tmp_path: Path, text: str) -> set[str]:
    path = tmp_path / "test.mlir"
    path.write_text(text)
    return {name.partition(".")[2] for name in checked_by(path) if name.startswith("stablehlo.")}


def test_op_is_tested_if_a_check_depends_on_it(tmp_path: Path) -> None:
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
    func.func private @uncalled(%x: tensor<f32>) -> tensor<f32> {
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


def test_op_without_results_is_tested_if_the_program_has_checks(tmp_path: Path) -> None:
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


def test_malformed_program_tests_nothing(tmp_path: Path) -> None:
    text = """
    func.func @main() {
      %0 = stablehlo.constant dense<1> : tensor<i32>
      check.expect_eq %0, %0 : tensor<i32>
      return
    }
    """
    assert checked(tmp_path, text) == {"constant"}
    assert checked(tmp_path, text + "}") == set()


@pytest.mark.parametrize("op", sorted(definition.name for definition in own_definitions()))
def test_op_is_complete(op: str) -> None:
    row = table()[op]
    assert not row.missing, f"{op} needs {'; '.join(row.missing)} (see CONTRIBUTING.md)"
    message = f"no property of spec_checks/test_*.py names {op}: add one that compares it with its semantics"
    assert not row.needs_semantics or is_named_by_a_property(row.definition.mnemonic), message


@cache
def table() -> dict[str, Row]:
    return {row.name: row for row in rows()}


def is_named_by_a_property(mnemonic: str) -> bool:
    names = {mnemonic, mnemonic.removeprefix("broadcast_"), mnemonic.replace("-", "_").strip("_")}
    name = "|".join(map(re.escape, names))
    return bool(re.search(rf"(?<![A-Za-z0-9_])({name})_?(?![A-Za-z0-9_])", PROPERTIES))


def test_listing_counts_constraints() -> None:
    assert re.search(r"^stablehlo.gather +yes +23$", listing(), re.M)
    assert "?" not in listing()
