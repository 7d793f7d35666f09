"""Elementary functions of f32 as instructions: f64 arithmetic on vectors, then a test whether rounding it is certain.

The results are correctly rounded, as those of the kernels, so they have the same bits. Each function is computed with a
relative error of less than 2**-49 (2**-45 for erf and erfc), by the bounds below, whether the processor fuses a
multiplication with an addition or not. If the ends of this interval round to different numbers of f32, which
happens for about one in a million elements, the code asks Python for the elements of the vector, which the kernel
computes.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import INDEX, ROUNDER, Assembly, Kind, Register, Vectors, literal
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.numerics import elementary, special
from stablehlo_ref.numerics.correct_rounding import EIGHT_ULP
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT32, FLOAT64

_NEAR = 2.0**30  # up to which multiples of pi/2 are subtracted; the kernel computes functions of larger numbers
# pi/2 in parts: three of 23 bits, whose products with integers below 2**30 are exact, and the rest, up to 2**-126.
_PARTS = (1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15, 3.2820035428735005e-22)
# (sin(r)/r - 1) / r**2 and (cos(r) - 1) / r**2 by their Taylor series in r**2, for |r| <= 0.7855. The remainders are
# below 2**-54 of the sine, and 2**-58 of the cosine.
_SINE = [(-1) ** n / math.factorial(2 * n + 1) for n in range(1, 8)]
_COSINE = [(-1) ** n / math.factorial(2 * n) for n in range(1, 9)]
_LN2_HIGH = 0.693147180559663  # 41 bits, so that products with integers below 4096 are exact
_LN2_LOW = 2.8235290563031577e-13
_EXPONENT = 52  # the place of the exponent in the bits of an f64
_ONE = 1023 << _EXPONENT  # the bits of 1.0
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(0.5)

# (e**r - 1 - r) / r**2 by its Taylor series, for |r| <= log(2)/2. The remainder is below 2**-50 of e**r - 1.
_EXPONENTIAL = [1 / math.factorial(n) for n in range(2, 13)]
# (atanh(s)/s - 1) / s**2 by its Taylor series, for |s| <= 0.1716. The remainder is below 2**-50 of the logarithm.
_LOGARITHM = [1 / (2 * n + 1) for n in range(1, 9)]


def _sine(f: Vectors, x: Register) -> Register:
    """Return the sine; x itself for zeros."""
    quadrant, sine, cosine = _reduced_angle(f, x)
    return f.choose("oeq", x, 0.0, x, _in_quadrant(f, quadrant, sine, cosine))


def _cosine(f: Vectors, x: Register) -> Register:
    """Return the cosine, which is the sine in the next quadrant."""
    quadrant, sine, cosine = _reduced_angle(f, x)
    return _in_quadrant(f, f.code.binary("add", quadrant, f.integer(1)), sine, cosine)


def _reduced_angle(f: Vectors, x: Register) -> tuple[Register, Register, Register]:
    """Return a number k modulo 4, and the sine and the cosine of r, for x = r + k*pi/2 with |r| <= 0.7855.

    Numbers x are up to 2**30. The first two differences of r are exact: both operands are multiples of a power of two,
    and the results below 2**53 times that. So is the third, if it is below 2**-17; else it rounds with a relative error
    of 2**-53, and so does the last one. That of the last product is below 2**-94, and |r| above 2**-28 for these
    numbers of f32 (found by trying all). So the relative error of r is below 2**-51, and those of sine and cosine are
    below 2**-50.
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
    is_odd = f.code.compare("ne", f.code.binary("and", quadrant, f.integer(1)), f.integer(0))
    magnitude = f.code.select(is_odd, cosine, sine)
    sign = f.code.binary("shl", f.code.binary("and", quadrant, f.integer(2)), f.integer(62))
    return f.from_bits(f.code.binary("xor", f.bits(magnitude), sign))


def _reduced(f: Vectors, x: Register) -> tuple[Register, Register]:
    """Return e**r - 1 and 2**k, for x = r + k*log(2) with |r| <= log(2)/2 and |x| < 700.

    The product of k and the high part is exact, and so is its difference from x; an x with k = 0 is r itself.
    """
    shifted = f.multiply_add(x, 1 / math.log(2), ROUNDER)
    k = f.subtract(shifted, ROUNDER)
    r = f.multiply_add(k, -_LN2_HIGH, x)
    r = f.multiply_add(k, -_LN2_LOW, r)
    part = f.multiply_add(f.multiply(r, r), f.polynomial(r, _EXPONENTIAL), r)
    moved = f.code.binary("shl", f.bits(shifted), f.integer(_EXPONENT))
    return part, f.from_bits(f.code.binary("add", moved, f.integer(_ONE)))


