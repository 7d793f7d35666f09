"""The check dialect: ops that compare computed values with expected ones.

A failed check is recorded in the run's context. The run continues, and raises an error with all failures at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from stablehlo_ref.arrays.agreement import almost_equal, close, equal, report
from stablehlo_ref.define.attribute_codecs import Dense, Real, String, UInt32, UInt64
from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.op import Attr, In, Op
from stablehlo_ref.define.spec import element_type
from stablehlo_ref.define.type_constraints import complex_tensor, float_tensor
from stablehlo_ref.diagnostics import Diagnostic, EvaluationError, Location
from stablehlo_ref.dialects.mlir_types import any_tensor, unquantized_tensor
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.ops.constants import elements_of

Agreement: TypeAlias = Callable[[Array, Array], Array]  # returns which elements agree
RunCheck: TypeAlias = Callable[[Context, Array, Array], tuple[()]]

DEFAULT_TOLERANCE = 1e-4  # of `expect_almost_eq` and `expect_almost_eq_const`


def checked(name: str, location: Location, agree: Agreement) -> RunCheck:
    """Return a function that compares two arrays, counts that, and records in the run's context how they differ."""

    def run(context: Context, actual: Array, expected: Array) -> tuple[()]:
        context.checks += 1
        actual, expected = np.asarray(actual), np.asarray(expected)
        agreement = agree(actual, expected)
        if not agreement.all():
            message, notes = report(actual, expected, agreement)
            context.failures.append(Diagnostic(f"'{name}' failed: {message}", location, notes=tuple(notes)))
        return ()

    return run


class Check(Op, dialect="check", effects=True):
    """The base class of ops that compare two values. Quantized tensors are compared by their stored integers."""


class ExpectEq(Check, op="expect_eq"):
    """Check that `lhs` and `rhs` are equal element by element; NaN equals NaN."""

    lhs = In(any_tensor)
    rhs = In(any_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, rhs: TensorType) -> None:
        C(1, lhs == rhs)

    @classmethod
    def plan(cls, site: PlanSite) -> Run:
        return checked(cls.definition.name, site.location, equal)


class ExpectEqConst(Check, op="expect_eq_const"):
    """Check that `lhs` equals the constant `value` element by element; NaN equals NaN."""

    lhs = In(any_tensor)
    value = Attr(Dense)

    syntax = "operands, $value attr-dict"

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, value: Dense) -> None:
        C(1, lhs == value.type)

    @classmethod
    def plan(cls, site: PlanSite, value: Dense) -> Run:
        return with_constant(checked(cls.definition.name, site.location, equal), elements_of(value))


class ExpectAlmostEq(Check, op="expect_almost_eq"):
    """Check that elements of `lhs` and `rhs` differ by at most `tolerance`."""

    lhs = In(float_tensor | complex_tensor)
    rhs = In(float_tensor | complex_tensor)
    tolerance = Attr(Real, default=DEFAULT_TOLERANCE)

    syntax = "operands (, tolerance = $tolerance)? attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, rhs: TensorType) -> None:
        C(1, lhs == rhs)

    @classmethod
    def plan(cls, site: PlanSite, tolerance: Real) -> Run:
        return checked(cls.definition.name, site.location, lambda x, y: almost_equal(x, y, tolerance))


class ExpectAlmostEqConst(Check, op="expect_almost_eq_const"):
    """Check that elements of `lhs` differ from the constant `value` by at most `tolerance`."""

    lhs = In(float_tensor | complex_tensor)
    value = Attr(Dense)
    tolerance = Attr(Real, default=DEFAULT_TOLERANCE)

    syntax = "operands, $value (, tolerance = $tolerance)? attr-dict"

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, value: Dense) -> None:
        C(1, lhs == value.type)

    @classmethod
    def plan(cls, site: PlanSite, value: Dense, tolerance: Real) -> Run:
        return with_constant(
            checked(cls.definition.name, site.location, lambda x, y: almost_equal(x, y, tolerance)), elements_of(value)
        )


class ExpectClose(Check, op="expect_close"):
    """Check that elements of `actual` and `expected` are `min_ulp_difference` to `max_ulp_difference` ULPs apart."""

    actual = In(float_tensor | complex_tensor)
    expected = In(float_tensor | complex_tensor)
    max_ulp_difference = Attr(UInt64, default=1)
    min_ulp_difference = Attr(UInt64, default=0)

    syntax = (
        "operands, max_ulp_difference = $max_ulp_difference"
        " (, min_ulp_difference = $min_ulp_difference)? : attr-dict type(operands)"
    )

    @staticmethod
    def constraints(
        C: Checker, actual: TensorType, expected: TensorType, max_ulp_difference: UInt64, min_ulp_difference: UInt64
    ) -> None:
        C(1, element_type(actual) == element_type(expected))
        C(2, actual == expected)
        C(3, 0 <= min_ulp_difference)
        C(4, 0 <= max_ulp_difference)

    @classmethod
    def plan(cls, site: PlanSite, max_ulp_difference: UInt64, min_ulp_difference: UInt64) -> Run:
        return checked(
            cls.definition.name, site.location, lambda x, y: close(x, y, min_ulp_difference, max_ulp_difference)
        )


def with_constant(run: RunCheck, expected: Array) -> Callable[[Context, Array], tuple[()]]:
    """Return `run` with its second operand bound to a constant."""

    def run_on_constant(context: Context, actual: Array) -> tuple[()]:
        return run(context, actual, expected)

    return run_on_constant


class ExpectSerializedEq(Check, op="expect_serialized_eq"):
    """Check that `expected` equals the value that probe `probe_id` recorded at 0-based `iteration` in this run."""

    expected = In(unquantized_tensor)
    probe_id = Attr(String)
    iteration = Attr(UInt32, default=0)

    syntax = "operands, probe_id = $probe_id (, iter = $iteration)? attr-dict : type(operands)"

    @staticmethod
    def constraints(C: Checker, iteration: UInt32) -> None:
        C(1, 0 <= iteration)

    @classmethod
    def plan(cls, site: PlanSite, expected: TensorType, probe_id: String, iteration: UInt32) -> Run:
        compare = checked(cls.definition.name, site.location, equal)

        def run(context: Context, value: Array) -> tuple[()]:
            recorded = context.probes.get(probe_id, [])
            if iteration >= len(recorded):
                raise EvaluationError(f"probe {probe_id!r} recorded {len(recorded)} values, no iteration {iteration}")
            type, probed = recorded[iteration]
            if type != expected:
                raise EvaluationError(f"probe {probe_id!r}: expected a value of type {expected}, got {type}")
            return compare(context, np.asarray(probed), value)

        return run
