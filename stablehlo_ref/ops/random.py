"""Random numbers: rng_bit_generator, a function of its state, and rng, which draws from the source of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import pairwise
from math import prod

import numpy as np

from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.facts import OPEN
from stablehlo_ref.define.op import Attr, In, Op, Out, returns
from stablehlo_ref.define.spec import dim, element_type, is_float, make_tensor_type, rank
from stablehlo_ref.define.spec import shape as shape_of
from stablehlo_ref.define.type_constraints import (
    boolean_scalar,
    boolean_tensor,
    float_tensor,
    integer_scalar,
    integer_tensor,
    integer_vector,
    static_size_vector,
    tensor_of,
)
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import IntegerType, TensorType
from stablehlo_ref.numerics.counter_based_rng import normal, philox_bits, threefry_bits, uniform
from stablehlo_ref.numerics.dtypes import FLOAT64, INT64, UINT64, kind, numpy_dtype

BLOCK = 1 << 15  # numbers generated at a time, so that their random bits need little memory


class RngAlgorithm(Enum):
    """The generator of random bits."""

    DEFAULT = 0
    THREE_FRY = 1
    PHILOX = 2


class RngDistribution(Enum):
    """The distribution of random numbers."""

    UNIFORM = 1
    NORMAL = 2


state_vector = tensor_of(
    "1-dimensional tensor of type ui64",
    lambda t: integer_vector.holds(t) and element_type(t) == IntegerType(64, "u"),
)

static_number_tensor = tensor_of(
    "statically shaped tensor of integer or floating-point type",
    lambda t: (integer_tensor.holds(t) or float_tensor.holds(t)) and t.is_static,
)

float_scalar = tensor_of(
    "0-dimensional tensor of floating-point type", lambda t: float_tensor.holds(t) and rank(t) == 0
)


class RngBitGenerator(Op, op="rng_bit_generator", facts=OPEN):
    """Return uniform random bits, in the format of `output`, and the next state.

    The state consists of the key and the counter, which has one word in a state of two words and two words in a state
    of three, the lower word first. In a state of two words, the key is also the upper word of PHILOX's counter. DEFAULT
    is PHILOX. Bits and states are those of XLA on CPUs. A state of another type than ui64, which portable artifacts may
    have, is accepted, but not evaluated.
    """

    initial_state = In(integer_tensor | float_tensor)  # I2
    rng_algorithm = Attr(RngAlgorithm)  # I1
    output_state = Out(integer_tensor | float_tensor)
    output = Out(static_number_tensor)

    syntax = "operands, algorithm = $rng_algorithm attr-dict : functional_type"

    @staticmethod
    def constraints(
        C: Checker, initial_state: TensorType, rng_algorithm: RngAlgorithm, output_state: TensorType
    ) -> None:
        C(1, shape_of(initial_state) == shape_of(output_state))
        C(1, element_type(initial_state) == element_type(output_state))
        if not state_vector.holds(initial_state):
            return
        if rng_algorithm is RngAlgorithm.THREE_FRY:
            C(2, dim(initial_state, 0) == 2)
        else:
            C(2, 2 <= dim(initial_state, 0) <= 3)

    @staticmethod
    def infer(initial_state: TensorType, output: TensorType) -> Sequence[TensorType]:
        return initial_state, output

    @staticmethod
    def plan(initial_state: TensorType, rng_algorithm: RngAlgorithm, output: TensorType) -> Run:
        if not state_vector.holds(initial_state):
            expected = f"expected a {state_vector.name}, got {initial_state}"
            raise UnsupportedError(f"'stablehlo.rng_bit_generator' op cannot evaluate its initial_state: {expected}")
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

    implementation_defined = returns(lambda initial_state: [Choice.RNG_BITS])


def state_of(key: int, counter: int, count: int) -> Array:
    """Return the state of a key and the `count` low words of a counter."""
    return np.array([key, *(counter >> 64 * i & 2**64 - 1 for i in range(count))], UINT64)


class Rng(Op, op="rng", effects=True, shape_operands=("shape",), nans="computed", facts=OPEN):
    """Draw random numbers from the interval [`a`, `b`), or with mean `a` and standard deviation `b`.

    The n-th draw of a run takes its bits from Philox, with the seed of the run as key and n as the upper word of the
    counter, so every run of a program draws the same numbers. The seed is 0 by default. Floats are computed in f64 and
    rounded once; integers are 64 random bits modulo `b - a`. If `a >= b`, UNIFORM returns `a`.
    """

    a = In(integer_scalar | boolean_scalar | float_scalar)  # I1
    b = In(integer_scalar | boolean_scalar | float_scalar)  # I2
    shape = In(static_size_vector)  # I3
    rng_distribution = Attr(RngDistribution)  # I4
    result = Out(integer_tensor | boolean_tensor | float_tensor)

    syntax = "operands, distribution = $rng_distribution attr-dict : functional_type"

    @staticmethod
    def infer(site: Site, a: TensorType, shape: TensorType, result: TensorType) -> TensorType:
        known = site.constants.get("shape")
        sizes = shape_of(result) if known is None else known.tolist()
        return make_tensor_type(sizes, element_type(a))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        a: TensorType,
        b: TensorType,
        shape: TensorType,
        rng_distribution: RngDistribution,
        result: TensorType,
    ) -> None:
        C(1, element_type(a) == element_type(b) == element_type(result))
        if rng_distribution is RngDistribution.NORMAL:
            C(2, is_float(a))
        C(3, dim(shape, 0) == rank(result) and shape_of(result) == shape_of(infer()))

    @staticmethod
    def plan(rng_distribution: RngDistribution, result: TensorType) -> Run:
        sizes, dtype = shape_of(result), numpy_dtype(element_type(result))
        if rng_distribution is RngDistribution.NORMAL:
            generate, pieces = normal_numbers, 2
        else:
            generate, pieces = uniform_floats if kind(dtype) == "floating" else uniform_integers, 1
        count = -(-prod(sizes) // pieces) * pieces
        all_blocks = blocks(count, pieces)

        def run(context: Context, a: Array, b: Array, shape: Array) -> Array:
            numbers, a, b = np.empty(count, dtype), np.asarray(a), np.asarray(b)
            for block in all_blocks:
                generated = generate(a, b, words(context.rng_seed, context.draws, block))
                for part, values in zip(block, np.split(generated, pieces)):
                    numbers[part] = values
            context.draws += 1
            return numbers[: prod(sizes)].reshape(sizes)

        return run

    @staticmethod
    def implementation_defined(rng_distribution: RngDistribution) -> FindChoices:
        def cases(a: Array, b: Array, shape: Array) -> list[Choice]:
            is_in_domain = b >= 0 if rng_distribution is RngDistribution.NORMAL else a < b
            return [Choice.RNG] if is_in_domain else [Choice.RNG_BOUNDS]

        return cases


def blocks(count: int, pieces: int) -> list[list[slice]]:
    """Return the positions of the numbers of each block: one slice in each of `pieces` equal pieces of `count` numbers.

    Two normally distributed numbers that are computed from the same bits are in different pieces.
    """
    length = count // pieces
    starts = [(start, min(start + BLOCK, length)) for start in range(0, length, BLOCK)]
    return [[slice(i * length + start, i * length + stop) for i in range(pieces)] for start, stop in starts]


def words(seed: int, draw: int, parts: list[slice]) -> Array:
    """Return the 64-bit words of a draw at the positions in `parts`. One counter value yields two words."""
    if all(part.stop == next_part.start for part, next_part in pairwise(parts)):
        parts = [slice(parts[0].start, parts[-1].stop)]
    found = []
    for part in parts:
        first = part.start // 2
        bits, _ = philox_bits(seed, (draw << 64) + first, (part.stop - 2 * first + 1 & ~1,), UINT64)
        found.append(bits[part.start - 2 * first : part.stop - 2 * first])
    return np.concatenate(found)


def normal_numbers(a: Array, b: Array, bits: Array) -> Array:
    """Return numbers with mean `a` and standard deviation `b`."""
    numbers: Array = (a.astype(FLOAT64) + b.astype(FLOAT64) * normal(bits)).astype(a.dtype)
    return numbers


def uniform_floats(a: Array, b: Array, bits: Array) -> Array:
    """Return numbers from [`a`, `b`); a number that would be rounded to `b` becomes the one before `b`."""
    low, high, part = a.astype(FLOAT64), b.astype(FLOAT64), uniform(bits)
    numbers = (low * (1 - part) + high * part).astype(a.dtype)
    return np.where(low < high, np.where(numbers < b, numbers, np.nextafter(b, a)), a)


def uniform_integers(a: Array, b: Array, bits: Array) -> Array:
    """Return integers or booleans from [`a`, `b`)."""
    low, high = int(a), int(b)
    if low >= high:
        return np.broadcast_to(a, bits.shape)
    numbers: Array = bits % UINT64.type(high - low) + UINT64.type(low % 2**64)
    return numbers.view(INT64).astype(a.dtype)