def _exponential_of(f: Vectors, x: Register) -> Register:
    part, scale = _reduced(f, x)
    return f.multiply_add(part, scale, scale)


def _minus_one(f: Vectors, x: Register) -> Register:
    """Return e**x - 1 with a small relative error: at k = 1 and k = -1 the two terms cancel at most half a bit."""
    part, scale = _reduced(f, x)
    return f.multiply_add(part, scale, f.subtract(scale, 1.0))


def _exponential(f: Vectors, x: Register) -> Register:
    """Beyond the limits, e**x rounds to 0 and to infinity."""
    return _exponential_of(f, f.clamp(x, -110.0, 100.0))


def _exponential_minus_one(f: Vectors, x: Register) -> Register:
    return f.code.intrinsic("copysign", _minus_one(f, f.clamp(x, -40.0, 100.0)), x)


def _tanh(f: Vectors, x: Register) -> Register:
    """Return (e**2x - 1) / ((e**2x - 1) + 2), with the sign of x, which matters for zeros."""
    e = _minus_one(f, f.clamp(f.add(x, x), -40.0, 40.0))
    return f.code.intrinsic("copysign", f.divide(e, f.add(e, 2.0)), x)


def _logistic(f: Vectors, x: Register) -> Register:
    e = _exponential_of(f, f.clamp(f.subtract(-0.0, x), -110.0, 110.0))
    return f.divide(1.0, f.add(e, 1.0))


def _erf(f: Vectors, x: Register) -> Register:
    """Beyond 4, no number of f32 lies between erf(x) and 1."""
    x = f.clamp(x, -4.0, 4.0)
    return f.multiply(x, f.polynomial(f.multiply_add(f.multiply(x, x), 0.125, -1.0), special.ERF))


def _erfc(f: Vectors, x: Register) -> Register:
    """Return 2 - erfc(-x) for negative numbers. Beyond the limits, erfc(x) rounds to 2 and to 0.

    With a = |x|, it is exp(-a*a) * p(t) / (1 + 2*a), t = (a - c) / (a + c); both quotients have one reciprocal.
    """
    x = f.clamp(x, -4.0, 10.5)
    a = f.code.intrinsic("fabs", x)
    first, second = f.multiply_add(a, 2.0, 1.0), f.add(a, special.ERFC_CENTER)
    reciprocal = f.divide(1.0, f.multiply(first, second))
    t = f.multiply(f.multiply(f.subtract(a, special.ERFC_CENTER), first), reciprocal)
    e = _exponential_of(f, f.multiply(f.subtract(0.0, a), a))
    tail = f.multiply(f.multiply(e, f.polynomial(t, special.ERFC)), f.multiply(second, reciprocal))
    return f.choose("olt", x, 0.0, f.subtract(2.0, tail), tail)


def _log(f: Vectors, x: Register) -> Register:
    return _at_ends(f, x, x, _logarithm(f, x, None))


def _log_plus_one(f: Vectors, x: Register) -> Register:
    """Near zero, x + 1 may round, and x itself is used. The sign of x matters for zeros."""
    one_more = f.add(x, 1.0)
    return _at_ends(f, one_more, x, f.choose("oeq", x, 0.0, x, _logarithm(f, one_more, x)))


def _logarithm(f: Vectors, x: Register, fraction: Register | None) -> Register:
    """Return the logarithm of a positive, finite, normal number m * 2**k with sqrt(0.5) <= m < sqrt(2).

    It is k*log(2) + 2*atanh(s), s = (m - 1) / (m + 1). The first term is 0 or at least twice as large as the second.
    If k = 0, m - 1 is `fraction`, if given.
    """
    code = f.code
    offset = code.binary("add", f.bits(x), f.integer((1024 << _EXPONENT) - _ROOT_HALF))
    shifted = code.binary("lshr", offset, f.integer(_EXPONENT))  # k + 1024
    scale = code.binary("sub", code.binary("shl", shifted, f.integer(_EXPONENT)), f.integer(1024 << _EXPONENT))
    mantissa = code.binary("sub", f.bits(x), scale)
    # A small integer becomes a float by arithmetic: AVX2 has no conversion of 64-bit integers.
    k = f.subtract(f.from_bits(code.binary("add", shifted, f.bits(f.number(2.0**52)))), 2.0**52 + 1024)
    less_one = f.subtract(f.from_bits(mantissa), 1.0)
    if fraction is not None:
        less_one = f.choose("oeq", k, 0.0, fraction, less_one)
    s = f.divide(less_one, f.add(less_one, 2.0))
    square, twice = f.multiply(s, s), f.add(s, s)
    small = f.multiply_add(f.multiply(twice, square), f.polynomial(square, _LOGARITHM), twice)
    return f.multiply_add(k, _LN2_HIGH, f.multiply_add(k, _LN2_LOW, small))


