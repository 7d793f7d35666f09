"""Random values of the members of an op: types of operands and results, attributes, signatures of regions.

Nothing here knows an op. A value is drawn from what its member declares (a `TypeConstraint`, the codec of an
attribute), mostly of numbers and types that other members have: constraints relate members.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import Any, TypeAlias

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
    ComplexType,
    FunctionType,
    FutureType,
    IntegerType,
    OpaqueType,
    QuantizedType,
    TensorType,
    TupleType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.numerics.dtypes import numpy_dtype

Members: TypeAlias = dict[str, Any]  # the values of an op's members by name, as its roles get them

MAX_RANK = 4


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


WITNESS = OpaqueType("!shape.witness")
CALLEE = "callee"  # the function that symbols name
STRINGS = (
    "",
    "x",
    "my.op",
    "Sharding",
    "ab,bc->ac",
    "a...,a...->...",
    "ab,b->a",
    "ab->ba",
    "aa->a",
    "ab->a",
    "a...->...",
)
COMMON = (FLOATS["f32"], integer_type(32), BOOLEAN, FLOATS["bf16"], ComplexType(FLOATS["f32"]), integer_type(8, "u"))
OTHERS = (
    *(integer_type(width, sign) for width in (2, 4, 8, 16, 32, 32, 64) for sign in ("", "u")),
    *(FLOATS[name] for name in FLOATS if name not in ("tf32", "f80", "f128")),
    ComplexType(FLOATS["f64"]),
)
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
    types = [t for t in types_in(known) if isinstance(t, TensorType)] or [tensor_type((), FLOATS["f32"])]
    lists = [list(v) for v in known.values() if isinstance(v, tuple) and v and isinstance(v[0], TensorType)]
    chosen = (
        [t for t in rng.choice(lists) if isinstance(t, TensorType)]
        if lists and rng.random() < 0.7
        else [rng.choice(types)]
    )
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


def numbers_in(members: Mapping[str, Any]) -> list[int]:
    """Return sizes, ranks and integers among the values of members."""
    found = [0, 1]
    for type in types_in(members):
        if isinstance(type, TensorType):
            found += [len(type.shape), *(n for n in type.shape if n is not None)]
    for value in members.values():
        if isinstance(value, int) and not isinstance(value, bool):
            found.append(value)
        elif isinstance(value, tuple):
            found += [v for v in value if isinstance(v, int) and not isinstance(v, bool)] + [len(value)]
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
            return tuple(
                (rng.choice((0, 0, 1, 2, -1)), rng.choice((0, 0, 1, 2, -1))) for _ in range(_length(rng, known))
            )
        case codecs.DimsCodec():
            return draw_dims(rng, known)
        case codecs.DenseCodec():
            return draw_constant(rng, known)
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
    ranks = [t.rank for t in types_in(known) if isinstance(t, TensorType)]
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
    shapes = [t.shape for t in types_in(known) if isinstance(t, TensorType)]
    return tuple(n or 0 for n in rng.choice(shapes)) if shapes else ()


def draw_constant(rng: random.Random, known: Members) -> DenseElements:
    """Return a tensor constant, of the type of a member where that is possible."""
    types = [t for t in types_in(known) if isinstance(t, TensorType) and not isinstance(t.element_type, QuantizedType)]
    return constant_of(rng.choice(types) if types else tensor_type(draw_shape(rng), rng.choice(COMMON)))


def constant_of(type: TensorType) -> DenseElements:
    """Return a constant of a static type: the numbers 0, 1, ... as its type has them."""
    count = prod(n or 0 for n in type.shape)
    array = np.arange(count).astype(numpy_dtype(type.element_type)).reshape([n or 0 for n in type.shape])
    array.setflags(write=False)
    return DenseElements(type, array)


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
