"""Files made by hand: every version of the format, sections, operations; errors have the offset of the byte."""

from __future__ import annotations

import handmade as h
import pytest

from stablehlo_ref.diagnostics import UnsupportedError

VERSIONS = range(7)


# --- header and sections --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_empty_module_of_every_version(version: int) -> None:
    module = h.read_file(h.File(version))
    assert module.name == "builtin.module"
    assert h.operations(module) == []


def test_text_is_no_bytecode() -> None:
    assert "expected MLIR bytecode, which starts with 'ML\\xefR'" in str(h.error_of(b"module {}"))


def test_newer_version_of_the_format_is_unsupported() -> None:
    data = h.assembled(h.File().sections(), version=7)
    with pytest.raises(UnsupportedError, match="unsupported version 7 of MLIR bytecode; the newest is 6") as raised:
        h.read_file(data)
    assert "hand.mlirbc: byte 4" in str(raised.value)


def test_errors_say_the_version_and_the_producer() -> None:
    data = h.assembled({h.STRINGS: h.varint(0)}, 5, "StableHLO_v1.2.3")
    assert "in version 5 of MLIR bytecode, written by 'StableHLO_v1.2.3'" in str(h.error_of(data))


@pytest.mark.parametrize("missing", [h.STRINGS, h.DIALECTS, h.ENTRIES, h.OFFSETS, h.IR, h.PROPERTIES])
def test_missing_section(missing: int) -> None:
    sections = h.File().sections()
    del sections[missing]
    assert f"missing section {missing} " in str(h.error_of(h.assembled(sections)))


def test_properties_may_be_missing_before_version_5() -> None:
    assert h.PROPERTIES not in h.File(4).sections()
    h.read_file(h.File(4))


def test_duplicate_and_unknown_section() -> None:
    file = h.File()
    data = file.data()
    assert "duplicate section 0 (strings)" in str(h.error_of(data + h.section(h.STRINGS, file.string_section())))
    error = h.error_of(data + b"\x09\x01")
    assert "unknown section 9" in str(error)
    assert f"byte {len(data)}:" in str(error)


def test_sections_may_be_aligned() -> None:
    sections = h.File().sections()
    strings = sections.pop(h.STRINGS)
    data = h.assembled(sections)
    h.read_file(data + h.aligned_section(h.STRINGS, strings, 32, len(data)))
    wrong = h.aligned_section(h.STRINGS, strings, 32, len(data) + 1)
    assert "expected padding bytes" in str(h.error_of(data + wrong)) or "do not fit" in str(h.error_of(data + wrong))


def test_one_section_of_resources_without_the_other() -> None:
    assert "both sections of resources" in str(h.error_of(h.File(extra={h.RESOURCES: b""}).data()))


# --- dialects and names of ops --------------------------------------------------------------------------------------


def test_dialect_may_state_its_version() -> None:
    dialects = h.varints(1, 0 << 1 | 1) + h.section(h.DIALECT_VERSION, h.varints(3, 4)) + h.varints(1, 0, 1, 1 << 1 | 1)
    assert h.operations(h.read_file(h.File(extra={h.DIALECTS: dialects}))) == []


def test_unknown_op_of_a_dialect() -> None:
    strings = ("builtin", "module", "stablehlo", "frobnicate")
    dialects = (("builtin", ("module",)), ("stablehlo", ("frobnicate",)))
    file = h.File(strings=strings, dialects=dialects, ir=h.module(6, h.op(1, 0)))
    with pytest.raises(UnsupportedError, match=r"unknown op 'stablehlo.frobnicate' of dialect 'stablehlo'"):
        h.read_file(file, allow_unregistered_dialect=False)


def test_unregistered_dialect_has_to_be_allowed() -> None:
    strings = ("builtin", "module", "mine", "f")
    file = h.File(strings=strings, dialects=(("builtin", ("module",)), ("mine", ("f",))), ir=h.module(6, h.op(1, 0)))
    assert [op.name for op in h.operations(h.read_file(file))] == ["mine.f"]
    assert "'mine.f' is of an unregistered dialect" in str(h.error_of(file.data(), False))


@pytest.mark.parametrize(
    ("ir", "message"),
    [
        (h.block(h.op(1, 0)), "name 1 of an op does not exist; there are 1"),
        (h.module(6, h.op(0, h.HAS_RESULTS, h.varints(1, 3))), "type 3 does not exist; there are 0"),
        (h.module(6, h.op(0, h.HAS_OPERANDS, h.varints(1, 0))), "value 0 does not exist; there are 0"),
        (h.module(6, h.op(0, h.HAS_ATTRIBUTES, h.varint(0))), "expected a dictionary of attributes, got loc(unknown)"),
        (h.module(6, h.op(0, h.HAS_PROPERTIES, h.varint(0))), "properties 0 do not exist; there are 0"),
        (h.module(6, h.op(0, h.HAS_SUCCESSORS, h.varints(1, 5))), "block 5 does not exist; there are 1"),
        (h.module(6, h.op(0, 0, location=9)), "attribute 9 does not exist; there are 1"),
        (h.module(6) + b"\x01", "1 unexpected bytes at the end of section 4 (ir)"),
        (h.varint(1 << 1 | 1), "the outermost block has arguments"),
        (h.varint(1000 << 1), "1000 operations do not fit into the 0 bytes that are left"),
    ],
)
def test_malformed_operations(ir: bytes, message: str) -> None:
    assert message in str(h.error_of(h.File(ir=ir).data()))


