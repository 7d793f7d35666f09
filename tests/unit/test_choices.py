"""Runs that rely on what the spec leaves open tell so, and only those."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.choices import Choice
from stablehlo_ref.numerics.dtypes import numpy_dtype

PAGE = Path(__file__).parents[2] / "docs" / "choices.md"

BINARY = """\
func.func @main(%x: tensor<{t}>, %y: tensor<{t}>) -> tensor<{t}> {{
  %0 = stablehlo.{op} %x, %y : tensor<{t}>
  return %0 : tensor<{t}>
}}
"""
UNARY = """\
func.func @main(%x: tensor<{t}>) -> tensor<{r}> {{
  %0 = stablehlo.{op} %x : {type}
  return %0 : tensor<{r}>
}}"""


def found(text: str, *arrays: Any) -> list[str]:
    """The anchors that a run warns of, in order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sr.parse(text + "\n").run(*arrays, on_implementation_defined="warn")
    assert all(w.category is sr.ImplementationDefinedWarning for w in caught)
    return [str(w.message).partition("choices.md#")[2].split()[0] for w in caught]


def binary(op: str, element_type: str, x: Any, y: Any) -> list[str]:
    (type,) = (p.type for p in sr.parse(f"func.func @f(%x: tensor<{element_type}>) {{ return }}\n").inputs)
    x, y = (np.array([value]).astype(numpy_dtype(type.element_type)) for value in (x, y))
    return found(BINARY.format(op=op, t=f"1x{element_type}"), x, y)


def unary(op: str, given: str, wanted: str, values: Any) -> list[str]:
    type = f"tensor<{given}>" if given == wanted else f"(tensor<{given}>) -> tensor<{wanted}>"
    return found(UNARY.format(op=op, t=given, r=wanted, type=type), values)


DIVISION, OVERFLOW, POWER, SHIFT = "integer-division-by-zero", "integer-overflow", "integer-power", "shift-amount"
CONVERT, NAN = "convert-out-of-range", "quantize-nan"


@pytest.mark.parametrize(
    ("op", "type", "x", "y", "expected"),
    [
        ("divide", "i32", 7, 0, [DIVISION]),
        ("divide", "ui8", 7, 0, [DIVISION]),
        ("divide", "i32", 7, 2, []),
        ("divide", "f32", 7, 0, []),
        ("divide", "i64", -(2**63), -1, [OVERFLOW]),
        ("divide", "i4", -8, -1, [OVERFLOW]),
        ("remainder", "i32", 7, 0, [DIVISION]),
        ("remainder", "i32", 7, -2, []),
        ("add", "i32", 2**31 - 1, 1, [OVERFLOW]),
        ("add", "i32", 2**31 - 1, 0, []),
        ("add", "i4", 7, 1, [OVERFLOW]),
        ("add", "i4", -8, 7, []),
        ("add", "i64", 2**63 - 1, 1, [OVERFLOW]),
        ("add", "i64", -(2**63), 2**63 - 1, []),
        ("add", "ui8", 255, 1, []),
        ("add", "f32", 3e38, 3e38, []),
        ("subtract", "i64", -(2**63), 1, [OVERFLOW]),
        ("subtract", "i64", -1, -(2**63), []),
        ("subtract", "i64", 0, -(2**63), [OVERFLOW]),
        ("multiply", "i64", 2**32, 2**31, [OVERFLOW]),
        ("multiply", "i64", 2**32, -(2**31), []),
        ("multiply", "i64", 3037000500, 3037000500, [OVERFLOW]),
        ("multiply", "i64", 3037000499, 3037000499, []),
        ("multiply", "i8", 16, 8, [OVERFLOW]),
        ("power", "i32", 2, -1, [POWER]),
        ("power", "i32", 2, 31, [OVERFLOW]),
        ("power", "i32", -2, 31, []),
        ("power", "i64", 2, 63, [OVERFLOW]),
        ("power", "i64", 3, 39, []),
        ("power", "i64", 3, 40, [OVERFLOW]),
        ("shift_left", "i32", 1, 32, [SHIFT]),
        ("shift_left", "i32", 1, 31, []),
        ("shift_right_logical", "ui8", 1, 8, [SHIFT]),
        ("shift_right_arithmetic", "i64", 1, -1, [SHIFT]),
        ("shift_left", "ui64", 1, 2**63, [SHIFT]),
        ("shift_left", "i4", 1, 4, [SHIFT]),
    ],
)
def test_integers(op: str, type: str, x: int, y: int, expected: list[str]) -> None:
    assert binary(op, type, x, y) == expected


