"""Types: parsed values, and printed text that reads back equal."""

from __future__ import annotations

import pytest

from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOAT_NAMES,
    FLOATS,
    BufferType,
    ComplexType,
    FunctionType,
    IntegerType,
    OpaqueType,
    QuantizedType,
    TensorType,
    TupleType,
    UnrankedBufferType,
    UnrankedTensorType,
    tensor_type,
)
from stablehlo_ref.syntax.parser import Parser

F32, I8, U8 = FLOATS["f32"], IntegerType(8), IntegerType(8, "u")


def read(text: str):
    parser = Parser(Source(text))
    type = parser.type()
    assert parser.peek() == ""
    return type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i1", BOOLEAN),
        ("si4", IntegerType(4, "s")),
        ("ui64", IntegerType(64, "u")),
        ("tensor<f32>", tensor_type((), F32)),
        ("tensor<2x?xf32>", tensor_type((2, None), F32)),
        ("tensor<0x5xi1>", tensor_type((0, 5), BOOLEAN)),
        ("tensor<3xcomplex<f32>>", tensor_type((3,), ComplexType(F32))),
        ("tensor<*xf32>", UnrankedTensorType(F32)),
        ("tensor<?x3xf32, #stablehlo.bounds<5, ?>>", TensorType((None, 3), F32, (5, None))),
        ("tensor<2xf32, #sparse.encoding<dense>>", TensorType((2,), F32, None, "#sparse.encoding<dense>")),
        ("tuple<i1, tuple<>>", TupleType((BOOLEAN, TupleType(())))),
        ("memref<2x?xf32, strided<[1, ?]>, 3 : i64>", BufferType((2, None), F32, ("strided<[1, ?]>", "3 : i64"))),
        ("memref<*xf32>", UnrankedBufferType(F32)),
        ("memref<*xf32, 1>", UnrankedBufferType(F32, "1")),
        ("(f32) -> ()", FunctionType((F32,), ())),
        ("() -> (f32, i1)", FunctionType((), (F32, BOOLEAN))),
        ("() -> (() -> f32)", FunctionType((), (FunctionType((), (F32,)),))),
        ("vector<[4]xf32>", OpaqueType("vector<[4]xf32>")),
        ("!shape.witness", OpaqueType("!shape.witness")),
        ("!mhlo.async_bundle<tensor<2xf32>, tuple<>>", OpaqueType("!mhlo.async_bundle<tensor<2xf32>, tuple<>>")),
    ],
)
def test_type_reads_back(text, expected):
    assert read(text) == expected
    assert read(str(expected)) == expected


@pytest.mark.parametrize("name", FLOAT_NAMES)
def test_floating_point_format_keeps_its_name(name):
    assert str(read(f"tensor<4x{name}>")) == f"tensor<4x{name}>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!quant.uniform<i8:f32, 0.5:-3>", QuantizedType(I8, F32, (0.5,), (-3,), -128, 127)),
        ("!quant.uniform<i8<-127:127>:f32, 2.0e-1>", QuantizedType(I8, F32, (0.2,), (0,), -127, 127)),
        ("!quant.uniform<ui8:f32, 1.0>", QuantizedType(U8, F32, (1.0,), (0,), 0, 255)),
        ("!quant.uniform<u8:f32, 1.0>", QuantizedType(U8, F32, (1.0,), (0,), 0, 255, storage_text="u8")),
        ("!quant.uniform<i8:f32:1, {0.1:30, 0.5}>", QuantizedType(I8, F32, (0.1, 0.5), (30, 0), -128, 127, 1)),
    ],
)
def test_quantized_type_reads_back(text, expected):
    assert read(text) == expected
    assert read(str(expected)) == expected


def test_scale_prints_with_a_decimal_point():
    """MLIR's parser rejects a scale without one."""
    assert str(QuantizedType(I8, F32, (1e-5,), (3,), -128, 127)) == "!quant.uniform<i8:f32, 1.000000e-05:3>"


def test_older_spelling_of_bounds_and_aliases_in_types():
    assert read("tensor<?xf32, #stablehlo.type_extensions<bounds = [4]>>") == TensorType((None,), F32, (4,))
    module = Parser(Source('!e = f32\n"a.b"() : () -> tensor<2x!e>'), True).program()
    assert module.regions[0].block.operations[0].result_types == [tensor_type((2,), F32)]


def test_skips_blanks_and_comments_in_a_type():
    assert read("tensor<2 x // two\n 3x f32>") == tensor_type((2, 3), F32)


@pytest.mark.parametrize(
    "text", ["tensor<2x>", "tensor<2xf32", "i0", "i99999999999", "complex<>", "!", "tensor<-1xf32>"]
)
def test_rejects_malformed_types(text):
    with pytest.raises(MalformedError):
        read(text)
