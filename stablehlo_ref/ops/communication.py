"""Ops on a process's ids, its channels to other processes and to the host, and the infeed and outfeed of the grid.

A send appends its values to a queue and does not wait; a receive takes the oldest entry. With `source_target_pairs`
there is one queue for each pair and channel. Without, all processes share one queue per channel, and transfers to and
from the host use it too: what one process sends to the host, another may receive from the host.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import IntEnum
from typing import Annotated, TypeAlias

import numpy as np

from stablehlo_ref.arrays.host_values import as_results, fits, run_callback
from stablehlo_ref.define.attribute_codecs import EmptyMatrix, Flag, Int, MatrixCodec, Opaque, String
from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.facts import OPEN
from stablehlo_ref.define.op import Attr, Group, In, Ins, Op, Out, Outs, returns
from stablehlo_ref.define.processes import Grid, Process, ProcessId, Receive, Send
from stablehlo_ref.define.spec import element_type, is_tensor, is_token, shape, size
from stablehlo_ref.define.type_constraints import quantized_tensor, tensor, tensor_of, tensor_or_token
from stablehlo_ref.define.type_constraints import token as a_token
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.distribution.process_groups import CROSS_PARTITION, CROSS_REPLICA
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, DenseElements, IntegerAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TOKEN, TensorType, Type, integer_type, tensor_type
from stablehlo_ref.ops.collectives import Exchange, Pairs, check_pairs, zeros
from stablehlo_ref.ops.reduction import Results, Types, one_or_all

ID = tensor_type((), integer_type(32, "u"))
id_tensor = tensor_of(str(ID), lambda t: t == ID)


class PairsCodec(MatrixCodec):
    """A list of pairs; an empty tensor of any rank is an empty list."""

    def read(self, attribute: Attribute) -> tuple[tuple[int, ...], ...] | None:
        if isinstance(attribute, DenseElements) and not attribute.array.size:
            return EmptyMatrix.of((), attribute)
        return super().read(attribute)


SourceTargetPairs: TypeAlias = Annotated[tuple[tuple[int, ...], ...], PairsCodec()]


class ChannelType(IntEnum):
    """What a channel connects, as MLIR numbers it."""

    DEVICE_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    HOST_TO_DEVICE = 3


# The channel type of a recv from the host: the first in the spec, the second in MLIR.
FROM_HOST = (ChannelType.DEVICE_TO_HOST, ChannelType.HOST_TO_DEVICE)

# --- ids in the grid ------------------------------------------------------------------------------------------------


class GridId(Op, effects=True, facts=OPEN):
    """Base of `replica_id` and `partition_id`."""

    result = Out(id_tensor)

    syntax = "attr-dict : type(results)"

    infer = returns(ID)


class ReplicaId(GridId, op="replica_id"):
    """Return the replica id of the process."""

    plan = returns(lambda context: np.uint32(context.process.id[0]))


class PartitionId(GridId, op="partition_id"):
    """Return the partition id of the process."""

    plan = returns(lambda context: np.uint32(context.process.id[1]))


# --- channels -------------------------------------------------------------------------------------------------------


class PointToPoint(Op, effects=True, communicates=True, computes_on_storage=True, facts=OPEN):
    """Base of `send` and `recv`."""

    channel_id = Attr(Int)
    channel_type = Attr(Int)
    is_host_transfer = Attr(Flag, default=False)
    source_target_pairs = Attr(SourceTargetPairs, default=())

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def implementation_defined(is_host_transfer: Flag, source_target_pairs: SourceTargetPairs) -> FindChoices:
        is_defined = is_host_transfer or source_target_pairs
        return None if is_defined else lambda *_: [Choice.RECV_WITHOUT_SOURCE]


class SendOp(PointToPoint, op="send"):
    """Send `inputs` to the channel `channel_id`."""

    inputs = Ins(tensor | quantized_tensor)  # I1
    token = In(a_token)  # I2
    result = Out(a_token)

    infer = returns(TOKEN)

    @staticmethod
    def constraints(
        C: Checker, channel_type: Int, is_host_transfer: Flag, source_target_pairs: SourceTargetPairs
    ) -> None:
        check_pairs(C, source_target_pairs)
        C(5, channel_type == (ChannelType.DEVICE_TO_HOST if is_host_transfer else ChannelType.DEVICE_TO_DEVICE))

    @staticmethod
    def plan(
        site: PlanSite, inputs: Types, channel_id: Int, is_host_transfer: Flag, source_target_pairs: SourceTargetPairs
    ) -> Run:
        channel = Channel(site.op, channel_id, () if is_host_transfer else source_target_pairs)
        sent = tuple(inputs)

        def run(context: Context, inputs: Sequence[Array], token: None) -> Exchange:
            target = channel.target_of(context.process)
            if target is not None or channel.is_shared:
                yield Send(channel.between(context.process.id, target), (sent, inputs))
            return token

        return run


class Recv(PointToPoint, op="recv"):
    """Receive the oldest values sent to the channel `channel_id`; zeros if the process is not the target of a pair."""

    token = In(a_token)  # I1
    results = Outs(tensor_or_token)

    @staticmethod
    def constraints(
        C: Checker,
        channel_type: Int,
        is_host_transfer: Flag,
        source_target_pairs: SourceTargetPairs,
        results: Sequence[Type],
    ) -> None:
        check_pairs(C, source_target_pairs)
        C(2, 0 < size(results))
        C(3, all(map(is_tensor, results[:-1])))
        C(4, is_token(results[-1]))
        C(5, channel_type in (FROM_HOST if is_host_transfer else (ChannelType.DEVICE_TO_DEVICE,)))

    @staticmethod
    def plan(
        site: PlanSite,
        channel_id: Int,
        is_host_transfer: Flag,
        source_target_pairs: SourceTargetPairs,
        results: Sequence[Type],
    ) -> Run:
        channel = Channel(site.op, channel_id, () if is_host_transfer else source_target_pairs)
        expected = tuple(t for t in results[:-1] if isinstance(t, TensorType))
        without_source = [zeros(t) for t in expected] if all(t.is_static for t in expected) else None

        def run(context: Context, token: None) -> Exchange:
            source = channel.source_of(context.process)
            if source is not None or channel.is_shared:
                sent, values = yield Receive(
                    site.name, channel.between(source, context.process.id), source, site.location
                )
                if len(sent) != len(expected) or not all(map(is_of, sent, expected)):
                    message = f"'{site.name}' op: expected {_list(expected)}, got {_list(sent)}"
                    raise EvaluationError(message, site.location)
                return one_or_all([*values, token])
            if without_source is None:
                message = "nothing is sent to this process, so the shapes of"
                raise EvaluationError(f"'{site.name}' op: {message} {_list(expected)} are unknown", site.location)
            return one_or_all([*without_source, token])

        return run


def is_of(sent: TensorType, expected: TensorType) -> bool:
    """Return whether a tensor of the static type `sent` is one of the type `expected`."""
    return element_type(sent) == element_type(expected) and fits(expected, shape(sent))


class Channel:
    """The channel of a send or recv op."""

    def __init__(self, op: Operation, channel_id: int, pairs: SourceTargetPairs) -> None:
        self.channel_id = channel_id
        self.is_shared = not pairs
        self._pairs = {strategy: Pairs(op, strategy, pairs) for strategy in (CROSS_REPLICA, CROSS_PARTITION)}

    def between(self, source: ProcessId | None, target: ProcessId | None) -> Hashable:
        """Return the key of the queue from one process to another."""
        return ("channel", self.channel_id, None if self.is_shared else (source, target))

    def target_of(self, process: Process) -> ProcessId | None:
        """Return the process that this one sends to, None without a pair."""
        return None if self.is_shared else self._of(process.grid).targets(process.grid).get(process.id)

    def source_of(self, process: Process) -> ProcessId | None:
        """Return the process that this one receives from, None without a pair."""
        return None if self.is_shared else self._of(process.grid).sources(process.grid).get(process.id)

    def _of(self, grid: Grid) -> Pairs:
        """Return the pairs as processes of a grid.

        The ids are those of the only dimension that the grid has; in a grid with both, the channel id decides as in
        `collective_permute`.
        """
        if grid.num_replicas == 1 or (grid.num_partitions > 1 and self.channel_id > 0):
            return self._pairs[CROSS_PARTITION]
        return self._pairs[CROSS_REPLICA]


# --- infeed, outfeed ------------------------------------------------------------------------------------------------


class Infeed(Op, op="infeed", effects=True, computes_on_storage=True, facts=OPEN):
    """Read the next values from the infeed of the grid."""

    token = In(a_token)  # I1
    infeed_config = Attr(String, default="")  # I2
    layout = Attr(Opaque, default=None)
    results = Outs(tensor_or_token)

    @staticmethod
    def constraints(C: Checker, results: Sequence[Type], layout: Opaque | None) -> None:
        C(1, 0 < size(results))
        C(2, all(map(is_tensor, results[:-1])) and (layout is None or is_layout(layout, results[:-1])))
        C(3, is_token(results[-1]))

    @staticmethod
    def plan(site: PlanSite, results: Sequence[Type]) -> Run:
        expected = results[:-1]

        def run(context: Context, token: None) -> Results:
            read = run_callback("the infeed", lambda: next(context.process.infeed, None))
            if read is None:
                raise EvaluationError(f"'{site.name}' op: the infeed is empty")
            values = as_results(f"'{site.name}' op: reads", expected, read(context))
            return one_or_all([*values, token])

        return run


class Outfeed(Op, op="outfeed", effects=True, computes_on_storage=True, facts=OPEN):
    """Write `inputs` to the outfeed of the grid."""

    inputs = Ins(tensor | quantized_tensor)  # I1
    token = In(a_token)  # I2
    outfeed_config = Attr(String, default="")  # I3
    result = Out(a_token)

    infer = returns(TOKEN)

    @staticmethod
    def plan() -> Run:
        def run(context: Context, inputs: Sequence[Array], token: None) -> None:
            context.process.outfeed.append((context.process.id, tuple(map(np.array, inputs))))

        return run


def is_layout(layout: Attribute, types: Sequence[Type]) -> bool:
    """Return whether a layout is a list with one list of integers for each type."""
    if not isinstance(layout, tuple) or size(layout) != size(types):
        return False
    return all(isinstance(row, tuple) and all(isinstance(n, IntegerAttribute) for n in row) for row in layout)


def _list(types: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types))})"
