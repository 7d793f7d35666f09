"""Runs report implementation-defined behaviour that they rely on, and only that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from warned import BINARY, found, unary

from stablehlo_ref.define.choices import Choice

PAGE = Path(__file__).parents[2] / "docs" / "choices.md"
TESTS = sorted(Path(__file__).parent.glob("test_choices*.py"))

DIVISION, OVERFLOW = "integer-division-by-zero", "integer-overflow"


def test_scatter_of_quantized_tensors() -> None:
    t = "!quant.uniform<i8:f32, 0.5:3>"
    program = f"""func.func @main(%x: tensor<3x{t}>, %i: tensor<2x1xi32>, %y: tensor<2x{t}>) -> tensor<3x{t}> {{
      %0 = "stablehlo.scatter"(%x, %i, %y) <{{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
        unique_indices = true}}> ({{
      ^bb0(%a: tensor<{t}>, %b: tensor<{t}>):
        %1 = stablehlo.add %a, %b : tensor<{t}>
        stablehlo.return %1 : tensor<{t}>
      }}) : (tensor<3x{t}>, tensor<2x1xi32>, tensor<2x{t}>) -> tensor<3x{t}>
      return %0 : tensor<3x{t}>
    }}"""
    x, y = np.array([1, 2, 3], np.int8), np.array([4, 5], np.int8)
    assert found(program, x, np.array([[1], [1]], np.int32), y) == ["repeated-indices"]
    assert found(program, x, np.array([[0], [1]], np.int32), y) == []


SORT = """\
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, KIND : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""


def test_sort_of_nan() -> None:
    x = np.array([1, np.nan], np.float32)
    assert found(SORT.replace("KIND", "FLOAT"), x) == ["sort-unordered"]
    assert found(SORT.replace("KIND", "TOTALORDER"), x) == []
    assert found(SORT.replace("KIND", "FLOAT"), np.zeros(2, np.float32)) == []
    assert found(SORT_OF_JAX, x) == []


SORT_OF_JAX = """\
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %nan, %a : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %nan, %b : tensor<i1>, tensor<f32>
    %5 = stablehlo.compare LT, %2, %4, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""


GATHER = """\
func.func @main(%x: tensor<5xf32>, %i: tensor<3x1xi64>) -> tensor<3x1xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = true}>
    : (tensor<5xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}"""


@pytest.mark.parametrize(("indices", "expected"), [((0, 2, 1), ["unsorted-indices"]), ((0, 1, 1), []),
                                                   ((-5, 9, 7), []), ((9, 8, 0), ["unsorted-indices"])])  # fmt: skip
def test_gather_with_unsorted_indices(indices: Any, expected: list[str]) -> None:
    x = np.zeros(5, np.float32)
    assert found(GATHER, x, np.array(indices, np.int64).reshape(3, 1)) == expected
    assert found(GATHER.replace("true", "false"), x, np.array(indices, np.int64).reshape(3, 1)) == []


SCATTER = """\
func.func @main(%x: tensor<5xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = SORTED, unique_indices = UNIQUE,
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.OP
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<5xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}"""


@pytest.mark.parametrize(
    ("is_sorted", "unique", "op", "indices", "expected"),
    [
        (False, False, "add %a, %b", (3, 1, 3), []),
        (False, False, "subtract %a, %b", (3, 1, 3), ["scatter-order"]),
        (False, False, "subtract %a, %b", (3, 1, 2), []),
        (False, False, "add %b, %b", (3, 1, 3), ["scatter-order"]),
        (False, True, "add %a, %b", (3, 1, 3), ["repeated-indices"]),
        (False, True, "add %a, %b", (7, 1, 7), []),
        (True, False, "add %a, %b", (3, 1, 4), ["unsorted-indices"]),
        (True, True, "add %a, %b", (0, 1, 4), []),
        (True, True, "add %a, %b", (-(2**63), 0, 2**63 - 1), []),
    ],
)
def test_scatter_with_flags(is_sorted: bool, unique: bool, op: str, indices: Any, expected: list[str]) -> None:
    flags = {"SORTED": str(is_sorted).lower(), "UNIQUE": str(unique).lower(), "OP": f"{op} : tensor<f32>"}
    text = re.sub("|".join(flags), lambda match: flags[match[0]], SCATTER)
    assert found(text, np.zeros(5, np.float32), np.array(indices).reshape(3, 1), np.ones(3, np.float32)) == expected


def test_scatter_without_updates() -> None:
    text = SCATTER.replace("SORTED", "true").replace("UNIQUE", "true").replace("OP", "add %a, %b : tensor<f32>")
    text = text.replace("3x", "0x")
    assert found(text, np.zeros(5, np.float32), np.zeros((0, 1), np.int64), np.ones(0, np.float32)) == []


SELECT = """\
func.func @main(%x: tensor<2xf32>, %s: tensor<COUNTxf32>, %init: tensor<f32>) -> tensor<2xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 1>,
    padding = dense<[[LOW, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2xf32>, tensor<COUNTxf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""


@pytest.mark.parametrize(("low", "expected"), [(0, []), (1, ["empty-window"])])
def test_select_and_scatter_in_windows_of_padding(low: int, expected: list[str]) -> None:
    text = SELECT.replace("LOW", str(low)).replace("COUNT", str(2 + low))
    assert found(text, np.zeros(2, np.float32), np.ones(2 + low, np.float32), np.float32(0)) == expected


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[2, 1], [1, 2]], []),
        ([[1, 2], [2, 1]], ["cholesky-input"]),
        ([[2, 0], [1, 2]], ["cholesky-input"]),
        ([[2, 1j], [-1j, 2]], []),
        ([[2, 1j], [1j, 2]], ["cholesky-input"]),
    ],
)
def test_cholesky_of_invalid_matrices(matrix: Any, expected: list[str]) -> None:
    x = np.array(matrix, np.complex64)
    assert unary("cholesky", "2x2xcomplex<f32>", "2x2xcomplex<f32>", x) == expected