# --- values, blocks, use lists --------------------------------------------------------------------------------------

I32 = h.varints(0, 32 << 2)
FORMS = {"strings": h.TEST_STRINGS, "dialects": h.TEST_DIALECTS, "types": (I32,)}


def graph(version: int, *ops: bytes, values: int) -> h.File:
    return h.File(version, ir=h.module(version, *ops, values=values), **FORMS)


@pytest.mark.parametrize("version", VERSIONS)
def test_operand_may_be_defined_later(version: int) -> None:
    uses = h.op(1, h.HAS_OPERANDS, h.varints(2, 1, 0))
    defines = h.op(2, h.HAS_RESULTS, h.varints(2, 0, 0))
    first, second = h.operations(h.read_file(graph(version, uses, defines, values=2)))
    assert first.operands == [second.results[1], second.results[0]]


def test_operand_that_is_not_defined() -> None:
    error = h.error_of(graph(6, h.op(1, h.HAS_OPERANDS, h.varints(1, 0)), values=1).data())
    assert "an operand is a value that is not defined" in str(error)


def test_more_values_than_announced() -> None:
    two = h.op(2, h.HAS_RESULTS, h.varints(2, 0, 0))
    error = h.error_of(graph(6, two, values=1).data())
    assert "the region defines more than the 1 values that it announces" in str(error)


@pytest.mark.parametrize("orders", [h.varints(2 << 1, 1, 0), h.varints(2 << 1 | 1, 0, 1)])
def test_orders_of_uses_are_skipped(orders: bytes) -> None:
    """An order lists all positions, or pairs of positions; the only result of an op needs no number."""
    one = h.op(2, h.HAS_RESULTS | h.HAS_USE_LISTS, h.varints(1, 0), orders)
    uses = h.op(1, h.HAS_OPERANDS, h.varints(2, 0, 0))
    first, second = h.operations(h.read_file(graph(6, one, uses, values=1)))
    assert second.operands == first.results * 2


def test_orders_of_uses_of_one_of_several_results() -> None:
    results = h.op(2, h.HAS_RESULTS | h.HAS_USE_LISTS, h.varints(2, 0, 0), h.varints(1, 1, 2 << 1, 1, 0))
    uses = h.op(1, h.HAS_OPERANDS, h.varints(2, 1, 1))
    first, second = h.operations(h.read_file(graph(6, results, uses, values=2)))
    assert second.operands == [first.results[1]] * 2


def test_order_of_more_uses_than_bytes() -> None:
    one = h.op(2, h.HAS_RESULTS | h.HAS_USE_LISTS, h.varints(1, 0), h.varint(1000 << 1))
    assert "1000 uses do not fit into the 0 bytes that are left" in str(h.error_of(graph(6, one, values=1).data()))


def arguments(version: int, *types: int) -> bytes:
    """Return arguments of a block, each of unknown location."""
    elided = version >= 4
    listed = b"".join(h.varint(t << 1) if elided else h.varints(t, 0) for t in types)
    return h.varint(len(types)) + listed + (b"\0" if version >= 3 else b"")


@pytest.mark.parametrize("version", VERSIONS)
def test_blocks_with_arguments_and_successors(version: int) -> None:
    jump = h.op(2, h.HAS_SUCCESSORS | h.HAS_OPERANDS, h.varints(1, 0), h.varints(1, 1))
    blocks = h.block(jump, arguments=arguments(version, 0)), h.block(h.op(2, 0), arguments=arguments(version, 0, 0))
    outer = h.op(1, h.HAS_REGIONS, h.isolated(version, h.region(3, *blocks)))
    (op,) = h.operations(h.read_file(graph(version, outer, values=0)))
    first, second = op.regions[0].blocks
    assert first.operations[0].successors == [second.label]
    assert first.operations[0].operands == first.arguments
    assert [str(argument.type) for argument in second.arguments] == ["i32", "i32"]


def test_region_without_blocks() -> None:
    (op,) = h.operations(h.read_file(graph(6, h.op(1, h.HAS_REGIONS, h.isolated(6, h.region(0))), values=0)))
    assert [region.blocks for region in op.regions] == [[]]


def test_region_that_sees_values_from_above() -> None:
    use = h.region(0, h.block(h.op(2, h.HAS_OPERANDS, h.varints(1, 0))))
    ops = h.op(2, h.HAS_RESULTS, h.varints(1, 0)), h.op(1, h.HAS_REGIONS, h.varint(1 << 1), use)
    first, second = h.operations(h.read_file(graph(6, *ops, values=1)))
    assert second.regions[0].block.operations[0].operands == first.results


def test_regions_nested_too_deeply() -> None:
    ir = h.block(h.op(0, 0))
    for _ in range(2000):
        ir = h.block(h.op(0, h.HAS_REGIONS, h.varint(1 << 1), h.varints(1, 0) + ir))
    assert "levels deep" in str(h.error_of(h.File(ir=ir).data()))
