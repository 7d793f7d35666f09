"""Ops between the processes of a grid: collectives, point-to-point communication, process ids.

A function takes the operands of all processes and returns the results of all: `operands[process]`, where `process` is
`(replica_id, partition_id)`, is a tuple of arrays. The last parameter is the size of the grid, `grid = (num_replicas,
num_partitions)`. Groups are lists of ids, padded with -1. A `computation` is a function of 0-dimensional arrays; it is
applied from the left, one of the schedules that the spec allows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stablehlo_ref.semantics import data_movement
from stablehlo_ref.semantics.notation import Array, Arrays, Dims, DType, Function, dim, index_space, rank, scalar
from stablehlo_ref.semantics.quantization import to_destination_type

Grid = tuple[int, int]
ProcessId = tuple[int, int]
ProcessGroups = list[list[ProcessId]]
Groups = Sequence[Sequence[int]]
AtProcess = dict[ProcessId, Arrays]


# --- how the grid is split ------------------------------------------------------------------------------------------


def cross_replica(replica_groups: Groups, grid: Grid) -> ProcessGroups:
    """Return a process group for each replica group and each partition."""
    process_groups = []
    for replica_group in replica_groups:
        for partition_id in range(grid[1]):
            process_group = []
            for replica_id in replica_group:
                if replica_id != -1:
                    process_group.append((replica_id, partition_id))
            process_groups.append(process_group)
    return process_groups


def cross_partition(partition_groups: Groups, grid: Grid) -> ProcessGroups:
    """Return a process group for each partition group and each replica."""
    process_groups = []
    for partition_group in partition_groups:
        for replica_id in range(grid[0]):
            process_group = []
            for partition_id in partition_group:
                if partition_id != -1:
                    process_group.append((replica_id, partition_id))
            process_groups.append(process_group)
    return process_groups


def cross_replica_and_partition(replica_groups: Groups, grid: Grid) -> ProcessGroups:
    """Return a process group for each replica group, with all partitions of its replicas."""
    process_groups = []
    for replica_group in replica_groups:
        process_group = []
        for partition_id in range(grid[1]):
            for replica_id in replica_group:
                if replica_id != -1:
                    process_group.append((replica_id, partition_id))
        process_groups.append(process_group)
    return process_groups


def flattened_ids(flattened_id_groups: Groups, grid: Grid) -> ProcessGroups:
    """Return a process group for each group of ids `replica_id * num_partitions + partition_id`."""
    process_groups = []
    for flattened_id_group in flattened_id_groups:
        process_group = []
        for flattened_id in flattened_id_group:
            if flattened_id != -1:
                process_group.append((flattened_id // grid[1], flattened_id % grid[1]))
        process_groups.append(process_group)
    return process_groups


def reduction_groups(replica_groups: Groups, channel_id: int, use_global_device_ids: bool, grid: Grid) -> ProcessGroups:
    """Split the grid for all_gather, all_reduce and reduce_scatter."""
    count = grid[0] * grid[1] if use_global_device_ids else grid[0]
    replica_groups = replica_groups if any(replica_groups) else [range(count)]
    if channel_id <= 0 and not use_global_device_ids:
        return cross_replica(replica_groups, grid)
    if channel_id > 0 and not use_global_device_ids:
        return cross_replica_and_partition(replica_groups, grid)
    return flattened_ids(replica_groups, grid)


def exchange_groups(replica_groups: Groups, channel_id: int, grid: Grid) -> ProcessGroups:
    """Split the grid for collective_broadcast and collective_permute."""
    return cross_replica(replica_groups, grid) if channel_id <= 0 else cross_partition(replica_groups, grid)


def all_to_all_groups(
    replica_groups: Groups, channel_id: int, grid: Grid, use_global_device_ids: bool = False
) -> ProcessGroups:
    """Split the grid for all_to_all, whose groups contain all ids; those along axes of a mesh are flattened ids."""
    if use_global_device_ids:
        return flattened_ids(replica_groups, grid)
    count = grid[0] if channel_id <= 0 else grid[1]
    return exchange_groups(replica_groups if any(replica_groups) else [range(count)], channel_id, grid)


def collective_reduce_groups(
    replica_groups: Groups, channel_id: int, use_global_device_ids: bool, grid: Grid
) -> ProcessGroups:
    """Split the grid for collective_reduce, which the spec does not have: MLIR adds `use_global_device_ids`."""
    if use_global_device_ids:
        return flattened_ids(replica_groups, grid)
    return exchange_groups(replica_groups, channel_id, grid)


def known(process_groups: ProcessGroups, operands: AtProcess) -> ProcessGroups:
    """Return the process groups whose operands are known: all, or that of a process that does not ask for others."""
    return [group for group in process_groups if all(process in operands for process in group)]


# --- collectives ----------------------------------------------------------------------------------------------------


def all_gather(
    operands: AtProcess, all_gather_dim: int, replica_groups: Groups, channel_id: int, use_global_device_ids: bool,
    *, grid: Grid,
) -> AtProcess:  # fmt: skip
    """`results...@process = concatenate([operand@sender for sender in process_group], all_gather_dim)`."""
    results: AtProcess = {}
    for process_group in known(reduction_groups(replica_groups, channel_id, use_global_device_ids, grid), operands):
        for receiver in process_group:
            results[receiver] = tuple(
                data_movement.concatenate(tuple(operands[sender][j] for sender in process_group), all_gather_dim)
                for j in range(len(operands[receiver]))
            )
    return results


def all_reduce(
    operands: AtProcess, replica_groups: Groups, channel_id: int, use_global_device_ids: bool, computation: Function,
    *, element_type: DType, grid: Grid,
) -> AtProcess:  # fmt: skip
    """Apply `computation` elementwise to the operands of all processes of a group, in the order of the group."""
    results: AtProcess = {}
    for process_group in known(reduction_groups(replica_groups, channel_id, use_global_device_ids, grid), operands):
        for process in process_group:
            results[process] = tuple(
                _reduce([operands[sender][j] for sender in process_group], computation, element_type)
                for j in range(len(operands[process]))
            )
    return results


def all_to_all(
    operands: AtProcess, split_dimension: int, concat_dimension: int, split_count: int, replica_groups: Groups,
    channel_id: int, *, grid: Grid, use_global_device_ids: bool = False,
) -> AtProcess:  # fmt: skip
    """Concatenate, for each process, the parts of the other processes' operands at its position in the group."""
    results: AtProcess = {}
    process_groups = all_to_all_groups(replica_groups, channel_id, grid, use_global_device_ids)
    for process_group in known(process_groups, operands):
        for receiver in process_group:
            receiver_index = process_group.index(receiver)
            received = []
            for j in range(len(operands[receiver])):
                split_parts = [_split(operands[sender][j], split_count, split_dimension) for sender in process_group]
                parts = tuple(parts[receiver_index] for parts in split_parts)
                received.append(data_movement.concatenate(parts, concat_dimension))
            results[receiver] = tuple(received)
    return results


