"""Element literals: decimal, hexadecimal and splat; rounded once, read-only, with memory bounded by their text."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import count

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.diagnostics import LimitError, MalformedError, Source
from stablehlo_ref.ir.types import FLOATS
from stablehlo_ref.limits.budget import Budget, Deadline, in_force
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.syntax import numbers
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.parser import Parser

NARROW = ["bf16", "f16", "f32", "f8E4M3FN", "f8E5M2", "f8E4M3B11FNUZ", "f4E2M1FN", "f6E3M2FN"]


def read(text: str):
    return Parser(Source(text)).attribute()


def array(text: str):
    return read(text).array


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>", np.array([[1, 2], [3, 4]], np.int32)),
        ("dense<[-1, 255, 0x80]> : tensor<3xi8>", np.array([-1, -1, -128], np.int8)),
        ("dense<[18446744073709551615, 0]> : tensor<2xui64>", np.array([2**64 - 1, 0], np.uint64)),
        ("dense<[-9223372036854775808]> : tensor<1xi64>", np.array([-(2**63)], np.int64)),
        ("dense<[true, false]> : tensor<2xi1>", np.array([True, False])),
        ("dense<[1.5, -0.0, 0x7F800000]> : tensor<3xf32>", np.array([1.5, -0.0, np.inf], np.float32)),
        ("dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>", np.array([1 + 2j, 3 - 4j], np.complex64)),
        ("dense<(1.0, 2.0)> : tensor<2xcomplex<f64>>", np.array([1 + 2j, 1 + 2j])),
        ("dense<[[], []]> : tensor<2x0xi32>", np.zeros((2, 0), np.int32)),
        ("dense<> : tensor<0xf32>", np.zeros(0, np.float32)),
        ('dense<"0x000080400000C03F"> : tensor<2xf32>', np.array([4.0, 1.5], np.float32)),
        ('dense<"0x05"> : tensor<3xi1>', np.ones(3, bool)),  # one byte is a splat
        ('dense<"0x00"> : tensor<8xi1>', np.zeros(8, bool)),
        ('dense<"0x010001"> : tensor<3xi1>', np.array([True, False, True])),  # a byte each
        ('dense<"0x0501"> : tensor<9xi1>', np.array([1, 0, 1, 0, 0, 0, 0, 0, 1], bool)),  # a bit each
        ('dense<"0xFF"> : tensor<2x20xi1>', np.ones((2, 20), bool)),
        ('dense<"0x0F0801"> : tensor<3xi4>', np.array([-1, -8, 1], ml_dtypes.int4)),
        ("dense<[7, -8]> : tensor<2xi4>", np.array([7, -8], ml_dtypes.int4)),
        ("dense<-3> : tensor<2x!quant.uniform<i8:f32, 0.5>>", np.array([-3, -3], np.int8)),
    ],
)
def test_parses_elements(text, expected):
    found = array(text)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()
    assert not found.flags.writeable
    assert array(attribute_text(read(text))).tobytes() == expected.tobytes()


def test_complex_splat_is_printed_as_by_mlir() -> None:
    text = "dense<[(1.0, 2.0), (1.0, 2.0)]> : tensor<2xcomplex<f64>>"
    assert attribute_text(read(text)) == "dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f64>>"


def test_splat_is_a_stride_0_view():
    assert array("dense<0.0> : tensor<1000000000000xf32>").strides == (0,)


@pytest.mark.parametrize("name", NARROW)
@given(numerator=st.integers(-(10**22), 10**22), places=st.integers(1, 30))
@example(numerator=-(2**63), places=1)
def test_rounds_decimals_once(name, numerator, places):
    """Compare with exact rational arithmetic: no number of the type is nearer."""
    digits = f"{'-' * (numerator < 0)}{abs(numerator):031d}"
    text = f"{digits[:-places]}.{digits[-places:]}"
    dtype = dtypes.numpy_dtype(FLOATS[name])
    found = array(f"dense<[{text}, 1.0]> : tensor<2x{name}>")[0]
    exact, value = Fraction(numerator, 10**places), float(found)
    if not np.isfinite(value):
        return
    bits, size = int(np.array(found).view(f"u{dtype.itemsize}")), dtypes.bit_width(dtype)
    words = np.array([(bits + d) % (1 << size) for d in (1, -1)], f"u{dtype.itemsize}")
    neighbours = words.view(dtype).astype(np.float64).tolist()
    for neighbour in neighbours:
        if np.isfinite(neighbour):
            assert abs(Fraction(value) - exact) <= abs(Fraction(neighbour) - exact)


def test_rounds_decimals_next_to_a_tie_correctly():
    # 1 + 2^-24 is halfway between two f32 numbers, and the nearest double of all three decimals.
    text = "dense<[1.000000059604644775390626, 1.000000059604644775390625, 1.000000059604644775390624]> : tensor<3xf32>"
    assert array(text).tolist() == [1 + 2**-23, 1.0, 1.0]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_parses_long_decimals_as_nearest_double(values):
    for spell in (lambda v: f"{v:.17e}", lambda v: f"{v:.340f}"):
        words = ", ".join(map(spell, values))
        expected = np.array([float(spell(v)) for v in values])
        assert array(f"dense<[{words}]> : tensor<{len(values)}xf64>").tobytes() == expected.tobytes()


@given(st.lists(st.floats(width=32), min_size=1, max_size=120))
def test_printed_elements_read_back(values):
    expected = np.array(values, np.float32)
    literal = array(f'dense<"0x{expected.tobytes().hex()}"> : tensor<{len(values)}xf32>')
    text = attribute_text(read(f'dense<"0x{literal.tobytes().hex()}"> : tensor<{len(values)}xf32>'))
    assert array(text).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dense<[1, 2]> : tensor<3xi32>", "expected elements of shape (3), got (2)"),
        ("dense<[[1, 2], [3, 4]]> : tensor<2xi32>", "expected elements of shape (2), got (2, 2)"),
        ("dense<[1, 2]> : tensor<i32>", "expected elements of shape (), got (2)"),
        ("dense<[]> : tensor<2xi32>", "expected elements of shape (2), got (0)"),
        ("dense<[1 2]> : tensor<2xi32>", "expected elements of shape (2), with a comma between elements"),
        ("dense<[(1, 2)]> : tensor<2xcomplex<f32>>", "expected elements of shape (2), got (1)"),
        ("dense<[1.0, 2.0]> : tensor<2xcomplex<f32>>", "expected pairs of numbers in parentheses"),
        ("dense<[(1.0, 2.0)]> : tensor<2xf32>", "expected numbers, not pairs in parentheses"),
        ("dense<[[1, 2], [3]]> : tensor<2x2xi32>", "got a list of elements of shapes (1) and (2)"),
        ("dense<[[1], [2, 3, 4]]> : tensor<2x2xi32>", "got a list of elements of shapes (1) and (3)"),
        ("dense<[1, x]> : tensor<2xi32>", "expected an integer, got 'x'"),
        ("dense<[1, 2.5]> : tensor<2xi32>", "expected an integer, got '2.5'"),
        ("dense<[1 2, 3]> : tensor<2xi32>", "expected a comma"),
        ("dense<300> : tensor<i8>", "300 is out of range for i8"),
        ("dense<-1> : tensor<ui8>", "-1 is out of range for ui8"),
        ("dense<[1.0, nan]> : tensor<2xf32>", "expected a number with a decimal point, such as 1.0, got 'nan'"),
        ("dense<[1.0, nan]> : tensor<2xf32>", "got 'nan'; write its bits, 0x7FC00000"),
        ("dense<-Inf> : tensor<2xf64>", "got '-Inf'; write its bits, 0xFFF0000000000000"),
        ("dense<inf> : tensor<bf16>", "got 'inf'; write its bits, 0x7F80"),
        ("dense<[inf]> : tensor<1xf8E4M3FN>", "such as 1.0, got 'inf'"),
        ("dense<0x1FFFFFFFF> : tensor<f32>", "exceeds the bit width of float32"),
        ("dense<[true, 2]> : tensor<2xi1>", "expected true or false, got '2'"),
        ('dense<"0x00"> : tensor<2xf32>', "expected 2 elements of 4 bytes, got 1 bytes"),
        ('dense<"0x0G"> : tensor<1xi8>', "hexadecimal digits"),
        ('dense<"abc"> : tensor<1xi8>', "hexadecimal string"),
        ("dense<1> : tensor<?xi32>", "must have static shape"),
        ("dense<é> : tensor<i32>", "unexpected characte"),
        ("dense<0> : tensor<9223372036854775807x9xi32>", "numpy cannot represent the shape 9223372036854775807x9"),
        ("dense<1.0", "unterminated dense literal"),
    ],
)
def test_rejects_malformed_literals(text, message):
    with pytest.raises(MalformedError, match=re.escape(message)):
        read(text)


def test_resource_array_is_a_view_of_its_blob():
    source = """
