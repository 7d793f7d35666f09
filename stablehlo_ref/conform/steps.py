"""Steps from the value of a member to others: random ones for the search, and all of the smallest ones.

A constraint is at its edge in a program if one of the smallest steps of one member breaks it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, TypeGuard

from stablehlo_ref.conform.members import (
    COMMON,
    PER_TENSOR,
    QUANTIZED,
    STRINGS,
    Callee,
    Members,
    Values,
    constant_of,
    draw_member,
    numbers_in,
    per_axis,
    types_in,
)
from stablehlo_ref.define import attribute_codecs as codecs
from stablehlo_ref.define.members import Attr, Bodies, Body, In, Ins, Member, Out, Outs
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.types import (
    FLOATS,
    TOKEN,
    FunctionType,
    FutureType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
    integer_type,
    tensor_type,
)

SCALAR = tensor_type((), FLOATS["f32"])
MAX_SIZE = 64

# --- random steps -----------------------------------------------------------------------------------------------------


def changed(rng: random.Random, member: Member, value: Any, known: Members) -> Any:
    """Return another value of a member: a step away, or with numbers or types of other members, or drawn anew."""
    if value is None or rng.random() < 0.2:
        return draw_member(rng, member, known)
    if rng.random() < 0.4:
        return _mixed(rng, value, known)
    near = list(neighbours(member, value))
    return rng.choice(near) if near else draw_member(rng, member, known)


def _mixed(rng: random.Random, value: Any, known: Members) -> Any:
    """Return a value in which one part is that of another member."""
    match value:
        case bool() | Enum() | str():
            return value
        case int():
            return rng.choice(numbers_in(known))
        case FunctionType():
            part = rng.choice(("inputs", "outputs"))
            return replace(value, **{part: _mixed(rng, getattr(value, part), known)})
        case TensorType():
            other = rng.choice([t for t in types_in(known) if isinstance(t, TensorType)] or [value])
            sizes = rng.choice((value.shape, other.shape, _mixed(rng, value.shape, known)))
            return _typed(sizes, rng.choice((value, other)).element_type)
        case tuple() if value:
            alike = [v for v in known.values() if isinstance(v, tuple) and v and type(v[0]) is type(value[0])]
            if alike and rng.random() < 0.4:
                return rng.choice(alike)
            index = rng.randrange(len(value))
            return (*value[:index], _mixed(rng, value[index], known), *value[index + 1 :])
    return value


def _typed(shape: Sequence[int | None], element: Type) -> TensorType:
    """Return a tensor type; a quantization axis and its parameters follow the shape where they can."""
    sizes = tuple(min(max(n or 0, 0), 64) for n in shape)
    if isinstance(element, QuantizedType) and element.quantization_dimension is not None:
        axis = min(element.quantization_dimension, len(sizes) - 1)
        if axis < 0:
            element = PER_TENSOR
        elif len(element.scales) != sizes[axis]:
            element = per_axis(axis, sizes[axis]) if sizes[axis] else PER_TENSOR
    return tensor_type(tuple(map(int, sizes)), element)


# --- smallest steps ---------------------------------------------------------------------------------------------------

_FIRST: dict[type, tuple[Any, ...]] = {  # the smallest lists that are not empty, by the codec
    codecs.DimsCodec: ((0,), (1,)),
    codecs.BooleansCodec: ((True,),),
    codecs.MatrixCodec: (((0, 0),),),
}
NEAR_ELEMENTS = (*COMMON, FLOATS["f64"], integer_type(64), *QUANTIZED)


def neighbours(member: Member, value: Any) -> Iterator[Any]:
    """Yield the values of a member that are one smallest step away."""
    match member:
        case In() | Out():
            if isinstance(member, In) and member.optional and value is not None:
                yield None
            yield from _near_types(value)
        case Ins() | Outs():
            yield from _near_lists(value, _near_types)
        case Body() | Callee():
            yield from _near_signatures(value)
        case Bodies():
            yield from _near_lists(value, _near_signatures)
        case Values():
            yield from _near_items(value, _near_values)
        case Attr():
            yield from member.codec.samples
            yield from _near_values(value)
            if value in ((), None):
                yield from _FIRST.get(type(member.codec), ())


def _near_types(type: Any) -> Iterator[Type]:
    if isinstance(type, TupleType | FutureType):
        for elements in _near_lists(type.elements, _near_types):
            yield replace(type, elements=elements)
    if not isinstance(type, TensorType):
        return
    shape, element = type.shape, type.element_type
    for sizes in _near_items(shape, _near_values):
        yield _typed(sizes, element)
    yield from (_typed(sizes, element) for sizes in (*_shorter(shape), (*shape, 1), (2, *shape), *_swapped(shape)))
    yield from (_typed(shape, other) for other in NEAR_ELEMENTS if other != element)
    for axis, size in enumerate(shape):
        if size:
            yield tensor_type(shape, per_axis(axis, size))
    if isinstance(element, QuantizedType):
        yield from (tensor_type(shape, other) for other in _near_quantized(element))
    yield TOKEN


def _near_quantized(element: QuantizedType) -> Iterator[QuantizedType]:
    yield replace(element, scales=tuple(s / 2 for s in element.scales))
    yield replace(element, zero_points=tuple(z + 1 for z in element.zero_points))
    yield replace(element, storage_max=element.storage_max - 1)
    yield replace(element, storage_min=element.storage_min + 1)
    yield replace(element, expressed_type=FLOATS["bf16" if element.expressed_type == FLOATS["f32"] else "f32"])


def _near_signatures(signature: FunctionType) -> Iterator[FunctionType]:
    yield from (replace(signature, inputs=types) for types in _near_lists(signature.inputs, _near_types))
    if not signature.inputs:
        yield replace(signature, inputs=(SCALAR,))
    yield from (replace(signature, outputs=types) for types in _near_lists(signature.outputs, _near_types))


def _near_values(value: Any) -> Iterator[Any]:
    """Yield values of an attribute, or of an item of one."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (other for other in value.__class__ if other is not value)
        case int():
            yield from (value - 1, value + 1)
        case float():
            yield from (value + 1.0, value - 1.0, 0.0, -1.0)
        case str():
            yield from (text for text in STRINGS if text != value)
            yield from map("".join, _near_lists(value, lambda letter: "c"))
        case tuple():
            yield from _near_lists(value, _near_values)
        case DenseElements():
            yield from (constant_of(t) for t in _near_types(value.type) if _holds_numbers(t))
        case Type():
            yield from (other for other in COMMON if other != value)


def _holds_numbers(type: Type) -> TypeGuard[TensorType]:
    return isinstance(type, TensorType) and not isinstance(type.element_type, QuantizedType)


def _near_lists(items: Sequence[Any], near: Callable[[Any], Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield lists with one item more, less, changed, or exchanged with the next one."""
    yield from _near_items(items, near)
    yield from _shorter(items)
    yield from ((*items[:i], item, *items[i:]) for i, item in enumerate(items))
    yield from _swapped(items)


def _near_items(items: Sequence[Any], near: Callable[[Any], Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    for index, item in enumerate(items):
        yield from ((*items[:index], other, *items[index + 1 :]) for other in near(item))


def _shorter(items: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    yield from ((*items[:i], *items[i + 1 :]) for i in range(len(items)))
    if len(items) > 1:
        yield ()


def _swapped(items: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for i in range(len(items) - 1):
        if items[i] != items[i + 1]:
            yield (*items[:i], items[i + 1], items[i], *items[i + 2 :])
