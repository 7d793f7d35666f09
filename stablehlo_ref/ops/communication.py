"""Where a process is in the grid, and what it sends and receives: through channels, the infeed and the outfeed.

A send puts its values into a channel and goes on; what is sent first is received first. With `source_target_pairs` a
channel is one of its own for each pair. Without, all processes share it, and the host's end too is a process's: so what
a process sends to the host, another may receive from it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, Group, In, Ins, Op, Out, Outs
from stablehlo_ref.diagnostics import EvaluationError, Location
from stablehlo_ref.ir.attributes import DenseElements, IntegerAttribute
from stablehlo_ref.ir.types import TOKEN, TensorType, integer_type, tensor_type
from stablehlo_ref.kinds import (
    AttributeKind,
    Flag,
    Int,
    Kind,
    Matrix,
    Opaque,
    String,
    anything,
    quantized_tensor,
    tensor,
)
from stablehlo_ref.kinds import token as a_token
from stablehlo_ref.ops.collectives import Ends, zeros
from stablehlo_ref.ops.outside import as_results, ask_outside, fits
from stablehlo_ref.ops.process_groups import CROSS_PARTITION, CROSS_REPLICA, ProcessGroups
from stablehlo_ref.ops.reduction import one_or_all
from stablehlo_ref.processes import Grid, Process, ProcessId, Receive, Send
from stablehlo_ref.spec import element_type, is_tensor, is_token, is_unique, shape, size

Array = Any
Types = Sequence[Any]
Turns = Generator[Any, Any, Any]

ID = tensor_type((), integer_type(32, "u"))
id_tensor = Kind(str(ID), lambda t: t == ID)


class _Pairs(AttributeKind):
    """A list of pairs; an empty one of any rank is none."""

    name = Matrix.name

    def decode(self, attribute: Any) -> Any:
        is_empty = isinstance(attribute, DenseElements) and not attribute.array.size
        return () if is_empty else Matrix.decode(attribute)

    def encode(self, value: Any) -> Any:
        return Matrix.encode(value)


Pairs = _Pairs()


class ChannelType(IntEnum):
    """What a channel connects, as MLIR numbers it."""

    DEVICE_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    HOST_TO_DEVICE = 3


# The spec knows the channel of a recv from the host by this name, MLIR by that.
FROM_HOST = (ChannelType.DEVICE_TO_HOST, ChannelType.HOST_TO_DEVICE)

# --- the place in the grid ------------------------------------------------------------------------------------------


class ReplicaId(Op, op="replica_id"):
    """The replica id of the process."""

    effects = True
    result = Out(id_tensor)

    syntax = "attr-dict : type(results)"

    @staticmethod
    def infer() -> Any:
        return ID

    @staticmethod
    def plan() -> Callable[[Any], Array]:
        return lambda context: np.uint32(context.process.id[0])


class PartitionId(Op, op="partition_id"):
    """The partition id of the process."""

    effects = True
    result = Out(id_tensor)

    syntax = "attr-dict : type(results)"

    @staticmethod
    def infer() -> Any:
        return ID

    @staticmethod
    def plan() -> Callable[[Any], Array]:
        return lambda context: np.uint32(context.process.id[1])


# --- channels -------------------------------------------------------------------------------------------------------


class PointToPoint(Op):
    """The base of send and recv."""

    effects = True
    communicates = True
    on_storage = True

    @staticmethod
    def open_cases(is_host_transfer: bool, source_target_pairs: Any) -> Callable[..., Sequence[Choice]] | None:
        open = not is_host_transfer and not source_target_pairs
        return (lambda *_: [Choice.RECV_WITHOUT_SOURCE]) if open else None


class SendOp(PointToPoint, op="send"):
    """Sends `inputs` to the channel."""

    inputs = Ins(tensor | quantized_tensor)  # I1
    token = In(a_token)  # I2
    channel_id = Attr(Int)  # I3
    channel_type = Attr(Int)  # I4
    is_host_transfer = Attr(Flag, default=False)  # I5
    source_target_pairs = Attr(Pairs, default=())  # I6
    result = Out(a_token)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def infer() -> Any:
        return TOKEN

    @staticmethod
    def constraints(C: Any, channel_type: int, is_host_transfer: bool, source_target_pairs: Any) -> None:
        C(1, all(size(pair) == 2 for pair in source_target_pairs))
        C(2, is_unique([source for source, _ in source_target_pairs]))
        C(3, is_unique([target for _, target in source_target_pairs]))
        C(4, all(0 <= i for pair in source_target_pairs for i in pair))
        C(5, channel_type == (ChannelType.DEVICE_TO_HOST if is_host_transfer else ChannelType.DEVICE_TO_DEVICE))

    @classmethod
    def plan(
        cls, inputs: Types, channel_id: int, is_host_transfer: bool, source_target_pairs: Any, location: Location
    ) -> Callable[..., Turns]:
        channel = Channel(cls.name, location, channel_id, () if is_host_transfer else source_target_pairs)
        sent = tuple(inputs)

        def run(context: Any, inputs: Sequence[Array], token: Any) -> Turns:
            target = channel.target_of(context.process)
            if target is not None or channel.is_shared:
                yield Send(channel.between(context.process.id, target), (sent, inputs))
            return token

        return run


class Recv(PointToPoint, op="recv"):
    """Receives what was sent to the channel first; zeros where the process is no pair's target."""

    token = In(a_token)  # I1
    channel_id = Attr(Int)  # I2
    channel_type = Attr(Int)  # I3
    is_host_transfer = Attr(Flag, default=False)  # I4
    source_target_pairs = Attr(Pairs, default=())  # I5
    results = Outs(anything)

    channel_handle = Group("stablehlo.channel_handle", handle=channel_id, type=channel_type)

    @staticmethod
    def constraints(
        C: Any, channel_type: int, is_host_transfer: bool, source_target_pairs: Any, results: Types
    ) -> None:
        C(1, all(size(pair) == 2 for pair in source_target_pairs))
        C(2, is_unique([source for source, _ in source_target_pairs]))
        C(2, 0 < size(results))
        C(3, is_unique([target for _, target in source_target_pairs]))
        C(3, all(map(is_tensor, results[:-1])))
        C(4, all(0 <= i for pair in source_target_pairs for i in pair))
        C(4, is_token(results[-1]))
        C(5, channel_type in (FROM_HOST if is_host_transfer else (ChannelType.DEVICE_TO_DEVICE,)))

    @classmethod
    def plan(
        cls, channel_id: int, is_host_transfer: bool, source_target_pairs: Any, results: Types, location: Location
    ) -> Callable[..., Turns]:
        channel = Channel(cls.name, location, channel_id, () if is_host_transfer else source_target_pairs)
        expected = tuple(results[:-1])
        nothing = [zeros(t) for t in expected] if all(t.is_static for t in expected) else None

        def run(context: Any, token: Any) -> Turns:
            here, source = context.process.id, channel.source_of(context.process)
            if source is None and not channel.is_shared:
                if nothing is None:
                    raise EvaluationError(f"'{cls.name}' op: nobody sends, so {_list(expected)} has no shape", location)
                return one_or_all([*nothing, token])
            sent, values = yield Receive(cls.name, channel.between(source, here), source, location)
            if len(sent) != len(expected) or not all(map(is_of, sent, expected)):
                raise EvaluationError(f"'{cls.name}' op: {_list(sent)} was sent, not {_list(expected)}", location)
            return one_or_all([*values, token])

        return run


