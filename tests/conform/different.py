"""A backend whose results are right but have other bits: sums in another order, and functions off by one ULP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import stablehlo_ref as sr

FUNCTIONS = ("tanh", "exponential", "log", "sine", "cosine", "logistic", "rsqrt", "power", "atan2", "cbrt")


def run(text: str, inputs: Sequence[Any]) -> list[Any]:
    """Run a program of one op; the contracted dimensions of its operands are reversed if it is a dot_general."""
    program = sr.parse(text).verify()
    entry = next(op for op in program.module.walk() if op.name == "func.func")
    (op, *others) = entry.regions[0].block.operations
    given = list(inputs)
    if op.name == "stablehlo.dot_general" and len(set(op.operands)) == 2 and len(others) == 1:
        for operand, name in zip(op.operands, ("lhs", "rhs")):
            index = entry.regions[0].block.arguments.index(operand)
            given[index] = np.flip(given[index], op.properties.get(f"{name}_contracting_dimensions", ()))
    results = [np.asarray(result) for result in program.run(*given)]
    if op.name.removeprefix("stablehlo.") in FUNCTIONS and results[0].dtype == np.float32:
        wide = np.isfinite(results[0]) & (np.abs(results[0]) > 1e-30)
        results[0] = np.where(wide, np.nextafter(results[0], np.float32(0)), results[0])
    return results


def negated_where_nan(text: str, inputs: Sequence[Any]) -> list[Any]:
    """Return the negative of a unary function where it is NaN, which types without NaN have as another number."""
    (result,) = sr.parse(text).run(*inputs)
    wide = np.asarray(inputs[0]).astype(np.float64)
    return [np.where(wide < 1, -np.asarray(result), result)]