SOLVE = """\
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = UNIT,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}"""


def test_triangular_solve_with_unit_diagonal() -> None:
    b = np.ones((2, 1), np.float32)
    assert found(SOLVE.replace("UNIT", "true"), 2 * np.eye(2, dtype=np.float32), b) == ["unit-diagonal"]
    assert found(SOLVE.replace("UNIT", "true"), np.eye(2, dtype=np.float32), b) == []
    assert found(SOLVE.replace("UNIT", "false"), 2 * np.eye(2, dtype=np.float32), b) == []


RNG = """\
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<3xf32> {
  %shape = stablehlo.constant dense<3> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %shape, distribution = KIND : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""


@pytest.mark.parametrize(
    ("kind", "a", "b", "expected"),
    [
        ("UNIFORM", 0, 1, "rng"),
        ("UNIFORM", 1, 1, "rng-bounds"),
        ("NORMAL", 1, 0, "rng"),
        ("NORMAL", 0, -1, "rng-bounds"),
    ],
)
def test_rng(kind: str, a: float, b: float, expected: str) -> None:
    assert found(RNG.replace("KIND", kind), np.float32(a), np.float32(b)) == [expected]


def test_rng_bit_generator() -> None:
    types = "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)"
    text = f"""func.func @main(%s: tensor<2xui64>) -> tensor<4xui32> {{
      %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : {types}
      return %1 : tensor<4xui32>
    }}"""
    assert found(text, np.array([1, 2], np.uint64)) == ["rng-bits"]


def test_trace() -> None:
    text = 'func.func @main(%x: tensor<f32>) {\n stablehlo.trace %x, "tag" : tensor<f32>\n return }'
    assert found(text, np.float32(1)) == ["trace"]


MESSAGE = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.create_token : !stablehlo.token
      %1 = "stablehlo.send"(%x, %0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = SEND>MORE}
        : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
      %2:2 = "stablehlo.recv"(%1) {channel_handle = #stablehlo.channel_handle<handle = 1, type = RECV>MORE}
        : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
      return %2#0 : tensor<f32>
    }"""


@pytest.mark.parametrize(
    ("send", "recv", "more", "expected"),
    [
        (1, 1, "", 2 * ["recv-without-source"]),
        (1, 1, ", source_target_pairs = dense<0> : tensor<1x2xi64>", []),
        (2, 3, ", is_host_transfer = true", []),
    ],
)
def test_send_and_recv_without_pairs(send: int, recv: int, more: str, expected: list[str]) -> None:
    text = MESSAGE.replace("SEND", str(send)).replace("RECV", str(recv)).replace("MORE", more)
    assert found(text, np.float32(1)) == expected


# --- contexts of ops ------------------------------------------------------------------------------------------------


def test_ops_on_constants() -> None:
    text = """func.func @main() -> tensor<i32> {
      %0 = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.divide %0, %0 : tensor<i32>
      return %1 : tensor<i32>
    }"""
    assert found(text) == [DIVISION]


REDUCE = """\
func.func @main(%x: tensor<3xi8>) -> tensor<i8> {
  %0 = stablehlo.constant dense<0> : tensor<i8>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0]
    : (tensor<3xi8>, tensor<i8>) -> tensor<i8>
  return %1 : tensor<i8>
}"""


def test_ops_in_regions() -> None:
    assert found(REDUCE, np.array([100, 100, 1], np.int8)) == [OVERFLOW]
    assert found(REDUCE, np.array([100, 1, 1], np.int8)) == []


