"""Shardy's sdy dialect: meshes of devices, and shardings of tensors on them.

A sharding does not change a tensor's value, so most ops return their operand. `sdy_collectives.py` has the ops that
change shardings by communication.
"""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular
from stablehlo_ref.define.attribute_codecs import Dense, Int, String
from stablehlo_ref.define.bound import ControlFlowSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs, outputs_of, returns, type_of
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.define.spec import element_type, make_tensor_type, shape
from stablehlo_ref.define.type_constraints import anything, token
from stablehlo_ref.dialects.mlir_types import Yield, any_tensor, identity, static_tensor
from stablehlo_ref.dialects.sdy_shardings import (
    Direction,
    ManualAxesValue,
    MeshValue,
    PropagationDirection,
    ShardingsValue,
    ShardingValue,
    bound_axes,
    check_reductions,
    check_value,
    check_values,
    common_mesh,
    probed,
    rejecting,
)
from stablehlo_ref.distribution.layouts import DeviceMesh, Layout, layout_of
from stablehlo_ref.distribution.sdy_attributes import Mesh, Sharding, Shardings
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.ir.types import FunctionType, TensorType, TokenType, Type
from stablehlo_ref.ops import constants
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

    infer = type_of("input")

    @staticmethod
    def constraints(C: Checker, input: TensorType | TokenType, result: TensorType | TokenType) -> None:
        C(1, input == result)

    plan = identity


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

    plan = returns(lambda input: ())


class Constant(constants.Constant, op="constant", dialect="sdy"):
    """Return the constant `value`, which passes neither fold nor merge."""

    output = Out(static_tensor)

    @staticmethod
    def constraints(C: Checker, value: Dense, output: TensorType) -> None:
        C(1, output == value.type)


# --- regions --------------------------------------------------------------------------------------------------------


class Return(Yield, op="return", dialect="sdy"):
    """Terminate a region and return its results."""


