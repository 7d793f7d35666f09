"""Shardy's sdy dialect: meshes of devices, and shardings of tensors on them.

A sharding does not change a tensor's value, so most ops return their operand. `sdy_collectives.py` has the ops that
change shardings by communication, `sdy_manual_computation.py` the op that describes what each device computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define.attribute_codecs import Dense, Int, String
from stablehlo_ref.define.bound import ControlFlowSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.define.type_constraints import anything, token
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.dialects.mlir_types import any_tensor, static_tensor
from stablehlo_ref.dialects.sdy_codecs import Direction, MeshValue, PropagationDirection, ShardingsValue, ShardingValue
from stablehlo_ref.dialects.sdy_manual_computation import BodyWithArguments
from stablehlo_ref.dialects.sdy_shardings import check_reductions, check_value, check_values, probed, rejecting
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import FunctionType, TensorType, TokenType, Type
from stablehlo_ref.ops.constants import ConstantForm
from stablehlo_ref.ops.control_flow import call


class MeshOp(Op, op="mesh", dialect="sdy"):
    """Define a mesh: named axes of devices, numbered in row-major order unless `device_ids` lists another order."""

    sym_name = Attr(String)
    mesh = Attr(MeshValue, default=None)  # a mesh of StableHLO has its axes in `stablehlo.mesh`

    syntax = "symbol($sym_name) = $mesh attr-dict"

    @staticmethod
    def constraints(C: Checker, site: Site) -> None:
        C("parent", is_directly_in_module(site.op))


def is_directly_in_module(op: Operation) -> bool:
    """Return whether an op is one of a module's own ops."""
    return op.parent_op is None or op.parent_op.name == "builtin.module"


# --- ops that annotate a value ----------------------------------------------------------------------------------------


class Annotation(Op, dialect="sdy", computes_on_storage=True, returns_views=True):
    """The base class of ops that annotate a value and return it unchanged."""

    input = In(any_tensor)
    result = Out(any_tensor)

    @staticmethod
    def infer(input: TensorType | TokenType) -> TensorType | TokenType:
        return input

    @staticmethod
    def constraints(C: Checker, input: TensorType | TokenType, result: TensorType | TokenType) -> None:
        C(1, input == result)

    @staticmethod
    def plan() -> Run:
        return lambda input: input


class ShardingConstraint(Annotation, op="sharding_constraint"):
    """Require that a tensor or token has the sharding `sharding`."""

    input = In(any_tensor | token)
    result = Out(any_tensor | token)
    sharding = Attr(ShardingValue)

    syntax = "operands $sharding attr-dict : same_type"

    @staticmethod
    def constraints(
        C: Checker, site: Site, input: TensorType | TokenType, sharding: ShardingValue, result: TensorType | TokenType
    ) -> None:
        C(1, input == result)
        with rejecting(site.op, "", "sharding"):
            check_value(site.op, sharding, result)
            check_reductions(site.op, sharding)


class Reshard(ShardingConstraint, op="reshard"):
    """Change the sharding of a tensor or token to `sharding`."""


class PropagationBarrier(Annotation, op="propagation_barrier"):
    """Stop the propagation of shardings in all directions but `allowed_direction`."""

    allowed_direction = Attr(Direction)

    syntax = "operands allowed_direction=$allowed_direction attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, input: TensorType, allowed_direction: Direction, result: TensorType) -> None:
        C(1, input == result)
        C(2, allowed_direction != PropagationDirection.BOTH)


class DataFlowEdge(Annotation, op="data_flow_edge"):
    """Mark the sources and targets of a loop variable, or the like, that must be sharded in the same way."""

    input = In(any_tensor)
    sharding = Attr(ShardingValue, default=None)

    syntax = "operands ( sharding=$sharding )? attr-dict : same_type"

    @staticmethod
    def constraints(
        C: Checker, site: Site, input: TensorType, sharding: ShardingValue | None, result: TensorType
    ) -> None:
        C(1, input == result)
        C(2, result.is_static)
        C(3, all(may_own_edge(producer) for producer in site.producers()))
        if sharding is not None:
            with rejecting(site.op, "", "sharding"):
                check_value(site.op, sharding, result)


