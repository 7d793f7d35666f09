"""Elementwise ops report implementation-defined behaviour that they rely on, and only that."""

from __future__ import annotations

import numpy as np
import pytest
from warned import BINARY, binary, found, unary

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
def test_binary_ops_on_integers(op: str, type: str, x: int, y: int, expected: list[str]) -> None:
    assert binary(op, type, x, y) == expected


@pytest.mark.parametrize(("op", "value", "expected"), [("abs", -128, [OVERFLOW]), ("negate", -128, [OVERFLOW]),
                                                       ("abs", -127, []), ("negate", 127, [])])  # fmt: skip
def test_abs_and_negate_of_lowest_integer(op: str, value: int, expected: list[str]) -> None:
    assert unary(op, "1xi8", "1xi8", np.array([value], np.int8)) == expected


@pytest.mark.parametrize(
    ("operand", "result", "value", "expected"),
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
def test_convert_floats(operand: str, result: str, value: float, expected: list[str]) -> None:
    x = np.array([value], operand.replace("f", "float"))
    assert unary("convert", f"1x{operand}", f"1x{result}", x) == expected


@pytest.mark.parametrize(
    ("operand", "result", "value", "expected"),
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
def test_convert_integers(operand: str, result: str, value: int, expected: list[str]) -> None:
    x = np.array([value], operand.replace("ui", "uint") if operand[0] == "u" else operand.replace("i", "int"))
    assert unary("convert", f"1x{operand}", f"1x{result}", x) == expected


def test_convert_complex_numbers_by_real_part() -> None:
    x = np.array([300 + 1j], np.complex64)
    assert unary("convert", "1xcomplex<f32>", "1xi8", x) == [CONVERT]


def test_uniform_quantize_nan() -> None:
    result = "1x!quant.uniform<i8:f32, 1.0>"
    assert unary("uniform_quantize", "1xf32", result, np.array([np.nan], np.float32)) == ["quantize-nan"]
    assert unary("uniform_quantize", "1xf32", result, np.array([np.inf], np.float32)) == []


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
def test_quantized_ops_with_nan_results(op: str, x: int, y: int, expected: list[str]) -> None:
    """The zero point 3 represents 0."""
    assert binary(op, "!quant.uniform<i8:f32, 0.5:3>", x, y) == expected


def test_quantized_ops_on_dynamic_shapes() -> None:
    t = "?x!quant.uniform<i8:f32, 0.5:3>"
    zero, one = np.array([3], np.int8), np.array([5], np.int8)
    assert found(BINARY.format(op="divide", t=t), zero, zero) == [NAN]
    assert found(BINARY.format(op="divide", t=t), zero, one) == []
