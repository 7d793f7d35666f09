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
from stablehlo_ref.diagnostics import InvalidError, Location, UnsupportedError
from stablehlo_ref.dialects.foreign.values import Array, Run, any_tensor
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.kinds import Int, Opaque, String, anything
from stablehlo_ref.ops.control_flow import all_compatible
from stablehlo_ref.ops.meshes import check_mesh, read_mesh
from stablehlo_ref.ops.sharding import Tiling
from stablehlo_ref.processes import Grid
from stablehlo_ref.spec import compatible, is_tensor, is_unique, shape, size


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
    """How a tensor lies on a mesh: the axes that each of its dimensions is split over, the first of which is major."""

    mesh: str
    axes: tuple[tuple[str, ...], ...]


def read_shardings(attribute: Any, location: Location) -> list[Sharding]:
    """`#sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {}]>, ...]>`. UnsupportedError for parts of axes."""
    text = attribute.text if isinstance(attribute, OpaqueAttribute) else ""
    if re.search(r'"\s*:\s*\(', text):
        raise UnsupportedError(f"a sharding over parts of axes: {text}", location)
    found = re.findall(r"<\s*(@[\w$.]+|@\"[^\"]+\"|mesh<[^>]*>)\s*,\s*\[([^\]]*)\]", text)
    return [Sharding(mesh, tuple(tuple(names(d)) for d in re.findall(r"\{([^}]*)\}", dims))) for mesh, dims in found]


def names(text: str) -> list[str]:
    return re.findall(r'"([^"]+)"', text)


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
        C(2, all_compatible(body.inputs, list(map(devices.local, tensors, devices.inputs))))
        C(3, all_compatible(body.outputs, list(map(devices.local, results, devices.outputs))))
        C(4, all(map(devices.can_split, (*tensors, *results), devices.inputs + devices.outputs)))

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
        self.inputs = read_shardings(in_shardings, location)
        self.outputs = read_shardings(out_shardings, location)
        self.manual = names(getattr(manual_axes, "text", ""))
        self.sizes, devices = mesh_of(self.inputs + self.outputs, symbols, location)
        self.count = prod(self.sizes.values())
        order = np.argsort(devices) if len(devices) else np.arange(self.count)
        places = np.unravel_index(order, tuple(self.sizes.values())) if self.sizes else ()
        self.places = dict(zip(self.sizes, places))  # from an axis to the place of each device on it

    def tiling(self, sharding: Sharding) -> Tiling:
        """How a tensor is split over the devices by the axes that the computation is manual for."""
        axes = [[name for name in dimension if name in self.manual] for dimension in sharding.axes]
        sizes = [tuple(self.sizes[name] for name in names) for names in axes]
        places = [[self.places[name] for name in names] for names in axes]
        everywhere = np.zeros(self.count, np.intp)
        numbers = [np.ravel_multi_index(p, n) if n else everywhere for p, n in zip(places, sizes)]
        return Tiling(tuple(map(prod, sizes)), tuple(numbers), self.count)

    def can_split(self, type: Any, sharding: Sharding) -> bool:
        """Whether the axes are the mesh's, each there once, and all parts of a tensor have the same size."""
        used = [name for dimension in sharding.axes for name in dimension]
        is_even = not is_tensor(type) or self.tiling(sharding).splits(shape(type))
        return is_unique(used) and set(used) <= self.sizes.keys() and is_even

    def local(self, type: Any, sharding: Sharding) -> Any:
        """The type of what a device has of a value."""
        return self.tiling(sharding).part_type(type) if is_tensor(type) else type

    def parts(self, whole: Array, tiling: Tiling) -> list[Array]:
        """What each device has of a value."""
        if not isinstance(whole, np.ndarray):
            return [whole] * self.count
        return [tiling.split(whole, device) for device in range(self.count)]


def mesh_of(shardings: Sequence[Sharding], symbols: Any, location: Location) -> tuple[dict[str, int], Sequence[int]]:
    """The axes' sizes and the devices of the mesh that shardings are on; one device if there are none."""
    if not shardings:
        return {}, ()
    name = shardings[0].mesh
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
