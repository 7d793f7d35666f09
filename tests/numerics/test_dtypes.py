"""Compare element types and dtypes with the spec's list of types and the formats' definitions."""

import ml_dtypes
import numpy as np
import pytest
from formats import FORMATS, Format

from spec_checks import strategies
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.types import BOOLEAN, FLOATS, INDEX, ComplexType, OpaqueType, QuantizedType, integer_type
from stablehlo_ref.numerics.dtypes import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    bit_width,
    bits_dtype,
    complex_dtype,
    element_type_of,
    exponent_bits,
    has_infinity,
    is_narrow_float,
    is_signed,
    is_sub_byte_integer,
    kind,
    mantissa_bits,
    max_value,
    min_value,
    numpy_dtype,
    part_dtype,
    signed_bits_dtype,
)
from stablehlo_ref.semantics import notation, rounding

DTYPES = {
    "i1": np.bool_,
    "i2": ml_dtypes.int2,
    "i4": ml_dtypes.int4,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui2": ml_dtypes.uint2,
    "ui4": ml_dtypes.uint4,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}


def element_type(name: str):
    if name.startswith("complex"):
        return ComplexType(FLOATS[name[8:-1]])
    if name in FLOATS:
        return FLOATS[name]
    return integer_type(int(name.lstrip("ui")), "u" if name.startswith("u") else "")


@pytest.mark.parametrize("name", DTYPES)
def test_element_type_round_trips_through_dtype(name: str) -> None:
    assert str(element_type(name)) == name
    dtype = numpy_dtype(element_type(name))
    assert dtype == np.dtype(DTYPES[name])
    assert element_type_of(dtype) == element_type(name)


@pytest.mark.parametrize("name", DTYPES)
def test_width_and_kind_match_type_name(name: str) -> None:
    dtype = np.dtype(DTYPES[name])
    digits = name.lstrip("uicomplex<bf").split("E")[0].rstrip(">")
    assert bit_width(dtype) == int(digits) * (2 if "complex" in name else 1)
    first = "boolean" if name == "i1" else {"i": "integer", "u": "integer", "c": "complex"}.get(name[0], "floating")
    assert kind(dtype) == first
    assert is_sub_byte_integer(dtype) == (first == "integer" and int(digits) < 8)
    assert is_narrow_float(dtype) == (first == "floating" and int(digits) <= 16)


def test_lists_of_element_types_are_complete() -> None:
    floats = {dtype.name for dtype in FLOAT_DTYPES}
    listed = {
        "DTYPES": {dtype.name for dtype in map(np.dtype, DTYPES.values()) if dtype in FLOAT_DTYPES},
        "tests/numerics/formats.py": {format.dtype.name for format in FORMATS} | {"float32", "float64"},
        "semantics/rounding.py": set(rounding.FORMATS),
        "spec_checks/strategies.py": {dtype.name for dtype in strategies.FLOATS},
    }
    for place, names in listed.items():
        assert names == floats, place
    integers = {np.dtype(dtype) for name, dtype in DTYPES.items() if name != "i1" and name[0] in "iu"}
    assert integers == set(INTEGER_DTYPES) == set(strategies.INTEGERS)
    assert all(notation.num_bits(dtype) == bit_width(dtype) for dtype in strategies.ALL)


def test_equivalent_types_have_same_dtype() -> None:
    assert numpy_dtype(integer_type(32, "s")) == numpy_dtype(integer_type(32)) == np.int32
    assert numpy_dtype(INDEX) == np.int64
    assert numpy_dtype(BOOLEAN) == np.bool_
    quantized = QuantizedType(integer_type(8, "u"), FLOATS["f32"], (0.5,), (3,), 0, 255)
    assert numpy_dtype(quantized) == np.uint8


def test_rejects_types_and_dtypes_without_arrays() -> None:
    for unknown in (FLOATS["f80"], integer_type(7), ComplexType(FLOATS["bf16"]), OpaqueType("!shape.witness")):
        with pytest.raises(UnsupportedError, match="unsupported element type"):
            numpy_dtype(unknown)
    for dtype in map(np.dtype, ("O", "U3", "M8[s]")):
        with pytest.raises(TypeError, match="unsupported dtype"):
            element_type_of(dtype)
        with pytest.raises(TypeError, match="unsupported dtype"):
            kind(dtype)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_properties_of_narrow_floats(format: Format) -> None:
    assert mantissa_bits(format.dtype) == format.mantissa_bits
    assert exponent_bits(format.dtype) == format.exponent_bits
    assert has_infinity(format.dtype) == (format.specials == "ieee")
    values = format.values[~np.isnan(format.values)]
    assert float(max_value(format.dtype)) == values.max()
    assert float(min_value(format.dtype)) == values.min()
    assert max_value(format.dtype).dtype == min_value(format.dtype).dtype == format.dtype


def test_properties_of_f32_and_f64() -> None:
    for name, mantissa, exponent in (("f4", 23, 8), ("f8", 52, 11)):
        dtype = np.dtype(name)
        assert (mantissa_bits(dtype), exponent_bits(dtype)) == (mantissa, exponent)
        assert (min_value(dtype), max_value(dtype)) == (-np.inf, np.inf)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_range_of_integers(dtype: np.dtype) -> None:
    width, signed = bit_width(dtype), "uint" not in str(dtype)
    assert is_signed(dtype) == signed
    assert int(min_value(dtype)) == (-(2 ** (width - 1)) if signed else 0)
    assert int(max_value(dtype)) == (2 ** (width - 1) if signed else 2**width) - 1
    assert min_value(dtype).dtype == max_value(dtype).dtype == dtype


def test_range_of_booleans() -> None:
    assert (min_value(np.dtype(bool)), max_value(np.dtype(bool))) == (False, True)


def test_dtypes_of_bits_and_complex_parts() -> None:
    for dtype in (*FLOAT_DTYPES, *INTEGER_DTYPES):
        assert bits_dtype(dtype).kind == "u" and signed_bits_dtype(dtype).kind == "i"
        assert bits_dtype(dtype).itemsize == signed_bits_dtype(dtype).itemsize == dtype.itemsize
    for part, whole in ((np.float32, np.complex64), (np.float64, np.complex128)):
        assert complex_dtype(np.dtype(part)) == whole and part_dtype(np.dtype(whole)) == part
