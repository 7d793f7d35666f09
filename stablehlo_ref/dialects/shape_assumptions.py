"""Ops of MLIR's shape dialect that check whether shapes match, and regions that assume it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from stablehlo_ref.define.assembly import implied
from stablehlo_ref.define.attribute_codecs import Flag, String
from stablehlo_ref.define.computation import ControlFlow, PlanBlock, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs, returns
from stablehlo_ref.define.spec import size
from stablehlo_ref.define.type_constraints import anything, witness
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.dialects.mlir_types import ArrowTypes, Yield, boolean, shape_like
from stablehlo_ref.dialects.shape import broadcast, shape_list
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import BOOLEAN, WITNESS, FunctionType, OpaqueType, Type
from stablehlo_ref.ops.control_flow import branch


def all_equal(*shapes: Array) -> bool:
    """Return whether all shapes are equal."""
    return all(np.array_equal(s, shapes[0]) for s in shapes)


def broadcastable(*shapes: Array) -> bool:
    """Return whether shapes broadcast to a common shape."""
    try:
        broadcast(*shapes)
    except EvaluationError:
        return False
    return True


class OnShapes(Op, dialect="shape"):
    """The base class of ops that check shapes."""

    shapes = Ins(shape_like)
    result = Out(boolean)

    syntax: ClassVar[Syntax] = ("operands attr-dict : type(operands)", implied([BOOLEAN]))


class ShapeEq(OnShapes, op="shape_eq"):
    """Return whether all shapes are equal."""

    plan = returns(lambda shapes: np.bool_(all_equal(*shapes)))


class IsBroadcastable(OnShapes, op="is_broadcastable"):
    """Return whether the shapes broadcast to a common shape."""

    @staticmethod
    def constraints(C: Checker, shapes: Sequence[Type]) -> None:
        C(1, 2 <= size(shapes))

    plan = returns(lambda shapes: np.bool_(broadcastable(*shapes)))


class Witnessed(OnShapes):
    """The base class of ops that return a witness, or raise EvaluationError."""

    result = Out(witness)

    syntax = ("operands attr-dict : type(operands)", implied([WITNESS]))


class CstrBroadcastable(Witnessed, op="cstr_broadcastable"):
    """Check that the shapes broadcast to a common shape."""

    constraints = staticmethod(IsBroadcastable.constraints)

    @staticmethod
    def plan() -> Run:
        def run(shapes: tuple[Array, ...]) -> None:
            broadcast(*shapes)

        return run


class CstrEq(Witnessed, op="cstr_eq"):
    """Check that all shapes are equal."""

    @staticmethod
    def plan() -> Run:
        def run(shapes: tuple[Array, ...]) -> None:
            if not all_equal(*shapes):
                raise EvaluationError(f"shapes {shape_list(shapes)} are not equal")

        return run


class CstrRequire(Op, op="cstr_require", dialect="shape"):
    """Check that `pred` is true. EvaluationError with the message `msg` if it is not."""

    pred = In(boolean)
    msg = Attr(String)
    result = Out(witness)

    syntax = ("operands, $msg attr-dict", implied([WITNESS], lambda n: [BOOLEAN] * n))

    @staticmethod
    def plan(msg: String) -> Run:
        def run(pred: Array) -> None:
            if not pred:
                raise EvaluationError(msg)

        return run


class ConstWitness(Op, op="const_witness", dialect="shape"):
    """Return a constant witness. EvaluationError unless it is `passing`."""

    passing = Attr(Flag)
    result = Out(witness)

    syntax = ("$passing attr-dict", implied([WITNESS]))

    @staticmethod
    def plan(passing: Flag) -> Run:
        def run() -> None:
            if not passing:
                raise EvaluationError("the constant witness is false")

        return run


class AssumingAll(Op, op="assuming_all", dialect="shape"):
    """Combine witnesses into one."""

    inputs = Ins(witness)
    result = Out(witness)

    syntax = ("operands attr-dict", implied([WITNESS], lambda n: [WITNESS] * n))

    @staticmethod
    def constraints(C: Checker, inputs: Sequence[OpaqueType]) -> None:
        C(1, 1 <= size(inputs))

    plan = returns(lambda inputs: None)


class Assuming(Op, op="assuming", dialect="shape", runs_once=True):
    """Run the region, which may assume the condition that `witness` represents."""

    witness = In(witness)
    body = Body(implied="shape.assuming_yield")
    results = Outs(anything)

    syntax = ("$witness", ArrowTypes(), "$body attr-dict", implied(None, lambda n: [WITNESS] * n))

    @staticmethod
    def constraints(C: Checker, body: FunctionType, results: Sequence[Type]) -> None:
        C(1, body.outputs == tuple(results))

    @staticmethod
    def plan_control_flow(body: PlanBlock, results: tuple[int, ...]) -> ControlFlow:
        return branch(body, results)


class AssumingYield(Yield, op="assuming_yield", dialect="shape"):
    """Terminate the region of `assuming` and return its results."""
