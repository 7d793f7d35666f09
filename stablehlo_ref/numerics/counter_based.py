"""Random bits as functions of a key and a counter: Threefry2x32 with 20 rounds and Philox4x32 with 10.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. How counters are laid out over an array, and how
words become its elements, is that of XLA, so that states and bits are the same as on CPUs and GPUs with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.numerics.dtypes import UINT32, UINT64, bit_width, bits_dtype

Array = np.ndarray[Any, Any]
Shape = Sequence[int]

BLOCK = 1 << 13  # counters at a time, so that what a round works on stays in the cache
LOW = (1 << 32) - 1  # the low word of 64 bits

PARITY = 0x1BD11BDA
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
FACTORS = tuple(map(UINT64.type, (0xD2511F53, 0xCD9E8D57)))
WEYL = (0x9E3779B9, 0xBB67AE85)


def words(number: int, count: int) -> list[int]:
    """The `count` low words of 32 bits of a number, the lowest first."""
    return [number >> 32 * i & LOW for i in range(count)]


def cast_bits(bits: Array, dtype: np.dtype[Any]) -> Array:
    """The low bits of words as elements of `dtype`, whose bits they are."""
    width = bit_width(dtype)
    if width < 8:
        bits = bits & bits.dtype.type((1 << width) - 1)
    return bits.astype(bits_dtype(dtype), copy=False).view(dtype)


# --- Threefry -------------------------------------------------------------------------------------------------------


def threefry_bits(key: int, counter: int, shape: Shape, dtype: np.dtype[Any]) -> tuple[Array, int]:
    """Random elements of a `shape`, and the counter after them.

    A block is 64 bits: one element of 64 bits, or two narrower ones, that stand side by side along the first
    dimension of even size, else the largest one.
    """
    if bit_width(dtype) == 64:
        low, high = threefry(key, counter, prod(shape))
        bits = low | high.astype(UINT64) << UINT64.type(32)
        return bits.view(dtype).reshape(shape), counter + prod(shape)
    halves = split(shape)
    pair = threefry(key, counter, prod(halves))
    return cast_bits(joined(pair, halves, shape), dtype), counter + prod(halves)


def split_axis(shape: Shape) -> int:
    """The dimension along which pairs of elements lie: the first of even size, else the largest one."""
    even = [axis for axis, size in enumerate(shape) if size % 2 == 0]
    return even[0] if even else int(np.argmax(shape))


def split(shape: Shape) -> list[int]:
    """The shape of all pairs of elements of `shape`."""
    axis = split_axis(shape) if shape else 0
    return [-(-size // 2) if i == axis else size for i, size in enumerate(shape)]


def joined(pair: Sequence[Array], halves: Shape, shape: Shape) -> Array:
    """Pairs of elements as an array of `shape`; an odd one at an end is dropped."""
    if not shape:
        return pair[0].reshape(())
    axis = split_axis(shape)
    both = np.stack([x.reshape(halves) for x in pair], axis + 1)
    full = [2 * n if i == axis else n for i, n in enumerate(halves)]
    return both.reshape(full)[tuple(slice(n) for n in shape)]


def threefry(key: int, counter: int, count: int) -> tuple[Array, Array]:
    """The two words of each of `count` blocks, from `counter` on."""
    first, second = np.empty((2, count), UINT32)
    schedule = [UINT32.type(k) for k in threefry_keys(*words(key, 2))]
    spare = np.empty(min(BLOCK, count), UINT32)
    for start in range(0, count, BLOCK):
        x, y = first[start : start + BLOCK], second[start : start + BLOCK]
        counters = np.arange(start, start + x.size, dtype=UINT64) + UINT64.type(counter % 2**64)
        x[:] = counters
        y[:] = counters >> UINT64.type(32)
        threefry_rounds(schedule, x, y, spare[: x.size])
    return first, second


def threefry_keys(k0: Any, k1: Any) -> list[Any]:
    """What is added to the two words before the rounds, and after each four of them, for a key of two words."""
    ks = (k0, k1, k0 ^ k1 ^ PARITY)
    added = [(ks[i % 3], ks[(i + 1) % 3] + i & LOW) for i in range(6)]
    return [k for pair in added for k in pair]


def threefry_rounds(schedule: Sequence[Any], x: Array, y: Array, spare: Array) -> None:
    """Twenty rounds, in place."""
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


def philox_bits(key: int, counter: int, shape: Shape, dtype: np.dtype[Any]) -> tuple[Array, int]:
    """Random elements of a `shape`, and the counter, of 128 bits, after them. A block of 128 bits is two elements of
    64 bits, or four narrower ones, in row-major order."""
    wide, count = bit_width(dtype) == 64, prod(shape)
    blocks = -(-count // (2 if wide else 4))
    numbers = philox(key, counter, blocks)
    bits = numbers.view(UINT64 if np.little_endian else ">u8") if wide else numbers
    return cast_bits(bits.reshape(-1)[:count].reshape(shape), dtype), counter + blocks


def philox(key: int, counter: int, count: int) -> Array:
    """The four words of each of `count` blocks, from `counter` on."""
    out = np.empty((count, 4), UINT32)
    low, high = UINT64.type(counter & 2**64 - 1), counter >> 64
    for start in range(0, count, BLOCK):
        block = out[start : start + BLOCK]
        lows = np.arange(start, start + len(block), dtype=UINT64) + low
        highs = np.where(lows < low, UINT64.type(high + 1 & 2**64 - 1), UINT64.type(high & 2**64 - 1))
        state = [x for number in (lows, highs) for x in (number & UINT64.type(LOW), number >> UINT64.type(32))]
        for index, word in enumerate(philox_rounds(key, state)):
            block[:, index] = word
    return out


def philox_rounds(key: int, state: list[Array]) -> list[Array]:
    """Ten rounds on four arrays of words, kept as numbers of 64 bits, which are written to."""
    a, b, c, d = state
    for turn in range(10):
        k0, k1 = (UINT64.type(k + turn * weyl & LOW) for k, weyl in zip(words(key, 2), WEYL))
        a *= FACTORS[0]
        c *= FACTORS[1]
        b ^= c >> UINT64.type(32)
        b ^= k0
        d ^= a >> UINT64.type(32)
        d ^= k1
        a &= UINT64.type(LOW)
        c &= UINT64.type(LOW)
        a, b, c, d = b, c, d, a
    return [a, b, c, d]


# --- distributions --------------------------------------------------------------------------------------------------


def uniform(bits: Array) -> Array:
    """Words of 64 bits as f64 numbers in [0, 1), all multiples of 2^-53 there being as probable as one another."""
    return (bits >> UINT64.type(11)).astype(np.float64) * 2.0**-53


def normal(bits: Array) -> Array:
    """An even number of words of 64 bits as that many f64 numbers, normally distributed (Box and Muller 1958)."""
    radius, angle = np.split(uniform(bits), 2)
    radius = np.sqrt(-2 * np.log1p(-radius))
    return np.concatenate([radius * np.cos(2 * np.pi * angle), radius * np.sin(2 * np.pi * angle)])
