"""Compute the polynomials of stablehlo_ref/numerics/special_tables.py with mpmath, and print that file.

    python tools/special_tables.py > stablehlo_ref/numerics/special_tables.py

Each function is divided by its zeros and its asymptotic growth, so that the polynomials of the quotient lose few bits
to cancellation. They interpolate at Chebyshev nodes, and have the lowest degree with an error below 2**-68 times the
largest value, for long double; stablehlo_ref/numerics/libm.py shortens them for f64.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf

Function = Callable[[Any], Any]

mp.dps = 60
BITS = 68  # of accuracy


def nodes(count: int) -> list[Any]:
    return [mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def interpolated(function: Function, low: Any, high: Any, degree: int) -> list[Any]:
    """Return the coefficients of a polynomial in u in [-1, 1] that interpolates `function` on [low, high]."""
    at = nodes(degree + 1)
    matrix = mp.matrix([[u**k for k in range(degree + 1)] for u in at])
    values = mp.matrix([function((low + high) / 2 + u * (high - low) / 2) for u in at])
    return list(mp.lu_solve(matrix, values))


def polynomial(function: Function, low: Any, high: Any, bits: int) -> str:
    """Return the source of the polynomial of lowest degree that is within tolerance of `function` on [low, high]."""
    low, high = mpf(low), mpf(high)
    center, scale = float((low + high) / 2), float(2 / (high - low))
    low, high = center - 1 / mpf(scale), center + 1 / mpf(scale)
    tests = [mpf(2 * i + 1) / 40 - 1 for i in range(40)]
    exact = [function((low + high) / 2 + u * (high - low) / 2) for u in tests]
    for degree in range(6, 40):
        coefficients = interpolated(function, low, high, degree)
        errors = [abs(mp.polyval(coefficients[::-1], u) - y) for u, y in zip(tests, exact)]
        if max(errors) < max(map(abs, exact)) / 2**bits:
            break
    return f'({center!r}, {scale!r}, """\n{lines(coefficients)}"""),'


def lines(numbers: list[Any]) -> str:
    texts = [mp.nstr(x, 21, min_fixed=0, max_fixed=0) for x in numbers]
    rows = [" ".join(texts[i : i + 4]) for i in range(0, len(texts), 4)]
    return "".join(f"    {row}\n" for row in rows)


def pieces(name: str, function: Function, *bounds: Any, bits: int = BITS) -> None:
    """Print polynomials, one for each interval between successive bounds."""
    print(f"{name} = Polynomials(")
    for low, high in pairwise(bounds):
        print("".join(f"    {line}\n" for line in polynomial(function, low, high, bits).split("\n")), end="")
    print(")")


# --- functions ------------------------------------------------------------------------------------------------------


def erf_less_one(s: Any) -> Any:
    """Return erf(x) / x - 1 for s = x*x."""
    x = mp.sqrt(s)
    return mp.erf(x) / x - 1


def erfc_tail(v: Any) -> Any:
    """Return x exp(x*x) erfc(x) for v = 1/x."""
    return mp.erfc(1 / v) * mp.exp(1 / v**2) / v


def erf_inv(w: Any) -> Any:
    """Return erf_inv(x) / x for w = -log(1 - x*x)."""
    x = mp.sqrt(-mp.expm1(-w))
    rest = mp.exp(-w) / (1 + x)
    y = mp.sqrt(w) * mpf("0.85")
    for _ in range(100):
        step = (mp.erfc(y) - rest) / mp.exp(-y * y) * mp.sqrt(mp.pi) / 2
        step /= 1 + y * step  # Halley's method
        y += step
        if abs(step) < mpf(10) ** -50:
            break
    return y / x


def lgamma(x: Any) -> Any:
    """Return log(gamma(x)) divided by its zeros at 1 and 2."""
    return mp.loggamma(x) / ((x - 1) * (x - 2))


DIGAMMA_ZERO = mp.findroot(mp.digamma, mpf("1.4616321449683623412626595423257"))


def digamma(x: Any) -> Any:
    """Return the logarithmic derivative of gamma divided by its zero."""
    return mp.digamma(x) / (x - DIGAMMA_ZERO)


def bessel_i1(s: Any) -> Any:
    """Return I1(x) / x for s = x*x."""
    x = mp.sqrt(s)
    return mp.besseli(1, x) / x


def bessel_i1e(v: Any) -> Any:
    """Return sqrt(x) exp(-x) I1(x) for v = 1/x."""
    return mp.besseli(1, 1 / v) * mp.exp(-1 / v) / mp.sqrt(v)


def stirling(v: Any) -> Any:
    """Return x times the rest of Stirling's formula for v = 1 / x**2."""
    x = 1 / mp.sqrt(v)
    return x * (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_series(v: Any) -> Any:
    """Return x**2 times the rest of log(x) - 1 / (2 x) as an approximation of digamma, for v = 1 / x**2."""
    x = 1 / mp.sqrt(v)
    return x * x * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))


def main() -> None:
    print('"""Polynomials and series of special functions; tools/special_tables.py computes them."""\n')
    print("from __future__ import annotations\n")
    print("from stablehlo_ref.numerics.libm import long_numbers")
    print("from stablehlo_ref.numerics.libm import Polynomials\n\n# fmt: off")
    eighth = mpf(1) / 8
    pieces("ERF", erf_less_one, 0, 1)
    pieces("ERFC", erfc_tail, mpf(1) / 28, 2 * eighth, 4 * eighth, 1)
    pieces("ERF_INV", erf_inv, 0, 1.25, 2.5, 3.75, 5)
    pieces("ERF_INV_BELOW_5", erf_inv, 0, 5, bits=50)  # for f32
    pieces("ERF_INV_TAIL", lambda s: erf_inv(s * s), 2.2, 3.2, 4.2, 6.2)
    pieces("LGAMMA", lgamma, 0.5, 1, 1.5, 2, 3, 5, 8)
    pieces("DIGAMMA", digamma, 0.5, 1, 1.5, 2, 3, 5, 8)
    pieces("BESSEL_I1", bessel_i1, 0, 4, 16)
    pieces("BESSEL_I1E", bessel_i1e, 0, eighth / 2, eighth, 2 * eighth)
    pieces("STIRLING", stirling, 0, mpf(1) / 64)
    pieces("DIGAMMA_SERIES", digamma_series, 0, mpf(1) / 64)
    print(f"DIGAMMA_ZERO = ({float(DIGAMMA_ZERO)!r}, {float(DIGAMMA_ZERO - mpf(float(DIGAMMA_ZERO)))!r})")
    terms = [mp.bernoulli(2 * k) / mp.factorial(2 * k) for k in range(1, 13)]
    print(f'ZETA_SERIES = long_numbers("""\n{lines(terms)}""")')


if __name__ == "__main__":
    main()