def test_reports_each_op_once_and_only_if_it_runs() -> None:
    text = """func.func @main(%n: tensor<i32>) -> tensor<i32> {
      %0 = stablehlo.constant dense<0> : tensor<i32>
      %1 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.while(%i = %0) : tensor<i32> cond {
        %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %3 : tensor<i1>
      } do {
        %3 = stablehlo.divide %1, %0 : tensor<i32>
        %4 = stablehlo.add %i, %1 : tensor<i32>
        stablehlo.return %4 : tensor<i32>
      }
      return %2 : tensor<i32>
    }"""
    assert found(text, np.int32(5)) == [DIVISION]
    assert found(text, np.int32(0)) == []


def test_broadcasting_ops() -> None:
    text = """func.func @main(%x: tensor<2x3xi32>, %y: tensor<3xi32>) -> tensor<2x3xi32> {
      %0 = chlo.broadcast_divide %x, %y : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
      return %0 : tensor<2x3xi32>
    }"""
    x = np.full((2, 3), -(2**31), np.int32)
    assert found(text, x, np.array([1, 0, -1], np.int32)) == [DIVISION, OVERFLOW]
    assert found(text, x, np.array([1, 2, 3], np.int32)) == []


@pytest.mark.parametrize(
    ("op", "defined", "left_open"),
    [
        ("digamma", [(0.5,), (-0.5,), (np.nan,)], [(0.0,), (-0.0,), (-3.0,)]),
        ("polygamma", [(0, 1), (2, -0.5), (np.nan, 1)], [(0, 0), (1, -1), (0.5, 2), (-1, 2), (np.inf, 2), (1, np.inf)]),
        ("zeta", [(2, 1), (1.5, -0.5), (2, np.nan)], [(1, 2), (0, 0), (0.5, 1), (2, -1), (np.inf, 2), (2, np.inf)]),
    ],
)
def test_special_functions_at_poles(
    op: str, defined: list[tuple[float, ...]], left_open: list[tuple[float, ...]]
) -> None:
    def warned(*numbers: float) -> list[str]:
        types = ", ".join(["tensor<f32>"] * len(numbers))
        operands = {1: "%x", 2: "%x, %y"}[len(numbers)]
        text = f"""func.func @main({operands.replace(",", ": tensor<f32>,")}: tensor<f32>) -> tensor<f32> {{
          %0 = chlo.{op} {operands} : {types} -> tensor<f32>
          return %0 : tensor<f32>
        }}"""
        return found(text, *map(np.float32, numbers))

    assert [warned(*numbers) for numbers in defined] == [[]] * len(defined)
    assert [warned(*numbers) for numbers in left_open] == [["special-function"]] * len(left_open)


@pytest.mark.parametrize(
    ("type", "warned"),
    [
        ("8xi4", False),
        ("9xi4", True),
        ("65537xui16", True),
        ("1xf8E8M0FNU", True),
        ("7xf4E2M1FN", False),
        ("9x0xi4", False),
    ],
)
def test_iota_of_numbers_that_the_type_lacks(type: str, warned: bool) -> None:
    expected = ["convert-out-of-range"] * warned
    sizes = type.split("x")[:-1]
    dimension = len(sizes) - 1
    static = f"""func.func @main() -> tensor<{type}> {{
      %0 = stablehlo.iota dim = {dimension} : tensor<{type}>
      return %0 : tensor<{type}>
    }}"""
    dynamic = f"""func.func @main(%shape: tensor<{len(sizes)}xi32>) -> tensor<{type}> {{
      %0 = stablehlo.dynamic_iota %shape, dim = {dimension} : (tensor<{len(sizes)}xi32>) -> tensor<{type}>
      return %0 : tensor<{type}>
    }}"""
    assert found(static) == found(dynamic, np.array(sizes, np.int32)) == expected


def test_ops_on_dynamic_shapes() -> None:
    text = BINARY.format(op="divide", t="?xi32")
    assert found(text, np.ones(3, np.int32), np.zeros(3, np.int32)) == [DIVISION]
    assert found(text, np.ones(0, np.int32), np.zeros(0, np.int32)) == []


# --- documentation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", Choice, ids=lambda choice: choice.anchor)
def test_choice_is_documented_and_tested(choice: Choice) -> None:
    assert f'<a id="{choice.anchor}"></a>' in PAGE.read_text(encoding="utf-8")
    assert any(f'"{choice.anchor}"' in path.read_text(encoding="utf-8") for path in TESTS)


def test_documentation_marks_all_reported_choices() -> None:
    marked = re.findall(r'<a id="([^"]+)"></a>⚑', PAGE.read_text(encoding="utf-8"))
    assert sorted(marked) == sorted(choice.anchor for choice in Choice)
