"""Shardy's sdy dialect: meshes of devices, and shardings of tensors on them.

A sharding does not change a tensor's value, so most ops return their operand. Only `manual_computation` describes what
each device computes: it runs its body as a grid of processes, one per device of its mesh, on the shards of its
operands, and joins the shards that they return.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.attribute_codecs import Int, Opaque, String
from stablehlo_ref.define.bound import ControlFlowSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, Run, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.define.spec import compatible, rank, shape, size
from stablehlo_ref.define.type_constraints import anything, token
from stablehlo_ref.diagnostics import InvalidError, Location
from stablehlo_ref.dialects.mlir_types import any_tensor
from stablehlo_ref.distribution.meshes import Axis, check_mesh, positions, read_mesh
from stablehlo_ref.distribution.sharding import Tiling
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.attributes import Attribute, OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TensorType, TokenType, Type
from stablehlo_ref.ops.control_flow import all_compatible

SymbolTable: TypeAlias = Callable[[str], Operation | None]  # from the name of a symbol to the op that defines it
Mesh: TypeAlias = tuple[dict[str, int], Sequence[int]]  # sizes by axis, and device ids, empty for the default order


class MeshOp(Op, op="mesh", dialect="sdy"):
    """Define a mesh: named axes of devices, numbered in row-major order unless `device_ids` lists another order."""

    sym_name = Attr(String)
    mesh = Attr(Opaque, default=None)

    syntax = "custom(mesh) attr-dict"


class Annotation(Op, dialect="sdy", computes_on_storage=True):
    """The base class of ops that annotate a value and return it unchanged."""

    input = In(any_tensor)
    result = Out(any_tensor)

    @staticmethod
    def infer(input: TensorType | TokenType) -> TensorType | TokenType:
        return input

    @staticmethod
    def constraints(C: Checker, input: TensorType | TokenType, result: TensorType | TokenType) -> None:
        C(1, compatible(input, result))

    @staticmethod
    def plan() -> Run:
        return lambda input: input


class ShardingConstraint(Annotation, op="sharding_constraint"):
    """Require that a tensor or token has the sharding `sharding`."""

    input = In(any_tensor | token)
    result = Out(any_tensor | token)
    sharding = Attr(Opaque)

    syntax = "operands custom(sharding) attr-dict : same_type"


class Reshard(Annotation, op="reshard"):
    """Change the sharding of a tensor or token to `sharding`."""

    input = In(any_tensor | token)
    result = Out(any_tensor | token)
    sharding = Attr(Opaque)

    syntax = "operands custom(sharding) attr-dict : same_type"


class PropagationBarrier(Annotation, op="propagation_barrier"):
    """Stop the propagation of shardings in all directions but `allowed_direction`."""

    allowed_direction = Attr(Opaque)

    syntax = "operands allowed_direction = custom(direction) attr-dict : same_type"


class ShardingGroup(Op, op="sharding_group", dialect="sdy", computes_on_storage=True):
    """Require that all tensors with this `group_id` have the same sharding."""

    input = In(any_tensor)
    group_id = Attr(Int)

    syntax = "operands group_id = $group_id attr-dict : type(operands)"

    @staticmethod
    def plan() -> Run:
        return lambda input: ()


class Return(Op, op="return", dialect="sdy", terminator=True):
    """Terminate a region and return its results."""

    results = Ins(anything)

    syntax = "attr-dict operands (: type(operands))?"


# --- manual computation ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sharding:
    """How a tensor is sharded on a mesh: the axes that shard each of its dimensions, from major to minor.

    An axis is its name and the pre-size and size of a sub-axis as written, which are "" for a full axis.
    """

    mesh: str
    axes: tuple[tuple[tuple[str, str, str], ...], ...]


_find_axes = re.compile(r'"([^"]+)"(?:\s*:\s*\((\d+)\)\s*(\d+))?').findall


def read_shardings(attribute: Attribute) -> list[Sharding]:
    """Parse `#sdy.sharding_per_value<[<@mesh, [{"a", "b":(2)4}, {}]>, ...]>`."""
    text = attribute.text if isinstance(attribute, OpaqueAttribute) else ""
    found = re.findall(r"<\s*(@[\w$.]+|@\"[^\"]+\"|mesh<[^>]*>)\s*,\s*\[([^\]]*)\]", text)
    return [
        Sharding(mesh, tuple(tuple(_find_axes(d)) for d in re.findall(r"\{([^}]*)\}", dims))) for mesh, dims in found
    ]


class ManualComputation(Op, op="manual_computation", dialect="sdy", isolated_from_above=True):
    """Run `body` on each device of a mesh, with the shards of `tensors` along the axes in `manual_axes`.

    Along all other axes, every device holds the full tensors.
    """

    tensors = Ins(anything)
    in_shardings = Attr(Opaque)
    out_shardings = Attr(Opaque)
    manual_axes = Attr(Opaque)
    body = Body()
    results = Outs(anything)

    syntax = "custom(manual_computation)"

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        tensors: Sequence[Type],
        in_shardings: Opaque,
        out_shardings: Opaque,
        manual_axes: Opaque,
        body: FunctionType,
        results: Sequence[Type],
    ) -> None:
        devices = Devices(in_shardings, out_shardings, manual_axes, site.symbol, site.location)
        C(1, size(devices.inputs) == size(tensors) and size(devices.outputs) == size(results))
        C(4, all(map(devices.can_split, (*tensors, *results), devices.inputs + devices.outputs)))
        C(2, all_compatible(body.inputs, list(map(devices.local, tensors, devices.inputs))))
        C(3, all_compatible(body.outputs, list(map(devices.local, results, devices.outputs))))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite,
        tensors: tuple[int, ...],
        in_shardings: Opaque,
        out_shardings: Opaque,
        manual_axes: Opaque,
        body: Callee,
        results: tuple[int, ...],
    ) -> ControlFlow:
        devices = Devices(in_shardings, out_shardings, manual_axes, site.symbol, site.location)
        in_tilings, out_tilings = (list(map(devices.tiling, s)) for s in (devices.inputs, devices.outputs))
        grid = Grid(1, devices.count)

        def go(slots: Slots) -> Turns:
            shards = [devices.shards(slots[slot], tiling) for slot, tiling in zip(tensors, in_tilings)]
            programs = [(body, [values[device] for values in shards]) for device in range(devices.count)]
            returned = site.run_grid(slots[0], grid, programs)
            for slot, values, tiling in zip(results, zip(*returned), out_tilings):
                slots[slot] = tiling.join(values)
            yield from ()

        return go


class Devices:
    """The devices of a manual computation, and how tensors are sharded over them."""

    def __init__(
        self,
        in_shardings: Attribute,
        out_shardings: Attribute,
        manual_axes: Attribute,
        symbols: SymbolTable,
        location: Location,
    ) -> None:
        self.inputs = read_shardings(in_shardings)
        self.outputs = read_shardings(out_shardings)
        text = manual_axes.text if isinstance(manual_axes, OpaqueAttribute) else ""
        self.manual = {name for name, *_ in _find_axes(text)}
        self.sizes, devices = mesh_of(self.inputs + self.outputs, symbols, location)
        self.count = prod(self.sizes.values())
        order = np.argsort(devices) if len(devices) else np.arange(self.count)
        coordinates = np.unravel_index(order, tuple(self.sizes.values())) if self.sizes else ()
        self.coordinates = dict(zip(self.sizes, coordinates))  # along each axis, of each device

    def tiling(self, sharding: Sharding) -> Tiling:
        """Return how a tensor is split over the devices along the manual axes."""
        axes = [[self.axis(*axis) for axis in dimension if axis[0] in self.manual] for dimension in sharding.axes]
        sizes = [tuple(size for *_, size in split) for split in axes]
        coordinates = [[self.coordinate(*axis) for axis in split] for split in axes]
        everywhere = np.zeros(self.count, np.intp)
        numbers = [np.ravel_multi_index(c, n) if n else everywhere for c, n in zip(coordinates, sizes)]
        return Tiling(tuple(map(prod, sizes)), tuple(numbers), self.count)

    def axis(self, name: str, pre_size: str, size: str) -> Axis:
        """Return an axis or sub-axis as written; its size is 0 if the mesh has no such axis."""
        return name, int(pre_size or 1), int(size or self.sizes.get(name, 0))

    def coordinate(self, name: str, pre_size: int, size: int) -> Array:
        """Return each device's coordinate along a sub-axis: an axis splits into (pre-size, size, rest)."""
        rest = self.sizes[name] // (pre_size * size)
        along: Array = self.coordinates[name] // rest % size
        return along

    def can_split(self, type: Type, sharding: Sharding) -> bool:
        """Return whether the axes are distinct axes of the mesh, and all shards of a tensor have the same size."""
        used = [self.axis(*axis) for dimension in sharding.axes for axis in dimension]
        if not all(name in self.sizes and pre_size and size for name, pre_size, size in used):
            return False
        try:
            positions(self.sizes, used)
        except ValueError:
            return False
        if not isinstance(type, TensorType):
            return True
        return rank(type) == len(sharding.axes) and self.tiling(sharding).splits(shape(type))

    def local(self, type: Type, sharding: Sharding) -> Type:
        """Return the type of a device's shard of a value."""
        if not isinstance(type, TensorType):
            return type
        part: Type = self.tiling(sharding).part_type(type)
        return part

    def shards(self, whole: RuntimeValue, tiling: Tiling) -> list[RuntimeValue]:
        """Return each device's shard of a value."""
        if not isinstance(whole, np.ndarray):
            return [whole] * self.count
        return [tiling.split(whole, device) for device in range(self.count)]


