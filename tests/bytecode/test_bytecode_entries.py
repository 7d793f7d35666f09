"""Attributes, types, locations and resources of files made by hand."""

from __future__ import annotations

import re

import handmade as h
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.types import FLOATS
from stablehlo_ref.syntax.attribute_text import location_text

# --- attributes and types -------------------------------------------------------------------------------------------


def attribute_file(*attributes: bytes, types: tuple[bytes, ...] = (), strings: tuple[str, ...] = ()) -> h.File:
    """Return a file in which the op `test.f` has the last attribute as `a`."""
    names = (*h.TEST_STRINGS, "a", *strings)
    name = h.varints(2, names.index("a"))
    last = len(attributes) + 1
    dictionary = h.varints(1, 1, last, len(attributes))
    entries = (h.varint(15), *attributes, name, dictionary)
    op = h.op(1, h.HAS_ATTRIBUTES, h.varint(len(attributes) + 2))
    return h.File(strings=names, dialects=h.TEST_DIALECTS, types=types, attributes=entries, ir=h.module(6, op))


def attribute_text(*attributes: bytes, types: tuple[bytes, ...] = (), strings: tuple[str, ...] = ()) -> str:
    program = sr.Program(h.read_file(attribute_file(*attributes, types=types, strings=strings)))
    found = re.search(r"\{a(?: = (.*))?\} : ", str(program))
    assert found, str(program)
    return found[1] or "unit"


F32, INDEX, I1, I64, UI8 = h.varint(5), h.varint(1), h.varints(0, 4), h.varints(0, 256), h.varints(0, 34)
TENSOR = h.varints(13, 2, 2 << 1, 2 << 1, 0)  # of shape 2x2 and the first type


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (h.varints(0, 32 << 2), "i32"),
        (h.varints(0, 8 << 2 | 1), "si8"),
        (h.varints(0, 8 << 2 | 2), "ui8"),
        (INDEX, "index"),
        (h.varint(3), "bf16"),
        (h.varint(7), "f80"),
        (h.varint(32), "f8E8M0FNU"),
        (h.varint(12), "none"),
    ],
)
def test_types_without_parts(type: bytes, expected: str) -> None:
    assert attribute_text(h.varints(6, 0), types=(type,)) == expected


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        (TENSOR, "tensor<2x2xf32>"),
        (h.varints(13, 1) + b"\0" + b"\xff" * 8 + h.varint(0), "tensor<?xf32>"),
        (h.varints(18, 0), "tensor<*xf32>"),
        (h.varints(9, 0), "complex<f32>"),
        (h.varints(15, 2, 0, 0), "tuple<f32, f32>"),
        (h.varints(2, 1, 0, 2, 0, 0), "(f32) -> (f32, f32)"),
        (h.varints(19, 2, 2 << 1, 3 << 1, 0), "vector<2x3xf32>"),
    ],
)
def test_types_of_other_types(type: bytes, expected: str) -> None:
    assert attribute_text(h.varints(6, 1), types=(F32, type)) == expected


@pytest.mark.parametrize(
    ("attribute", "type", "expected"),
    [
        (h.varint(7), F32, "unit"),
        (h.varints(2, 0), F32, '"builtin"'),
        (h.varints(8, 0) + b"\1", I1, "true"),
        (h.varints(8, 0) + b"\xff", UI8, "255 : ui8"),
        (h.varints(8, 0, 3), h.varints(0, 32 << 2), "-2 : i32"),
        (h.varints(8, 0, 4), I64, "2 : i64"),
        (h.varints(8, 0, 4), INDEX, "2 : index"),
        (h.varints(9, 0, 0x3F800000 << 1), F32, "1.000000e+00 : f32"),
        (h.varints(17, 0, 2, 8) + np.array([1, -1], "<i4").tobytes(), h.varints(0, 32 << 2), "array<i32: 1, -1>"),
        (h.varints(17, 0, 2, 2) + b"\1\0", I1, "array<i1: true, false>"),
    ],
)
def test_attributes_with_a_type(attribute: bytes, type: bytes, expected: str) -> None:
    assert attribute_text(attribute, types=(type,)) == expected


