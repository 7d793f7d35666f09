"""Compute functions of complex numbers by functions of real ones: `stablehlo-complex-math-expander`.

The methods are those for which the errors are a few ULP everywhere: squares and their sums carry their rounding errors
along (Dekker's product, Knuth's sum) where terms cancel, and quotients take the place of squares that overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import FLOATS
from stablehlo_ref.passes.compatibility_expander import is_default
from stablehlo_ref.passes.emit import (
    Emitter,
    Expr,
    absolute,
    atan2,
    cosine,
    equal,
    exponential,
    imaginary,
    infinity,
    is_complex,
    largest,
    like,
    log,
    log_plus_one,
    make_complex,
    maximum,
    minimum,
    real,
    select,
    sine,
    sqrt,
)
from stablehlo_ref.passes.patterns import hoist_all_constants
from stablehlo_ref.passes.registry import transformation


@transformation("stablehlo-complex-math-expander", "compute functions of complex numbers by functions of real ones")
def complex_math_expander(module: Operation) -> None:
    """Replace `exponential`, `log`, `log_plus_one` and `sqrt` of complex numbers by ops on their parts.

    Results may differ in the last digits: each part has an error of at most 3 ULP. Signs of zeros, infinities and NaNs
    are those of C99. Ops with a `result_accuracy` stay.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            function = FUNCTIONS.get(op.name)
            if function is None or not is_default(op.properties.get("result_accuracy")):
                continue
            z = Expr(Emitter(rewriter, op), op.operands[0])
            if is_complex(z):
                rewriter.replace(op, [make_complex(*function(real(z), imaginary(z))).value])
    hoist_all_constants(module)


# --- sums of squares ------------------------------------------------------------------------------------------------


def _square(x: Expr) -> tuple[Expr, Expr]:
    """Return `x * x` and its rounding error."""
    high = x * x
    split = (134217729.0 if x.element == FLOATS["f64"] else 4097.0) * x
    upper = split + (x - split)
    lower = x - upper
    product = upper * lower
    return high, (-high + upper * upper + product + product) + lower * lower


def _sum(terms: Sequence[Expr]) -> Expr:
    """Return the sum of terms, with the rounding errors of all additions."""
    total, *others = terms
    errors = None
    for term in others:
        following = total + term
        part = following - total
        error = (total - (following - part)) + (term - part)
        total, errors = following, error if errors is None else errors + error
    return total if errors is None else total + errors


def _log_of_large(largest_part: Expr, smallest_part: Expr) -> Expr:
    """Return the logarithm of an absolute value, by the quotient of the parts."""
    quotient = smallest_part / largest_part
    ratio = select(equal(smallest_part, largest_part), like(quotient, 1), quotient * quotient)
    return log(largest_part) + log_plus_one(ratio) * 0.5


def _infinite_if(condition: Expr, x: Expr) -> Expr:
    return select(condition, infinity(x), x)


def _hypotenuse(x: Expr, y: Expr) -> Expr:
    """Return `sqrt(x * x + y * y)` of numbers that are not negative, without overflow."""
    high, low = maximum(x, y), minimum(x, y)
    quotient = low / high
    ratio = quotient * quotient
    root = sqrt(ratio + 1)
    is_small = equal(root, 1) & (ratio > 0)
    general = select(is_small, high + high * ratio / 2, high * root)
    return select(equal(high, low), high * 1.4142135623730951, general)


# --- functions ------------------------------------------------------------------------------------------------------


def _exponential(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """`exp(x) * (cos(y) + i sin(y))`, in two factors where the exponential overflows; real where y is 0."""
    whole, half = exponential(x), exponential(x * 0.5)
    overflows = equal(whole, infinity(x))
    re, im = (select(overflows, half * part * half, whole * part) for part in (cosine(y), sine(y)))
    is_real = equal(y, 0)
    return select(is_real, whole, re), select(is_real, y, im)


def _log(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """`log(|z|) + i atan2(y, x)`, by `log1p(x * x + y * y - 1) / 2` for |z| near 1."""
    width, height = absolute(x), absolute(y)
    (xx, x_error), (yy, y_error) = _square(x), _square(y)
    excess = _sum([like(x, -1), maximum(xx, yy), minimum(xx, yy), y_error, x_error])
    general = _log_of_large(maximum(width, height), minimum(width, height))
    modulus = select(absolute(excess) < 0.5, log_plus_one(excess) * 0.5, general)
    is_infinite = equal(width, infinity(x)) | equal(height, infinity(x))
    return _infinite_if(is_infinite, modulus), atan2(y, x)


def _log_plus_one(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """`log(|z + 1|) + i atan2(y, x + 1)`, by `log1p(2 x + x * x + y * y) / 2` unless z is huge or near -1."""
    width, height = absolute(x), absolute(y)
    high = maximum(width, height)
    following = x + 1
    (xx, x_error), (yy, y_error) = _square(x), _square(y)
    excess = _sum([x + x, yy, xx, y_error, x_error])
    distance = absolute(following)
    near = _log_of_large(maximum(distance, height), minimum(distance, height))
    modulus = select(distance + height < 0.2, near, log_plus_one(excess) * 0.5)
    modulus = select(high > sqrt(largest(x)) * 0.01, _log_of_large(high, minimum(width, height)), modulus)
    is_infinite = equal(width, infinity(x)) | equal(height, infinity(x))
    return _infinite_if(is_infinite, modulus), atan2(y, following)


def _sqrt(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """`u + i y / u / 2` with `u = sqrt((|z| + |x|) / 2)`, the parts exchanged where x is negative.

    Where u overflows or vanishes, it and `|y| / u / 2` are computed from the square roots of the parts.
    """
    width, height, root_two = absolute(x), absolute(y), 1.4142135623730951
    general = sqrt(_hypotenuse(width, height) * 0.5 + width * 0.5)
    is_wider, is_equal = width > height, equal(width, height)
    width_root, height_root = sqrt(width), sqrt(height)
    quotient = select(is_wider, height / width, width / height)
    diagonal = _hypotenuse(like(x, 1), quotient)
    wide, high = sqrt(diagonal + 1), sqrt(diagonal + quotient)
    large = select(is_wider, width_root * (wide / root_two), height_root * (high / root_two))
    steep = height_root / (high * root_two)
    small = select(is_wider, height_root * (height_root / width_root) / (wide * root_two), steep)
    is_extreme = equal(general, 0) | equal(general, infinity(x))
    large = select(is_equal, width_root * 1.09868411346781, select(is_extreme, large, general))
    small = select(is_equal, height_root / 2.19736822693562, select(is_extreme, small, height / (general * 2)))
    is_high = equal(height, infinity(x))
    large, small = _infinite_if(equal(width, infinity(x)) | is_high, large), _infinite_if(is_high, small)
    is_left = x < 0
    magnitude = select(is_left, large, small)
    is_negative = select(equal(y, 0), 1 / y, y) < 0
    return select(is_left, small, large), select(is_negative, -magnitude, magnitude)


FUNCTIONS: Mapping[str, Callable[[Expr, Expr], tuple[Expr, Expr]]] = {
    "stablehlo.exponential": _exponential,
    "stablehlo.log": _log,
    "stablehlo.log_plus_one": _log_plus_one,
    "stablehlo.sqrt": _sqrt,
}