def mesh_of(shardings: Sequence[Sharding], symbols: SymbolTable, location: Location) -> Mesh:
    """Return the mesh of all shardings, without axes if there are no shardings.

    Shardings that do not split a tensor may be on any mesh. InvalidError if other shardings are on different meshes; a
    mesh may be named in one sharding and written inline in another.
    """
    if not shardings:
        return {}, ()
    split = [sharding.mesh for sharding in shardings if any(sharding.axes)]
    meshes = {name: resolved_mesh(name, symbols, location) for name in split or [shardings[0].mesh]}
    (name, mesh), *others = meshes.items()
    for other, found in others:
        if not same_mesh(found, mesh):
            raise InvalidError(f"shardings are on different meshes, {name} and {other}", location)
    return mesh


def resolved_mesh(name: str, symbols: SymbolTable, location: Location) -> Mesh:
    """Return the mesh `@name` or an inline mesh. InvalidError for an unknown symbol or a malformed mesh."""
    try:
        mesh = read_mesh(mesh_attribute(name, symbols, location))
        check_mesh(*mesh)
    except ValueError as error:
        raise InvalidError(f"{'mesh ' * name.startswith('@')}{name}: {error}", location) from None
    return mesh


def same_mesh(x: Mesh, y: Mesh) -> bool:
    """Return whether two meshes have the same axes and the same devices."""
    orders = [list(ids) or list(range(prod(sizes.values()))) for sizes, ids in (x, y)]
    return list(x[0].items()) == list(y[0].items()) and orders[0] == orders[1]


def mesh_attribute(name: str, symbols: SymbolTable, location: Location) -> object:
    """Return the attribute of the mesh `@name`, or of an inline mesh. InvalidError for an unknown symbol."""
    if not name.startswith("@"):
        return OpaqueAttribute(name)
    found = symbols(name[1:].strip('"'))
    if found is None or found.name != "sdy.mesh":
        raise InvalidError(f"unknown mesh {name}", location)
    return found.properties.get("mesh")
