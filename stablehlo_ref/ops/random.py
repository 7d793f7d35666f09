"""Random numbers: rng_bit_generator, a function of its state, and rng, which draws from the run's own source."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.ir.types import IntegerType
from stablehlo_ref.kinds import (
    Kind,
    boolean_scalar,
    boolean_tensor,
    float_tensor,
    integer_scalar,
    integer_tensor,
    integer_vector,
)
from stablehlo_ref.numerics.counter_based import normal, philox_bits, threefry_bits, uniform
from stablehlo_ref.numerics.dtypes import FLOAT64, INT64, UINT64, kind, numpy_dtype
from stablehlo_ref.spec import dim, element_type, is_float, make_tensor_type, rank
from stablehlo_ref.spec import shape as shape_of

Array = Any
Run = Callable[..., Any]

BLOCK = 1 << 15  # numbers made at a time, so that what they are made of needs little memory


class RngAlgorithm(Enum):
    DEFAULT = 0
    THREE_FRY = 1
    PHILOX = 2


class RngDistribution(Enum):
    UNIFORM = 1
    NORMAL = 2


state_vector = Kind(
    "1-dimensional tensor of type ui64",
    lambda t: integer_vector.holds(t) and element_type(t) == IntegerType(64, "u"),
)

float_scalar = Kind("0-dimensional tensor of floating-point type", lambda t: float_tensor.holds(t) and rank(t) == 0)


class RngBitGenerator(Op, op="rng_bit_generator"):
    """Uniform random bits, as the bits of `output`, and the state after them.

    The state is the key, then the counter: one word of it with two words of state, two with three, the lower first.
    With two, PHILOX takes the key as the upper word of its counter too. DEFAULT is PHILOX. All as in XLA on CPUs.
    """

    initial_state = In(state_vector)  # I2
    rng_algorithm = Attr(RngAlgorithm)  # I1
    output_state = Out(state_vector)
    output = Out(integer_tensor | float_tensor)

    syntax = "operands, algorithm = $rng_algorithm attr-dict : functional_type"

    @staticmethod
    def constraints(C: Any, initial_state: Any, rng_algorithm: Any, output_state: Any) -> None:
        C(1, shape_of(initial_state) == shape_of(output_state))
        if rng_algorithm is RngAlgorithm.THREE_FRY:
            C(2, dim(initial_state, 0) == 2)
        else:
            C(2, 2 <= dim(initial_state, 0) <= 3)

    @staticmethod
    def infer(initial_state: Any, output: Any) -> Any:
        return initial_state, output

    @staticmethod
    def plan(rng_algorithm: RngAlgorithm, output: Any) -> Run:
        sizes, dtype = shape_of(output), numpy_dtype(element_type(output))

        def three_fry(initial_state: Array) -> tuple[Array, Array]:
            key, counter = initial_state.tolist()
            bits, counter = threefry_bits(key, counter, sizes, dtype)
            return state_of(key, counter, 1), bits

        def philox(initial_state: Array) -> tuple[Array, Array]:
            key, low, *high = initial_state.tolist()
            counter = low | (high or [key])[0] << 64
            bits, counter = philox_bits(key, counter, sizes, dtype)
            return state_of(key, counter, 1 + len(high)), bits

        return three_fry if rng_algorithm is RngAlgorithm.THREE_FRY else philox

    @staticmethod
    def open_cases() -> Any:
        return lambda initial_state: [Choice.RNG_BITS]


def state_of(key: int, counter: int, count: int) -> Array:
    """A state: the key, and the `count` low words of the counter."""
    return np.array([key, *(counter >> 64 * i & 2**64 - 1 for i in range(count))], UINT64)


class Rng(Op, op="rng"):
    """Random numbers from [`a`, `b`), or with mean `a` and standard deviation `b`.

    The n-th time that a run draws, it draws from Philox with the run's seed as key and n as the upper word of the
    counter; so every run of a program draws the same. The seed is 0 unless the run is given another. Numbers are made
    in f64, or of 64 random bits modulo `b - a`, and rounded once. Where `a >= b`, UNIFORM gives `a`.
    """

    effects = True
    shaping = ("shape",)

    a = In(integer_scalar | boolean_scalar | float_scalar)  # I1
    b = In(integer_scalar | boolean_scalar | float_scalar)  # I2
    shape = In(integer_vector)  # I3
    rng_distribution = Attr(RngDistribution)  # I4
    result = Out(integer_tensor | boolean_tensor | float_tensor)

    syntax = "operands, distribution = $rng_distribution attr-dict : functional_type"

    @staticmethod
    def infer(a: Any, shape: Any, result: Any, constants: Any) -> Any:
        known = constants.get("shape")
        sizes = shape_of(result) if known is None else known.tolist()
        return make_tensor_type(sizes, element_type(a))

    @staticmethod
    def constraints(C: Any, infer: Any, a: Any, b: Any, shape: Any, rng_distribution: Any, result: Any) -> None:
        C(1, element_type(a) == element_type(b) == element_type(result))
        if rng_distribution is RngDistribution.NORMAL:
            C(2, is_float(a))
        C(3, dim(shape, 0) == rank(result) and shape_of(result) == shape_of(infer()))

    @staticmethod
    def plan(rng_distribution: RngDistribution, result: Any) -> Run:
        sizes, dtype = shape_of(result), numpy_dtype(element_type(result))
        if rng_distribution is RngDistribution.NORMAL:
            make, pieces = normal_between, 2
        else:
            make, pieces = uniform_floats if kind(dtype) == "floating" else uniform_integers, 1
        count = -(-prod(sizes) // pieces) * pieces
        places = blocks(count, pieces)

        def run(context: Any, a: Array, b: Array, shape: Array) -> Array:
            numbers, a, b = np.empty(count, dtype), np.asarray(a), np.asarray(b)
            for block in places:
                made = make(a, b, words(context.rng_seed, context.draws, block))
                for place, part in zip(block, np.split(made, pieces)):
                    numbers[place] = part
            context.draws += 1
            return numbers[: prod(sizes)].reshape(sizes)

        return run

    @staticmethod
    def open_cases(rng_distribution: RngDistribution) -> Any:
        def cases(a: Array, b: Array, shape: Array) -> list[Choice]:
            is_fine = b >= 0 if rng_distribution is RngDistribution.NORMAL else a < b
            return [Choice.RNG] if is_fine else [Choice.RNG_BOUNDS]

        return cases


def blocks(count: int, pieces: int) -> list[list[slice]]:
    """Where the numbers are that are made at a time: in each of `pieces` equal pieces of all `count` of them."""
    length = count // pieces
    starts = [(start, min(start + BLOCK, length)) for start in range(0, length, BLOCK)]
    return [[slice(i * length + start, i * length + stop) for i in range(pieces)] for start, stop in starts]


def words(seed: int, draw: int, places: list[slice]) -> Array:
    """Words of 64 bits of a draw, by their numbers, one after another; a counter is for two."""
    if all(place.stop == after.start for place, after in pairwise(places)):
        places = [slice(places[0].start, places[-1].stop)]
    parts = []
    for place in places:
        first = place.start // 2
        bits, _ = philox_bits(seed, (draw << 64) + first, (place.stop - 2 * first + 1 & ~1,), UINT64)
        parts.append(bits[place.start - 2 * first : place.stop - 2 * first])
    return np.concatenate(parts)


def normal_between(a: Array, b: Array, bits: Array) -> Array:
    """Numbers with mean `a` and standard deviation `b`."""
    return (a.astype(FLOAT64) + b.astype(FLOAT64) * normal(bits)).astype(a.dtype)


def uniform_floats(a: Array, b: Array, bits: Array) -> Array:
    """Numbers from [`a`, `b`); what would be rounded to `b` is the number before it."""
    low, high, part = a.astype(FLOAT64), b.astype(FLOAT64), uniform(bits)
    numbers = (low * (1 - part) + high * part).astype(a.dtype)
    return np.where(low < high, np.where(numbers < b, numbers, np.nextafter(b, a)), a)


def uniform_integers(a: Array, b: Array, bits: Array) -> Array:
    """Integers or booleans from [`a`, `b`)."""
    low, high = int(a), int(b)
    if low >= high:
        return np.broadcast_to(a, bits.shape)
    return (bits % UINT64.type(high - low) + UINT64.type(low % 2**64)).view(INT64).astype(a.dtype)
