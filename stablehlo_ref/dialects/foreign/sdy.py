"""Shardy: meshes of devices, and how tensors are laid out on them.

Where a tensor is does not change what it is, so most ops give back their operand. `manual_computation` is the one that
says what each device does: it runs its body as a grid of processes, one for each device of its mesh, on the slices of
its operands, and joins what they return.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Body, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import InvalidError, Location
from stablehlo_ref.dialects.foreign.values import Array, Run, any_tensor
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.kinds import Int, Opaque, String, anything
from stablehlo_ref.ops.control_flow import all_compatible
from stablehlo_ref.ops.meshes import Axis, check_mesh, positions, read_mesh
from stablehlo_ref.ops.sharding import Tiling
from stablehlo_ref.processes import Grid
from stablehlo_ref.spec import compatible, is_tensor, rank, shape, size


class Mesh(Op, op="mesh", dialect="sdy"):
    """Named axes of devices, whose numbers run through the axes in row-major order unless `device_ids` has others."""

    sym_name = Attr(String)
    mesh = Attr(Opaque, default=None)

    syntax = "custom(mesh) attr-dict"


class Marked(Op, dialect="sdy"):
    """The base of ops that say something of a tensor and give it back."""

    on_storage = True

    input = In(any_tensor)
    result = Out(any_tensor)

    @staticmethod
    def infer(input: Any) -> Any:
        return input

    @staticmethod
    def constraints(C: Any, input: Any, result: Any) -> None:
        C(1, compatible(input, result))

    @staticmethod
    def plan() -> Run:
        return lambda input: input


class ShardingConstraint(Marked, op="sharding_constraint"):
    """The tensor is to be laid out as `sharding` says."""

    sharding = Attr(Opaque)

    syntax = "operands custom(sharding) attr-dict : same_type"


class Reshard(Marked, op="reshard"):
    """The tensor is laid out anew as `sharding` says."""

    sharding = Attr(Opaque)

    syntax = "operands custom(sharding) attr-dict : same_type"


class PropagationBarrier(Marked, op="propagation_barrier"):
    """Layouts are not to be passed on across it."""

    allowed_direction = Attr(Opaque)

    syntax = "operands allowed_direction = custom(direction) attr-dict : same_type"


class ShardingGroup(Op, op="sharding_group", dialect="sdy"):
    """All tensors of one group are to be laid out alike."""

    on_storage = True

    input = In(any_tensor)
    group_id = Attr(Int)

    syntax = "operands group_id = $group_id attr-dict : type(operands)"

    @staticmethod
    def plan() -> Run:
        return lambda input: ()


class Return(Op, op="return", dialect="sdy"):
    """Ends a region and gives its results."""

    terminator = True
    results = Ins(anything)

    syntax = "operands attr-dict (: type(operands))?"


# --- manual computation ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sharding:
    """How a tensor lies on a mesh: the axes that each of its dimensions is split over, the first of which is major.

    An axis is its name, and the pre-size and size of a part of it, which are "" where all of it is meant.
    """

    mesh: str
    axes: tuple[tuple[tuple[str, str, str], ...], ...]


_find_axes = re.compile(r'"([^"]+)"(?:\s*:\s*\((\d+)\)\s*(\d+))?').findall


def read_shardings(attribute: Any) -> list[Sharding]:
    """`#sdy.sharding_per_value<[<@mesh, [{"a", "b":(2)4}, {}]>, ...]>`."""
    text = attribute.text if isinstance(attribute, OpaqueAttribute) else ""
    found = re.findall(r"<\s*(@[\w$.]+|@\"[^\"]+\"|mesh<[^>]*>)\s*,\s*\[([^\]]*)\]", text)
    return [
        Sharding(mesh, tuple(tuple(_find_axes(d)) for d in re.findall(r"\{([^}]*)\}", dims))) for mesh, dims in found
    ]


class ManualComputation(Op, op="manual_computation", dialect="sdy"):
    """Runs `body` on each device of a mesh, on the parts of `tensors` that it has by the axes in `manual_axes`.

    By all other axes every device has the whole of each tensor.
    """

    isolated = True

    tensors = Ins(anything)
    in_shardings = Attr(Opaque)
    out_shardings = Attr(Opaque)
    manual_axes = Attr(Opaque)
    body = Body()
    results = Outs(anything)

    syntax = "custom(manual_computation)"

    @staticmethod
    def constraints(
        C: Any, tensors: Any, in_shardings: Any, out_shardings: Any, manual_axes: Any, body: Any, results: Any,
        symbols: Any, location: Location,
    ) -> None:  # fmt: skip
        devices = Devices(in_shardings, out_shardings, manual_axes, symbols, location)
        C(1, size(devices.inputs) == size(tensors) and size(devices.outputs) == size(results))
        C(4, all(map(devices.can_split, (*tensors, *results), devices.inputs + devices.outputs)))
        C(2, all_compatible(body.inputs, list(map(devices.local, tensors, devices.inputs))))
        C(3, all_compatible(body.outputs, list(map(devices.local, results, devices.outputs))))

    @staticmethod
    def inline(
        tensors: tuple[int, ...], in_shardings: Any, out_shardings: Any, manual_axes: Any, body: Any,
        results: tuple[int, ...], symbols: Any, location: Location, run_grid: Any,
    ) -> Any:  # fmt: skip
        devices = Devices(in_shardings, out_shardings, manual_axes, symbols, location)
        entering, leaving = (list(map(devices.tiling, s)) for s in (devices.inputs, devices.outputs))
        grid = Grid(1, devices.count)

        def go(slots: list[Any]) -> Any:
            parts = [devices.parts(slots[slot], tiling) for slot, tiling in zip(tensors, entering)]
            programs = [(body, [part[device] for part in parts]) for device in range(devices.count)]
            returned = run_grid(slots[0], grid, programs)
            for slot, values, tiling in zip(results, zip(*returned), leaving):
                slots[slot] = tiling.join(values)
            yield from ()

        return go


class Devices:
    """The devices of a manual computation, and how they share tensors."""

    def __init__(
        self, in_shardings: Any, out_shardings: Any, manual_axes: Any, symbols: Any, location: Location
    ) -> None:
        self.inputs = read_shardings(in_shardings)
        self.outputs = read_shardings(out_shardings)
        self.manual = {name for name, *_ in _find_axes(getattr(manual_axes, "text", ""))}
        self.sizes, devices = mesh_of(self.inputs + self.outputs, symbols, location)
        self.count = prod(self.sizes.values())
        order = np.argsort(devices) if len(devices) else np.arange(self.count)
        places = np.unravel_index(order, tuple(self.sizes.values())) if self.sizes else ()
        self.places = dict(zip(self.sizes, places))  # from an axis to the place of each device on it

    def tiling(self, sharding: Sharding) -> Tiling:
        """How a tensor is split over the devices by the axes that the computation is manual for."""
        axes = [[self.axis(*axis) for axis in dimension if axis[0] in self.manual] for dimension in sharding.axes]
        sizes = [tuple(size for *_, size in split) for split in axes]
        places = [[self.place(*axis) for axis in split] for split in axes]
        everywhere = np.zeros(self.count, np.intp)
        numbers = [np.ravel_multi_index(p, n) if n else everywhere for p, n in zip(places, sizes)]
        return Tiling(tuple(map(prod, sizes)), tuple(numbers), self.count)

    def axis(self, name: str, before: str, size: str) -> Axis:
        """An axis, or a part of it, as it is written; one that the mesh has not is of size 0."""
        return name, int(before or 1), int(size or self.sizes.get(name, 0))

    def place(self, name: str, before: int, size: int) -> Array:
        """Where each device is on an axis, or a part of it: an axis is split into (pre-size, size, the rest)."""
        return self.places[name] // (self.sizes[name] // (before * size)) % size

    def can_split(self, type: Any, sharding: Sharding) -> bool:
        """Whether the axes are the mesh's and do not overlap, and all parts of a tensor have the same size."""
        used = [self.axis(*axis) for dimension in sharding.axes for axis in dimension]
        if not all(name in self.sizes and before and size for name, before, size in used):
            return False
        try:
            positions(self.sizes, used)
        except ValueError:
            return False
        if not is_tensor(type):
            return True
        return rank(type) == len(sharding.axes) and self.tiling(sharding).splits(shape(type))

    def local(self, type: Any, sharding: Sharding) -> Any:
        """The type of what a device has of a value."""
        return self.tiling(sharding).part_type(type) if is_tensor(type) else type

    def parts(self, whole: Array, tiling: Tiling) -> list[Array]:
        """What each device has of a value."""
        if not isinstance(whole, np.ndarray):
            return [whole] * self.count
        return [tiling.split(whole, device) for device in range(self.count)]


def mesh_of(shardings: Sequence[Sharding], symbols: Any, location: Location) -> tuple[dict[str, int], Sequence[int]]:
    """The axes' sizes and the devices of the mesh that shardings are on; one device if there are none.

    Tensors that are not split may be on any mesh.
    """
    if not shardings:
        return {}, ()
    split = [sharding.mesh for sharding in shardings if any(sharding.axes)]
    name, *others = dict.fromkeys(split or [shardings[0].mesh])
    if others:
        raise InvalidError(f"shardings are on different meshes, {name} and {others[0]}", location)
    try:
        mesh = read_mesh(mesh_attribute(name, symbols, location))
        check_mesh(*mesh)
    except ValueError as error:
        raise InvalidError(f"mesh {name}: {error}", location) from None
    return mesh


def mesh_attribute(name: str, symbols: Any, location: Location) -> Any:
    """What a mesh is, by its symbol or written out."""
    if not name.startswith("@"):
        return OpaqueAttribute(name)
    found = symbols(name[1:].strip('"'))
    if found is None or found.name != "sdy.mesh":
        raise InvalidError(f"there is no mesh {name}", location)
    return found.properties.get("mesh")
