"""Integers, strings, blobs and padding, byte by byte as MLIR's description of the format has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stablehlo_ref.bytecode.encoding import Cursor, Emitter, encode_varint
from stablehlo_ref.bytecode.properties import encode_sparse
from stablehlo_ref.bytecode.sections import Strings
from stablehlo_ref.diagnostics import MalformedError, Source, UnsupportedError

# The lowest bits say how many bytes follow the first one: 1 is none, 10 one, 100 two, ..., 00000000 eight.
VARINTS = {
    0: "01",
    1: "03",
    127: "ff",
    128: "0202",
    1 << 13: "0280",
    (1 << 14) - 1: "feff",
    1 << 14: "040002",
    (1 << 21) - 1: "fcffff",
    1 << 21: "08000002",
    1 << 28: "1000000002",
    1 << 35: "200000000002",
    1 << 42: "40000000000002",
    1 << 49: "8000000000000002",
    (1 << 56) - 1: "80ffffffffffffff",
    1 << 56: "000000000000000001",
    (1 << 64) - 1: "00ffffffffffffffff",
}


def cursor(data: bytes, base: int = 0) -> Cursor:
    return Cursor(data, Source("", "test"), base)


def emitted(emitter: Emitter) -> bytes:
    return b"".join(emitter.parts())


@pytest.mark.parametrize("value", VARINTS)
def test_integers_of_variable_length(value: int) -> None:
    data = bytes.fromhex(VARINTS[value])
    assert encode_varint(value) == data
    reader = cursor(data + b"\x03")
    assert reader.varint() == value
    assert reader.varints(1) == [1]
    assert cursor(data * 3).varints(3) == [value] * 3


@given(st.integers(0, (1 << 64) - 1))
def test_any_integer_reads_back(value: int) -> None:
    assert cursor(encode_varint(value)).varint() == value


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_any_signed_integer_reads_back(value: int) -> None:
    emitter = Emitter()
    emitter.signed_varint(value)
    assert cursor(emitted(emitter)).signed_varint() == value


@pytest.mark.parametrize(("value", "encoded"), [(0, "01"), (-1, "03"), (1, "05"), (-2, "07"), (63, "fd"), (-64, "ff")])
def test_signed_integers_alternate(value: int, encoded: str) -> None:
    assert cursor(bytes.fromhex(encoded)).signed_varint() == value


@pytest.mark.parametrize("value", [-1, 1 << 64])
def test_integers_beyond_64_bits_cannot_be_written(value: int) -> None:
    with pytest.raises(UnsupportedError, match=f"cannot encode {value} as an unsigned integer of 64 bits"):
        encode_varint(value)


@pytest.mark.parametrize("data", ["", "02", "00", "0000000000000000", "fc00"])
def test_integer_that_is_cut_off_is_an_error(data: str) -> None:
    for read in (Cursor.varint, lambda c: c.varints(1), Cursor.signed_varint, Cursor.flagged_varint):
        with pytest.raises(MalformedError, match=r"unexpected end|are left"):
            read(cursor(bytes.fromhex(data)))


def test_flag_is_the_lowest_bit() -> None:
    assert cursor(bytes([5 << 1 | 1])).flagged_varint() == (2, True)
    assert cursor(bytes([4 << 1 | 1])).flagged_varint() == (2, False)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 200, 1000])
def test_strings_end_with_a_zero_byte(length: int) -> None:
    reader = cursor(b"x" * length + b"\0y")
    assert reader.terminated_string() == b"x" * length
    assert reader.byte() == ord("y")
    with pytest.raises(MalformedError, match="unexpected end of data in a string"):
        cursor(b"x" * length).terminated_string()


def test_padding_is_checked() -> None:
    reader = cursor(b"\xcb\xcb\xcb!", base=5)
    reader.align(8)
    assert reader.byte() == ord("!")
    with pytest.raises(MalformedError, match=r"expected padding bytes \(0xCB\)") as raised:
        cursor(b"\xcb\xca\xcb!", base=5).align(8)
    assert "byte 5" in str(raised.value)


@pytest.mark.parametrize("alignment", [0, 3, 12])
def test_alignment_is_a_power_of_two(alignment: int) -> None:
    with pytest.raises(MalformedError, match=f"an alignment of {alignment} bytes is not a power of two"):
        cursor(bytes(64)).align(alignment)


def test_blobs_are_not_copied() -> None:
    data = memoryview(bytes(1000))
    assert cursor(data).take(999).obj is data.obj
    emitter = Emitter()
    emitter.byte(1)
    emitter.blob(data)
    assert any(part is data for part in emitter.parts())


def test_sections_are_padded_for_what_they_align() -> None:
    content = Emitter()
    content.align(16)
    content.byte(7)
    outer = Emitter()
    outer.data(b"abc")
    outer.section(5, content)
    data = emitted(outer)
    assert data == b"abc" + bytes([0x85, 1 << 1 | 1, 16 << 1 | 1]) + b"\xcb" * 10 + b"\x07"
    assert len(data) - 1 == 16


def test_strings_are_listed_by_length_from_the_last_on() -> None:
    section = bytes([3 << 1 | 1, 4 << 1 | 1, 1 << 1 | 1, 3 << 1 | 1]) + b"ab\0" + b"\0" + b"\xff\xc3\xa9\0"
    assert Strings(cursor(section)).values == ["ab", "", "\udcff\u00e9"]


@pytest.mark.parametrize("section", ["05 05 05 6100 62", "03 01", "03 ff 00", "fd 03", "03 03 6100"])
def test_malformed_strings(section: str) -> None:
    with pytest.raises(MalformedError):
        Strings(cursor(bytes.fromhex(section)))


@pytest.mark.parametrize(
    ("sizes", "encoded"),
    [
        ((0, 0), "01"),
        ((1, 2), "09 03 05"),
        ((3, 0), "07 01 07"),
        ((0, 3), "07 03 0f"),
        ((0, 0, 5), "07 05 2d"),
        ((1, 1, 0), "0d 03 03 01"),
    ],
)
def test_sizes_of_segments_are_sparse(sizes: tuple[int, ...], encoded: str) -> None:
    assert encode_sparse(sizes) == bytes.fromhex(encoded)
