"""Counter-based random number generators: Threefry2x32 with 20 rounds and Philox4x32 with 10.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The assignment of counters to elements, and of
words to the bits of elements, is that of XLA, so that states and bits agree with its CPU and GPU backends.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias, TypeVar

import numpy as np

from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics import libm
from stablehlo_ref.numerics.dtypes import UINT32, UINT64, bit_width, bits_dtype

Shape: TypeAlias = Sequence[int]
Word = TypeVar("Word", int, Array)

BLOCK = 1 << 15  # counters processed at a time, so that the state of a round stays in the cache
LOW = (1 << 32) - 1  # mask of the low word of 64 bits

PARITY = 0x1BD11BDA
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
FACTORS = tuple(map(UINT64.type, (0xD2511F53, 0xCD9E8D57)))
WEYL = (0x9E3779B9, 0xBB67AE85)


def words(number: int, count: int) -> list[int]:
    """Return the low `count` 32-bit words of a number, the lowest first."""
    return [number >> 32 * i & LOW for i in range(count)]


def cast_bits(bits: Array, dtype: DType) -> Array:
    """Return the low bits of words, reinterpreted as elements of `dtype`."""
    width = bit_width(dtype)
    if width < 8:
        bits = bits & bits.dtype.type((1 << width) - 1)
    return bits.astype(bits_dtype(dtype), copy=False).view(dtype)


# --- Threefry -------------------------------------------------------------------------------------------------------


def threefry_bits(key: int, counter: int, shape: Shape, dtype: DType) -> tuple[Array, int]:
    """Return random elements of shape `shape`, and the next counter.

    A block of 64 bits is one 64-bit element or two narrower ones, which are adjacent along the first dimension of even
    size, or else along the largest dimension.
    """
    if bit_width(dtype) == 64:
        low, high = threefry(key, counter, prod(shape)).T
        bits = low | high.astype(UINT64) << UINT64.type(32)
        return bits.view(dtype).reshape(shape), counter + prod(shape)
    halves = pairs_shape(shape)
    pairs = threefry(key, counter, prod(halves))
    return cast_bits(join_pairs(pairs, halves, shape), dtype), counter + prod(halves)


def pairs_axis(shape: Shape) -> int:
    """Return the dimension of pairs of elements: the first of even size, or else the largest one."""
    even = [axis for axis, size in enumerate(shape) if size % 2 == 0]
    return even[0] if even else int(np.argmax(shape))


def pairs_shape(shape: Shape) -> list[int]:
    """Return the shape of the array of all pairs of elements of an array of shape `shape`."""
    axis = pairs_axis(shape) if shape else 0
    return [-(-size // 2) if i == axis else size for i, size in enumerate(shape)]


def join_pairs(pairs: Array, halves: Shape, shape: Shape) -> Array:
    """Return pairs of elements, the rows of `pairs`, as an array of `shape`; a surplus last element is dropped."""
    if not shape:
        only: Array = pairs[0, 0].reshape(())
        return only
    axis = pairs_axis(shape)
    is_in_order = prod(halves[axis + 1 :]) == 1
    both = pairs if is_in_order else np.stack([x.reshape(halves) for x in pairs.T], axis + 1)
    full = [2 * n if i == axis else n for i, n in enumerate(halves)]
    return np.asarray(both.reshape(full)[tuple(slice(n) for n in shape)])


def threefry(key: int, counter: int, count: int) -> Array:
    """Return the two words of each of `count` blocks, starting at `counter`."""
    out = np.empty((count, 2), UINT32)
    schedule = [UINT32.type(k) for k in threefry_keys(*words(key, 2))]
    x, y, spare = np.empty((3, min(BLOCK, count)), UINT32)
    for start in within_time(range(0, count, BLOCK)):
        block = out[start : start + BLOCK]
        counters = np.arange(start, start + len(block), dtype=UINT64) + UINT64.type(counter % 2**64)
        x, y, spare = x[: len(block)], y[: len(block)], spare[: len(block)]
        x[:] = counters
        y[:] = counters >> UINT64.type(32)
        threefry_rounds(schedule, x, y, spare)
        block[:, 0], block[:, 1] = x, y
    return out


def threefry_keys(k0: Word, k1: Word) -> list[Word]:
    """Return the numbers added to the two words before the rounds and after every four of them, for a two-word key."""
    ks = (k0, k1, k0 ^ k1 ^ PARITY)
    added = [(ks[i % 3], ks[(i + 1) % 3] + i & LOW) for i in range(6)]
    return [k for pair in added for k in pair]


def threefry_rounds(schedule: Sequence[Array], x: Array, y: Array, spare: Array) -> None:
    """Compute twenty rounds in place, with the temporary array `spare`."""
    x += schedule[0]
    y += schedule[1]
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x += y
            np.left_shift(y, UINT32.type(rotation), out=spare)
            np.right_shift(y, UINT32.type(32 - rotation), out=y)
            y |= spare
            y ^= x
        x += schedule[2 * group + 2]
        y += schedule[2 * group + 3]


# --- Philox ---------------------------------------------------------------------------------------------------------


def philox_bits(key: int, counter: int, shape: Shape, dtype: DType) -> tuple[Array, int]:
    """Return random elements of shape `shape`, and the next counter, of 128 bits.

    A block of 128 bits is two 64-bit elements or four narrower ones, in row-major order.
    """
    wide, count = bit_width(dtype) == 64, prod(shape)
    blocks = -(-count // (2 if wide else 4))
    numbers = philox(key, counter, blocks)
    bits = numbers.view(UINT64 if np.little_endian else ">u8") if wide else numbers
    return cast_bits(bits.reshape(-1)[:count].reshape(shape), dtype), counter + blocks


def philox(key: int, counter: int, count: int) -> Array:
    """Return the four words of each of `count` blocks, starting at `counter`."""
    out, spare = np.empty((count, 4), UINT32), np.empty(min(BLOCK, count), UINT64)
    low, high = UINT64.type(counter & 2**64 - 1), counter >> 64
    for start in within_time(range(0, count, BLOCK)):
        block = out[start : start + BLOCK]
        lows = np.arange(start, start + len(block), dtype=UINT64) + low
        highs = np.where(lows < low, UINT64.type(high + 1 & 2**64 - 1), UINT64.type(high & 2**64 - 1))
        state = [x for number in (lows, highs) for x in (number & UINT64.type(LOW), number >> UINT64.type(32))]
        for index, word in enumerate(philox_rounds(key, state, spare[: len(block)])):
            block[:, index] = word
    return out


def philox_rounds(key: int, state: list[Array], spare: Array) -> list[Array]:
    """Compute ten rounds on four arrays of words, stored as ui64, which are overwritten, with a temporary array."""
    a, b, c, d = state
    low, half = UINT64.type(LOW), UINT64.type(32)
    for i in range(10):
        k0, k1 = (UINT64.type(k + i * weyl & LOW) for k, weyl in zip(words(key, 2), WEYL))
        a *= FACTORS[0]
        c *= FACTORS[1]
        b ^= k0
        b ^= np.right_shift(c, half, out=spare)
        d ^= k1
        d ^= np.right_shift(a, half, out=spare)
        a &= low
        c &= low
        a, b, c, d = b, c, d, a
    return [a, b, c, d]


# --- distributions --------------------------------------------------------------------------------------------------


def uniform(bits: Array) -> Array:
    """Return f64 numbers uniformly distributed over the multiples of 2^-53 in [0, 1), from 64-bit words."""
    upper: Array = bits >> UINT64.type(11)
    return upper.astype(np.float64) * 2.0**-53


def normal(bits: Array) -> Array:
    """Return normally distributed f64 numbers from an even number of 64-bit words (Box and Muller 1958)."""
    radius, angle = np.split(uniform(bits), 2)
    radius = np.sqrt(-2 * libm.log1p(-radius))
    return np.concatenate([radius * libm.cos(2 * np.pi * angle), radius * libm.sin(2 * np.pi * angle)])