def _at_ends(f: Vectors, argument: Register, x: Register, result: Register) -> Register:
    """Return the logarithm of an argument that may be zero, negative or infinite, as x is with it."""
    result = f.choose("oeq", argument, 0.0, f.number(-math.inf), result)
    result = f.choose("ult", argument, 0.0, f.number(math.nan), result)
    return f.choose("oeq", x, math.inf, x, result)


class Function(NamedTuple):
    """A function of f64 vectors, and the largest relative error, for numbers up to a magnitude."""

    emit: Callable[[Vectors, Register], Register]
    error: float = EIGHT_ULP
    largest: float = math.inf


FUNCTIONS: Mapping[object, Function] = {  # by the kernels, which compute elements in doubt
    elementary.exponential: Function(_exponential),
    elementary.exponential_minus_one: Function(_exponential_minus_one),
    elementary.log: Function(_log),
    elementary.log_plus_one: Function(_log_plus_one),
    elementary.logistic: Function(_logistic),
    elementary.tanh: Function(_tanh),
    elementary.sine: Function(_sine, largest=_NEAR),
    elementary.cosine: Function(_cosine, largest=_NEAR),
    special.erf: Function(_erf, special.ERROR),
    special.erfc: Function(_erfc, special.ERROR),
}
KERNELS: list[Any] = list(FUNCTIONS)  # by the numbers that machine code gives to Python


def function(code: Assembly, what: object, x: Register) -> Register:
    """Append a function of f32: what rounding leaves in doubt is computed by the kernel."""
    known = FUNCTIONS[what]
    f = Vectors(code, x.kind.count)
    y = known.emit(f, code.cast("fpext", x, FLOAT64))
    lowest, highest = (code.cast("fptrunc", f.multiply(y, 1.0 + e), FLOAT32) for e in (-known.error, known.error))
    doubtful = code.compare("one", lowest, highest)
    if known.largest < math.inf:
        is_large = code.compare("ogt", code.intrinsic("fabs", x), literal(x.kind, known.largest))
        doubtful = code.binary("or", doubtful, is_large)
    return _settled(code, what, x, lowest, doubtful)


def _settled(code: Assembly, what: object, x: Register, result: Register, doubtful: Register) -> Register:
    """Append a branch, for elements in doubt, that calls `renew` with the negated address of operands."""
    kind, bits = x.kind, f"i{x.kind.count}"
    cell, asked, ask, go = code.cell(kind), code.cell(kind), code.name("S"), code.name("S")
    header = f"%{code.name('h')}"
    code.entry.append(f"  {header} = alloca [2 x i64]")
    code.store(result, cell)
    mask = code.let(f"bitcast {doubtful.kind} {doubtful} to {bits}", Kind(INDEX))
    some = code.let(f"icmp ne {bits} {mask}, 0", Kind(BOOL))
    code.do(f"br i1 {code.rarely(some)}, label %{ask}, label %{go}")
    code.label(ask)
    code.store(x, asked)
    code.store(literal(Kind(INDEX), list(FUNCTIONS).index(what) << 32 | kind.count), header)
    address = code.let(f"ptrtoint ptr {asked} to i64", Kind(INDEX))
    code.store(address, code.address(header, literal(Kind(INDEX), 1), Kind(INDEX)))
    request = code.let(f"ptrtoint ptr {header} to i64", Kind(INDEX))
    code.let(f"call i64 %renew(i64 {code.binary('sub', literal(Kind(INDEX), 0), request)})", Kind(INDEX))
    code.store(code.load(asked, kind), cell)
    code.do(f"br label %{go}")
    code.label(go)
    return code.load(cell, kind)


def settle(request: int) -> int:
    """Compute what machine code has asked for, by a negated address, in place of the operands; return 0."""
    check_time()  # all elements of a tensor may be the same, and in doubt
    header = (ctypes.c_int64 * 2).from_address(-request)
    number, count = divmod(header[0], 1 << 32)
    elements: Array = np.ctypeslib.as_array((ctypes.c_float * count).from_address(header[1]))
    elements[...] = KERNELS[number](FLOAT32)(elements.copy())
    return 0
