"""Collective ops that reduce tensors over the processes of a group (spec, "Collective ops").

The schedule that the spec leaves to the implementation is a left fold in the order in which the group lists its
processes; of more than `RUN` tensors, runs of `RUN` are folded, then the results of the runs. `semantics.distribution`
has their formulas: `x@process` is the value of `x` in a process and `process_group` the group of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import sum_of_arrays
from stablehlo_ref.algorithms.reduction_schedule import LANES, RUN, Combine, by_parts
from stablehlo_ref.define.attribute_codecs import Int, Presence
from stablehlo_ref.define.bound import PlanSite, Site
from stablehlo_ref.define.computation import RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.facts import FOLDS
from stablehlo_ref.define.op import Attr, Body, In, Ins, Out, Outs
from stablehlo_ref.define.processes import Contributions, Process
from stablehlo_ref.define.spec import (
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
from stablehlo_ref.define.type_constraints import per_tensor_quantized, tensor
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.distribution.process_groups import (
    FLATTENED_IDS,
    ProcessGroups,
    ReplicaGroups,
    exchange_strategy,
    group_size,
    ids_in,
    reduction_strategy,
    without_padding,
)
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block
from stablehlo_ref.ir.types import FunctionType, TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.nans import canonical_nans, has_several_nans
from stablehlo_ref.ops.collectives import (
    Collective,
    Exchange,
    check_shapes,
    is_multiple,
    is_root,
    meeting,
    part,
    roots,
    times,
    zeros,
)
from stablehlo_ref.ops.reduction import Types, is_reducer, one_or_all, promotion


class AllReduce(Collective, op="all_reduce", nans="computed", facts=FOLDS):
    """Reduce the `operands` of the processes of each group by `computation`."""

    operands = Ins(tensor | per_tensor_quantized)  # I1
    replica_groups = Attr(ReplicaGroups)  # I2
    use_global_device_ids = Attr(Presence, default=False)  # I4
    computation = Body()  # I5
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(operands: Types, computation: FunctionType) -> Types:
        return tuple(with_element_type(o, element_type(computation.outputs[0])) for o in operands)

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        operands: Types,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        computation: FunctionType,
        results: Types,
    ) -> None:
        ids = without_padding(ids_in(replica_groups, site.op))
        C(1, is_unique(ids))
        C(3, in_range(ids, size(ids)))
        C(3, not (use_global_device_ids and replica_groups == ()))
        C(4, not use_global_device_ids or channel_id > 0)
        C(5, all(is_reducer(computation, [operand]) for operand in operands))
        C(6, size(results) == size(operands) and list(map(shape, results)) == list(map(shape, operands)))
        C(7, all(element_type(r) == element_type(computation.outputs[0]) for r in results))

    @staticmethod
    def plan(
        site: PlanSite,
        operands: Types,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        computation: RegionFunction,
        results: Types,
    ) -> Run:
        """Plan the reduction, the same for all processes of a group: see `semantics.distribution.all_reduce`.

        All elements are reduced at once, by `computation` on whole tensors.
        """
        strategy = reduction_strategy(channel_id, use_global_device_ids)
        groups = ProcessGroups(site.op, strategy, replica_groups, size_label=2, range_label=3)
        meet = meeting(site, channel_id=channel_id, operands=tuple(operands), computation=op_names(computation))
        reduce = reduction(operands, results, computation)

        def run(context: Context, operands: Sequence[Array]) -> Exchange:
            process = context.process
            contributions: Contributions = yield meet(groups.around(process), operands)
            return one_or_all(reduce(contributions, process))

        return run


class ReduceScatter(Collective, op="reduce_scatter", nans="computed", facts=FOLDS):
    """Reduce the operands of the processes of each group by `computation` and return one part to each process.

    The reduced tensor is split along `scatter_dimension`.
    """

    operand = In(tensor | per_tensor_quantized)  # I1
    scatter_dimension = Attr(Int)  # I2
    replica_groups = Attr(ReplicaGroups)  # I3
    use_global_device_ids = Attr(Presence, default=False)  # I5
    computation = Body()  # I6
    result = Out(tensor | per_tensor_quantized)

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        operand: TensorType,
        scatter_dimension: Int,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        computation: FunctionType,
        result: TensorType,
    ) -> None:
        ids = ids_in(replica_groups, site.op)
        ids_in_group = group_size(replica_groups, site.op) or UNKNOWN
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

    @staticmethod
    def plan(
        site: PlanSite,
        operand: TensorType,
        scatter_dimension: Int,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        computation: RegionFunction,
        result: TensorType,
    ) -> Run:
        """Plan the part of an `all_reduce` that belongs to a process: see `semantics.distribution.reduce_scatter`.

        The size of the group is known only at run time, so the split is checked there.
        """
        strategy = reduction_strategy(channel_id, use_global_device_ids)
        groups = ProcessGroups(site.op, strategy, replica_groups, size_label=4, range_label=5)
        names = op_names(computation)
        meet = meeting(
            site, channel_id=channel_id, scatter_dimension=scatter_dimension, operand=operand, computation=names
        )
        reduce = reduction([operand], [result], computation)

        def run(context: Context, value: Array) -> Exchange:
            process = context.process
            contributions: Contributions = yield meet(groups.around(process), (value,))
            receiver_index, count = list(contributions.by_process).index(process.id), len(contributions.by_process)
            if dim(operand, scatter_dimension) % count:
                raise EvaluationError(f"'{site.name}' op (C1): {operand} cannot be split into {count} equal parts")
            received = part(reduce(contributions, process)[0], scatter_dimension, receiver_index, count)
            check_shapes(site.name, 8, [result], [received])
            return received

        return run


class CollectiveReduce(Collective, op="collective_reduce", nans="computed", facts=FOLDS):
    """Reduce the `operands` of the processes of each group by `computation` and return them to the root.

    The root is the first process of the group, or with `has_dynamic_root` the one whose index in the group is in
    `operands[-1]`. All other processes get zeros.
    """

    operands = Ins(tensor | per_tensor_quantized)  # I1
    replica_groups = Attr(ReplicaGroups)  # I2
    use_global_device_ids = Attr(Presence, default=False)
    has_dynamic_root = Attr(Presence, default=False)  # I4
    computation = Body()  # I5
    results = Outs(tensor | per_tensor_quantized)

    @staticmethod
    def infer(operands: Types, has_dynamic_root: Presence, computation: FunctionType) -> Types:
        data = operands[:-1] if has_dynamic_root else operands
        return tuple(with_element_type(o, element_type(computation.outputs[0])) for o in data)

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        operands: Types,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        has_dynamic_root: Presence,
        computation: FunctionType,
        results: Types,
        infer: Callable[[], Types],
    ) -> None:
        ids = without_padding(ids_in(replica_groups, site.op))
        C(1, is_unique(ids))
        C(2, all(0 <= i for i in ids))
        C(2, not use_global_device_ids or channel_id > 0)
        C(3, size(operands) > has_dynamic_root and (not has_dynamic_root or is_root(operands)))
        C(4, all(is_reducer(computation, [o]) for o in (operands[:-1] if has_dynamic_root else operands)))
        C(3, size(results) == size(infer()) and all(map(compatible, results, infer())))

    @staticmethod
    def plan(
        site: PlanSite,
        operands: Types,
        replica_groups: ReplicaGroups,
        channel_id: Int,
        use_global_device_ids: Presence,
        has_dynamic_root: Presence,
        computation: RegionFunction,
        results: Types,
    ) -> Run:
        """Plan `results[j]@process_group[root[j]] = reduction of operands[j] over process_group`, zeros elsewhere.

        With `N = size(results)`, `root[j]` is `operands[N][j]` with a dynamic root and 0 without. The reduction is
        that of `all_reduce`.
        """
        strategy = FLATTENED_IDS if use_global_device_ids else exchange_strategy(channel_id)
        groups = ProcessGroups(site.op, strategy, replica_groups, range_label=2)
        meet = meeting(site, channel_id=channel_id, operands=tuple(operands), computation=op_names(computation))
        N = len(results)
        reduce = reduction(operands[:N], results, computation)
        not_root = [zeros(t) for t in results]

        def run(context: Context, operands: Sequence[Array]) -> Exchange:
            process = context.process
            process_group = groups.of(process)
            if process_group is None:
                return one_or_all(not_root)
            index = process_group.index(process.id)
            root = roots(site.name, 3, operands, has_dynamic_root, len(process_group))
            contributions: Contributions = yield meet(process_group, operands)
            if index not in root:
                return one_or_all(not_root)
            reduced = reduce(contributions, process)
            return one_or_all([r if index == i else zero for r, zero, i in zip(reduced, not_root, root)])

        return run


def op_names(computation: RegionFunction) -> tuple[str, ...]:
    """Return the names of the ops of a computation, which must agree between the processes of a rendezvous."""
    return tuple(op.name for op in computation.region.block.operations[:-1])


def reduction(
    operands: Types, results: Types, computation: RegionFunction
) -> Callable[[Contributions, Process], list[Array]]:
    """Plan the reduction of each operand over the processes of a rendezvous, with canonical NaNs.

    The processes share the results if `computation` is pure; else each process computes its own.
    """
    if not operands:  # of which `computation` would take the elements
        return lambda contributions, process: []
    promoted = [promotion([o], [r]) for o, r in zip(operands, results)]
    fold = by_parts(computation, lambda combine: lambda _, arrays: [over_processes(combine, arrays)])
    block = computation.region.block
    is_same, computes = is_pure(block), len(block.operations) > 1
    dtypes = [numpy_dtype(element_type(r)) for r in results]
    canonical = [canonical_nans(d) if computes and has_several_nans(d) else lambda x, *_: x for d in dtypes]

    def reduced(contributions: Contributions) -> list[Array]:
        variadic = [
            [promote([x])[0] for x in xs] for promote, xs in zip(promoted, zip(*contributions.by_process.values()))
        ]
        return [replace(fold((), xs)[0], *xs) for replace, xs in zip(canonical, variadic)]

    def run(contributions: Contributions, process: Process) -> list[Array]:
        key = "results" if is_same else process.id
        return contributions.once(key, lambda: reduced(contributions))

    return run


def is_pure(block: Block) -> bool:
    """Return whether a block depends on its arguments alone, so that it returns the same in all processes."""
    known = set(block.arguments)
    for op in block.operations:
        definition = definition_of(op)
        if op.regions or definition is None or definition.traits.effects or "plan_control_flow" in definition.roles:
            return False
        if not known.issuperset(op.operands):
            return False
        known.update(op.results)
    return True


def over_processes(combine: Combine, arrays: Sequence[Array]) -> Array:
    """Reduce arrays of one shape to one, element by element."""
    while len(arrays) > RUN and not (combine.folds_left or combine.adds_exactly):
        arrays = [left_fold(combine, arrays[i : i + RUN]) for i in range(0, len(arrays), RUN)]
    return left_fold(combine, arrays)


def left_fold(combine: Combine, arrays: Sequence[Array]) -> Array:
    """Fold arrays from the left, in blocks that stay in the cache from one step to the next."""
    if len(arrays) == 1 or not np.size(arrays[0]):
        return arrays[0]
    if np.size(arrays[0]) <= LANES:
        return fold_unblocked(combine, arrays)
    flat = [x.reshape(-1) for x in arrays]
    result = np.empty(len(flat[0]), flat[0].dtype)
    for start in range(0, len(result), LANES):
        lanes = slice(start, start + LANES)
        fold_into(combine, [x[lanes] for x in flat], result[lanes])
    return result.reshape(arrays[0].shape)


def fold_into(combine: Combine, arrays: Sequence[Array], out: Array) -> None:
    """Store the fold of two or more whole arrays from the left in `out`."""
    if combine.ufunc is None or combine.adds_exactly:
        out[...] = fold_unblocked(combine, arrays)
        return
    combine.store(arrays[:1], arrays[1:2], [out])
    for x in arrays[2:]:
        combine.into([out], [x])


def fold_unblocked(combine: Combine, arrays: Sequence[Array]) -> Array:
    """Fold two or more whole arrays from the left."""
    if combine.adds_exactly:
        return sum_of_arrays(combine.dtype, arrays)
    first, second, *rest = arrays
    folded = combine([first], [second])
    for x in rest:
        folded = combine.into(folded, [x])
    return folded[0]