def collective_broadcast(
    operands: AtProcess, replica_groups: Groups, channel_id: int, has_dynamic_root: bool,
    *, grid: Grid, zero_points: Sequence[int] = (),
) -> AtProcess:  # fmt: skip
    """`operands[j]@source_process`, `operands[N][j]` or 0 in the group; zeros outside of all groups, or zero points."""
    results: AtProcess = {}
    for process, values in operands.items():
        count = len(values) - 1 if has_dynamic_root else len(values)
        results[process] = tuple(zeros(values[j].shape, values[j].dtype, j, zero_points) for j in range(count))
    for process_group in known(exchange_groups(replica_groups, channel_id, grid), operands):
        for process in process_group:
            received = []
            for j in range(len(results[process])):
                root = int(operands[process][-1][j]) if has_dynamic_root else 0
                received.append(operands[process_group[root]][j])
            results[process] = tuple(received)
    return results


def collective_permute(
    operands: AtProcess, source_target_pairs: Groups, channel_id: int, *, grid: Grid, zero_points: Sequence[int] = ()
) -> AtProcess:
    """`operand@process_groups[i, 0]` where `process_groups[i, 1] = process`; zeros, or zero points, elsewhere."""
    results: AtProcess = {
        process: (zeros(value.shape, value.dtype, 0, zero_points),) for process, (value,) in operands.items()
    }
    for source, target in known(exchange_groups(source_target_pairs, channel_id, grid), operands):
        results[target] = operands[source]
    return results


