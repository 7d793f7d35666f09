"""Sine, cosine and tangent of f32 as instructions on vectors of f64."""

from __future__ import annotations

import math
from functools import cache

from stablehlo_ref.accelerate.machine.assembly import INDEX, ROUNDER, Assembly, Kind, Register, Vectors, literal
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT64

_NEAR = 2.0**30  # up to which multiples of pi/2 are subtracted; others are reduced one by one, by a table
_FIRST, _LAST = 30, 127  # exponents of the table
_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561  # times 2**256
_WIDTH = 27  # bits of each part but the last of a row of the table, whose product with 24 bits is exact
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
    """Return the cosine, which is the sine in the next quadrant."""
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

    The relative error of r is below 2**-51, so those of sine and cosine are below 2**-50, and that of their quotient is
    below 2**-49.
    """
    k, r = _far(f, x, *_near(f, x))
    square = f.multiply(r, r)
    sine = f.multiply(r, f.multiply_add(square, f.polynomial(square, _SINE), 1.0))
    cosine = f.multiply_add(square, f.polynomial(square, _COSINE), 1.0)
    return k, sine, cosine


def _near(f: Vectors, x: Register) -> tuple[Register, Register]:
    """Return k and r for numbers up to 2**30.

    The first two differences are exact: both operands are multiples of a power of two, and the results below 2**53
    times that. So is the third, if it is below 2**-17; else it rounds with a relative error of 2**-53, and so does the
    last one. That of the last product is below 2**-94, and |r| above 2**-28 for these numbers of f32 (found by trying
    all).
    """
    shifted = f.multiply_add(x, 2 / math.pi, ROUNDER)
    k, r = f.subtract(shifted, ROUNDER), x
    for part in _PARTS:
        r = f.multiply_add(k, -part, r)
    return f.bits(shifted), r


def _far(f: Vectors, x: Register, k: Register, r: Register) -> tuple[Register, Register]:
    """Return k and r, with those of larger numbers instead of what they are: a loop over all elements, if there are."""
    code, count = f.code, x.kind.count
    numbers, quadrants, rests = code.variable(x), code.variable(k), code.variable(r)
    is_far = code.compare("ogt", code.intrinsic("fabs", x), f.number(_NEAR))
    mask = code.let(f"bitcast {is_far.kind} {is_far} to i{count}", Kind(INDEX))
    some = code.let(f"icmp ne i{count} {mask}, 0", Kind(BOOL))
    far, go, one = code.name("F"), code.name("F"), Vectors(code, 1)
    code.do(f"br i1 {code.intrinsic('expect', some, literal(Kind(BOOL), False))}, label %{far}, label %{go}")
    code.label(far)

    def element(i: Register) -> None:
        places = [
            code.address(cell, i, kind) for cell, kind in ((numbers, one.kind), (quadrants, i.kind), (rests, one.kind))
        ]
        number = code.load(places[0], one.kind)
        is_far = code.compare("ogt", code.intrinsic("fabs", number), one.number(_NEAR))
        for place, new in zip(places[1:], _by_table(one, number)):
            code.store(code.select(is_far, new, code.load(place, new.kind)), place)

    code.count(0, literal(Kind(INDEX), count), 1, element)
    code.do(f"br label %{go}")
    code.label(go)
    return code.load(quadrants, k.kind), code.load(rests, r.kind)


def _by_table(f: Vectors, x: Register) -> tuple[Register, Register]:
    """Return k and r for a number m * 2**e, where m has 24 bits: from 2**e * 2/pi modulo 4, which is in a table.

    The sum of the first two products, less integers, is exact. So is that with the third, if it is below 2**-26; else
    it rounds with a relative error of 2**-53, and so do the last sum, its product with pi/2, and the latter itself. The
    last product is below 2**-55, its error below 2**-108, and the sum above 2**-30 (found by trying all).
    """
    code = f.code
    exponent = code.binary("and", code.binary("lshr", f.bits(x), f.integer(52)), f.integer(2047))
    scale = code.binary("shl", code.binary("sub", f.integer(2 * 1023 + 23), exponent), f.integer(52))
    m = f.multiply(x, f.from_bits(scale))
    row = code.binary("sub", exponent, f.integer(1023 + _FIRST))
    row = code.intrinsic("umin", row, f.integer(_LAST - _FIRST))  # also of infinities, and of smaller numbers
    first = code.binary("mul", row, f.integer(4))
    places = [code.address(_table(code), code.binary("add", first, f.integer(n)), f.kind) for n in range(4)]
    products = [f.multiply(m, code.load(place, f.kind)) for place in places]
    shifted = f.add(products[0], ROUNDER)
    rest = f.add(f.subtract(products[0], f.subtract(shifted, ROUNDER)), products[1])
    again = f.add(rest, ROUNDER)
    rest = f.add(f.add(f.subtract(rest, f.subtract(again, ROUNDER)), products[2]), products[3])
    return code.binary("add", f.bits(shifted), f.bits(again)), f.multiply(rest, math.pi / 2)


def _table(code: Assembly) -> str:
    """Return the pointer to a table of 2**e * 2/pi modulo 4, in four parts each."""
    name = "@two_over_pi"
    code.declared[name] = f"{name} = {_table_text()}"
    return name


@cache
def _table_text() -> str:
    numbers = [x for e in range(_FIRST, _LAST + 1) for x in parts(e)]
    elements = ", ".join(f"double {literal(Kind(FLOAT64), x)}" for x in numbers)
    return f"private constant [{len(numbers)} x double] [{elements}]"


def parts(exponent: int) -> list[float]:
    """Return 2**(exponent - 23) * 2/pi modulo 4 as three numbers of 27 bits and one of 53, all exact."""
    bits = (_TWO_OVER_PI << exponent - 23) % (1 << 258)
    starts = [258 - _WIDTH * n for n in range(4)]
    found = [(bits % (1 << start) >> start - _WIDTH, start - _WIDTH) for start in starts[:3]]
    found.append((bits % (1 << starts[3]) >> starts[3] - 53, starts[3] - 53))
    return [math.ldexp(n, shift - 256) for n, shift in found]


def _in_quadrant(f: Vectors, quadrant: Register, sine: Register, cosine: Register) -> Register:
    """Return the sine of r + k*pi/2: of r, or its cosine in odd quadrants, negated in the third and fourth."""
    magnitude = f.code.select(_is_set(f, quadrant, 1), cosine, sine)
    sign = f.code.binary("shl", f.code.binary("and", quadrant, f.integer(2)), f.integer(62))
    return f.from_bits(f.code.binary("xor", f.bits(magnitude), sign))


def _is_set(f: Vectors, x: Register, bit: int) -> Register:
    return f.code.compare("ne", f.code.binary("and", x, f.integer(bit)), f.integer(0))
