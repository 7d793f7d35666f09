"""GSPMD's calls into and out of what each device does by itself, which JAX emitted for `shard_map` before Shardy.

A program with such calls runs as one process for each device. Outside of them all processes compute the same, with
whole tensors; `SPMDFullToShardShape` gives each its part of one, and at `SPMDShardToFullShape` they meet and put their
parts together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError, Location, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ops.extensibility import CustomCallOp
from stablehlo_ref.ops.meshes import MOST_DEVICES
from stablehlo_ref.ops.sharding import Tiling
from stablehlo_ref.processes import Group, Meeting, Process, Rendezvous
from stablehlo_ref.spec import compatible, rank

Array = Any
Turns = Generator[Any, Any, Any]

LIST = r"\d+(?:,\d+)*"
TILING = re.compile(rf"devices=\[({LIST})\](?:<=\[({LIST})\](?:T\(({LIST})\))?|({LIST}))")


def tiling_of(sharding: Any, rank: int) -> Tiling:
    """How GSPMD says that a tensor is split. ValueError where it is no such text.

    Of `{devices=[2,1,4]<=[8] last_tile_dim_replicate}` the first numbers are those of the tensor's dimensions, and the
    parts in row-major order belong to the devices behind them: a list, or all by number in an array that is transposed.
    Where nothing of the kind is said, every device has the whole.
    """
    found = TILING.search(sharding) if isinstance(sharding, str) else None
    sizes, order, transposed, listed = map(numbers, found.groups()) if found else ((1,) * rank, (1,), (), ())
    if len(sizes) < rank:
        raise ValueError(f"{len(sizes)} numbers for {rank} dimensions")
    count = prod(sizes)
    devices = listed or in_order(order, transposed, count)
    if not np.array_equal(np.sort(devices), np.arange(count)):
        raise ValueError(f"its devices are not the numbers below {count}")
    places = np.unravel_index(np.argsort(devices), sizes)[:rank] if rank else ()
    return Tiling(sizes[:rank], places, count)


def numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


def in_order(sizes: Sequence[int], transposed: Sequence[int], count: int) -> Array:
    """The numbers of `count` devices as they stand in an array of these sizes that is transposed."""
    if prod(sizes) != count:
        raise ValueError(f"it has {prod(sizes)} devices for {count} parts")
    if count > MOST_DEVICES:
        raise ValueError(f"it has more than {MOST_DEVICES} devices")
    return np.arange(count).reshape(sizes).transpose(transposed or None).ravel()


def read_tiling(sharding: Any, rank: int, location: Location) -> Tiling:
    try:
        return tiling_of(sharding, rank)
    except ValueError as error:
        raise UnsupportedError(f"can't read the sharding {sharding!r}: {error}", location) from None


def check_tiling(tiling: Tiling, whole: Any, part: Any, location: Location) -> None:
    if rank(whole) != rank(part) or not compatible(tiling.whole_type(part), whole):
        raise UnsupportedError(f"the sharding does not split {whole} into parts {part}", location)


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
            return tiling.split(inputs[0], context.process.id[1])

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
            group = partitions_of(context.process.id[0], context.process.grid.num_partitions)
            meeting: Meeting = yield Rendezvous("SPMDShardToFullShape", tag, group, inputs[0], location)
            return meeting.once("whole", lambda: tiling.join(list(meeting.brought.values())))

        return run


@lru_cache(maxsize=64)
def partitions_of(replica: int, count: int) -> Group:
    """All processes of a replica, as one tuple for each of them."""
    return tuple((replica, partition) for partition in range(count))


def tiling_before(producers: Sequence[Operation | None], rank: int, location: Location) -> Tiling:
    """The tiling of the `Sharding` call that an operand comes from."""
    (producer,) = producers
    return read_tiling(None if producer is None else producer.attributes.get("mhlo.sharding"), rank, location)


def device_count(module: Operation) -> int:
    """How many devices a program splits tensors over, one if it does not."""
    calls = [op for op in module.walk() if op.definition is not None and op.definition.of(op) is FullToShard]
    tilings = [tiling_before(op.producers(), rank(op.operand_types[0]), op.location) for op in calls]
    return max((tiling.count for tiling in tilings), default=1)
