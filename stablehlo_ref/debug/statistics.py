"""Statistical tests of the errors of sums: what worst-case bounds allow, but rounding to nearest does not explain.

The errors of an op over its elements are compared with those of rounding to nearest at each partial sum, which are
centered and nearly independent. A truncating accumulator has errors toward zero, and is found by their bias; one of too
few bits by their variance. A finding is suspicious, never certain: sums of special data (such as many equal numbers)
can be biased under round to nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt

import numpy as np

from stablehlo_ref.debug.judge import Judge
from stablehlo_ref.debug.shadow import Shadow
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation

LEVEL = 1e-6  # of p-values after correction
FEWEST = 100  # elements
SMALLEST_BIAS = 0.5  # in standard deviations of an element


@dataclass(frozen=True)
class Suspicion:
    """An op whose errors rounding to nearest does not explain: their mean or root mean square, in its deviations."""

    op: Operation
    test: str  # "bias" or "variance"
    statistic: float
    p: float  # corrected for the number of tests
    size: int

    def __str__(self) -> str:
        if self.test == "bias":
            direction = "toward zero" if self.statistic < 0 else "away from zero"
            text = f"errors point {direction}, by {abs(self.statistic):.3g} standard deviations of rounding to nearest"
        else:
            text = f"errors are {self.statistic:.3g} times as large as those of rounding to nearest"
        return f"{text}, over {self.size} elements (p = {self.p:.1g})"


def suspicions(tested: Sequence[Suspicion]) -> list[Suspicion]:
    """Return the ops whose errors are beyond rounding to nearest, with p-values corrected for all tests."""
    corrected = [replace(s, p=min(1.0, s.p * len(tested))) for s in tested]
    return [s for s in corrected if s.p < LEVEL and (s.test == "variance" or abs(s.statistic) > SMALLEST_BIAS)]


def tests_of(judge: Judge, op: Operation) -> list[Suspicion]:
    """Return the results of both tests of a sum, with p-values that are not corrected yet; none without a bound."""
    shadows = judge.known_bounds(op)
    if shadows is None or shadows[0].deviation is None:
        return []
    errors, directions = normalised(judge.values[op.results[0]], shadows[0])
    if errors.size < FEWEST:
        return []
    bias, bias_p = bias_of(errors * directions)
    spread, spread_p = spread_of(errors)
    return [
        Suspicion(op, "bias", bias, bias_p, errors.size),
        Suspicion(op, "variance", spread, spread_p, errors.size),
    ]


def normalised(actual: Array, shadow: Shadow) -> tuple[Array, Array]:
    """Return errors in standard deviations of rounding to nearest, and the signs of the exact results.

    Only elements with a finite bound that are not 0 count.
    """
    assert shadow.deviation is not None
    values = actual.astype(np.float64)
    deviation = np.broadcast_to(shadow.deviation, values.shape)
    kept = np.isfinite(values) & np.isfinite(shadow.radius) & (shadow.center != 0) & (deviation > 0)
    center = shadow.center[kept]
    return (values[kept] - center) / deviation[kept], np.sign(center)


def bias_of(errors: Array) -> tuple[float, float]:
    """Return the mean of errors and the p-value of a mean of 0, two-sided, by the central limit theorem."""
    mean, deviation = float(np.mean(errors)), float(np.std(errors))
    if deviation == 0:
        return mean, 1.0 if mean == 0 else 0.0
    return mean, erfc(abs(mean) / deviation * sqrt(errors.size / 2))


def spread_of(errors: Array) -> tuple[float, float]:
    """Return the root mean square of errors and the p-value of one of at most 1.

    The sum of squares is compared with a chi-squared distribution, by the approximation of Wilson and Hilferty.
    """
    mean_square = float(np.mean(np.square(errors)))
    width = 2 / (9 * errors.size)
    z = (mean_square ** (1 / 3) - (1 - width)) / sqrt(width)
    return sqrt(mean_square), 0.5 * erfc(z / sqrt(2))
