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
    MAX_RANK,
    PER_TENSOR,
    QUANTIZED,
    STRINGS,
    Callee,
    Members,
    Values,
    constant_of,
    draw_attribute,
    draw_element_type,
    draw_member,
    draw_signature,
    is_drawn,
    numbers_in,
    per_axis,
    types_in,
)
from stablehlo_ref.define import attribute_codecs as codecs
from stablehlo_ref.define.members import Attr, Bodies, Body, In, Ins, Member, Out, Outs
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.types import (
    BOOLEAN,
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
    """Return another value of a member: one step away, or that of another member, or drawn anew."""
    if rng.random() < 0.15 or value is None:
        return draw_member(rng, member, known)
    match member:
        case In() | Out():
            return changed_type(rng, value, known)
        case Ins() | Outs():
            constraint = member.constraint
            return _changed_list(
                rng, value, known, Type, changed_type, lambda rng, known: draw_member(rng, In(constraint), known)
            )
        case Body() | Callee():
            return _changed_signature(rng, value, known)
        case Bodies():
            return _changed_list(rng, value, known, FunctionType, _changed_signature, draw_signature)
        case Values():
            return _changed_integers(rng, value, known)
        case Attr():
            return _changed_attribute(rng, member, value, known)
    return value


def changed_type(rng: random.Random, type: Any, known: Members) -> Any:
    """Return a type one step away: another size, one dimension more or less, another element type, or another's."""
    others = types_in(known)
    if not isinstance(type, TensorType):
        return rng.choice(others or [type])
    other = rng.choice([t for t in others if isinstance(t, TensorType)] or [type])
    shape, element = list(type.shape), type.element_type
    match rng.randrange(10):
        case 0:
            return other
        case 1:
            return _typed(other.shape, element)
        case 2:
            return _typed(shape, other.element_type)
        case 3:
            return _typed(shape, draw_element_type(rng))
        case 4 if shape:
            shape[rng.randrange(len(shape))] = rng.choice(numbers_in(known))
        case 5 if shape:
            index = rng.randrange(len(shape))
            shape[index] = max(0, (shape[index] or 0) + rng.choice((-1, 1)))
        case 6 if len(shape) < MAX_RANK:
            shape.insert(rng.randint(0, len(shape)), rng.choice(numbers_in(known)))
        case 7 if shape:
            del shape[rng.randrange(len(shape))]
        case 8 if len(shape) > 1:
            rng.shuffle(shape)
        case 9 if isinstance(element, QuantizedType) and (axes := [axis for axis, n in enumerate(shape) if n]):
            axis = rng.choice(axes)
            element = per_axis(axis, shape[axis] or 0)
    return _typed(shape, element)


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


Step = Callable[[random.Random, Any, Members], Any]
Draw = Callable[[random.Random, Members], Any]


def _changed_list(
    rng: random.Random, values: Sequence[Any], known: Members, kind: type, step: Step, draw: Draw
) -> tuple[Any, ...]:
    """Return a list with one item more, less or changed, or the list of another member."""
    items = list(values)
    lists = [v for v in known.values() if isinstance(v, tuple) and v and all(isinstance(x, kind) for x in v)]
    match rng.randrange(5):
        case 0 if len(items) < 4:
            new = rng.choice(items) if items and rng.random() < 0.7 else draw(rng, known)
            items.insert(rng.randint(0, len(items)), new)
        case 1 if items:
            del items[rng.randrange(len(items))]
        case 2 if lists:
            items = list(rng.choice(lists))
        case _ if items:
            index = rng.randrange(len(items))
            items[index] = step(rng, items[index], known)
    return tuple(items)


def _changed_signature(rng: random.Random, value: FunctionType, known: Members) -> FunctionType:
    if rng.random() < 0.5:
        return draw_signature(rng, known)
    part = rng.choice(("inputs", "outputs"))
    types = _changed_list(rng, getattr(value, part), known, Type, changed_type, lambda rng, known: SCALAR)
    return replace(value, **{part: types})


def _changed_integers(rng: random.Random, value: tuple[int, ...], known: Members) -> tuple[int, ...]:
    """Return other values of a shape operand: a shape, or with one number changed."""
    shapes = [t.shape for t in types_in(known) if isinstance(t, TensorType)]
    if not value or (shapes and rng.random() < 0.4):
        return tuple(n or 0 for n in rng.choice(shapes)) if shapes else ()
    index = rng.randrange(len(value))
    return (*value[:index], _item_step(rng, value[index], numbers_in(known)), *value[index + 1 :])


def _changed_attribute(rng: random.Random, member: Attr, value: Any, known: Members) -> Any:
    codec = member.codec
    if not is_drawn(codec):
        return value
    if isinstance(value, bool | Enum | str) or not isinstance(value, int | tuple):
        return draw_member(rng, member, known)
    if isinstance(value, int):
        return rng.choice((value + 1, value - 1, *numbers_in(known)))
    items = list(value)
    numbers = numbers_in(known)
    match rng.randrange(7):
        case 0 if len(items) < 2 * MAX_RANK:
            items.insert(rng.randint(0, len(items)), _item(rng, codec, items, numbers))
        case 1 if items:
            del items[rng.randrange(len(items))]
        case 2 if items:
            index = rng.randrange(len(items))
            items[index] = _item_step(rng, items[index], numbers)
        case 3 if all(isinstance(item, int) for item in items):
            items.sort()
        case 4 if items and not isinstance(items[0], tuple):
            items = list(dict.fromkeys(items))
        case 5 if len(items) > 1:
            rng.shuffle(items)
        case _:
            return draw_member(rng, member, known)
    return tuple(items)


def _item(rng: random.Random, codec: codecs.AttributeCodec[Any], items: list[Any], numbers: Sequence[int]) -> Any:
    if items:
        return _item_step(rng, rng.choice(items), numbers)
    drawn = draw_attribute(rng, codec, {"x": tensor_type((1,), BOOLEAN)})
    return drawn[0] if drawn else (0, 0) if isinstance(codec, codecs.MatrixCodec) else 0


def _item_step(rng: random.Random, item: Any, numbers: Sequence[int]) -> Any:
    if isinstance(item, bool):
        return not item
    if isinstance(item, int):
        return rng.choice((item + 1, item - 1, rng.choice(numbers)))
    if isinstance(item, tuple) and item and all(isinstance(x, int) for x in item):
        index = rng.randrange(len(item))
        return (*item[:index], item[index] + rng.choice((-1, 1, 2)), *item[index + 1 :])
    return item


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
