"""Smaller variants of a program: sizes, attributes, and values of its inputs. Only valid programs are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stablehlo_ref.debug.asking import Candidate
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.members import REQUIRED
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import FunctionType, TensorType, Type
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.passes.emit import read_only
from stablehlo_ref.program import Program

_EXTENTS = ("limit_indices", "slice_sizes", "window_dimensions", "broadcast_sizes", "fft_length")


def sizes_of(candidate: Candidate) -> list[int]:
    """Return the sizes of dimensions that may be made smaller, the largest first."""
    types = [v.type for op in candidate.program.module.walk() for v in (*op.results, *op.operands)]
    types += [p.type for p in candidate.program.inputs]
    found = {n for t in types if isinstance(t, TensorType) for n in t.shape if n is not None and n > 1}
    return sorted(found, reverse=True)


def resized(candidate: Candidate, old: int, new: int) -> Candidate | None:
    """Return the program with all dimensions of a size made smaller, and its inputs cut; None if that is not valid."""
    module = _copy(candidate.program.module)
    try:
        for op in module.walk():
            arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
            for value in (*op.results, *arguments):
                value.type = _smaller(value.type, old, new)
            op.properties = {name: _property(name, value, old, new) for name, value in op.properties.items()}
        inputs = [_cut(array, old, new) for array in candidate.inputs]
        return _checked(module, candidate.program, inputs)
    except (IndexError, ValueError):
        return None


def _smaller(type: Type, old: int, new: int) -> Type:
    if isinstance(type, FunctionType):
        inputs, outputs = (tuple(_smaller(t, old, new) for t in types) for types in (type.inputs, type.outputs))
        return replace(type, inputs=inputs, outputs=outputs)
    if not isinstance(type, TensorType):
        return type
    return replace(type, shape=tuple(new if n == old else n for n in type.shape))


def _property(name: str, value: object, old: int, new: int) -> object:
    if isinstance(value, Type):
        return _smaller(value, old, new)
    if isinstance(value, DenseElements) and isinstance(value.type, TensorType):
        return replace(value, type=_smaller(value.type, old, new), array=read_only(_cut(value.array, old, new)))
    if name in _EXTENTS and isinstance(value, tuple):
        return tuple(new if n == old else n for n in value)
    return value


def _cut(array: Array, old: int, new: int) -> Array:
    return np.ascontiguousarray(array[tuple(slice(0, new) if n == old else slice(None) for n in array.shape)])


def simplified(candidate: Candidate) -> Iterator[Candidate]:
    """Yield the program without discardable attributes and with default properties: all at once, then one by one."""
    ops = list(candidate.program.module.walk())
    places = [(i, name) for i, op in enumerate(ops) for name in _not_default(op)]
    for chosen in [places, *([place] for place in places if len(places) > 1)]:
        if not chosen:
            continue
        module = _copy(candidate.program.module)
        copies = list(module.walk())
        for index, name in chosen:
            op = copies[index]
            op.attributes.pop(name, None)
            op.properties = {n: value for n, value in op.properties.items() if n != name}
        if (made := _checked(module, candidate.program, candidate.inputs)) is not None:
            yield made


def _not_default(op: Operation) -> list[str]:
    definition = definition_of(op)
    names = list(op.attributes)
    if definition is None or not op.name.startswith(("stablehlo.", "chlo.")):
        return names
    optional = [name for name, member in definition.attributes.items() if member.default is not REQUIRED]
    return names + [n for n in optional if n in op.properties and op.properties[n] != definition.defaults[n]]


def simple_values(array: Array) -> Iterator[Array]:
    """Yield simpler values for an input: zeros, ones, and small integers, of its own type."""
    if kind(array.dtype) == "complex" or not array.size:
        return
    yield np.zeros(array.shape, array.dtype)
    yield np.ones(array.shape, array.dtype)
    if kind(array.dtype) == "floating":
        with np.errstate(all="ignore"):
            wide = array.astype(np.float64)
            yield np.clip(np.round(wide), -8, 8).astype(array.dtype)
            yield np.round(wide * 8).astype(array.dtype)


def with_input(candidate: Candidate, index: int, array: Array) -> Candidate:
    inputs = list(candidate.inputs)
    inputs[index] = array
    return Candidate(candidate.program, tuple(inputs))


def _copy(module: Operation) -> Operation:
    """Return a copy of a module, its blocks and functions included."""
    mapping: dict[Value, Value] = {}
    copy = Operation(module.name, [], (), dict(module.properties), dict(module.attributes), [], module.location)
    copy.regions = [Region([Block([], [clone(op, mapping) for op in module.regions[0].block.operations])])]
    copy.regions[0].parent = copy
    return copy


def _checked(module: Operation, program: Program, inputs: Sequence[Array]) -> Candidate | None:
    """Return a candidate if the program is valid and runs."""
    made = Program(module, program.entry.name, program.limits)
    try:
        made.verify().run(*inputs)
    except StablehloError:
        return None
    return Candidate(made, tuple(inputs))
