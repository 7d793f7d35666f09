"""The loop IR: what a block computes, as the printers of Python source and of machine code read it.

A body has a node for each op whose results are not known while planning: a loop, a branch, or a call of a kernel, which
a printer may replace by code of its own. What an op does to one element is in `elements.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.definition import resolve
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.execute.dynamic import refined_results
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Block, Operation, Value, captured, last_uses
from stablehlo_ref.ir.types import BooleanType, FloatType, IndexType, IntegerType, TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.control_flow import Case, If, While

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner

MAX_OPS = 20_000  # of one function
_CALLS = ("func.call", "stablehlo.custom_call", "stablehlo.composite")


class NotCompiled(Exception):
    """Raised for what has no code; the message says why."""


@dataclass(eq=False)
class Node:
    """An op, and the values that it is the last to use."""

    frame: FramePlanner
    op: Operation
    dying: Sequence[Value]

    @property
    def op_class(self) -> type | None:
        definition = resolve(self.op)
        return None if definition is None else definition.op_class

    @cached_property
    def is_canonical(self) -> bool:
        """Whether NaNs of the result are made canonical."""
        return self.op in self.frame.planner.canonical

    @cached_property
    def kernel(self) -> Kernel | None:
        """The kernel of the op; None if its step of the plan does more, or says why it cannot be planned."""
        definition = resolve(self.op)
        if definition is None or "plan" not in definition.roles or definition.traits.communicates:
            return None
        if any(captured(region) for region in self.op.regions):
            return None
        known = self.frame.known_kernel(self.op, self.frame.planner.kind(self.op))
        try:
            return known.kernel if known else self.frame.kernel(self.op)
        except StablehloError:
            return None

    @property
    def has_effects(self) -> bool:
        """Whether the kernel takes the context of the run as its first operand."""
        definition = resolve(self.op)
        return definition is None or definition.traits.effects

    @property
    def counts(self) -> bool:
        """Whether the op may count iterations or calls."""
        inner = [x for region in self.op.regions for block in region.blocks for x in block.operations]
        is_simple = all(not x.regions and x.name not in _CALLS for x in inner)
        return not is_simple or self.kernel is None or self.has_effects


@dataclass(eq=False)
class Loop(Node):
    """A `while`. The arguments of the body are its state."""

    condition: Body
    body: Body
    counts = True


@dataclass(eq=False)
class Branch(Node):
    """An `if` or a `case`: the first operand chooses a body, the last one if it is out of range."""

    bodies: Sequence[Body]

    @property
    def counts(self) -> bool:
        return any(body.counts for body in self.bodies)


@dataclass(eq=False)
class Body:
    """The nodes of a block, in order."""

    block: Block
    nodes: Sequence[Node]

    @property
    def results(self) -> Sequence[Value]:
        return self.block.operations[-1].operands

    @property
    def counts(self) -> bool:
        """Whether an op may count iterations or calls."""
        return any(node.counts for node in self.nodes)


def body_of(frame: FramePlanner, block: Block, keep: Iterable[Value] = ()) -> Body:
    """Return the body of a block whose values `keep` are used after it; NotCompiled if it is too large."""
    dying = last_uses(block, keep)
    operations = [op for op in block.operations[:-1] if not _is_known(frame, op)]
    if len(operations) > MAX_OPS:
        raise NotCompiled(f"more than {MAX_OPS} ops")
    return Body(block, [node_of(frame, op, dying.get(op, ())) for op in operations])


def node_of(frame: FramePlanner, op: Operation, dying: Sequence[Value] = ()) -> Node:
    """Return the node of an op: control flow is a node without bodies if the plan has to run it."""
    blocks = [region.blocks[0] for region in op.regions if len(region.blocks) == 1]
    definition = resolve(op)
    if definition is None or len(blocks) < len(op.regions) or refined_results(op):
        return Node(frame, op, dying)
    if definition.op_class is While:
        condition, body = blocks
        return Loop(frame, op, dying, body_of(frame, condition, condition.arguments), body_of(frame, body))
    if definition.op_class in (If, Case):
        return Branch(frame, op, dying, [body_of(frame, block) for block in blocks])
    return Node(frame, op, dying)


def _is_known(frame: FramePlanner, op: Operation) -> bool:
    return bool(op.results) and all(frame.constant(value) is not None for value in op.results)


# --- types ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)  # often asked for the same types
def is_plain(type: Type) -> bool:
    """Return whether values of a type are tensors of a static shape and of numpy's own types."""
    if not isinstance(type, TensorType) or not type.is_static:
        return False
    if not isinstance(type.element_type, BooleanType | FloatType | IntegerType | IndexType):
        return False
    dtype = numpy_dtype(type.element_type)
    return dtype.isbuiltin == 1 and dtype.kind in "biuf"


def is_scalar(type: Type) -> bool:
    """Return whether values of a type are scalars of numpy's own types."""
    return is_plain(type) and shape_of(type) == ()


def shape_of(x: Value | Type) -> tuple[int, ...]:
    """Return the shape of a tensor; 0 for sizes that are not known."""
    type = x.type if isinstance(x, Value) else x
    assert isinstance(type, TensorType)
    return tuple(n or 0 for n in type.shape)


def dtype_of(x: Value | Type) -> DType:
    """Return the dtype of a tensor."""
    type = x.type if isinstance(x, Value) else x
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type)
