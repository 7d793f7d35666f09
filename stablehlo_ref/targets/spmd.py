"""GSPMD's way into what each device does by itself, and out of it, by which JAX parted programs before Shardy.

A program with such calls is one for as many processes as there are devices. Outside of these parts all of them compute
the same, with whole tensors; `SPMDFullToShardShape` gives each its part of one, and at `SPMDShardToFullShape` they meet
and put their parts together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, Location, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ops.extensibility import CustomCallOp
from stablehlo_ref.ops.meshes import MOST_DEVICES
from stablehlo_ref.processes import Meeting, Process, Rendezvous
from stablehlo_ref.spec import compatible, element_type, make_tensor_type, rank, shape

Array = Any
Turns = Generator[Any, Any, Any]


class Tiling:
    """How a tensor is parted: into how many parts each dimension, and which of them each device has.

    Of `{devices=[2,1,4]<=[8] last_tile_dim_replicate}` the first numbers are those of the tensor's dimensions, and the
    parts in row-major order belong to the devices behind them: a list, or all by number in an array that is transposed.
    Where nothing of the kind is said, every device has the whole.
    """

    LIST = r"\d+(?:,\d+)*"
    PATTERN = re.compile(rf"devices=\[({LIST})\](?:<=\[({LIST})\](?:T\(({LIST})\))?|({LIST}))")

    def __init__(self, sharding: Any, rank: int) -> None:
        """ValueError where it is no such text."""
        found = self.PATTERN.search(sharding) if isinstance(sharding, str) else None
        sizes, order, transposed, listed = map(numbers, found.groups()) if found else ((1,) * rank, (1,), (), ())
        if len(sizes) < rank:
            raise ValueError(f"{len(sizes)} numbers for {rank} dimensions")
        self.count = prod(sizes)
        self.parts = sizes[:rank]
        devices = listed or in_order(order, transposed, self.count)
        if not np.array_equal(np.sort(devices), np.arange(self.count)):
            raise ValueError(f"they are not one device for each of {self.count} parts")
        self.places = np.unravel_index(np.argsort(devices), sizes)[:rank] if rank else ()  # of each device

    def whole(self, type: Any) -> Any:
        """The type of the tensor that has parts of this type."""
        return make_tensor_type([n * parts for n, parts in zip(shape(type), self.parts)], element_type(type))

    def part(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where a device's part, of these sizes, is in the whole tensor."""
        place = [int(places[device % self.count]) for places in self.places]
        return tuple(slice(at * size, (at + 1) * size) for at, size in zip(place, sizes))

    def split(self, whole: Array, device: int) -> Array:
        """A device's part. ValueError where there are no equal parts."""
        if any(n % parts for n, parts in zip(whole.shape, self.parts)):
            raise ValueError(f"{whole.shape} has no {self.parts} equal parts")
        return whole[self.part(device, [n // parts for n, parts in zip(whole.shape, self.parts)])]

    def join(self, parts: Sequence[Array]) -> Array:
        """The whole tensor out of each device's part; of a part that several have, that of the last."""
        sizes = parts[0].shape
        whole = np.empty([n * count for n, count in zip(sizes, self.parts)], parts[0].dtype)
        for device, part in enumerate(parts):
            whole[self.part(device, sizes)] = part
        return whole


def numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


def in_order(sizes: Sequence[int], transposed: Sequence[int], count: int) -> Array:
    """The numbers of `count` devices as they stand in an array of these sizes that is transposed."""
    if not prod(sizes) == count <= MOST_DEVICES:
        raise ValueError(f"they are not {count} devices, or more than {MOST_DEVICES}")
    return np.arange(count).reshape(sizes).transpose(transposed or None).ravel()


def read_tiling(sharding: Any, rank: int, location: Location) -> Tiling:
    try:
        return Tiling(sharding, rank)
    except ValueError as error:
        raise UnsupportedError(f"can't read the sharding {sharding!r}: {error}", location) from None


def check_tiling(tiling: Tiling, whole: Any, part: Any, location: Location) -> None:
    if rank(whole) != rank(part) or not compatible(tiling.whole(part), whole):
        raise UnsupportedError(f"no sharding says that a device has {part} of {whole}", location)


def check_devices(tiling: Tiling, process: Process, location: Location) -> None:
    partitions = process.grid.num_partitions
    if tiling.count not in (1, partitions):
        message = f"the tensor is on {tiling.count} devices, and the grid has {partitions} partitions"
        raise EvaluationError(message, location)


class FullToShard(CustomCallOp, target="SPMDFullToShardShape"):
    """Gives each process its part of a tensor, as the `Sharding` call before says."""

    communicates = True

    @staticmethod
    def plan(  # type: ignore[override]
        inputs: Any, results: Any, producers: Any, location: Location
    ) -> Callable[..., Turns]:
        tiling = tiling_before(producers(), rank(inputs[0]), location)
        check_tiling(tiling, inputs[0], results[0], location)

        def run(context: Any, inputs: Sequence[Array]) -> Turns:
            yield from ()
            check_devices(tiling, context.process, location)
            try:
                return tiling.split(inputs[0], context.process.id[1])
            except ValueError as error:
                raise EvaluationError(str(error), location) from None

        return run


class ShardToFull(CustomCallOp, target="SPMDShardToFullShape"):
    """Puts the parts of all processes together."""

    communicates = True

    @staticmethod
    def plan(  # type: ignore[override]
        inputs: Any, results: Any, attributes: Any, location: Location
    ) -> Callable[..., Turns]:
        tiling = read_tiling(attributes.get("mhlo.sharding"), rank(results[0]), location)
        check_tiling(tiling, results[0], inputs[0], location)
        tag = (("operands", tuple(inputs)),)

        def run(context: Any, inputs: Sequence[Array]) -> Turns:
            check_devices(tiling, context.process, location)
            replica, grid = context.process.id[0], context.process.grid
            group = tuple((replica, partition) for partition in range(grid.num_partitions))
            meeting: Meeting = yield Rendezvous("SPMDShardToFullShape", tag, group, inputs[0], location)
            return meeting.once("whole", lambda: tiling.join(list(meeting.brought.values())))

        return run


def tiling_before(producers: Sequence[Operation | None], rank: int, location: Location) -> Tiling:
    """The tiling of the `Sharding` call that an operand comes from."""
    (producer,) = producers
    return read_tiling(None if producer is None else producer.attributes.get("mhlo.sharding"), rank, location)


def device_count(module: Operation) -> int:
    """How many devices a program parts tensors among, one if it does not."""
    calls = [op for op in module.walk() if op.definition is not None and op.definition.of(op) is FullToShard]
    tilings = [tiling_before(op.producers(), rank(op.operand_types[0]), op.location) for op in calls]
    return max((tiling.count for tiling in tilings), default=1)
