"""The table of ops: which ops count as tested, and that all ops are complete."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from stablehlo_ref.cli.list_ops import listing, own_definitions
from tools.coverage import REPOSITORY, Row, checked_by, rows


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
    names = {mnemonic, mnemonic.removeprefix("broadcast_"), mnemonic.replace("-", "_").replace(".", "_").strip("_")}
    return not names_in_properties().isdisjoint({*names, *(f"{name}_" for name in names)})


@cache
def names_in_properties() -> set[str]:
    """Return what the files of properties name as code or in programs: words of prose, such as `and`, do not count."""
    files = (REPOSITORY / "spec_checks").glob("test_*.py")
    return {name for path in files for name in names_in(ast.parse(path.read_text("utf-8")))}


def names_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield from (text, *re.findall(r"\b[a-z]\w*\.([\w-]+(?:\.[\w-]+)*)", text))  # `and`, `stablehlo.and`
            case ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.FunctionDef(name=name):
                yield name.removeprefix("test_")


def test_words_of_prose_name_no_op() -> None:
    text = '"""Sort and map, if not for: case."""\nif x and not y:\n  z = map(f, y), "stablehlo.or", semantics.xor\n'
    assert {"or", "xor"} <= set(names_in(ast.parse(text)))
    assert set(names_in(ast.parse(text))).isdisjoint({"sort", "and", "map", "if", "not", "for", "case"})


def test_listing_counts_constraints() -> None:
    assert re.search(r"^stablehlo.gather +yes +23$", listing(), re.M)
    assert "?" not in listing()
