"""rng_bit_generator: the generators of Salmon et al., SC 2011, block by block with Python's integers.

The variants are implementation-defined; the layout of counters over an array is XLA's. The numbers of rng are as in
stablehlo_ref: derived from the words that PHILOX generates for a seed.
"""

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from mpmath import mp

from stablehlo_ref.semantics.elements import each_element
from stablehlo_ref.semantics.notation import Array, Dims, DType, TensorType, UndefinedError, index_space, num_bits
from stablehlo_ref.semantics.rounding import element, from_bits, number

Words = tuple[int, ...]
Numbers = dict[tuple[int, ...], int]

LOW = 2**32 - 1


def threefry2x32(counter: Words, key: Words) -> Words:
    """Threefry-2x32 with 20 rounds."""
    x, y = counter
    schedule = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = x + schedule[0] & LOW, y + schedule[1] & LOW
    for r in range(20):
        rotation = (13, 15, 26, 6, 17, 29, 16, 24)[r % 8]
        x = x + y & LOW
        y = (y << rotation | y >> 32 - rotation) & LOW
        y ^= x
        if r % 4 == 3:
            n = r // 4 + 1
            x, y = x + schedule[n % 3] & LOW, y + schedule[(n + 1) % 3] + n & LOW
    return x, y


def philox4x32(counter: Words, key: Words) -> Words:
    """Philox-4x32 with 10 rounds."""
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = second >> 32 ^ counter[1] ^ key[0], second & LOW, first >> 32 ^ counter[3] ^ key[1], first & LOW
        key = key[0] + 0x9E3779B9 & LOW, key[1] + 0xBB67AE85 & LOW
    return counter


def words(number: int, count: int) -> Words:
    return tuple(number >> 32 * i & LOW for i in range(count))


def rng_bit_generator(
    initial_state: Array, rng_algorithm: str, *, results: tuple[TensorType, TensorType]
) -> tuple[Array, Array]:
    """Return the next state and an output filled with uniform random bits, by the generator `rng_algorithm`."""
    if initial_state.dtype != np.uint64:
        raise UndefinedError(f"the state of a generator is 64-bit unsigned integers, not {initial_state.dtype}")
    key, *counter = map(int, initial_state)
    shape, element_type = results[1]
    generate = _threefry if rng_algorithm == "THREE_FRY" else _philox
    counter_after, numbers = generate(key, counter, shape, num_bits(element_type))
    output = np.empty(shape, element_type)
    for index in index_space(shape):
        output[index] = from_bits(element_type, numbers[index] % 2 ** num_bits(element_type))
    return np.array([key, *counter_after], np.uint64), output


def _threefry(key: int, counter: list[int], shape: tuple[int, ...], bits: int) -> tuple[list[int], Numbers]:
    """A 64-bit element takes one block; two adjacent narrower elements along one axis share one."""
    width, axis = (1, 0) if bits == 64 else (2, next((a for a, n in enumerate(shape) if n % 2 == 0), None))
    if axis is None:
        axis = shape.index(max(shape)) if shape else 0
    blocks = [range(-(-n // width)) if a == axis else range(n) for a, n in enumerate(shape)]
    numbers: Numbers = {}
    count = 0
    for block in product(*blocks):
        x, y = threefry2x32(words(counter[0] + count, 2), words(key, 2))
        count += 1
        if bits == 64:
            numbers[block] = x | y << 32
        elif not shape:
            numbers[()] = x
        else:
            for side, word in enumerate((x, y)):
                numbers[(*block[:axis], 2 * block[axis] + side, *block[axis + 1 :])] = word
    return [(counter[0] + count) % 2**64], numbers


def _philox(key: int, counter: list[int], shape: tuple[int, ...], bits: int) -> tuple[list[int], Numbers]:
    """Blocks of 128 bits are in row-major order."""
    start = counter[0] | (counter[1] if len(counter) == 2 else key) << 64
    numbers: Numbers = {}
    word: list[int] = []
    for index in index_space(shape):
        if not word:
            word = list(philox4x32(words(start, 4), words(key, 2)))
            start += 1
        numbers[index] = word.pop(0) | word.pop(0) << 32 if bits == 64 else word.pop(0)
    return [start % 2**64, start >> 64 & 2**64 - 1][: len(counter)], numbers


def rng(
    a: Array, b: Array, shape: Array, rng_distribution: str, *, element_type: DType, seed: int, draws: int
) -> Array:
    """Return random numbers of the distribution; `draws` counts earlier draws of the run.

    UNIFORM numbers lie in [a, b): integers are the words modulo b - a, plus a; floats use the upper 53 bits as the
    fraction of the way from a to b, and where a >= b, they are a. NORMAL numbers have the mean a and the standard
    deviation b: Box-Muller transforms (1958) of radii from the first half and angles from the second half of an even
    number of words.
    """
    numbers = random_numbers(number(a[()]), number(b[()]), tuple(map(int, shape)), rng_distribution, seed, draws)
    return each_element(lambda x: element(element_type, x), numbers, element_type=element_type)


def random_numbers(a: Any, b: Any, shape: Dims, rng_distribution: str, seed: int, draws: int) -> Array:
    """Return the exact numbers, before they are rounded to the element type."""
    count = prod(shape)
    words = _words(seed, draws, count + count % 2)
    numbers = np.empty(shape, object)
    for n, index in enumerate(index_space(shape)):
        if rng_distribution == "NORMAL":
            half = len(words) // 2
            angle = 2 * mp.pi * _part(words[half + n % half])
            radius = mp.sqrt(-2 * mp.log(1 - _part(words[n % half])))
            numbers[index] = a + b * radius * (mp.cos if n < half else mp.sin)(angle)
        elif a >= b:
            numbers[index] = a
        elif isinstance(a, int):
            numbers[index] = a + words[n] % (b - a)
        else:
            part = Fraction(words[n] >> 11, 2**53)
            numbers[index] = Fraction(a) * (1 - part) + Fraction(b) * part
    return numbers


def _words(seed: int, draws: int, count: int) -> list[int]:
    _, numbers = _philox(seed, [0, draws], (count,), 64)
    return [numbers[i,] for i in range(count)]


def _part(word: int) -> Any:
    """Return a number of 53 bits in [0, 1)."""
    return mp.mpf(word >> 11) / 2**53
