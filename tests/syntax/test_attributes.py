"""Attributes and locations: parsed values, and printed text that reads back equal."""

from __future__ import annotations

import pytest

from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.attributes import (
    UNIT,
    DenseArray,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
)
from stablehlo_ref.ir.locations import (
    CallSiteLocation,
    FileLocation,
    FusedLocation,
    NameLocation,
    UnknownLocation,
    name_of,
    resolve,
)
from stablehlo_ref.ir.types import BOOLEAN, FLOATS, IntegerType, tensor_type
from stablehlo_ref.syntax.attribute_text import attribute_text
from stablehlo_ref.syntax.parser import Parser
from tests.compare import same_attribute

I64, F32 = IntegerType(64), FLOATS["f32"]


def integers(*values: int) -> tuple[IntegerAttribute, ...]:
    return tuple(map(IntegerAttribute, values))


def read(text: str):
    parser = Parser(Source(text))
    attribute = parser.attribute()
    assert parser.peek() == ""
    return attribute


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("unit", UNIT),
        ("5", IntegerAttribute(5)),
        ("-5 : i64", IntegerAttribute(-5, I64)),
        ("0x1F : i64", IntegerAttribute(31, I64)),
        ("1.5", FloatAttribute(1.5)),
        ("-1.5e-3 : f64", FloatAttribute(-1.5e-3, FLOATS["f64"])),
        ("0.1 : f32", FloatAttribute(0.10000000149011612, F32)),
        ("0x7FC00000 : f32", FloatAttribute(float("nan"), F32, "0x7FC00000")),
        ('"a\\22\\n\\C3\\A9é"', 'a"\néé'),
        ("[1, 2]", integers(1, 2)),
        ('[1 : i64, "a", []]', (IntegerAttribute(1, I64), "a", ())),
        ('{a, "b c" = 1, d.e = {}}', {"a": UNIT, "b c": IntegerAttribute(1), "d.e": {}}),
        ("@f", SymbolReference(("f",))),
        ('@a::@"b c"', SymbolReference(("a", "b c"))),
        ("array<i64: 1, -2>", DenseArray(I64, (1, -2))),
        ("array<i64>", DenseArray(I64, ())),
        ("array<i1: true, false>", DenseArray(BOOLEAN, (True, False))),
        ("array<f32: 1.5, 2.0>", DenseArray(F32, (1.5, 2.0))),
        ("tensor<2xf32>", TypeAttribute(tensor_type((2,), F32))),
        ("affine_map<(d0, d1) -> (d1 - 1, d0)>", OpaqueAttribute("affine_map<(d0, d1) -> (d1 - 1, d0)>")),
        ("affine_set<(d0) : (d0 >= 0)>", OpaqueAttribute("affine_set<(d0) : (d0 >= 0)>")),
        ("sparse<[[0]], [1]> : tensor<2xi32>", OpaqueAttribute("sparse<[[0]], [1]> : tensor<2xi32>")),
        ('opaque<"d", "0x00"> : tensor<1xi8>', OpaqueAttribute('opaque<"d", "0x00"> : tensor<1xi8>')),
        ('#sdy.sharding<@mesh, [{"a", ?}]>', OpaqueAttribute('#sdy.sharding<@mesh, [{"a", ?}]>')),
        ("#stablehlo<comparison_direction LT>", EnumAttribute("stablehlo", "comparison_direction", "LT")),
        (
            "#stablehlo.channel_handle<handle = 1, type = 0>",
            {"handle": IntegerAttribute(1), "type": IntegerAttribute(0)},
        ),
        (
            "#stablehlo.gather<offset_dims = [1], index_vector_dim = 2>",
            {
                "offset_dims": integers(1),
                "collapsed_slice_dims": (),
                "operand_batching_dims": (),
                "start_indices_batching_dims": (),
                "start_index_map": (),
                "index_vector_dim": IntegerAttribute(2),
            },
        ),
        (
            "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[f, b, 1, 0]>",
            {
                "input_batch_dimension": IntegerAttribute(0),
                "input_feature_dimension": IntegerAttribute(3),
                "input_spatial_dimensions": integers(1, 2),
                "kernel_input_feature_dimension": IntegerAttribute(2),
                "kernel_output_feature_dimension": IntegerAttribute(3),
                "kernel_spatial_dimensions": integers(0, 1),
                "output_batch_dimension": IntegerAttribute(1),
                "output_feature_dimension": IntegerAttribute(0),
                "output_spatial_dimensions": integers(3, 2),
            },
        ),
    ],
)
def test_attribute_reads_back(text, expected):
    found = read(text)
    if isinstance(found, StructAttribute):
        assert found.name in text and dict(found.fields) == expected
    else:
        assert same_attribute(found, expected)
    assert same_attribute(read(attribute_text(found)), found)


