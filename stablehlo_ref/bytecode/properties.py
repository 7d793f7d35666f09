"""Which inherent attributes an op has in bytecode, from version 5 of the format on.

They are written in the order of their names, without them: one that must be given as its index, any other as an index
with a flag. They follow from the op's definition; the tables below say where MLIR's definition differs, and what ops of
other dialects have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from stablehlo_ref.bytecode.encoding import encode_varint
from stablehlo_ref.bytecode.entries import EntryReader
from stablehlo_ref.bytecode.sections import FormatVersion
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, NO_OVERFLOW
from stablehlo_ref.define.definition import REGISTRY, WITHOUT_MEANING
from stablehlo_ref.define.members import REQUIRED
from stablehlo_ref.ir.attributes import DenseArray
from stablehlo_ref.ir.types import integer_type

SEGMENT_SIZES = ("operandSegmentSizes", "resultSegmentSizes")
SEGMENTS: Mapping[str, int] = {  # how many there are; 2 for other ops
    "cf.cond_br": 3, "cf.switch": 3, "tensor.extract_slice": 4, "tensor.insert_slice": 5, "tensor.pad": 3,
}  # fmt: skip


class Property(NamedTuple):
    name: str
    is_optional: bool


def _properties(words: Iterable[str]) -> tuple[Property, ...]:
    """Return properties by their names; those with `?` are optional."""
    return tuple(Property(word.rstrip("?"), word.endswith("?")) for word in words)


# Attributes that mean what leaving them out means.
IMPLIED = (NO_FAST_MATH, NO_OVERFLOW)

# Ops whose definition here does not say what MLIR's does, or that have no definition.
DIFFERENT: Mapping[str, tuple[Property, ...]] = {
    op: _properties(text.split())
    for op, text in {
        **dict.fromkeys(["arith.convertf", "arith.scaling_truncf"], "fastmath? roundingmode?"),
        **dict.fromkeys(["arith.flush_denormals", "arith.scaling_extf"], "fastmath?"),
        "sdy.mesh": "mesh sym_name",
        "stablehlo.select_and_scatter": "padding? window_dimensions? window_strides?",
        "tensor.expand_shape": "reassociation static_output_shape",
    }.items()
}

# Attributes that ops have not always had, the latest first: files of earlier versions lack them.
LATER: Mapping[str, tuple[str, ...]] = {
    "chlo.top_k": ("is_stable",),
    "func.call": ("res_attrs", "arg_attrs", "no_inline"),
    "func.call_indirect": ("res_attrs", "arg_attrs"),
    "func.func": ("no_inline",),
    "math.fma": ("roundingmode",),
    "sdy.all_reduce": ("reduction_op",),
    "sdy.reduce_scatter": ("reduction_op",),
    "stablehlo.collective_broadcast": ("has_dynamic_root",),
    "stablehlo.custom_call": ("result_tilings",),
    "stablehlo.dot_general": ("algorithm",),
    "stablehlo.recv": ("source_target_pairs",),
    "stablehlo.send": ("source_target_pairs",),
    "sdy.named_computation": ("out_shardings", "in_shardings"),
    **dict.fromkeys(["arith.convertf", "arith.scaling_truncf"], ("fastmath", "roundingmode")),
    **dict.fromkeys(["arith.flush_denormals", "arith.scaling_extf"], ("fastmath",)),
}


@cache
def properties_of(op: str) -> tuple[Property, ...] | None:
    """Return an op's properties in the order of their names, without the sizes of segments; None for an unknown op."""
    if op in DIFFERENT:
        return DIFFERENT[op]
    definition = REGISTRY.get(op)
    if definition is None:
        return () if op.startswith("arith.") else None
    grouped = {member.name for group in definition.groups.values() for member in group.fields.values()}
    found = [Property(m.spelling, m.default is not REQUIRED) for m in definition.attributes.values()
             if m.name not in grouped and m.spelling not in SEGMENT_SIZES and "." not in m.spelling]  # fmt: skip
    found += [Property(name, True) for name in WITHOUT_MEANING.get(op, ())]
    for group in definition.groups.values():
        is_required = group.is_required or any(m.default is REQUIRED for m in group.fields.values())
        found.append(Property(group.name, not is_required))
    return tuple(sorted(found))


