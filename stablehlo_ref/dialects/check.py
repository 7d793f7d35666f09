"""The check dialect: ops that compare what a program computed with what was expected of it.

A check that fails is noted and the run goes on; at its end it fails with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, Location
from stablehlo_ref.kinds import Dense, Int, Int32, Real, String, complex_tensor, float_tensor, quantized_tensor, tensor
from stablehlo_ref.numerics.agreement import almost_equal, close, equal, report
from stablehlo_ref.spec import element_type

Agreement = Callable[[np.ndarray, np.ndarray], np.ndarray]

ALMOST = 1e-4  # the default tolerance of the ops whose name has `almost`


def checked(name: str, location: Location | None, agree: Agreement) -> Callable[..., tuple[()]]:
    """What an op plans: compares two arrays and notes in the run's context how they differ."""

    def run(context: Any, actual: Any, expected: Any) -> tuple[()]:
        actual, expected = np.asarray(actual), np.asarray(expected)
        agreement = agree(actual, expected)
        if not agreement.all():
            message, notes = report(actual, expected, agreement)
            context.failures.append(Diagnostic(f"'{name}' failed: {message}", location, notes=tuple(notes)))
        return ()

    return run


class Check(Op, dialect="check"):
    """The base of checks that look at two values. Quantized ones are compared as they are stored."""

    effects = True


class ExpectEq(Check, op="expect_eq"):
    """`lhs` and `rhs` are equal, element by element; NaN equals NaN."""

    lhs = In(tensor | quantized_tensor)
    rhs = In(tensor | quantized_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any) -> None:
        C(1, lhs == rhs)

    @classmethod
    def plan(cls, location: Location) -> Any:
        return checked(cls.name, location, equal)


class ExpectEqConst(Check, op="expect_eq_const"):
    """`lhs` is equal to the constant `value`, element by element; NaN equals NaN."""

    lhs = In(tensor | quantized_tensor)
    value = Attr(Dense)

    syntax = "operands, $value attr-dict"

    @staticmethod
    def constraints(C: Any, lhs: Any, value: Any) -> None:
        C(1, lhs == value.type)

    @classmethod
    def plan(cls, value: Any, location: Location) -> Any:
        return with_constant(checked(cls.name, location, equal), value.array)


class ExpectAlmostEq(Check, op="expect_almost_eq"):
    """`lhs` and `rhs` are within `tolerance` of one another."""

    lhs = In(float_tensor | complex_tensor)
    rhs = In(float_tensor | complex_tensor)
    tolerance = Attr(Real, default=ALMOST)

    syntax = "operands (, tolerance = $tolerance)? attr-dict : same_type"

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any) -> None:
        C(1, lhs == rhs)

    @classmethod
    def plan(cls, tolerance: float, location: Location) -> Any:
        return checked(cls.name, location, lambda x, y: almost_equal(x, y, tolerance))


class ExpectAlmostEqConst(Check, op="expect_almost_eq_const"):
    """`lhs` is within `tolerance` of the constant `value`."""

    lhs = In(float_tensor | complex_tensor)
    value = Attr(Dense)
    tolerance = Attr(Real, default=ALMOST)

    syntax = "operands, $value (, tolerance = $tolerance)? attr-dict"

    @staticmethod
    def constraints(C: Any, lhs: Any, value: Any) -> None:
        C(1, lhs == value.type)

    @classmethod
    def plan(cls, value: Any, tolerance: float, location: Location) -> Any:
        return with_constant(checked(cls.name, location, lambda x, y: almost_equal(x, y, tolerance)), value.array)


class ExpectClose(Check, op="expect_close"):
    """`actual` is `min_ulp_difference` to `max_ulp_difference` units in the last place away from `expected`."""

    actual = In(float_tensor | complex_tensor)
    expected = In(float_tensor | complex_tensor)
    max_ulp_difference = Attr(Int, default=1)
    min_ulp_difference = Attr(Int, default=0)

    syntax = (
        "operands, max_ulp_difference = $max_ulp_difference"
        " (, min_ulp_difference = $min_ulp_difference)? : attr-dict type(operands)"
    )

    @staticmethod
    def constraints(C: Any, actual: Any, expected: Any, max_ulp_difference: int, min_ulp_difference: int) -> None:
        C(1, element_type(actual) == element_type(expected))
        C(2, actual == expected)
        C(3, 0 <= min_ulp_difference)
        C(4, 0 <= max_ulp_difference)

    @classmethod
    def plan(cls, max_ulp_difference: int, min_ulp_difference: int, location: Location) -> Any:
        return checked(cls.name, location, lambda x, y: close(x, y, min_ulp_difference, max_ulp_difference))


def with_constant(run: Callable[..., tuple[()]], expected: np.ndarray) -> Callable[..., tuple[()]]:
    """`run` of a second operand that is known."""

    def run_on_constant(context: Any, actual: Any) -> tuple[()]:
        return run(context, actual, expected)

    return run_on_constant


class ExpectSerializedEq(Check, op="expect_serialized_eq"):
    """`expected` is equal to value number `iteration`, counted from 0, of the probe `probe_id` in this run."""

    expected = In(tensor)
    probe_id = Attr(String)
    iteration = Attr(Int32, default=0)

    syntax = "operands, probe_id = $probe_id (, iter = $iteration)? attr-dict : type(operands)"

    @staticmethod
    def constraints(C: Any, iteration: int) -> None:
        C(1, 0 <= iteration)

    @classmethod
    def plan(cls, expected: Any, probe_id: str, iteration: int, location: Location) -> Any:
        compare = checked(cls.name, location, equal)

        def run(context: Any, value: Any) -> tuple[()]:
            seen = context.probes.get(probe_id, ())
            if iteration >= len(seen):
                raise EvaluationError(f"probe {probe_id!r} has {len(seen)} values, but number {iteration} is expected")
            type, probed = seen[iteration]
            if type != expected:
                raise EvaluationError(f"probe {probe_id!r} has a value of type {type}, but {expected} is expected")
            return compare(context, probed, value)

        return run