def collective_reduce(
    operands: AtProcess, replica_groups: Groups, channel_id: int, has_dynamic_root: bool, computation: Function,
    *, element_type: DType, grid: Grid, use_global_device_ids: bool = False, zero_points: Sequence[int] = (),
) -> AtProcess:  # fmt: skip
    """Return the reduction for the root, and zeros for other processes."""
    results: AtProcess = {}
    for process, values in operands.items():
        count = len(values) - 1 if has_dynamic_root else len(values)
        results[process] = tuple(zeros(values[j].shape, element_type, j, zero_points) for j in range(count))
    process_groups = collective_reduce_groups(replica_groups, channel_id, use_global_device_ids, grid)
    for process_group in known(process_groups, operands):
        for process in process_group:
            received = list(results[process])
            for j in range(len(received)):
                root = int(operands[process][-1][j]) if has_dynamic_root else 0
                if process_group[root] == process:
                    sent = [operands[sender][j] for sender in process_group]
                    received[j] = _reduce(sent, computation, element_type)
            results[process] = tuple(received)
    return results


def reduce_scatter(
    operands: AtProcess, scatter_dimension: int, replica_groups: Groups, channel_id: int, use_global_device_ids: bool,
    computation: Function, *, element_type: DType, grid: Grid,
) -> AtProcess:  # fmt: skip
    """`all_reduce` split along `scatter_dimension`: each process gets the part at its position in the group."""
    reduced_value = all_reduce(
        operands, replica_groups, channel_id, use_global_device_ids, computation, element_type=element_type, grid=grid
    )
    results: AtProcess = {}
    for process_group in known(reduction_groups(replica_groups, channel_id, use_global_device_ids, grid), operands):
        for receiver in process_group:
            parts = _split(reduced_value[receiver][0], len(process_group), scatter_dimension)
            results[receiver] = (parts[process_group.index(receiver)],)
    return results


# --- the place in the grid, streams, futures ------------------------------------------------------------------------


def replica_id(process: ProcessId) -> Array:
    """Return the first component of `process_id`."""
    return np.array(process[0], np.uint32)


def partition_id(process: ProcessId) -> Array:
    """Return the second component of `process_id`."""
    return np.array(process[1], np.uint32)


def send(inputs: Arrays, channel: list[Arrays]) -> None:
    """Append the inputs to the channel."""
    channel.append(inputs)


def recv(channel: list[Arrays]) -> Arrays:
    """Remove and return the first message in the channel."""
    return channel.pop(0)


def infeed(infeed_queue: list[Arrays]) -> Arrays:
    """Return the next data of the infeed."""
    return infeed_queue.pop(0)


def outfeed(inputs: Arrays, outfeed_queue: list[Arrays]) -> None:
    """Append the inputs to the outfeed."""
    outfeed_queue.append(inputs)


def async_start(operands: Arrays, body: Function) -> Arrays:
    """Return the results of the op in `body`, which represent the future."""
    return body(*operands)


def async_done(operand: Arrays) -> Arrays:
    """Return the results of the future."""
    return operand


def zeros(shape: Dims, element_type: DType, j: int = 0, zero_points: Sequence[int] = ()) -> Array:
    """Return `constant(0, element_type(result))`, with all bits zero; quantized, the zero point of result number j."""
    result = np.zeros(shape, element_type)
    for index in index_space(shape if zero_points else (0,)):
        result[index] = zero_points[j]
    return result


# --- parts of the formulas ------------------------------------------------------------------------------------------


def _split(value: Array, count: int, dimension: int) -> list[Array]:
    size, ones = dim(value, dimension) // count, (1,) * rank(value)
    start, limit = [0] * rank(value), list(value.shape)
    parts = []
    for part in range(count):
        start[dimension], limit[dimension] = part * size, (part + 1) * size
        parts.append(data_movement.slice(value, tuple(start), tuple(limit), ones))
    return parts


def _reduce(values: list[Array], computation: Function, element_type: DType) -> Array:
    result = np.empty(values[0].shape, element_type)
    first, *others = (to_destination_type(x, x.dtype, element_type) for x in values)
    for index in index_space(result.shape):
        reduced = scalar(first, index)
        for value in others:
            (reduced,) = computation(reduced, scalar(value, index))
        result[index] = reduced
    return result