@pytest.mark.parametrize(("op", "value", "expected"), [("abs", -128, [OVERFLOW]), ("negate", -128, [OVERFLOW]),
                                                       ("abs", -127, []), ("negate", 127, [])])  # fmt: skip
def test_the_lowest_integer(op: str, value: int, expected: list[str]) -> None:
    assert unary(op, "1xi8", "1xi8", np.array([value], np.int8)) == expected


@pytest.mark.parametrize(
    ("given", "wanted", "value", "expected"),
    [
        ("f32", "i32", 2147483648.0, [CONVERT]),
        ("f32", "i32", 2147483520.0, []),
        ("f64", "i8", -128.9, []),
        ("f64", "i8", -129.0, [CONVERT]),
        ("f64", "ui8", -0.5, []),
        ("f64", "ui8", -1.0, [CONVERT]),
        ("f32", "i32", np.nan, [CONVERT]),
        ("f64", "i64", 2.0**63, [CONVERT]),
        ("f64", "i64", -(2.0**63), []),
        ("f64", "f32", 1e300, []),
        ("f32", "f8E4M3FN", 1e6, [CONVERT]),
        ("f32", "f8E4M3FN", 448.0, []),
        ("f32", "f8E4M3FN", np.nan, []),
        ("f32", "f4E2M1FN", np.nan, [CONVERT]),
        ("f32", "f8E8M0FNU", -1.0, [CONVERT]),
        ("f32", "f8E5M2", 1e9, []),
        ("f32", "i1", np.nan, []),
    ],
)
def test_conversions_of_floats(given: str, wanted: str, value: float, expected: list[str]) -> None:
    x = np.array([value], given.replace("f", "float"))
    assert unary("convert", f"1x{given}", f"1x{wanted}", x) == expected


@pytest.mark.parametrize(
    ("given", "wanted", "value", "expected"),
    [
        ("i32", "i8", 128, [CONVERT]),
        ("i32", "i8", -128, []),
        ("i32", "ui32", -1, [CONVERT]),
        ("ui64", "i64", 2**63, [CONVERT]),
        ("ui64", "i64", 2**63 - 1, []),
        ("i8", "i64", -1, []),
        ("i64", "f32", 2**62 + 1, []),
        ("i32", "f8E4M3FN", 1000, [CONVERT]),
        ("i32", "complex<f32>", 2**31 - 1, []),
    ],
)
def test_conversions_of_integers(given: str, wanted: str, value: int, expected: list[str]) -> None:
    x = np.array([value], given.replace("ui", "uint") if given[0] == "u" else given.replace("i", "int"))
    assert unary("convert", f"1x{given}", f"1x{wanted}", x) == expected


def test_complex_numbers_are_converted_by_their_real_parts() -> None:
    x = np.array([300 + 1j], np.complex64)
    assert unary("convert", "1xcomplex<f32>", "1xi8", x) == [CONVERT]


def test_quantizing_nan() -> None:
    wanted = "1x!quant.uniform<i8:f32, 1.0>"
    assert unary("uniform_quantize", "1xf32", wanted, np.array([np.nan], np.float32)) == ["quantize-nan"]
    assert unary("uniform_quantize", "1xf32", wanted, np.array([np.inf], np.float32)) == []


@pytest.mark.parametrize(
    ("op", "x", "y", "expected"),
    [
        ("divide", 3, 3, [NAN]),
        ("divide", 9, 3, []),
        ("power", -9, 4, [NAN]),
        ("add", 3, 3, []),
        ("remainder", 9, 3, [NAN]),
    ],
)
def test_ops_that_quantize_nan(op: str, x: int, y: int, expected: list[str]) -> None:
    """The zero point, 3, stands for 0."""
    assert binary(op, "!quant.uniform<i8:f32, 0.5:3>", x, y) == expected


def test_quantized_tensors_of_sizes_that_a_run_tells() -> None:
    t = "?x!quant.uniform<i8:f32, 0.5:3>"
    zero, one = np.array([3], np.int8), np.array([5], np.int8)
    assert found(BINARY.format(op="divide", t=t), zero, zero) == [NAN]
    assert found(BINARY.format(op="divide", t=t), zero, one) == []


def test_quantized_tensors_that_are_scattered() -> None:
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


