"""Sine, cosine and tangent of f32 as instructions on vectors of f64, for operands up to 2**30."""

from __future__ import annotations

import math

from stablehlo_ref.execute.fuse.machine.assembly import Register
from stablehlo_ref.execute.fuse.machine.vectors import ROUNDER, Vectors

LARGEST = 2.0**30

# pi/2 in parts: three of 23 bits, whose products with integers below 2**30 are exact, and the rest, up to 2**-126.
_PARTS = (1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15, 3.2820035428735005e-22)
# (sin(r)/r - 1) / r**2 and (cos(r) - 1) / r**2 by their Taylor series in r**2, for |r| <= 0.7855. The remainders are
# below 2**-54 of the sine, and 2**-58 of the cosine.
_SINE = [(-1) ** n / math.factorial(2 * n + 1) for n in range(1, 8)]
_COSINE = [(-1) ** n / math.factorial(2 * n) for n in range(1, 9)]


def sine(f: Vectors, x: Register) -> Register:
    """Return the sine; x itself for zeros."""
    quadrant, sine, cosine = _reduced(f, x)
    return f.choose("oeq", x, 0.0, x, _in_quadrant(f, quadrant, sine, cosine))


def cosine(f: Vectors, x: Register) -> Register:
    """Return the cosine, the sine in the next quadrant."""
    quadrant, sine, cosine = _reduced(f, x)
    return _in_quadrant(f, f.code.binary("add", quadrant, f.integer(1)), sine, cosine)


def tangent(f: Vectors, x: Register) -> Register:
    """Return the tangent; x itself for zeros. In odd quadrants it is -cos(r) / sin(r)."""
    quadrant, sine, cosine = _reduced(f, x)
    is_odd = _is_set(f, quadrant, 1)
    above = f.code.select(is_odd, f.subtract(0.0, cosine), sine)
    return f.choose("oeq", x, 0.0, x, f.divide(above, f.code.select(is_odd, sine, cosine)))


def _reduced(f: Vectors, x: Register) -> tuple[Register, Register, Register]:
    """Return a number k modulo 4, and the sine and the cosine of r, for x = r + k*pi/2 with |r| <= 0.7855.

    The first two differences are exact: both operands are multiples of a power of two, and the results below 2**53
    times that. So is the third, if it is below 2**-17; else it rounds with a relative error of 2**-53, and so does the
    last one. That of the last product is below 2**-94, and |r| above 2**-28 for operands of f32 up to 2**30 (found by
    trying all). So the relative error of r is below 2**-51.9, those of sine and cosine are below 2**-50.5, and that of
    their quotient is below 2**-49.
    """
    shifted = f.multiply_add(x, 2 / math.pi, ROUNDER)
    k, r = f.subtract(shifted, ROUNDER), x
    for part in _PARTS:
        r = f.multiply_add(k, -part, r)
    square = f.multiply(r, r)
    sine = f.multiply(r, f.multiply_add(square, f.polynomial(square, _SINE), 1.0))
    cosine = f.multiply_add(square, f.polynomial(square, _COSINE), 1.0)
    return f.bits(shifted), sine, cosine


def _in_quadrant(f: Vectors, quadrant: Register, sine: Register, cosine: Register) -> Register:
    """Return the sine of r + k*pi/2: of r, or its cosine in odd quadrants, negated in the third and fourth."""
    magnitude = f.code.select(_is_set(f, quadrant, 1), cosine, sine)
    sign = f.code.binary("shl", f.code.binary("and", quadrant, f.integer(2)), f.integer(62))
    return f.from_bits(f.code.binary("xor", f.bits(magnitude), sign))


def _is_set(f: Vectors, x: Register, bit: int) -> Register:
    return f.code.compare("ne", f.code.binary("and", x, f.integer(bit)), f.integer(0))
