"""Values of the members of an op (types, attributes, signatures of regions): random ones, and steps between values.

Nothing here knows an op. A value is drawn from what its member declares (a `TypeConstraint`, the codec of an
attribute), mostly of numbers and types that other members have: constraints relate members.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cache, lru_cache
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from stablehlo_ref.define import attribute_codecs as codecs
from stablehlo_ref.define.members import REQUIRED, Attr, Bodies, Body, In, Ins, Member, Out, Outs
from stablehlo_ref.define.type_constraints import TypeConstraint
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    INDEX,
    TOKEN,
    WITNESS,
    ComplexType,
    FunctionType,
    FutureType,
    IntegerType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.passes.emit import dense, static_shape

Members: TypeAlias = dict[str, Any]  # the values of an op's members by name, as its roles get them


class NotDrawn(Exception):
    """No value is known of a type constraint or of a kind of attribute."""


class Values(Member):
    """The values of an operand that the shape of the result depends on, row by row."""

    def __init__(self, operand: str) -> None:
        self.operand = operand
        self.name = f"values of {operand}"


class Callee(Member):
    """The signature of the function that a symbol names."""

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.name = f"signature of {symbol}"


CALLEE = "callee"  # the function that symbols name
STRINGS = (
    "", "x", "my.op", "Sharding", "ab,bc->ac", "a...,a...->...", "ab,b->a", "ab->ba", "aa->a", "ab->a", "a...->...",
)  # fmt: skip
COMMON = (FLOATS["f32"], integer_type(32), BOOLEAN, FLOATS["bf16"], ComplexType(FLOATS["f32"]), integer_type(8, "u"))
OTHERS = (
    *(integer_type(width, sign) for width in (2, 4, 8, 16, 32, 32, 64) for sign in ("", "u")),
    *(FLOATS[name] for name in FLOATS if name not in ("tf32", "f80", "f128")),
    ComplexType(FLOATS["f64"]),
)
SCALAR = tensor_type((), FLOATS["f32"])
PER_TENSOR = QuantizedType(IntegerType(8), FLOATS["f32"], (0.5,), (3,), -128, 127)
QUANTIZED = (
    PER_TENSOR,
    replace(PER_TENSOR, scales=(0.25,)),
    replace(PER_TENSOR, zero_points=(0,)),
    replace(PER_TENSOR, storage_min=-127),
    replace(PER_TENSOR, expressed_type=FLOATS["bf16"]),
    QuantizedType(IntegerType(8, "u"), FLOATS["f32"], (0.5,), (128,), 0, 255),
    QuantizedType(IntegerType(32), FLOATS["f32"], (0.5,), (0,), -(1 << 31), (1 << 31) - 1),
)


def draw_element_type(rng: random.Random) -> Type:
    """Return an element type: half of the time one of those that most programs have."""
    if rng.random() < 0.08:
        return rng.choice(QUANTIZED)
    return rng.choice(COMMON if rng.random() < 0.6 else OTHERS)


def draw_shape(rng: random.Random, max_rank: int = 3) -> tuple[int, ...]:
    """Return a small shape: sizes of 0 are rare, as they make most programs empty."""
    return tuple(rng.choice((1, 2, 2, 3, 3, 4, 5, 0)) for _ in range(rng.randint(0, max_rank)))


def draw_type(rng: random.Random, constraint: TypeConstraint) -> Type:
    """Return a type that a constraint accepts; NotDrawn if none is found."""
    for attempt in range(400):
        found: Type = tensor_type(draw_shape(rng, rng.choice((0, 1, 2, 3, 4))), draw_element_type(rng))
        if attempt % 8 == 7:
            found = rng.choice((TOKEN, TupleType((found,)), FutureType((found,)), INDEX, WITNESS, per_axis_tensor(rng)))
        if constraint.holds(found):
            return found
    raise NotDrawn(f"no type is known that is {constraint.name}")


def draw_tensor(rng: random.Random, element: Type, shape: tuple[int, ...] | None = None) -> TensorType:
    """Return a tensor type with an element type; if that is quantized along an axis, another one that is."""
    if isinstance(element, QuantizedType) and element.quantization_dimension is not None:
        return per_axis_tensor(rng)
    return tensor_type(draw_shape(rng) if shape is None else shape, element)


def per_axis_tensor(rng: random.Random) -> TensorType:
    """Return a tensor that is quantized along one axis."""
    shape = (*draw_shape(rng, 2), rng.randint(1, 3))
    return tensor_type(shape, per_axis(len(shape) - 1, shape[-1]))


def per_axis(axis: int, size: int) -> QuantizedType:
    """Return an element type that is quantized along an axis of `size`."""
    scales = tuple(0.5 * 2.0 ** -(i % 3) for i in range(size))
    return QuantizedType(IntegerType(8), FLOATS["f32"], scales, (0,) * size, -128, 127, axis)


# --- members ----------------------------------------------------------------------------------------------------------


def draw_member(rng: random.Random, member: Member, known: Members) -> Any:
    """Return a value of a member; `known` are those of the members before it."""
    match member:
        case In() | Out():
            if isinstance(member, In) and member.optional and rng.random() < 0.5:
                return None
            similar = [t for t in types_in(known) if member.constraint.holds(t)]
            if not similar or rng.random() < 0.1:
                return draw_type(rng, member.constraint)
            chosen = rng.choice(similar)
            if isinstance(chosen, TensorType) and rng.random() < 0.2:  # of another shape
                chosen = draw_tensor(rng, chosen.element_type)
            return chosen if member.constraint.holds(chosen) else draw_type(rng, member.constraint)
        case Ins() | Outs():
            return tuple(draw_member(rng, In(member.constraint), known) for _ in range(rng.choice((1, 1, 2, 2, 3))))
        case Body() | Callee():
            return draw_signature(rng, known)
        case Values():
            return draw_dims(rng, known)
        case Bodies():
            return tuple(draw_signature(rng, known) for _ in range(rng.choice((0, 0, 1, 2, 3))))
        case Attr():
            if member.default is not REQUIRED and (rng.random() < 0.4 or not is_drawn(member.codec)):
                return member.default
            return draw_attribute(rng, member.codec, known)
    raise NotDrawn(f"{member} is drawn with its op")


def draw_signature(rng: random.Random, known: Members) -> FunctionType:
    """Return the types of a region: of scalars, or of tensors, that other members have; often of each twice."""
    types = _tensors_in(known) or [SCALAR]
    lists = [list(v) for v in known.values() if isinstance(v, tuple) and v and isinstance(v[0], TensorType)]
    is_list = lists and rng.random() < 0.7
    chosen = [t for t in rng.choice(lists) if isinstance(t, TensorType)] if is_list else [rng.choice(types)]
    if rng.random() < 0.7:
        chosen = [tensor_type((), t.element_type) for t in chosen]
    inputs = rng.choice((chosen * 2, chosen, [], [t for t in chosen for _ in range(2)]))
    outputs = rng.choice((chosen, chosen, [tensor_type((), BOOLEAN)], chosen[:1]))
    return FunctionType(tuple(inputs), tuple(outputs))


def types_in(members: Mapping[str, Any]) -> list[Type]:
    """Return the types of operands and results among the values of members."""
    found: list[Type] = []
    for value in members.values():
        if isinstance(value, tuple):
            found += [v for v in value if isinstance(v, Type)]
        elif isinstance(value, Type) and not isinstance(value, FunctionType):
            found.append(value)
    return found


def _tensors_in(members: Mapping[str, Any]) -> list[TensorType]:
    return [type for type in types_in(members) if isinstance(type, TensorType)]


def numbers_in(members: Mapping[str, Any]) -> list[int]:
    """Return sizes, ranks and integers among the values of members."""
    found = [0, 1]
    for type in _tensors_in(members):
        found += [len(type.shape), *(n for n in type.shape if n is not None)]
    for value in members.values():
        items = value if isinstance(value, tuple) else (value,)
        found += [v for v in items if isinstance(v, int) and not isinstance(v, bool)]
        found += [len(value)] if isinstance(value, tuple) else []
    return found


# --- attributes -------------------------------------------------------------------------------------------------------


def is_readable(codec: codecs.AttributeCodec[Any], value: Any) -> bool:
    """Return whether a codec reads a value as which it is written."""
    try:
        codec.decode(codec.encode(value))
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def draw_attribute(rng: random.Random, codec: codecs.AttributeCodec[Any], known: Members) -> Any:
    """Return a value of an attribute; NotDrawn if none is known."""
    for _ in range(40):
        value = _drawn(rng, codec, known)
        if is_readable(codec, value):
            return value
    raise NotDrawn(f"values of a {codec.name} are not drawn")


def _drawn(rng: random.Random, codec: codecs.AttributeCodec[Any], known: Members) -> Any:
    if codec.samples:
        return rng.choice(codec.samples)
    numbers = numbers_in(known)
    match codec:
        case codecs.EnumCodec():
            return rng.choice(list(codec.enum))
        case codecs.BooleanCodec() | codecs.UnitCodec():
            return rng.random() < 0.5
        case codecs.RealCodec():
            return rng.choice((1e-5, 0.5, 1.0, 0.0, -1.0))
        case codecs.IntegerCodec():
            return rng.choice((*numbers, 2, 3, -1))
        case codecs.BooleansCodec():
            return tuple(rng.random() < 0.5 for _ in range(_length(rng, known)))
        case codecs.MatrixCodec():
            numbers = [0, 0, 1, 2, -1]
            length = _length(rng, known) or rng.randint(0, 2)  # pairs of processes are as good for scalars
            return tuple((rng.choice(numbers), rng.choice(numbers)) for _ in range(length))
        case codecs.DimsCodec():
            return draw_dims(rng, known)
        case codecs.DenseCodec():
            types = [type for type in types_in(known) if _holds_numbers(type)]
            return constant_of(rng.choice(types) if types else tensor_type(draw_shape(rng), rng.choice(COMMON)))
        case codecs.ListCodec() if not isinstance(codec.element, codecs.SymbolCodec):
            return tuple(draw_attribute(rng, codec.element, known) for _ in range(rng.choice((0, 1, 1, 2))))
        case codecs.StringCodec():
            return rng.choice(STRINGS)
        case codecs.SymbolCodec():
            return CALLEE if rng.random() < 0.9 else "missing"
        case codecs.DictionaryCodec():
            return {}
        case codecs.TypeCodec():
            return rng.choice(COMMON)
    raise NotDrawn(f"values of a {codec.name} are not drawn")


def _length(rng: random.Random, known: Members) -> int:
    """Return a length of a list: mostly the rank of one of the types."""
    ranks = [t.rank for t in _tensors_in(known)]
    return rng.choice(ranks) if ranks and rng.random() < 0.9 else rng.randint(0, 3)


def draw_dims(rng: random.Random, known: Members) -> tuple[int, ...]:
    """Return a list of integers: dimensions, a permutation, sizes, or others."""
    rank = _length(rng, known)
    match rng.randrange(5):
        case 0:
            return tuple(rng.sample(range(rank), rank))
        case 1:
            return tuple(sorted(rng.sample(range(rank), rng.randint(0, rank))))
        case 2:
            return (rng.choice((0, 1, 1, 2)),) * rank
        case 3:
            return tuple(rng.choice(numbers_in(known)) for _ in range(rank))
    shapes = [t.shape for t in _tensors_in(known)]
    return tuple(n or 0 for n in rng.choice(shapes)) if shapes else ()


def constant_of(type: TensorType) -> DenseElements:
    """Return a constant of a static type: the numbers 0, 1, ... as its type has them."""
    return dense(type, np.arange(type.size).reshape(static_shape(type)))


def array_of(type: TensorType, values: Sequence[int]) -> Array:
    """Return the array of a shape operand: its values from the first, as often as its type has elements."""
    array = np.resize(np.array(values or (1,), np.int64), [n or 0 for n in type.shape])
    return array.astype(numpy_dtype(type.element_type))


@cache
def is_drawn(codec: codecs.AttributeCodec[Any]) -> bool:
    """Return whether values of an attribute can be drawn."""
    try:
        draw_attribute(random.Random(0), codec, {})
    except NotDrawn:
        return False
    return True


# --- random steps -----------------------------------------------------------------------------------------------------


def changed(rng: random.Random, member: Member, value: Any, known: Members) -> Any:
    """Return another value of a member: a step away, or with numbers or types of other members, or drawn anew."""
    if value is None or rng.random() < 0.15:
        return draw_member(rng, member, known)
    if rng.random() < 0.4:
        return _mixed(rng, value, known)
    near = list(neighbours(member, value))
    if rng.random() < 0.8:  # most steps leave element types alone
        own = {*_element_types(value)}
        near = [step for step in near if own.issuperset(_element_types(step))] or near
    return rng.choice(near) if near else draw_member(rng, member, known)


def _element_types(value: Any) -> list[Type]:
    if isinstance(value, FunctionType):
        value = (*value.inputs, *value.outputs)
    items = value if isinstance(value, tuple) else (value,)
    return [getattr(item, "element_type", item) for item in items if isinstance(item, Type)]


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
            other = rng.choice(_tensors_in(known) or [value])
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
MANY_SCALES = 64
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


@lru_cache(maxsize=4096)
def _near_types(type: Any) -> Sequence[Type]:
    if isinstance(type, TupleType | FutureType):
        return [replace(type, elements=elements) for elements in _near_lists(type.elements, _near_types)]
    if not isinstance(type, TensorType):
        return []
    shape, element = type.shape, type.element_type
    shapes = *_near_items(shape, _near_values), *_shorter(shape), (*shape, 1), (2, *shape), *_swapped(shape)
    found = [_typed(sizes, element) for sizes in shapes]
    found += [_typed(shape, other) for other in NEAR_ELEMENTS if other != element]
    sizes = [(axis, size) for axis, size in enumerate(shape) if size and size <= MANY_SCALES]  # a step leads to any
    found += [tensor_type(shape, per_axis(axis, size)) for axis, size in sizes]
    if isinstance(element, QuantizedType):
        found += [tensor_type(shape, other) for other in _near_quantized(element)]
    return [*found, TOKEN]


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
