"""Angles of points to 68 and to 84 bits."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics import multiple_precision as precise
from stablehlo_ref.numerics.double_double import Pair, fast_two_sum, two_sum
from stablehlo_ref.numerics.portable.circular import sine_and_cosine
from stablehlo_ref.numerics.portable.pairs import add, divide, exactly, multiply, negate, pairs, quick_divide

SIZE = 256
# The small angle z is below 2**-9: of z - z**3 / 3 + z**5 / 5 - z**7 / 7 the second term is rounded to 2**-72 of the
# first, as are the products and sums in it, and z**9 / 9 is below 2**-75 of it.
QUICK_ERROR = 2.0**-68
_UPPER_27_BITS = np.int64(-1 << 26)


class _Constants(NamedTuple):
    tangent: Array  # i / SIZE
    angle: tuple[Array, Array]  # of which it is the tangent
    axis: tuple[Array, Array]  # from which the angle is counted, by octants
    direction: Array


@cache
def _constants() -> _Constants:
    ctx = precise.context()
    angles = [ctx.atan(ctx.mpf(i) / SIZE) for i in range(SIZE + 1)]
    axes = pairs([n * ctx.pi / 2 for n in (0, 2, 1, 1, 0, -2, -1, -1)])
    direction = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    return _Constants(np.arange(SIZE + 1) / SIZE, pairs(angles), axes, direction)


def quick_angle(y: Pair, x: Pair) -> Pair:
    """Return the angle of points (x, y) whose coordinates have moderate exponents; negative ones have no second word.

    For the larger coordinate p and the smaller one q, and the multiple c of 1 / SIZE closest to q / p, it is the angle
    whose tangent is c plus that with the tangent z = (q - c p) / (p + c q), from the axis of p.
    """
    c = _constants()
    octant = np.signbit(y[0]) * np.int64(4)
    octant += np.signbit(x[0])
    height, width = np.abs(y[0]), np.abs(x[0])
    is_steep = height > width
    octant += is_steep * np.int64(2)
    p, q = np.maximum(height, width), np.minimum(height, width)
    p_low, q_low = np.where(is_steep, y[1], x[1]), np.where(is_steep, x[1], y[1])
    place = np.rint(q / p * SIZE).astype(np.int64)
    z, z_low = _tangent_of_difference((q, q_low), (p, p_low), c.tangent.take(place))
    square = z * z
    tail = square * (-1 / 7)
    tail += 1 / 5
    tail *= square
    tail -= 1 / 3
    tail *= square
    tail *= z
    tail += z_low
    high, low = fast_two_sum(c.angle[0].take(place), z)  # the first is larger, or 0
    tail += c.angle[1].take(place)
    low += tail
    direction = c.direction.take(octant)
    high *= direction
    low *= direction
    high, more = fast_two_sum(c.axis[0].take(octant), high)  # the first is larger, or 0
    low += more
    low += c.axis[1].take(octant)
    return high, low


def _tangent_of_difference(q: Pair, p: Pair, c: Array) -> Pair:
    """Return (q - c p) / (p + c q); c has 9 bits, and products with halves are exact."""
    head = (p[0].view(np.int64) & _UPPER_27_BITS).view(np.float64)
    above, above_low = two_sum(q[0] - head * c, (head - p[0]) * c)
    above_low += q[1] - c * p[1]
    head = (q[0].view(np.int64) & _UPPER_27_BITS).view(np.float64)
    below, below_low = fast_two_sum(p[0], head * c)
    below_low += (q[0] - head) * c
    below_low += p[1] + c * q[1]
    below, below_low = fast_two_sum(below, below_low)
    return quick_divide((above, above_low), (below, below_low))


def angle(y: Pair, x: Pair) -> Pair:
    """Return the angle of points (x, y) whose coordinates have moderate exponents.

    It is an approximation by C's atan2, and the small angle that is left once the point is rotated back; NaN if that is
    too large, that is, if the approximation has an error above 2**-40.
    """
    near = np.arctan2(y[0], x[0])
    sine, cosine = sine_and_cosine(exactly(near))
    across = add(multiply(y, cosine), negate(multiply(x, sine)))
    along = add(multiply(x, cosine), multiply(y, sine))
    rest = divide(across, along)
    tangent_of_rest = np.where(np.abs(rest[0]) < 2.0**-40 * np.abs(near), rest[0], np.nan)
    return add(exactly(near), (tangent_of_rest, rest[1]))
