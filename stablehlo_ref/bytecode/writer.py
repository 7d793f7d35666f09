"""Program to bytes: MLIR bytecode of StableHLO. The same program is always written as the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from stablehlo_ref.bytecode.emission import WrittenName, WrittenProgram, emit
from stablehlo_ref.bytecode.encodings import builtin, plain
from stablehlo_ref.bytecode.entries import Encodings, Pool
from stablehlo_ref.bytecode.properties import Property, encode_sparse, has_segments, properties_of, with_segments
from stablehlo_ref.bytecode.sections import NEWEST, FormatVersion
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import VERBATIM, Attribute, DenseArray
from stablehlo_ref.ir.core import Operation, location_of
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.stack import FRAMES, on_enough_stack

PRODUCER = "stablehlo_ref"


def write(module: Operation, *, version: int = NEWEST, producer: str = PRODUCER) -> bytes:
    """Return `module` as MLIR bytecode of a version of the format; ValueError if there is no such version."""
    if not 0 <= version <= NEWEST:
        raise ValueError(f"unknown version {version} of MLIR bytecode; expected 0 to {NEWEST}")
    return write_program(module, PlainForm(), version, producer)


# Ops whose only attribute is another one in bytecode.
STORED_AS = {"shape.const_shape": builtin.index_tensor}


class OpForm(NamedTuple):
    """An op as it is written."""

    name: str
    inherent: Mapping[str, Attribute]
    discardable: Mapping[str, Attribute]
    properties: Sequence[Property] | None  # None for an unknown op, whose inherent attributes are one dictionary
    encodings: Encodings
    segments: Sequence[str] = ()  # sizes of segments of operands and results, which are inherent attributes as well
    is_replaced: bool = False  # by another revision of the op


class PlainForm:
    """Write ops unchanged; a subclass replaces them by others."""

    def check(self, op: Operation) -> None:
        """Refuse an op for what it is, apart from its name and attributes: here one that is only text."""
        if VERBATIM in op.properties:
            raise UnsupportedError(f"bytecode cannot hold the pretty form of '{op.name}', which has no class here")

    def form(self, op: Operation) -> OpForm:
        """Return what an op becomes, from its name and attributes: here these, as MLIR writes them."""
        definition = definition_of(op)
        inherent = definition.encode(op.properties) if definition else dict(op.properties)
        if op.name in STORED_AS:
            inherent = {name: STORED_AS[op.name](value) for name, value in inherent.items()}
        return OpForm(op.name, inherent, op.attributes, properties_of(op.name), plain, has_segments(op.name))


def write_program(module: Operation, form: PlainForm, version: int, producer: str) -> bytes:
    """Return a program as bytecode, its ops in the given form."""
    return on_enough_stack(module.location, FRAMES, _written, module, form, version, producer)


def _written(module: Operation, form: PlainForm, version: int, producer: str) -> bytes:
    program = WrittenProgram(module, Pool(plain))
    writer = _NameWriter(form, program.pool, version)
    for op in within_time(module.walk(), "writing bytecode", location_of):
        try:
            _add(op, writer, program)
        except UnsupportedError as error:
            raise _at(op, error) from error
    return emit(program, version, producer)


def _add(op: Operation, writer: _NameWriter, program: WrittenProgram) -> None:
    """Add an op and the arguments of its blocks to a program that is written."""
    writer.form.check(op)
    own = program.names[op] = writer.name(op)
    program.locations[op] = program.pool.location(op.debug_location)
    for value in (*op.results, *op.block_arguments):
        program.types[value] = program.pool.type(value.type, own.encodings)
    for argument in op.block_arguments:
        program.locations[argument] = program.pool.location(argument.location)


def _key(op: Operation) -> object:
    """Return what stands for an op's name and attributes; None if they are not simple to compare."""
    if op.attributes or not all(map(_is_simple, op.properties.values())):
        return None
    return op.name, op.spelling, *op.properties.items()


def _is_simple(value: object) -> bool:
    """Return whether a value is equal only to what is written in the same way; 0.0 and -0.0 are not."""
    if isinstance(value, tuple):
        return all(isinstance(item, int | Enum) for item in value)
    return isinstance(value, int | str | Enum)


def _at(op: Operation, error: UnsupportedError) -> UnsupportedError:
    """Return an error with the name and the place of an op, if it has none."""
    found = error.diagnostics[0]
    if found.location:
        return error
    place = "" if f"'{op.name}'" in found.message else f", in '{op.name}'"
    return UnsupportedError(found.message + place, op.location)


class _NameWriter:
    """Prepares names and attributes of ops for writing, and collects the attributes in a pool."""

    def __init__(self, form: PlainForm, pool: Pool, version: int) -> None:
        self.form = form
        self.pool = pool
        self.version = version
        self.known: dict[object, WrittenName] = {}

    def name(self, op: Operation) -> WrittenName:
        """Return what is written of an op's name and attributes, once for all ops that have the same simple ones."""
        key = _key(op)
        known = self.known.get(key) if key else None
        if known is None:
            form = self.form.form(op)
            is_registered = form.properties is not None
            known = WrittenName(form.name, is_registered, *self._attributes(form), form.encodings, form.is_replaced)
            if key:
                self.known[key] = known
        return known

    def _attributes(self, form: OpForm) -> tuple[int | None, list[tuple[int | None, bool]] | None, bytes]:
        """Return the dictionary of an op, its properties, and what follows them."""
        if self.version < FormatVersion.PROPERTIES:
            return self._dictionary({**form.discardable, **form.inherent}, form.encodings), None, b""
        if form.properties is None:
            inherent = self._dictionary(form.inherent, form.encodings)
            discardable = self._dictionary(form.discardable, form.encodings)
            return discardable, None if inherent is None else [(inherent, False)], b""
        rest = {**form.discardable, **form.inherent}
        is_legacy = form.segments and self.version < FormatVersion.NATIVE_SEGMENT_SIZES
        known = with_segments(form.name) if is_legacy else form.properties
        properties = [self._property(form, property, rest) for property in known]
        suffix = self._suffix(form, rest)
        return self._dictionary(rest, form.encodings), properties or ([] if suffix else None), suffix

    def _dictionary(self, entries: Mapping[str, Attribute], encodings: Encodings) -> int | None:
        return self.pool.dictionary(entries, encodings) if entries else None

    def _property(self, form: OpForm, property: Property, rest: dict[str, Attribute]) -> tuple[int | None, bool]:
        """Return a property, and take it out of the attributes that are left."""
        name, is_optional = property
        if name in rest:
            return self.pool.attribute(rest.pop(name), form.encodings), is_optional
        if not is_optional:
            raise UnsupportedError(f"bytecode needs the attribute '{name}'")
        return None, True

    def _suffix(self, form: OpForm, rest: dict[str, Attribute]) -> bytes:
        """Return the sizes of segments from version 6 on, and take them out of the attributes that are left."""
        if self.version < FormatVersion.NATIVE_SEGMENT_SIZES:
            return b""
        sizes = [rest.pop(name, None) for name in form.segments]
        return b"".join(encode_sparse(size.values) for size in sizes if isinstance(size, DenseArray))