def test_enumeration_in_struct_reads_back():
    text = "#stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"
    assert read(text).fields["mode"] == EnumAttribute("stablehlo", "result_accuracy_mode", "TOLERANCE")
    assert attribute_text(read(text)) == text


def test_expands_aliases_in_opaque_text():
    source = """
#m = affine_map<(d0) -> (d0)>
"a.b"() {x = #foo.bar<#m, "#m", !t, #baz>} : () -> memref<2xf32, #m>
!t = f32
"""
    op = Parser(Source(source), True).program().regions[0].block.operations[0]
    assert op.attributes["x"] == OpaqueAttribute('#foo.bar<affine_map<(d0) -> (d0)>, "#m", f32, #baz>')
    assert str(op.result_types[0]) == "memref<2xf32, affine_map<(d0) -> (d0)>>"


def test_convolution_dimensions_that_are_not_a_permutation_print_raw():
    text = "#stablehlo.conv<raw input_batch_dimension = 7, kernel_spatial_dimensions = [1]>"
    assert attribute_text(read(text)) == text


def test_string_keeps_arbitrary_bytes():
    assert attribute_text(read('"\\FF\\00\\7F"')) == '"\\FF\\00\\7F"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loc(unknown)", UnknownLocation()),
        ('loc("f.py":3:7)', FileLocation("f.py", 3, 7)),
        ('loc("f.py":3:7 to 4:9)', FileLocation("f.py", 3, 7, (4, 9))),
        ('loc("f.py":3:7 to :9)', FileLocation("f.py", 3, 7, (3, 9))),
        ('loc("args[0]")', NameLocation("args[0]")),
        ('loc("n"("f.py":1:2))', NameLocation("n", FileLocation("f.py", 1, 2))),
        ('loc(callsite("a" at unknown))', CallSiteLocation(NameLocation("a"), UnknownLocation())),
        ('loc(fused["a", "b"])', FusedLocation((NameLocation("a"), NameLocation("b")))),
        ('loc(fused<"m">["a"])', FusedLocation((NameLocation("a"),), "m")),
    ],
)
def test_location_reads_back(text, expected):
    assert read(text) == expected
    assert read(attribute_text(expected)) == expected


def test_resolves_aliases_before_and_after_their_use():
    source = """
#before = loc("first"(#after))
"a.b"() {x = #map, y = #n, z = !t} : () -> !t loc(#before)
"a.b"() : () -> () loc(#after)
#map = affine_map<(d0) -> (d0)>
#n = [#map, 1]
!t = tensor<2x!e>
!e = f32
#after = loc("second"(#end))
#end = loc("f.py":1:2)
"""
    first, second = Parser(Source(source), True).program().regions[0].block.operations
    identity = OpaqueAttribute("affine_map<(d0) -> (d0)>")
    assert first.attributes == {
        "x": identity,
        "y": (identity, IntegerAttribute(1)),
        "z": TypeAttribute(tensor_type((2,), F32)),
    }
    assert (name_of(first.debug_location), name_of(second.debug_location)) == ("first", "second")
    assert resolve(resolve(second.debug_location).child) == FileLocation("f.py", 1, 2)
