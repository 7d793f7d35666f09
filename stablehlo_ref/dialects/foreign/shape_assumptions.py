"""Ops of MLIR's shape dialect that ask whether shapes fit together, and those that take it for granted."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.foreign.shape import together
from stablehlo_ref.dialects.foreign.values import Array, Run, boolean, shape_like
from stablehlo_ref.kinds import Flag, String, anything, witness
from stablehlo_ref.ops.control_flow import Go, PlanBlock, all_compatible, branch
from stablehlo_ref.spec import size


def all_equal(*shapes: Array) -> bool:
    return all(np.array_equal(s, shapes[0]) for s in shapes)


def broadcastable(*shapes: Array) -> bool:
    try:
        together(*shapes)
    except EvaluationError:
        return False
    return True


class ShapeEq(Op, op="shape_eq", dialect="shape"):
    """Whether all shapes are the same."""

    shapes = Ins(shape_like)
    result = Out(boolean)

    syntax = "operands attr-dict : type(operands) custom(yields_boolean)"

    @staticmethod
    def plan() -> Run:
        return lambda shapes: np.bool_(all_equal(*shapes))


class IsBroadcastable(Op, op="is_broadcastable", dialect="shape"):
    """Whether the shapes broadcast."""

    shapes = Ins(shape_like)
    result = Out(boolean)

    syntax = "operands attr-dict : type(operands) custom(yields_boolean)"

    @staticmethod
    def constraints(C: Any, shapes: Any) -> None:
        C(1, 2 <= size(shapes))

    @staticmethod
    def plan() -> Run:
        return lambda shapes: np.bool_(broadcastable(*shapes))


class CstrBroadcastable(Op, op="cstr_broadcastable", dialect="shape"):
    """A witness that the shapes broadcast."""

    shapes = Ins(shape_like)
    result = Out(witness)

    syntax = "operands attr-dict : type(operands) custom(witness)"

    @staticmethod
    def constraints(C: Any, shapes: Any) -> None:
        C(1, 2 <= size(shapes))

    @staticmethod
    def plan() -> Run:
        def run(shapes: tuple[Array, ...]) -> None:
            together(*shapes)

        return run


class CstrEq(Op, op="cstr_eq", dialect="shape"):
    """A witness that all shapes are the same."""

    shapes = Ins(shape_like)
    result = Out(witness)

    syntax = "operands attr-dict : type(operands) custom(witness)"

    @staticmethod
    def plan() -> Run:
        def run(shapes: tuple[Array, ...]) -> None:
            if not all_equal(*shapes):
                raise EvaluationError(f"shapes {', '.join(str(s.tolist()) for s in shapes)} are not the same")

        return run


class CstrRequire(Op, op="cstr_require", dialect="shape"):
    """A witness that `pred` is true."""

    pred = In(boolean)
    msg = Attr(String)
    result = Out(witness)

    syntax = "operands, $msg attr-dict custom(witness_of_truth)"

    @staticmethod
    def plan(msg: str) -> Run:
        def run(pred: Array) -> None:
            if not pred:
                raise EvaluationError(msg)

        return run


class ConstWitness(Op, op="const_witness", dialect="shape"):
    """A witness that is known to hold, or not to."""

    passing = Attr(Flag)
    result = Out(witness)

    syntax = "$passing attr-dict custom(witness)"

    @staticmethod
    def plan(passing: bool) -> Run:
        def run() -> None:
            if not passing:
                raise EvaluationError("a witness that does not hold")

        return run


class AssumingAll(Op, op="assuming_all", dialect="shape"):
    """A witness of what all others witness."""

    inputs = Ins(witness)
    result = Out(witness)

    syntax = "operands attr-dict custom(witness_of_witnesses)"

    @staticmethod
    def constraints(C: Any, inputs: Any) -> None:
        C(1, 1 <= size(inputs))

    @staticmethod
    def plan() -> Run:
        return lambda inputs: None


class Assuming(Op, op="assuming", dialect="shape"):
    """Runs its region, which takes for granted what `witness` stands for."""

    witness = In(witness)
    body = Body()
    results = Outs(anything)

    syntax = "custom(assuming)"

    @staticmethod
    def constraints(C: Any, body: Any, results: Any) -> None:
        C(1, all_compatible(body.outputs, results))

    @staticmethod
    def inline(body: PlanBlock, results: tuple[int, ...]) -> Go:
        return branch(body, results)


class AssumingYield(Op, op="assuming_yield", dialect="shape"):
    """Ends the region of `assuming` and gives its results."""

    terminator = True
    inputs = Ins(anything)

    syntax = "operands attr-dict (: type(operands))?"