@pytest.mark.parametrize(
    ("data", "element", "expected"),
    [
        (np.array([[1, 2], [3, 4]], "<f4").tobytes(), F32, "dense<[[1.000000e+00, 2.000000e+00], "),
        (np.array(1.5, "<f4").tobytes(), F32, "dense<1.500000e+00> : tensor<2x2xf32>"),
        (b"\x05", I1, "dense<[[true, false], [true, false]]> : tensor<2x2xi1>"),
        (b"\xff", I1, "dense<true> : tensor<2x2xi1>"),
    ],
)
def test_dense_elements(data: bytes, element: bytes, expected: str) -> None:
    attribute = h.varints(18, 1, len(data)) + data
    assert attribute_text(attribute, types=(element, TENSOR)).startswith(expected)


def test_elements_of_a_vector() -> None:
    vector, i32 = h.varints(19, 1, 2 << 1, 0), h.varints(0, 32 << 2)
    data = np.array([7, -2], "<i4").tobytes()
    assert attribute_text(h.varints(18, 1, len(data)) + data, types=(i32, vector)) == "dense<[7, -2]> : vector<2xi32>"
    malformed = h.varints(18, 1, 5) + bytes(5)
    assert "in a literal of type tensor<2xi32>" in str(
        h.error_of(attribute_file(malformed, types=(i32, vector)).data())
    )


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ((h.varints(2, 0), h.varints(4, 1)), "@builtin"),
        ((h.varints(2, 0), h.varints(4, 1), h.varints(2, 1), h.varints(5, 3, 1, 2)), "@module::@builtin"),
        ((h.varints(2, 0), h.varints(0, 2, 1, 1)), '["builtin", "builtin"]'),
        ((h.varints(2, 3), h.varints(1, 1, 1, 1)), '{f = "f"}'),
    ],
)
def test_attributes_of_attributes(attributes: tuple[bytes, ...], expected: str) -> None:
    assert attribute_text(*attributes) == expected


def test_entry_may_be_text() -> None:
    file = attribute_file(b"[1 : i32, @f]\0")
    lengths = [len(entry) << 1 | (index != 1) for index, entry in enumerate(file.attributes)]
    offsets = h.varints(len(lengths), 0, 0, len(lengths), *lengths)
    module = h.read_file(h.File(**{**vars(file), "extra": {h.OFFSETS: offsets}}))
    assert "a = [1 : i32, @f]" in str(sr.Program(module))
    broken = {h.OFFSETS: offsets, h.ENTRIES: file.sections()[h.ENTRIES].replace(b"[1 ", b"(1 ")}
    error = h.error_of(h.File(**{**vars(file), "extra": broken}).data())
    assert "malformed text of an attribute: " in str(error)


@pytest.mark.parametrize(
    ("attribute", "types", "message"),
    [
        (h.varint(40), (), "unknown attribute 40 of dialect 'builtin'"),
        (h.varints(6, 0), (h.varint(40),), "unknown type 40 of dialect 'builtin'"),
        (h.varints(0, 1, 1), (), "attribute 1 contains itself"),
        (h.varints(6, 0), (h.varints(9, 0),), "type 0 contains itself"),
        (h.varints(0, 1, 99), (), "attribute 99 does not exist; there are 4"),
        (h.varints(2, 99), (), "string 99 does not exist; there are 6"),
        (h.varints(0, 1 << 40), (), f"{1 << 40} attributes do not fit into the 0 bytes that are left"),
        (h.varints(7, 7), (), "1 unexpected bytes at the end of attribute 1"),
        (h.varints(4, 0), (), "expected a string, got loc(unknown)"),
        (h.varints(9, 0, 1), (I64,), "expected a floating-point type, got i64"),
        (h.varints(17, 0, 3, 4) + bytes(4), (I64,), "expected 3 elements of type i64, got 4 bytes"),
        (h.varints(18, 1, 3) + bytes(3), (F32, TENSOR), "in a literal of type tensor<2x2xf32>"),
        (h.varints(6, 0), (h.varints(0, 0),), "an integer type of 0 bits"),
        (h.varints(6, 1), (F32, h.varints(13, 1, 5, 0)), "negative dimension size in (-3,)"),
        (h.varints(1, 2, 2, 0, 2, 0), (), "duplicate attribute 'a'"),
        (h.varints(16, 0, 0), (F32,), "resource 0 does not exist; there are 0"),
    ],
)
def test_malformed_attributes_and_types(attribute: bytes, types: tuple[bytes, ...], message: str) -> None:
    assert message in str(h.error_of(attribute_file(attribute, types=types).data()))