class BodyWithArguments(Directive):
    """`(%arg: type, ...) {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.regions = [parser.region(parser.argument_list(), isolated=True)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions[0].blocks) != 1:
            raise Irregular
        arguments = op.regions[0].block.arguments
        names = printer.region_argument_names(arguments)
        printer.value(f"({', '.join(map(printer.argument_text, arguments, names))}) ")
        printer.region(op.regions[0], names)


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

    infer = outputs_of("body")

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
        check_shardings(site.op, "in_shardings", in_shardings, operands)
        check_shardings(site.op, "out_shardings", out_shardings, results)

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, operands: tuple[int, ...], body: Callee, results: tuple[int, ...]
    ) -> ControlFlow:
        return call(operands, "", results, lambda _: body, site.dying)


# --- manual computations --------------------------------------------------------------------------------------------


class ManualComputation(Op, op="manual_computation", dialect="sdy", isolated_from_above=True, runs_once=True):
    """Run `body` on each device of a mesh, with the shards of `tensors` along the axes in `manual_axes`.

    Along all other axes, every device holds the full tensors.
    """

    tensors = Ins(anything)
    in_shardings = Attr(ShardingsValue)
    out_shardings = Attr(ShardingsValue)
    manual_axes = Attr(ManualAxesValue)
    body = Body()
    results = Outs(anything)

    syntax = (
        "(operands) in_shardings=$in_shardings out_shardings=$out_shardings manual_axes=$manual_axes",
        BodyWithArguments(),
        "attr-dict : functional_type",
    )

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        tensors: Sequence[Type],
        in_shardings: ShardingsValue,
        out_shardings: ShardingsValue,
        manual_axes: ManualAxesValue,
        body: FunctionType,
        results: Sequence[Type],
    ) -> None:
        check_shardings(site.op, "in_shardings", in_shardings, tensors)
        check_shardings(site.op, "out_shardings", out_shardings, results)
        with rejecting(site.op, "", "manual_axes"):
            mesh = common_mesh((*in_shardings.shardings, *out_shardings.shardings), site.op)
            check_manual_axes(site.op, manual_axes.names, mesh)
        shards = Shards(mesh, frozenset(manual_axes.names))
        inputs, outputs = in_shardings.shardings, out_shardings.shardings
        C(4, all(map(shards.are_equal, (*tensors, *results), inputs + outputs)))
        C(2, body.inputs == tuple(map(shards.local, tensors, inputs)))
        C(3, body.outputs == tuple(map(shards.local, results, outputs)))
        C(5, all(map(shards.come_first, inputs + outputs)))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite,
        tensors: tuple[int, ...],
        in_shardings: ShardingsValue,
        out_shardings: ShardingsValue,
        manual_axes: ManualAxesValue,
        body: Callee,
        results: tuple[int, ...],
    ) -> ControlFlow:
        inputs, outputs = in_shardings.shardings, out_shardings.shardings
        shards = Shards(common_mesh(inputs + outputs, site.op), frozenset(manual_axes.names))
        devices = DeviceMesh(shards.mesh)
        in_tilings, out_tilings = (
            [devices.tiling(shards.layout(value.type, sharding)) for value, sharding in zip(values, each)]
            for values, each in ((site.op.operands, inputs), (site.op.results, outputs))
        )
        grid = Grid(1, devices.count)

        def go(slots: Slots) -> Turns:
            parts = [tiling.shards(slots[slot], devices.count) for slot, tiling in zip(tensors, in_tilings)]
            programs = [(body, list(values)) for values in zip(*parts)] or [(body, [])] * devices.count
            returned = site.run_grid(slots[0], grid, programs)
            for slot, values, tiling in zip(results, zip(*returned), out_tilings):
                slots[slot] = tiling.join(values)
            yield from ()

        return go


def check_shardings(op: Operation, name: str, shardings: Shardings | None, types: Sequence[Type]) -> None:
    """Check the shardings of the operands or results, if there are any; InvalidError if they are not valid."""
    if shardings is not None:
        with rejecting(op, name, name):
            check_values(op, shardings.shardings, types)


def check_manual_axes(op: Operation, names: Sequence[str], mesh: Mesh) -> None:
    """Check that the mesh has the axes and that nothing around the op has bound them; ValueError otherwise."""
    bound = bound_axes(op)
    has_values = bool(op.operands or op.results)
    for name in names:
        if has_values and name not in mesh.sizes:
            raise ValueError(f"unknown manual axis {quoted(name)}")
        if name in bound:
            raise ValueError(f"manual axis {quoted(name)} is already bound by a surrounding sdy.manual_computation")


class Shards:
    """How tensors split along the manual axes of a mesh."""

    def __init__(self, mesh: Mesh, manual: frozenset[str]) -> None:
        self.mesh = mesh
        self.manual = manual

    def __str__(self) -> str:
        return f"along {', '.join(map(quoted, sorted(self.manual)))} of {self.mesh}"

    def layout(self, type: Type, sharding: Sharding) -> Layout:
        """Return the layout along the manual axes."""
        return layout_of(sharding.filtered(lambda axis: axis.name in self.manual), self.mesh, type)

    def come_first(self, sharding: Sharding) -> bool:
        """Return whether manual axes come before all others in each dimension."""
        order = [[axis.name not in self.manual for axis in dimension.axes] for dimension in sharding.dimensions]
        return order == list(map(sorted, order))

    def are_equal(self, type: Type, sharding: Sharding) -> bool:
        """Return whether all shards of a value have the same size."""
        if not isinstance(type, TensorType):
            return True
        return all(n is None or n % count == 0 for n, count in zip(type.shape, self.layout(type, sharding).counts))

    def local(self, type: Type, sharding: Sharding) -> Type:
        """Return the type of a device's shard of a value."""
        if not isinstance(type, TensorType) or not sharding.dimensions:
            return type
        sizes = [n // count for n, count in zip(shape(type), self.layout(type, sharding).counts, strict=True)]
        return make_tensor_type(sizes, element_type(type))