def test_sorting_nan() -> None:
    x = np.array([1, np.nan], np.float32)
    assert found(SORT.replace("KIND", "FLOAT"), x) == ["sort-unordered"]
    assert found(SORT.replace("KIND", "TOTALORDER"), x) == []
    assert found(SORT.replace("KIND", "FLOAT"), np.zeros(2, np.float32)) == []


GATHER = """\
func.func @main(%x: tensor<5xf32>, %i: tensor<3x1xi64>) -> tensor<3x1xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = true}>
    : (tensor<5xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}"""


@pytest.mark.parametrize(("indices", "expected"), [((0, 2, 1), ["unsorted-indices"]), ((0, 1, 1), []),
                                                   ((-5, 9, 7), []), ((9, 8, 0), ["unsorted-indices"])])  # fmt: skip
def test_gathering_by_indices_that_are_not_sorted(indices: Any, expected: list[str]) -> None:
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
def test_scatter(is_sorted: bool, unique: bool, op: str, indices: Any, expected: list[str]) -> None:
    flags = {"SORTED": str(is_sorted).lower(), "UNIQUE": str(unique).lower(), "OP": f"{op} : tensor<f32>"}
    text = re.sub("|".join(flags), lambda match: flags[match[0]], SCATTER)
    assert found(text, np.zeros(5, np.float32), np.array(indices).reshape(3, 1), np.ones(3, np.float32)) == expected


def test_scatter_of_nothing() -> None:
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
def test_windows_of_padding(low: int, expected: list[str]) -> None:
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
def test_cholesky(matrix: Any, expected: list[str]) -> None:
    x = np.array(matrix, np.complex64)
    assert unary("cholesky", "2x2xcomplex<f32>", "2x2xcomplex<f32>", x) == expected


SOLVE = """\
func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = UNIT,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}"""


def test_unit_diagonals() -> None:
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
def test_random_numbers(kind: str, a: float, b: float, expected: str) -> None:
    assert found(RNG.replace("KIND", kind), np.float32(a), np.float32(b)) == [expected]


def test_random_bits() -> None:
    types = "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)"
    text = f"""func.func @main(%s: tensor<2xui64>) -> tensor<4xui32> {{
      %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : {types}
      return %1 : tensor<4xui32>
    }}"""
    assert found(text, np.array([1, 2], np.uint64)) == ["rng-bits"]


def test_what_nobody_traces() -> None:
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
def test_messages_without_pairs(send: int, recv: int, more: str, expected: list[str]) -> None:
    text = MESSAGE.replace("SEND", str(send)).replace("RECV", str(recv)).replace("MORE", more)
    assert found(text, np.float32(1)) == expected


# --- where ops are --------------------------------------------------------------------------------------------------


def test_ops_whose_operands_are_constants() -> None:
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


def test_ops_in_reductions() -> None:
    assert found(REDUCE, np.array([100, 100, 1], np.int8)) == [OVERFLOW]
    assert found(REDUCE, np.array([100, 1, 1], np.int8)) == []


def test_once_for_each_op_and_not_where_no_run_comes() -> None:
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


def test_operands_that_broadcast() -> None:
    text = """func.func @main(%x: tensor<2x3xi32>, %y: tensor<3xi32>) -> tensor<2x3xi32> {
      %0 = chlo.broadcast_divide %x, %y : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
      return %0 : tensor<2x3xi32>
    }"""
    x = np.full((2, 3), -(2**31), np.int32)
    assert found(text, x, np.array([1, 0, -1], np.int32)) == [DIVISION, OVERFLOW]
    assert found(text, x, np.array([1, 2, 3], np.int32)) == []


def test_shapes_that_a_run_tells() -> None:
    text = BINARY.format(op="divide", t="?xi32")
    assert found(text, np.ones(3, np.int32), np.zeros(3, np.int32)) == [DIVISION]
    assert found(text, np.ones(0, np.int32), np.zeros(0, np.int32)) == []


# --- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", Choice, ids=lambda choice: choice.anchor)
def test_each_has_a_section_and_a_test(choice: Choice) -> None:
    assert f'<a id="{choice.anchor}"></a>' in PAGE.read_text(encoding="utf-8")
    assert f'"{choice.anchor}"' in Path(__file__).read_text(encoding="utf-8")


def test_only_those_are_marked() -> None:
    marked = re.findall(r'<a id="([^"]+)"></a>⚑', PAGE.read_text(encoding="utf-8"))
    assert sorted(marked) == sorted(choice.anchor for choice in Choice)
