"""Targets of GSPMD that enter and leave the part of a program that is written per device, as in `shard_map`.

JAX emitted them before Shardy. A program with such calls runs as one process per device. Outside of the per-device part
all processes compute the same, with full tensors. `SPMDFullToShardShape` returns each process its shard of a tensor,
and `SPMDShardToFullShape` is a rendezvous at which the processes join their shards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import resolve
from stablehlo_ref.define.processes import Contributions, Group, Process, Rendezvous
from stablehlo_ref.define.spec import compatible, is_tensor, rank
from stablehlo_ref.diagnostics import EvaluationError, Location, UnsupportedError
from stablehlo_ref.distribution.meshes import MOST_DEVICES, Tiling
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.ops.extensibility import CustomCallOp

CommunicatingRun: TypeAlias = Callable[[Context, Sequence[Array]], Generator[Rendezvous, Contributions, Array]]

LIST = r"\d+(?:,\d+)*"
TILING = re.compile(rf"devices=\[({LIST})\](?:<=\[({LIST})\](?:T\(({LIST})\))?|({LIST}))")


def tiling_of(sharding: Attribute | None, rank: int) -> Tiling:
    """Parse GSPMD's text form of a sharding. ValueError if it does not describe a tensor of rank `rank`.

    In `{devices=[2,1,4]<=[8] last_tile_dim_replicate}` the first numbers are the numbers of shards along each
    dimension. The shards in row-major order belong to the devices that follow: either a list of devices, or the shape
    of an array of all devices in order and a transposition of it. Without such a list every device holds the full
    tensor.
    """
    found = TILING.search(sharding) if isinstance(sharding, str) else None
    sizes, order, transposed, listed = map(numbers, found.groups()) if found else ((1,) * rank, (1,), (), ())
    if len(sizes) < rank:
        raise ValueError(f"expected {rank} tile sizes, got {len(sizes)}")
    count = prod(sizes)
    devices = listed or device_order(order, transposed, count)
    if not np.array_equal(np.sort(devices), np.arange(count)):
        raise ValueError(f"its devices are not a permutation of 0 to {count - 1}")
    coordinates = np.unravel_index(np.argsort(devices), sizes)[:rank] if rank else ()
    return Tiling(sizes[:rank], coordinates, count)


def numbers(text: str | None) -> tuple[int, ...]:
    """Return the integers of a comma-separated list."""
    return tuple(map(int, text.split(","))) if text else ()


def device_order(sizes: Sequence[int], transposed: Sequence[int], count: int) -> Array:
    """Return the devices 0, 1, ... in the order of a transposed array of shape `sizes`."""
    if prod(sizes) != count:
        raise ValueError(f"it has {prod(sizes)} devices for {count} shards")
    if count > MOST_DEVICES:
        raise ValueError(f"it has more than {MOST_DEVICES} devices")
    return np.arange(count).reshape(sizes).transpose(transposed or None).ravel()


def read_tiling(sharding: Attribute | None, rank: int, location: Location) -> Tiling:
    """Parse a sharding. UnsupportedError if that is not possible."""
    try:
        return tiling_of(sharding, rank)
    except ValueError as error:
        raise UnsupportedError(f"unsupported sharding {sharding!r}: {error}", location) from None


def tensor_types(site: PlanSite, inputs: Sequence[Type], results: Sequence[Type]) -> tuple[TensorType, TensorType]:
    """Return the types of the operand and the result; UnsupportedError unless there is one of each, both tensors."""
    match (*inputs, "->", *results):
        case (TensorType() as operand, "->", TensorType() as result):
            return operand, result
    types = [", ".join(map(str, types)) for types in (inputs, results)]
    raise UnsupportedError(f"expected one tensor and one result, got ({types[0]}) -> ({types[1]})", site.location)


def check_tiling(tiling: Tiling, whole: TensorType, part: TensorType, location: Location) -> None:
    """Raise UnsupportedError unless the sharding splits type `whole` into shards of type `part`."""
    if rank(whole) != rank(part) or not compatible(tiling.whole_type(part), whole):
        raise UnsupportedError(f"the sharding does not split {whole} into shards {part}", location)


def check_devices(tiling: Tiling, process: Process, location: Location) -> None:
    """Raise EvaluationError unless the grid has a partition for each device of the sharding."""
    partitions = process.grid.num_partitions
    if tiling.count not in (1, partitions):
        message = f"the tensor is sharded over {tiling.count} devices, but the grid has {partitions} partitions"
        raise EvaluationError(message, location)


class FullToShard(CustomCallOp, target="SPMDFullToShardShape", communicates=True):
    """Return each process its shard of a tensor, by the sharding of the preceding `Sharding` call."""

    @staticmethod
    def plan(site: PlanSite, inputs: Sequence[Type], results: Sequence[Type]) -> CommunicatingRun:
        whole, part = tensor_types(site, inputs, results)
        tiling = sharding_of_operand(site.producers(), rank(whole), site.location)
        check_tiling(tiling, whole, part, site.location)

        def run(context: Context, inputs: Sequence[Array]) -> Generator[Rendezvous, Contributions, Array]:
            yield from ()
            check_devices(tiling, context.process, site.location)
            return tiling.split(inputs[0], context.process.id[1])

        return run


class ShardToFull(CustomCallOp, target="SPMDShardToFullShape", communicates=True):
    """Join the shards of all processes to the full tensor."""

    @staticmethod
    def plan(site: PlanSite, inputs: Sequence[Type], results: Sequence[Type]) -> CommunicatingRun:
        part, whole = tensor_types(site, inputs, results)
        tiling = read_tiling(site.attributes.get("mhlo.sharding"), rank(whole), site.location)
        check_tiling(tiling, whole, part, site.location)
        tag = (("operands", tuple(inputs)),)

        def run(context: Context, inputs: Sequence[Array]) -> Generator[Rendezvous, Contributions, Array]:
            check_devices(tiling, context.process, site.location)
            group = partitions_of(context.process.id[0], context.process.grid.num_partitions)
            contributions = yield Rendezvous("SPMDShardToFullShape", tag, group, inputs[0], site.location)
            return contributions.once("whole", lambda: tiling.join(list(contributions.by_process.values())))

        return run


@lru_cache(maxsize=64)
def partitions_of(replica: int, count: int) -> Group:
    """Return all processes of a replica; cached, so that its processes share one tuple."""
    return tuple((replica, partition) for partition in range(count))


def sharding_of_operand(producers: Sequence[Operation | None], rank: int, location: Location) -> Tiling:
    """Return the tiling of the `Sharding` call that produces the only operand."""
    producer = producers[0] if len(producers) == 1 else None
    return read_tiling(None if producer is None else producer.attributes.get("mhlo.sharding"), rank, location)


def device_count(module: Operation) -> int:
    """Return the number of devices over which a program shards tensors, 1 if it does not."""
    calls = [
        op
        for op in module.walk()
        if resolve(op) is FullToShard.definition and any(map(is_tensor, op.operand_types[:1]))
    ]
    tilings = [sharding_of_operand(op.producers(), rank(op.operand_types[0]), op.location) for op in calls]
    return max((tiling.count for tiling in tilings), default=1)
