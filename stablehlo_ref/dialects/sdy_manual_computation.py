"""`sdy.manual_computation`: what each device of a mesh computes, as one process per device."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Directive, Draft, Irregular
from stablehlo_ref.define.bound import ControlFlowSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Body, Ins, Op, Outs
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.define.spec import element_type, make_tensor_type, shape
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.dialects.sdy_codecs import ManualAxesValue, ShardingsValue
from stablehlo_ref.dialects.sdy_shardings import bound_axes, check_values, common_mesh, rejecting
from stablehlo_ref.distribution.axes import Span, span
from stablehlo_ref.distribution.sdy_attributes import Mesh, Sharding, Shardings
from stablehlo_ref.distribution.sharding import Devices, Tiling
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.lexer import quoted
from stablehlo_ref.ir.types import FunctionType, TensorType, Type


class BodyWithArguments(Directive):
    """`(%arg: type, ...) {...}`."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.regions = [parser.region(parser.argument_list(), isolated=True)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
            raise Irregular
        arguments = op.regions[0].block.arguments
        names = printer.region_argument_names(arguments)
        printer.value(f"({', '.join(map(printer.argument_text, arguments, names))}) ")
        printer.region(op.regions[0], names)


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
        devices = Devices(shards.mesh)
        in_tilings, out_tilings = ([shards.tiling(sharding, devices) for sharding in s] for s in (inputs, outputs))
        grid = Grid(1, devices.count)

        def go(slots: Slots) -> Turns:
            parts = [tiling.shards(slots[slot], devices.count) for slot, tiling in zip(tensors, in_tilings)]
            programs = [(body, list(values)) for values in zip(*parts)] or [(body, [])] * devices.count
            returned = site.run_grid(slots[0], grid, programs)
            for slot, values, tiling in zip(results, zip(*returned), out_tilings):
                slots[slot] = tiling.join(values)
            yield from ()

        return go


def check_shardings(op: Operation, name: str, shardings: Shardings, types: Sequence[Type]) -> None:
    """Check the shardings of the operands or results; InvalidError if they are not valid."""
    if types or shardings.shardings:
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

    def split(self, sharding: Sharding) -> list[list[Span]]:
        """Return the manual axes that split each dimension."""
        return [
            [span(axis, self.mesh) for axis in dimension.axes if axis.name in self.manual]
            for dimension in sharding.dimensions
        ]

    def counts(self, sharding: Sharding) -> list[int]:
        """Return the number of shards of each dimension."""
        return [prod(part.size for part in parts) for parts in self.split(sharding)]

    def come_first(self, sharding: Sharding) -> bool:
        """Return whether manual axes come before all others in each dimension."""
        order = [[axis.name not in self.manual for axis in dimension.axes] for dimension in sharding.dimensions]
        return order == list(map(sorted, order))

    def are_equal(self, type: Type, sharding: Sharding) -> bool:
        """Return whether all shards of a value have the same size."""
        if not isinstance(type, TensorType) or not sharding.dimensions:
            return True
        return all(n is None or n % count == 0 for n, count in zip(type.shape, self.counts(sharding), strict=True))

    def local(self, type: Type, sharding: Sharding) -> Type:
        """Return the type of a device's shard of a value."""
        if not isinstance(type, TensorType) or not sharding.dimensions:
            return type
        sizes = [n // count for n, count in zip(shape(type), self.counts(sharding), strict=True)]
        part: Type = make_tensor_type(sizes, element_type(type))
        return part

    def tiling(self, sharding: Sharding, devices: Devices) -> Tiling:
        """Return how a tensor is split over the devices along the manual axes."""
        numbers = tuple(map(devices.numbers, self.split(sharding)))
        return Tiling(tuple(self.counts(sharding)), numbers, devices.count)