@cache
def has_segments(op: str) -> tuple[str, ...]:
    """Return which sizes of segments are properties of an op."""
    definition = REGISTRY.get(op)
    spelled = {member.spelling for member in definition.attributes.values()} if definition else set()
    return tuple(name for name in SEGMENT_SIZES if name in spelled)


def with_segments(op: str) -> tuple[Property, ...]:
    """Return an op's properties before version 6 of the format, when sizes of segments were attributes among them."""
    return tuple(sorted((*(properties_of(op) or ()), *(Property(name, False) for name in has_segments(op)))))


# --- from bytes -----------------------------------------------------------------------------------------------------


def read_op_properties(op: str, reader: EntryReader, version: int) -> dict[str, Any]:
    """Read the inherent attributes of an op, as written, from its properties."""
    known = properties_of(op)
    if known is None:
        raise reader.unsupported(f"unsupported properties of op '{op}', which is not known")
    attributes: dict[str, Any] = {}
    segments = has_segments(op)
    if segments and version < FormatVersion.NATIVE_SEGMENT_SIZES:
        known = with_segments(op)
    for name, is_optional in known if segments else _present(op, known, reader):
        value = reader.optional_attribute() if is_optional else reader.attribute()
        if value is not None:
            attributes[name] = value
    if version >= FormatVersion.NATIVE_SEGMENT_SIZES:
        count = SEGMENTS.get(op, 2)
        attributes |= {name: DenseArray(integer_type(32), _read_sparse(reader, count)) for name in segments}
    reader.expect_end(f"the properties of op '{op}'")
    return attributes


def stated(op: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """Leave out attributes that mean what leaving them out means."""
    if not op.startswith(("arith.", "complex.", "math.")):
        return attributes
    return {name: value for name, value in attributes.items() if value not in IMPLIED}


def _present(op: str, known: Sequence[Property], reader: EntryReader) -> Sequence[Property]:
    """Leave out properties that the version of the op in the file has not; MalformedError if the number is wrong."""
    count = _count_varints(reader)
    missing = set(_later(op)[: max(len(known) - count, 0)])
    present = [property for property in known if property.name not in missing]
    if len(present) != count:
        raise reader.error(f"expected {len(known)} properties of op '{op}', got {count}")
    return present


def _later(op: str) -> Sequence[str]:
    """Return the attributes that an op has not always had, the latest first: in arith all that are optional."""
    definition = REGISTRY.get(op)
    if definition is None or definition.dialect != "arith":
        return LATER.get(op, ())
    return [m.spelling for m in reversed([*definition.attributes.values()]) if m.default is not REQUIRED]


def _count_varints(reader: EntryReader) -> int:
    start, count = reader.position, 0
    while reader.remaining:
        reader.varint()
        count += 1
    reader.position = start
    return count


def _read_sparse(reader: EntryReader, expected: int) -> tuple[int, ...]:
    """Read sizes: all of them, or only those that are not zero, each with its index in its low bits."""
    offset = reader.offset
    count, is_sparse = reader.flagged_varint()
    sizes = [0] * expected
    if count > expected or (count not in (0, expected) and not is_sparse):
        raise reader.error(f"expected {expected} sizes of segments, got {count}", offset)
    if not is_sparse:
        return tuple(reader.varints(count)) if count else tuple(sizes)
    bits = reader.varint() if count else 0
    for value in reader.varints(count):
        index = value & ((1 << min(bits, 64)) - 1)
        if index >= expected:
            raise reader.error(f"segment {index} does not exist; there are {expected}", offset)
        sizes[index] = value >> bits
    return tuple(sizes)


# --- to bytes -------------------------------------------------------------------------------------------------------


def encode_sparse(sizes: Sequence[int]) -> bytes:
    """Encode sizes of segments: all of them, or only those that are not zero if they are less than half."""
    given = [(index, size) for index, size in enumerate(sizes) if size]
    if len(given) > len(sizes) // 2:
        return b"".join(map(encode_varint, (len(sizes) << 1, *sizes)))
    if not given:
        return encode_varint(0)
    bits = given[-1][0].bit_length()
    return b"".join(map(encode_varint, (len(given) << 1 | 1, bits, *(size << bits | index for index, size in given))))