def test_entries_of_a_dialect_without_encoding() -> None:
    file = attribute_file(h.varint(0))
    count = len(file.attributes)
    offsets = h.varints(count, 0) + h.varints(0, 1, 1 << 1 | 1) + h.varints(1, 1, 1 << 1 | 1)
    offsets += h.varints(0, count - 2, *(len(entry) << 1 | 1 for entry in file.attributes[2:]))
    error = h.error_of(h.File(**{**vars(file), "extra": {h.OFFSETS: offsets}}).data())
    assert "unsupported encoding of an attribute of dialect 'test'" in str(error)


def test_shared_attributes_do_not_expand_without_limit() -> None:
    """Each list has the one before it twice: a file of a few hundred bytes stands for 2**60 attributes."""
    lists = [h.varint(7), *(h.varints(0, 2, index, index) for index in range(1, 60))]
    assert "parts, more than the limit of" in str(h.error_of(attribute_file(*lists).data()))


# --- locations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ((h.varints(2, 5), h.varints(11, 1, 3, 4)), '"m.py":3:4'),
        ((h.varints(2, 5), h.varint(15), h.varints(14, 1, 2)), '"m.py"'),
        ((h.varints(2, 5), h.varints(11, 1, 3, 4), h.varints(10, 2, 2)), 'callsite("m.py":3:4 at "m.py":3:4)'),
        ((h.varints(2, 5), h.varints(11, 1, 3, 4), h.varints(12, 2, 2, 2)), 'fused["m.py":3:4, "m.py":3:4]'),
    ],
)
def test_locations_come_along(location: tuple[bytes, ...], expected: str) -> None:
    op = h.op(1, 0, location=len(location))
    entries = (h.varint(15), *location)
    file = h.File(strings=(*h.TEST_STRINGS, "m.py"), dialects=h.TEST_DIALECTS, attributes=entries, ir=h.module(6, op))
    (op,) = h.operations(h.read_file(file))
    assert expected in location_text(op.debug_location)
    assert str(op.location).endswith((", m.py:3:4", ", m.py")), "only the innermost place is printed with an op"


def test_chain_of_locations_may_be_long() -> None:
    """A name around a name around a name ... as deep as a file says."""
    depth = 20_000
    entries = (h.varint(15), h.varints(2, 5), *(h.varints(14, 1, i - 1 if i > 2 else 0) for i in range(2, depth)))
    op = h.op(1, 0, location=depth - 1)
    file = h.File(strings=(*h.TEST_STRINGS, "x"), dialects=h.TEST_DIALECTS, attributes=entries, ir=h.module(6, op))
    assert len(h.operations(h.read_file(file))) == 1


# --- resources ------------------------------------------------------------------------------------------------------


def resource_file(size: int = 16, alignment: int = 16, kind: int = 0) -> bytes:
    """Return a file whose only attribute is a resource of four numbers, aligned as it says."""
    file = attribute_file(h.varints(16, 1, 0), types=(F32, TENSOR), strings=("weights",))
    key = list(file.strings).index("weights")
    values = np.arange(4, dtype="<f4").tobytes()
    head = h.varints(alignment, size)
    start = len(file.data())
    content_start = start + 2  # behind the number and the length of the section
    padding = b"\xcb" * (-(content_start + len(head)) % 16)
    content = head + padding + values
    assert len(content) < 64
    offsets = h.varints(0, 0, 1, key, len(content)) + bytes([kind])
    return file.data() + h.section(h.RESOURCES, content) + h.section(h.RESOURCE_OFFSETS, offsets)


def test_resource_is_a_view_of_the_file() -> None:
    data = resource_file()
    (op,) = h.operations(h.read(memoryview(data), "hand", True))
    attribute = op.attributes["a"]
    assert isinstance(attribute, DenseResource)
    assert attribute.key == "weights" and attribute.type.element_type == FLOATS["f32"]
    assert np.array_equal(attribute.array, [[0, 1], [2, 3]])
    assert np.shares_memory(attribute.array, np.frombuffer(data, np.uint8))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 17}, "expected 17 bytes, but only 16 are left"),
        ({"size": 15}, "1 unexpected bytes at the end of resource 'weights'"),
        ({"alignment": 3}, "an alignment of 3 bytes is not a power of two"),
        ({"alignment": 1 << 62}, "expected"),
    ],
)
def test_malformed_resource(arguments: dict[str, int], message: str) -> None:
    assert message in str(h.error_of(resource_file(**arguments)))


def test_errors_are_malformed_errors() -> None:
    assert isinstance(h.error_of(resource_file(size=17)), MalformedError)
