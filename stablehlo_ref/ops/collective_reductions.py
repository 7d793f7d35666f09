"""Collective ops that reduce tensors over the processes of a group, in the order in which the group lists them.

The tensors are folded from the left; where there are many, runs of them are, and the results of the runs in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.folding import LANES, RUN, Combine, by_parts
from stablehlo_ref.define import Attr, Body, Group, In, Ins, Out, Outs
from stablehlo_ref.diagnostics import EvaluationError, Location
from stablehlo_ref.ir.core import Block
from stablehlo_ref.kinds import Int, Presence, per_tensor_quantized, tensor
from stablehlo_ref.ops.collectives import (
    Array,
    Collective,
    Run,
    Turns,
    Types,
    check_shapes,
    is_multiple,
    is_root,
    part,
    roots,
    times,
    zeros,
)
from stablehlo_ref.ops.process_groups import (
    FLATTENED_IDS,
    ProcessGroups,
    ReplicaGroups,
    exchange_strategy,
    group_size,
    id_groups,
    ids_in,
    reduction_strategy,
    without_padding,
)
from stablehlo_ref.ops.reduction import is_reducer, one_or_all, promotion
from stablehlo_ref.processes import Meeting, Process, Rendezvous
from stablehlo_ref.spec import (
    UNKNOWN,
    compatible,
    dim,
    element_type,
    in_range,
    is_unique,
    rank,
    shape,
    size,
    with_element_type,
)


class AllReduce(Collective, op="all_reduce"):
    """Reduces the operands of the processes of each group by `computation`."""

    operands = Ins(tensor | per_tensor_quantized)  # type: ignore[assignment]  # I1
    replica_groups = Attr(ReplicaGroups)  # I2
    channel_id = Attr(Int, default=0)  # I3
    channel_type = Attr(Int, default=0)
    use_global_device_ids = Attr(Presence, default=False)  # I4
    computation = Body()  # I5
    results = Outs(tensor | per_tensor_quantized)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def infer(operands: Types, computation: Any) -> Any:
        return tuple(with_element_type(o, element_type(computation.outputs[0])) for o in operands)

    @staticmethod
    def constraints(
        C: Any, operands: Types, replica_groups: Any, channel_id: int, use_global_device_ids: bool, computation: Any,
        results: Types, symbols: Any, location: Location,
    ) -> None:  # fmt: skip
        ids = without_padding(ids_in(replica_groups, symbols, location))
        C(1, is_unique(ids))
        C(3, in_range(ids, size(ids)))
        C(3, not (use_global_device_ids and replica_groups == ()))
        C(4, not use_global_device_ids or channel_id > 0)
        C(5, all(is_reducer(computation, [operand]) for operand in operands))
        C(6, size(results) == size(operands) and list(map(shape, results)) == list(map(shape, operands)))
        C(7, all(element_type(r) == element_type(computation.outputs[0]) for r in results))

    @classmethod
    def plan(
        cls, operands: Types, replica_groups: Any, channel_id: int, use_global_device_ids: bool, computation: Any,
        results: Types, symbols: Any, location: Location,
    ) -> Run:  # fmt: skip
        strategy = reduction_strategy(channel_id, use_global_device_ids)
        ids = id_groups(replica_groups, symbols, location)
        groups = ProcessGroups(cls.name, location, strategy, ids, size_label=2, range_label=3)
        tag = (("channel_id", channel_id), ("operands", tuple(operands)), ("computation", op_names(computation)))
        reduce = reduction(operands, results, computation)

        def run(context: Any, operands: Sequence[Array]) -> Turns:
            process = context.process
            meeting = yield Rendezvous(cls.name, tag, groups.around(process), operands, location)
            return one_or_all(reduce(meeting, process))

        return run


class ReduceScatter(Collective, op="reduce_scatter"):
    """Reduces the operands of the processes of each group by `computation`, splits the result along
    `scatter_dimension`, and gives each process its part."""

    operand = In(tensor | per_tensor_quantized)  # I1
    scatter_dimension = Attr(Int)  # I2
    replica_groups = Attr(ReplicaGroups)  # I3
    channel_id = Attr(Int, default=0)  # I4
    channel_type = Attr(Int, default=0)
    use_global_device_ids = Attr(Presence, default=False)  # I5
    computation = Body()  # I6
    result = Out(tensor | per_tensor_quantized)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def constraints(
        C: Any, operand: Any, scatter_dimension: int, replica_groups: Any, channel_id: int, use_global_device_ids: bool,
        computation: Any, result: Any, symbols: Any, location: Location,
    ) -> None:  # fmt: skip
        ids = ids_in(replica_groups, symbols, location)
        ids_in_group = group_size(replica_groups, symbols, location) or UNKNOWN
        partitions = UNKNOWN if channel_id > 0 and not use_global_device_ids else 1
        C(2, 0 <= scatter_dimension < rank(operand))
        C(1, is_multiple(dim(operand, scatter_dimension), ids_in_group * partitions))
        C(3, is_unique(ids))
        C(5, in_range(ids, size(ids)))
        C(6, not use_global_device_ids or channel_id > 0)
        C(7, is_reducer(computation, [operand]))
        C(8, shape(operand) == shape(times(result, {scatter_dimension: ids_in_group * partitions}))
          and is_multiple(dim(operand, scatter_dimension), dim(result, scatter_dimension) * ids_in_group))  # fmt: skip
        C(9, element_type(result) == element_type(computation.outputs[0]))

    @classmethod
    def plan(
        cls, operand: Any, scatter_dimension: int, replica_groups: Any, channel_id: int, use_global_device_ids: bool,
        computation: Any, result: Any, symbols: Any, location: Location,
    ) -> Run:  # fmt: skip
        strategy = reduction_strategy(channel_id, use_global_device_ids)
        ids = id_groups(replica_groups, symbols, location)
        groups = ProcessGroups(cls.name, location, strategy, ids, size_label=4, range_label=5)
        tag = (
            ("channel_id", channel_id), ("scatter_dimension", scatter_dimension), ("operand", operand),
            ("computation", op_names(computation)),
        )  # fmt: skip
        reduce = reduction([operand], [result], computation)

        def run(context: Any, value: Array) -> Turns:
            process = context.process
            meeting = yield Rendezvous(cls.name, tag, groups.around(process), (value,), location)
            index, count = list(meeting.brought).index(process.id), len(meeting.brought)
            if dim(operand, scatter_dimension) % count:
                raise EvaluationError(f"'{cls.name}' op (C1): {operand} can't be split for {count} processes")
            received = part(reduce(meeting, process)[0], scatter_dimension, index, count)
            check_shapes(cls.name, 8, [result], [received])
            return received

        return run


class CollectiveReduce(Collective, op="collective_reduce"):
    """Reduces the operands of the processes of each group by `computation` for one of them, its first or the one that
    `operands[-1]` says; the others get zeros."""

    operands = Ins(tensor | per_tensor_quantized)  # type: ignore[assignment]  # I1
    replica_groups = Attr(ReplicaGroups)  # I2
    channel_id = Attr(Int, default=0)  # I3
    channel_type = Attr(Int, default=0)
    use_global_device_ids = Attr(Presence, default=False)
    has_dynamic_root = Attr(Presence, default=False)  # I4
    computation = Body()  # I5
    results = Outs(tensor | per_tensor_quantized)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def infer(operands: Types, has_dynamic_root: bool, computation: Any) -> Any:
        data = operands[:-1] if has_dynamic_root else operands
        return tuple(with_element_type(o, element_type(computation.outputs[0])) for o in data)

    @staticmethod
    def constraints(
        C: Any, operands: Types, replica_groups: Any, channel_id: int, use_global_device_ids: bool,
        has_dynamic_root: bool, computation: Any, results: Types, infer: Any, symbols: Any, location: Location,
    ) -> None:  # fmt: skip
        ids = without_padding(ids_in(replica_groups, symbols, location))
        C(1, is_unique(ids))
        C(2, all(0 <= i for i in ids))
        C(2, not use_global_device_ids or channel_id > 0)
        C(3, size(operands) > has_dynamic_root and (not has_dynamic_root or is_root(operands)))
        C(4, all(is_reducer(computation, [o]) for o in (operands[:-1] if has_dynamic_root else operands)))
        C(3, size(results) == size(infer()) and all(map(compatible, results, infer())))

    @classmethod
    def plan(
        cls, operands: Types, replica_groups: Any, channel_id: int, use_global_device_ids: bool,
        has_dynamic_root: bool, computation: Any, results: Types, symbols: Any, location: Location,
    ) -> Run:  # fmt: skip
        strategy = FLATTENED_IDS if use_global_device_ids else exchange_strategy(channel_id)
        ids = id_groups(replica_groups, symbols, location)
        groups = ProcessGroups(cls.name, location, strategy, ids, range_label=2)
        tag = (("channel_id", channel_id), ("operands", tuple(operands)), ("computation", op_names(computation)))
        reduce = reduction(operands[: len(results)], results, computation)
        elsewhere = [zeros(t) for t in results]

        def run(context: Any, operands: Sequence[Array]) -> Turns:
            group = groups.of(context.process)
            if group is None:
                return one_or_all(elsewhere)
            process = context.process
            here = group.index(process.id)
            sources = roots(cls.name, 3, operands, has_dynamic_root, len(group))
            meeting = yield Rendezvous(cls.name, tag, group, operands, location)
            if here not in sources:
                return one_or_all(elsewhere)
            reduced = zip(reduce(meeting, process), elsewhere, sources)
            return one_or_all([r if here == source else z for r, z, source in reduced])

        return run


def op_names(computation: Any) -> tuple[str, ...]:
    """The ops of a computation, by which processes notice that they do not meet for the same."""
    return tuple(op.name for op in computation.region.block.operations[:-1])


def reduction(operands: Types, results: Types, computation: Any) -> Callable[[Meeting, Process], list[Array]]:
    """Plans the reduction of each operand over the processes that meet, for one of them."""
    promoted = [promotion([o], [r]) for o, r in zip(operands, results)]
    fold = by_parts(computation, lambda combine: lambda arrays: [over_processes(combine, arrays)])
    is_same = is_pure(computation.region.block)

    def reduced(meeting: Meeting) -> list[Array]:
        variadic = zip(*meeting.brought.values())
        return [fold([promote([x])[0] for x in xs])[0] for promote, xs in zip(promoted, variadic)]

    def run(meeting: Meeting, process: Process) -> list[Array]:
        key = "results" if is_same else process.id
        return meeting.once(key, lambda: reduced(meeting))  # type: ignore[no-any-return]

    return run


def is_pure(block: Block) -> bool:
    """Whether a block surely gives the same in all processes, as it uses nothing but its arguments."""
    known = set(block.arguments)
    for op in block.operations:
        definition = op.definition
        if op.regions or definition is None or definition.effects or "inline" in definition.parameters:
            return False
        if not known.issuperset(op.operands):
            return False
        known.update(op.results)
    return True


def over_processes(combine: Combine, arrays: Sequence[Array]) -> Array:
    """One array out of many of the same shape, element by element."""
    while len(arrays) > RUN:
        arrays = [from_the_left(combine, arrays[i : i + RUN]) for i in range(0, len(arrays), RUN)]
    return from_the_left(combine, arrays)


def from_the_left(combine: Combine, arrays: Sequence[Array]) -> Array:
    """The left fold of arrays, in parts that stay in the cache from one step to the next."""
    if len(arrays) == 1 or not np.size(arrays[0]):
        return arrays[0]
    if np.size(arrays[0]) <= LANES:
        return fold_whole(combine, arrays)
    flat = [x.reshape(-1) for x in arrays]
    result = np.empty(len(flat[0]), flat[0].dtype)
    for start in range(0, len(result), LANES):
        lanes = slice(start, start + LANES)
        result[lanes] = fold_whole(combine, [x[lanes] for x in flat])
    return result.reshape(arrays[0].shape)


def fold_whole(combine: Combine, arrays: Sequence[Array]) -> Array:
    first, second, *rest = arrays
    result = combine([first], [second])
    for x in rest:
        result = combine.onto(result, [x])
    return result[0]