def may_own_edge(producer: Operation | None) -> bool:
    """Return whether the result of an op, or a block argument, may be the input of a data flow edge."""
    dialect_ops = ("sdy.named_computation", "sdy.manual_computation")
    return producer is None or not producer.name.startswith("sdy.") or producer.name in dialect_ops


class FuncDataFlowEdge(Annotation, op="func_data_flow_edge"):
    """Mark an argument of a function, or a result of a call, whose sharding belongs to both sides of the call."""

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def constraints(C: Checker, site: Site, input: TensorType, result: TensorType) -> None:
        C(1, input == result)
        C(2, result.is_static)
        C(3, all(map(is_at_call, site.op.operands)))


def is_at_call(value: Value) -> bool:
    """Return whether a value is an argument of a function or a result of a call."""
    value = probed(value)
    if isinstance(value.owner, Operation):
        return value.owner.name == "func.call"
    around = value.owner.parent if value.owner else None
    return around is not None and around.parent is not None and around.parent.name == "func.func"


class ShardingGroup(Op, op="sharding_group", dialect="sdy", computes_on_storage=True):
    """Require that all tensors with this `group_id` have the same sharding."""

    input = In(any_tensor)
    group_id = Attr(Int)

    syntax = "operands group_id=$group_id attr-dict : type(operands)"

    @staticmethod
    def plan() -> Run:
        return lambda input: ()


class Constant(Op, op="constant", dialect="sdy"):
    """Return the constant `value`, which passes neither fold nor merge."""

    value = Attr(Dense)
    output = Out(static_tensor)

    syntax = (ConstantForm(),)

    @staticmethod
    def infer(value: Dense) -> TensorType:
        declared: TensorType = value.type
        return declared

    @staticmethod
    def constraints(C: Checker, value: Dense, output: TensorType) -> None:
        C(1, output == value.type)

    @staticmethod
    def plan(value: Dense) -> Run:
        if isinstance(value, DenseResource) and value.array is None:
            raise UnsupportedError(f"the blob of resource '{value.key}' is missing")
        array = value.array
        return lambda: array


# --- regions --------------------------------------------------------------------------------------------------------


class Return(Op, op="return", dialect="sdy", terminator=True):
    """Terminate a region and return its results."""

    results = Ins(anything)

    syntax = "attr-dict operands (: type(operands))?"


class NamedComputation(
    Op, op="named_computation", dialect="sdy", isolated_from_above=True, releases_operands=True, runs_once=True
):
    """Run `body` on the operands: a call of a function that was inlined and kept its name."""

    operands = Ins(anything)
    name = Attr(String)
    in_shardings = Attr(ShardingsValue, default=None)
    out_shardings = Attr(ShardingsValue, default=None)
    body = Body()
    results = Outs(anything)

    syntax = (
        "< $name >(operands) ( in_shardings=$in_shardings )? ( out_shardings=$out_shardings )?",
        BodyWithArguments(),
        "attr-dict : functional_type",
    )

    @staticmethod
    def infer(body: FunctionType) -> Sequence[Type]:
        return body.outputs

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        operands: Sequence[Type],
        in_shardings: ShardingsValue | None,
        out_shardings: ShardingsValue | None,
        body: FunctionType,
        results: Sequence[Type],
    ) -> None:
        C(1, tuple(body.inputs) == tuple(operands))
        C(2, tuple(body.outputs) == tuple(results))
        for name, shardings, types in (
            ("in_shardings", in_shardings, operands),
            ("out_shardings", out_shardings, results),
        ):
            if shardings is not None:
                with rejecting(site.op, name, name):
                    check_values(site.op, shardings.shardings, types)

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, operands: tuple[int, ...], body: Callee, results: tuple[int, ...]
    ) -> ControlFlow:
        return call(operands, "", results, lambda _: body, site.dying)