def is_of(sent: TensorType, expected: TensorType) -> bool:
    """Whether a tensor of a type that a run told may be taken for one of another."""
    return element_type(sent) == element_type(expected) and fits(expected, shape(sent))


class Channel:
    """A channel of send and recv, as one of them sees it."""

    def __init__(self, op: str, location: Location, channel_id: int, pairs: Any) -> None:
        self.channel_id = channel_id
        self.is_shared = not pairs
        self._ends = {
            strategy: Ends(ProcessGroups(op, location, strategy, pairs, range_label=4))
            for strategy in (CROSS_REPLICA, CROSS_PARTITION)
        }

    def between(self, source: ProcessId | None, target: ProcessId | None) -> Hashable:
        """What messages from one process to another go by."""
        return ("channel", self.channel_id, None if self.is_shared else (source, target))

    def target_of(self, process: Process) -> ProcessId | None:
        return None if self.is_shared else self._of(process.grid).targets(process.grid).get(process.id)

    def source_of(self, process: Process) -> ProcessId | None:
        return None if self.is_shared else self._of(process.grid).sources(process.grid).get(process.id)

    def _of(self, grid: Grid) -> Ends:
        """Pairs are of ids of the only dimension that a grid has; of a grid with two, by the channel, as in
        collective_permute."""
        if grid.num_replicas == 1 or (grid.num_partitions > 1 and self.channel_id > 0):
            return self._ends[CROSS_PARTITION]
        return self._ends[CROSS_REPLICA]


# --- streams --------------------------------------------------------------------------------------------------------


class Infeed(Op, op="infeed"):
    """Reads the next values from the infeed of the grid."""

    effects = True
    on_storage = True

    token = In(a_token)  # I1
    infeed_config = Attr(String, default="")  # I2
    layout = Attr(Opaque, default=None)
    results = Outs(anything)

    @staticmethod
    def constraints(C: Any, results: Types, layout: Any) -> None:
        C(1, 0 < size(results))
        C(2, all(map(is_tensor, results[:-1])) and (layout is None or is_layout(layout, results[:-1])))
        C(3, is_token(results[-1]))

    @classmethod
    def plan(cls, results: Types) -> Callable[..., Any]:
        expected = results[:-1]

        def run(context: Any, token: Any) -> Any:
            read = ask_outside("the infeed", lambda: next(context.process.infeed, None))
            if read is None:
                raise EvaluationError(f"'{cls.name}' op: there is nothing in the infeed")
            values = as_results(f"'{cls.name}' op: reads", expected, read(context))
            return one_or_all([*values, token])

        return run


class Outfeed(Op, op="outfeed"):
    """Writes `inputs` to the outfeed of the grid."""

    effects = True
    on_storage = True

    inputs = Ins(tensor | quantized_tensor)  # I1
    token = In(a_token)  # I2
    outfeed_config = Attr(String, default="")  # I3
    result = Out(a_token)

    @staticmethod
    def infer() -> Any:
        return TOKEN

    @staticmethod
    def plan() -> Callable[..., Any]:
        def run(context: Any, inputs: Sequence[Array], token: Any) -> Any:
            context.process.outfeed.append((context.process.id, tuple(map(np.array, inputs))))
            return token

        return run


def is_layout(layout: Any, types: Types) -> bool:
    """Whether a layout is a list of one list of integers for each type."""
    lists = isinstance(layout, tuple) and size(layout) == size(types) and all(isinstance(d, tuple) for d in layout)
    return lists and all(isinstance(n, IntegerAttribute) for d in layout for n in d)


def _list(types: Types) -> str:
    return f"({', '.join(map(str, types))})"