%0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
{-#
  dialect_resources: { builtin: { w: "0x040000000000803F00000040", unused: "0x04000000" } },
  external_resources: { mlir_reproducer: { verify_each: true, threading: "a" } }
#-}
"""
    constant = Parser(Source(source)).program().regions[0].block.operations[0].properties["value"]
    assert constant.array.tolist() == [1.0, 2.0]
    assert not constant.array.flags.writeable and constant.array.base is not None


def test_rejects_resource_of_wrong_size():
    source = """%0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
{-# dialect_resources: { builtin: { w: "0x0400000000" } } #-}"""
    with pytest.raises(MalformedError, match="expected 2 elements of 4 bytes, got 1 bytes of data in resource 'w'"):
        Parser(Source(source)).program()


LONG = {
    "f32": "1.5, -2.5e-3, 0.0",
    "f64": "-0.1, 12345678901234567.0, 1.5",
    "i32": "1, -2, 0x10",
    "ui64": "1, 18446744073709551615, 7",
    "bf16": "0x7F80, 1.00390625, -0.0",
    "complex<f32>": "(1.5, -2.5), (0.0, 3.25), (1.0, 2.0)",
}


def long_literal(element: str) -> str:
    return f"dense<[{', '.join([LONG[element]] * 200)}]> : tensor<600x{element}>"


@pytest.mark.parametrize("element", LONG)
def test_pieces_of_a_long_literal_are_parsed_as_the_whole(element, monkeypatch):
    whole = array(long_literal(element))
    monkeypatch.setattr(numbers, "PIECE", 50)
    assert array(long_literal(element)).tobytes() == whole.tobytes()
    with pytest.raises(MalformedError, match=r"expected .* got '.*x1'"):
        read(long_literal(element)[::-1].replace(",", ", 1x", 1)[::-1])


@pytest.mark.parametrize("element", LONG)
def test_time_is_checked_between_the_pieces_of_a_long_literal(element, monkeypatch):
    monkeypatch.setattr(numbers, "PIECE", 50)
    ticks = count()
    with in_force(Budget(Deadline(4, lambda: next(ticks)))), pytest.raises(LimitError, match="4 seconds"):
        read(long_literal(element))
