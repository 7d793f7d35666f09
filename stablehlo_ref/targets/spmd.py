"""GSPMD's way into what each device does by itself, and out of it, by which JAX parted programs before Shardy.

A program with such calls is one for as many processes as there are devices. Outside of these parts all of them compute
the same, with whole tensors; `SPMDFullToShardShape` gives each its part of one, and at `SPMDShardToFullShape` they meet
and put their parts together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, Location, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ops.extensibility import CustomCallOp
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

    PATTERN = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))")

    def __init__(self, sharding: Any, rank: int) -> None:
        found = self.PATTERN.search(sharding) if isinstance(sharding, str) else None
        sizes, order, transposed, listed = map(numbers, found.groups()) if found else ((), (), (), ())
        self.count = prod(sizes) if found else 1
        self.parts = sizes[:rank] if found else (1,) * rank
        devices = listed or np.arange(prod(order)).reshape(order).transpose(transposed or None).ravel()
        places = np.unravel_index(np.argsort(devices), sizes) if found else [np.zeros(1, int)] * rank
        self.places = np.array(places[:rank], int).reshape(rank, -1).T  # of each device on each dimension

    def local(self, type: Any) -> Any:
        """The type of a part."""
        return make_tensor_type([n // parts for n, parts in zip(shape(type), self.parts)], element_type(type))

    def part(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where a device's part, of these sizes, is in the whole tensor."""
        place = self.places[device % self.count].tolist()
        return tuple(slice(at * size, (at + 1) * size) for at, size in zip(place, sizes))

    def join(self, parts: Iterable[Array]) -> Array:
        """The whole tensor out of each device's part; of a part that several have, that of the last."""
        arrays = list(parts)
        sizes = arrays[0].shape
        whole = np.empty([n * count for n, count in zip(sizes, self.parts)], arrays[0].dtype)
        for device, array in enumerate(arrays):
            whole[self.part(device, sizes)] = array
        return whole


def numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


def check_tiling(tiling: Tiling, whole: Any, part: Any, location: Location) -> None:
    if rank(whole) != rank(part) or not compatible(tiling.local(whole), part):
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
        tiling = tiling_before(producers(), rank(inputs[0]))
        check_tiling(tiling, inputs[0], results[0], location)

        def run(context: Any, inputs: Sequence[Array]) -> Turns:
            yield from ()
            check_devices(tiling, context.process, location)
            (whole,) = inputs
            sizes = [n // parts for n, parts in zip(whole.shape, tiling.parts)]
            return whole[tiling.part(context.process.id[1], sizes)]

        return run


class ShardToFull(CustomCallOp, target="SPMDShardToFullShape"):
    """Puts the parts of all processes together."""

    communicates = True

    @staticmethod
    def plan(  # type: ignore[override]
        inputs: Any, results: Any, attributes: Any, location: Location
    ) -> Callable[..., Turns]:
        tiling = Tiling(attributes.get("mhlo.sharding"), rank(results[0]))
        check_tiling(tiling, results[0], inputs[0], location)
        tag = (("operands", tuple(inputs)),)

        def run(context: Any, inputs: Sequence[Array]) -> Turns:
            check_devices(tiling, context.process, location)
            replica, grid = context.process.id[0], context.process.grid
            group = tuple((replica, partition) for partition in range(grid.num_partitions))
            meeting: Meeting = yield Rendezvous("SPMDShardToFullShape", tag, group, inputs[0], location)
            return meeting.once("whole", lambda: tiling.join(meeting.brought.values()))

        return run


def tiling_before(producers: Sequence[Operation | None], rank: int) -> Tiling:
    """The tiling of the `Sharding` call that an operand comes from."""
    (producer,) = producers
    return Tiling(None if producer is None else producer.attributes.get("mhlo.sharding"), rank)


def device_count(module: Operation) -> int:
    """How many devices a program parts tensors among, one if it does not."""
    calls = [op for op in module.walk() if op.definition is not None and op.definition.of(op) is FullToShard]
    return max((tiling_before(op.producers(), rank(op.operand_types[0])).count for op in calls), default=1)
