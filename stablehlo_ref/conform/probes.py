"""Inputs that tell programs apart: small shapes, special values, integers whose sums are exact, then random numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod

import numpy as np

from stablehlo_ref.conform.cases import contents, every_value, special_values
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.numerics.dtypes import bit_width, kind, numpy_dtype

SIZES = (2, 3, 1, 0)  # of unknown dimensions: an even and an odd one first, then the special ones
COMPLETE = 12  # bits of all inputs together of which all values are tried
EACH_VALUE = 8  # bits of an element type all of whose values occur
LITERALS = 32  # of the programs that inputs have among their values


def shapes(types: Sequence[TensorType], most: int) -> Iterator[list[TensorType]]:
    """Yield types with sizes in place of unknown ones: all the same size first, then others, at most `most`."""
    unknown = sum(n is None for type in types for n in type.shape)
    same = [(size,) * unknown for size in SIZES]
    for sizes in islice(dict.fromkeys([*same, *product(SIZES, repeat=min(unknown, 6))]), most):
        given = iter((*sizes, *[2] * unknown))
        yield [tensor_type(tuple(next(given) if n is None else n for n in t.shape), t.element_type) for t in types]


def literals(modules: Sequence[Operation]) -> dict[DType, Array]:
    """Return numbers that stand in programs, and their neighbours, by dtype: results may change at them."""
    found: dict[DType, list[Array]] = {}
    for module in modules:
        for op in module.walk():
            array = getattr(op.properties.get("value"), "array", None)
            if op.name == "stablehlo.constant" and isinstance(array, np.ndarray) and array.size:
                found.setdefault(array.dtype, []).append(array.reshape(-1)[:LITERALS])
    pools = {}
    for dtype, arrays in found.items():
        values = np.concatenate(arrays)[:LITERALS]
        if kind(dtype) in ("integer", "floating"):
            with np.errstate(all="ignore"):
                one = np.ones((), dtype)
                values = np.concatenate([values, values + one, values - one]).astype(dtype)
        pools[dtype] = values
    return pools


def is_complete(types: Sequence[TensorType]) -> bool:
    """Return whether all values of inputs of these static types are tried."""
    return sum(_width(t) * prod(n or 0 for n in t.shape) for t in types) <= COMPLETE


def _width(type: TensorType) -> int:
    dtype = numpy_dtype(type.element_type)
    return 1 if kind(dtype) == "boolean" else bit_width(dtype)


def probes(types: Sequence[TensorType], pools: dict[DType, Array], seed: int) -> Iterator[list[Array]]:
    """Yield inputs of static types, without end unless all values are tried, or there is nothing to vary."""
    if is_complete(types):
        yield from _complete(types)
        return
    generator = np.random.Generator(np.random.Philox(seed))
    ways = (_numbered, _ones, _special, _small, _literal, _random, _counts, _contents, _each_value, _wide)
    number = 0
    while True:
        way = ways[number % len(ways)]
        yield [_frozen(way(generator, t, pools, number + index)) for index, t in enumerate(types)]
        number += 1


def _complete(types: Sequence[TensorType]) -> Iterator[list[Array]]:
    """Yield all inputs."""
    counts = [prod(n or 0 for n in t.shape) for t in types]
    values = [every_value(numpy_dtype(t.element_type)) if n else np.zeros(1, bool) for t, n in zip(types, counts)]
    for chosen in product(*(v for v, n in zip(values, counts) for _ in range(n))):
        elements = iter(chosen)
        yield [
            _frozen(np.array([next(elements) for _ in range(n)], numpy_dtype(t.element_type)).reshape(_sizes(t)))
            for t, n in zip(types, counts)
        ]


def _sizes(type: TensorType) -> tuple[int, ...]:
    return tuple(n or 0 for n in type.shape)


def _frozen(array: Array) -> Array:
    array = np.ascontiguousarray(array).reshape(array.shape)
    array.setflags(write=False)
    return array


# --- ways to fill an array --------------------------------------------------------------------------------------------


def _numbers(type: TensorType, values: Array) -> Array:
    """Return integers as numbers of a type, as far as it has them."""
    dtype = numpy_dtype(type.element_type)
    if kind(dtype) == "boolean":
        return np.asarray(values % 2 != 0).reshape(_sizes(type))
    with np.errstate(all="ignore"):
        if kind(dtype) == "integer" and bit_width(dtype) < 8:
            values = values % (1 << bit_width(dtype) - 1)
        return np.asarray(values.astype(np.int8).astype(dtype).reshape(_sizes(type)))


def _numbered(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    """Fill with different small integers in order, by which data that moved is known."""
    return _numbers(type, (np.arange(prod(_sizes(type))) + 1 + number) % 127)


def _ones(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    return _numbers(type, np.ones(prod(_sizes(type)), int))


def _small(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    """Fill with integers among which equal ones are frequent, and products and sums are exact."""
    low = 0 if str(type.element_type).startswith("ui") else -4
    return _numbers(type, generator.integers(low, 5, prod(_sizes(type))))


def _counts(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    """Fill with small integers that are not negative, for which conversions and indices are defined."""
    return _numbers(type, generator.integers(0, 4, prod(_sizes(type))))


def _wide(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    """Fill with floating-point numbers of very different sizes, and with integers up to 40, as shifts are."""
    dtype = numpy_dtype(type.element_type)
    if kind(dtype) != "floating":
        return _numbers(type, generator.integers(0, 40, prod(_sizes(type))))
    with np.errstate(all="ignore"):
        sizes = 10.0 ** generator.uniform(-4, 4, _sizes(type)) * generator.choice([-1.0, 1.0, 1.0], _sizes(type))
        return np.asarray(sizes).astype(dtype)


def _special(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    dtype = numpy_dtype(type.element_type)
    if kind(dtype) not in ("integer", "floating"):
        return _random(generator, type, pools, number)
    pool = special_values(type.element_type)
    return np.asarray(pool[generator.integers(0, len(pool), _sizes(type))])


def _literal(generator: np.random.Generator, type: TensorType, pools: dict[DType, Array], number: int) -> Array:
    """Fill with numbers of the programs."""
    pool = pools.get(numpy_dtype(type.element_type))
    if pool is None:
        return _small(generator, type, pools, number)
    return np.asarray(pool[generator.integers(0, len(pool), _sizes(type))])


def _each_value(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    """Fill with all values of a small type in a random order, a part at a time."""
    dtype = numpy_dtype(type.element_type)
    if kind(dtype) == "complex" or _width(type) > EACH_VALUE:
        return _contents(generator, type, pools, number)
    every, size = generator.permutation(every_value(dtype)), prod(_sizes(type))
    return np.asarray(np.resize(every, size).reshape(_sizes(type)))


def _random(generator: np.random.Generator, type: TensorType, pools: object, number: int) -> Array:
    """Fill with any bits of an integer type, and with normally distributed numbers of others."""
    dtype = numpy_dtype(type.element_type)
    if kind(dtype) == "integer" and bit_width(dtype) >= 8:
        data = generator.bytes(dtype.itemsize * prod(_sizes(type)))
        return np.frombuffer(data, dtype).reshape(_sizes(type))
    return np.array(contents(generator, type))


def _contents(generator: np.random.Generator, type: Type, pools: object, number: int) -> Array:
    return np.array(contents(generator, type))
