"""Whatever the bytes are: a program or an error with a place, in time and memory of the order of the file."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterator

import handmade as h
import numpy as np
import pytest
from bytecode_programs import SMALL, SMALL_ARTIFACT
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.bytecode.encoding import ByteLocation
from stablehlo_ref.bytecode.vhlo.artifact import serialize
from stablehlo_ref.bytecode.writer import write

MODULE = sr.parse(SMALL).verify().module
BYTECODE = write(MODULE)
FILES = {
    "bytecode": BYTECODE,
    "bytecode 0": write(MODULE, version=0),
    "artifact": serialize(sr.parse(SMALL_ARTIFACT).module, "1.0.0"),
}
HUGE = (1 << 64) - 1


def accepts(data: bytes) -> bool:
    """Load and verify what may be a program; only an error with a place is allowed instead."""
    try:
        sr.load(data, allow_unregistered_dialect=True)
    except sr.StablehloError as error:
        assert error.diagnostics and all(d.location is not None and d.message for d in error.diagnostics)
        return False
    return True


@pytest.mark.parametrize("name", FILES)
def test_file_that_is_cut_off(name: str) -> None:
    data = FILES[name]
    assert accepts(data)
    accepted = [length for length in range(5, len(data)) if accepts(data[:length])]
    assert not accepted


@pytest.mark.parametrize("name", FILES)
def test_each_byte_changed(name: str) -> None:
    data = FILES[name]
    for offset in range(4, len(data), 2 if name == "bytecode" else 5):
        for value in (data[offset] ^ 1 << offset % 8, 0xFF):
            accepts(data[:offset] + bytes((value,)) + data[offset + 1 :])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(FILES)), st.data())
def test_many_bytes_changed(name: str, data: st.DataObject) -> None:
    found = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 8))):
        start = data.draw(st.integers(4, len(found) - 1))
        found[start : start + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=6))
    accepts(bytes(found))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 6))
def test_noise_behind_the_header(noise: bytes, version: int) -> None:
    assert not accepts(h.MAGIC + h.varint(version) + b"noise\0" + noise)


def test_sections_swapped() -> None:
    sections = list(h.File().sections().items())
    generator = random.Random(1)
    for _ in range(50):
        contents = [content for _, content in sections]
        generator.shuffle(contents)
        accepts(h.assembled({number: content for (number, _), content in zip(sections, contents)}))


# --- counts and sizes that a file does not have ----------------------------------------------------------------------


def huge_files() -> Iterator[tuple[str, bytes]]:
    """Yield files with a number that is as large as it can be, in each place that has a number of things."""
    for number, content in h.File().sections().items():
        for offset in range(len(content)):
            changed = content[:offset] + h.varint(HUGE) + content[offset + 1 :]
            yield f"section {number} byte {offset}", h.File(extra={number: changed}).data()
    ops = {
        "results": h.op(0, h.HAS_RESULTS, h.varint(HUGE)),
        "operands": h.op(0, h.HAS_OPERANDS, h.varint(HUGE)),
        "successors": h.op(0, h.HAS_SUCCESSORS, h.varint(HUGE)),
        "regions": h.op(0, h.HAS_REGIONS, h.varint(HUGE)),
        "blocks": h.op(0, h.HAS_REGIONS, h.varints(1 << 1, HUGE)),
        "values": h.op(0, h.HAS_REGIONS, h.varints(1 << 1, 1, HUGE)),
        "arguments": h.op(0, h.HAS_REGIONS, h.varints(1 << 1, 1, 0, 1, HUGE)),
        "orders": h.op(0, h.HAS_USE_LISTS, h.varint(HUGE)),
    }
    for name, op in ops.items():
        yield name, h.File(ir=h.module(6, op)).data()
    for code in range(22):
        yield f"attribute {code}", h.File(attributes=(h.varints(code, HUGE, HUGE),)).data()
        yield f"type {code}", h.File(types=(h.varints(code, HUGE, HUGE),)).data()


def test_huge_numbers_take_no_memory() -> None:
    files = list(huge_files())
    tracemalloc.start()
    started = time.process_time()
    try:
        for _, data in files:
            accepts(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 22
    assert time.process_time() - started < 10


SPLAT = """
func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<SIZExSIZExf32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  return %1 : tensor<f32>
}
"""


def test_splat_of_a_huge_type_is_not_expanded() -> None:
    data = write(sr.parse(SPLAT.replace("SIZE", "20000")).module)
    assert len(data) < 1000
    tracemalloc.start()
    try:
        (result,) = sr.load(data).run()
        assert tracemalloc.get_traced_memory()[1] < 1 << 22
    finally:
        tracemalloc.stop()
    assert result == 1


def test_attributes_of_ops_do_not_multiply() -> None:
    """Each op has a large dictionary of its own: a file of 100 KB would become gigabytes."""
    names = [f"a{i}" for i in range(2000)]
    strings = (*h.TEST_STRINGS, *names)
    attributes = [h.varint(15), *(h.varints(2, 5 + i) for i in range(len(names)))]
    entries = b"".join(h.varints(1 + i, 1) for i in range(len(names)))
    attributes.append(h.varints(1, len(names)) + entries)
    op = h.op(1, h.HAS_ATTRIBUTES, h.varint(len(attributes) - 1))
    file = h.File(strings=strings, dialects=h.TEST_DIALECTS, attributes=attributes, ir=h.module(6, *[op] * 20_000))
    with pytest.raises(sr.MalformedError, match="expand beyond what a file of this size may have") as raised:
        sr.load(file.data(), allow_unregistered_dialect=True)
    assert isinstance(raised.value.diagnostics[0].location, ByteLocation)


# --- programs that are well-formed, but wrong or changed -----------------------------------------------------------


def test_verifier_reports_the_offset_and_the_location_of_the_model() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
      %0 = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32> loc("model.py":12:5)
      return %0 : tensor<2xf32>
    }
    """
    data = write(sr.parse(text).module)
    with pytest.raises(sr.InvalidError) as raised:
        sr.load(data)
    message = str(raised.value)
    assert message.startswith("<string>: byte ")
    assert ", model.py:12:5: error: " in message
    assert "'stablehlo.add' op" in message


def test_constants_cannot_be_written_to() -> None:
    data = bytearray(BYTECODE)
    program = sr.load(data)
    before = program.run(np.ones(2, np.float32), np.array(0, np.int32))
    data[:] = bytes(len(data))
    after = program.run(np.ones(2, np.float32), np.array(0, np.int32))
    assert np.array_equal(before, after)
