"""Chains: groups of elementwise ops and row reductions on large tensors, which become one pass in machine code.

A group has elementwise ops, reductions of the last dimensions, and what lies between a reduction and the ops that use
it: ops on one value per row, and broadcasts of it. Ops between these that need no result of it run before. A map of
several ops is a chain by itself, and so is an op that numpy takes long for: a function, or one on narrow floats.

The ops of a chain are a block of their own in the plan. It runs them one after the other until machine code has taken
over, and whenever operands have a form that this is not for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, cast

from stablehlo_ref.accelerate.elements import has_code, is_narrow
from stablehlo_ref.accelerate.ir import Node, shape_of
from stablehlo_ref.accelerate.machine.chains import VIEWS, Chain, MachineChain, Shared
from stablehlo_ref.accelerate.machine.compiler import is_available
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS
from stablehlo_ref.accelerate.machine.nests import is_splat
from stablehlo_ref.accelerate.machine.reductions import reduction_of
from stablehlo_ref.accelerate.policy import weight
from stablehlo_ref.define.bound import constant_array
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.execute.liveness import captured
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import BlockPlan
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.ops.elementwise import LANES, Map, on_element
from stablehlo_ref.ops.reduction import Reduce

if TYPE_CHECKING:
    from stablehlo_ref.accelerate import PlanAccelerator
    from stablehlo_ref.execute.plan import FramePlanner

NEAR = 32  # ops that may lie between one of a group and the next
SIZE = 1 << 18  # elements of a tensor from which on ops on it are fused: smaller ones stay in the cache as they are
WORK = 5 << 18  # elements that the ops of a chain visit in all, at least: with fewer, machine code saves nothing
ROW = 1 << 16  # elements of a row that is reduced at most, so that a few rows fit into the cache
FUNCTION_SIZE = 1 << 15  # elements of a tensor from which on a function of f32 is fused
FUNCTION_PASSES = 50  # of a function of f32, other ops count 1
NARROW_PASSES = 6  # of an op on narrow floats, which numpy computes in f32
MAX_OPS = 200  # of the computation of a map
MAX_WEIGHT = 500  # of the ops of a group, above which LLVM takes too long


@dataclass(eq=False)
class Group:
    """Ops that become one step. `rows` is the number of leading dimensions that a reduction keeps; None without one."""

    shape: tuple[int, ...]
    rows: int | None = None
    weight: int = 0  # of its ops, for LLVM
    passes: int = 0  # ops that visit all elements, rather than one for each row
    nodes: list[Node] = field(default_factory=list)
    made: set[Value] = field(default_factory=set)  # results
    touched: set[Value] = field(default_factory=set)  # operands and results

    @property
    def pays_off(self) -> bool:
        return self.passes > 1 and self.passes * prod(self.shape) >= WORK

    def is_row(self, shape: Sequence[int]) -> bool:
        """Return whether a tensor of this shape has one element for each row."""
        rows = self.rows
        return rows is not None and tuple(shape[:rows]) == self.shape[:rows] and all(n == 1 for n in shape[rows:])

    def add(self, node: Node) -> bool:
        """Add an op if it can be part of the group; return whether it is."""
        op = node.op
        if not self._may_add(node):
            return False
        self.nodes.append(node)
        self.weight += weight(op)
        if node.op_class is Reduce or (node.op_class not in VIEWS and shape_of(op.results[0]) == self.shape):
            is_function, narrow = on_element(op) in FUNCTIONS, is_narrow(op.operands[0].type)
            self.passes += FUNCTION_PASSES if is_function else NARROW_PASSES if narrow else 1
        self.made.add(op.results[0])
        self.touched.update(op.operands, op.results)
        return True

    def may_follow(self, node: Node) -> bool:
        """Return whether the group may run after an op that follows it."""
        is_apart = self.made.isdisjoint(node.op.operands) and self.touched.isdisjoint(node.dying)
        known = node.planner.known_kernel(node.op, node.planner.planner.kind(node.op))
        return is_apart and not node.op.regions and known is not None and not known.traits.effects

    def _may_add(self, node: Node) -> bool:
        """Return whether an op can be part of the group; a reduction sets the number of dimensions of rows."""
        op = node.op
        if self.weight >= MAX_WEIGHT or not _is_plain(op) or (self.nodes and self.touched.isdisjoint(op.operands)):
            return False
        if node.op_class is Reduce:
            return self._reduces_rows(op)
        shape = shape_of(op.results[0])
        if node.op_class in VIEWS:
            return op.operands[0] in self.made and self._spreads(node, shape)
        fits = shape == self.shape or (self.is_row(shape) and not self.made.isdisjoint(op.operands))
        return fits and all(shape_of(t) in ((), shape) for t in op.operand_types) and has_code(op)

    def _reduces_rows(self, op: Operation) -> bool:
        """Return whether an op reduces the last dimensions of a tensor of the group's shape; fix these if it does."""
        rank, kept = len(self.shape), shape_of(op.results[0])
        if shape_of(op.operands[0]) != self.shape or is_narrow(op.operands[0].type) or reduction_of(op) is None:
            return False
        rows = rank - len(op.properties["dimensions"])
        if not 0 < rows < rank or kept != self.shape[:rows] or self.rows not in (None, rows):
            return False
        if sorted(op.properties["dimensions"]) != list(range(rows, rank)) or not 1 < prod(self.shape[rows:]) <= ROW:
            return False
        self.rows = rows
        return True

    def _spreads(self, node: Node, shape: tuple[int, ...]) -> bool:
        """Return whether a view turns one value per row into the same for ops on rows, or on the whole."""
        op = node.op
        if self.rows is None or not self.is_row(shape_of(op.operands[0])):
            return False
        if "broadcast_dimensions" not in op.properties:
            return self.is_row(shape)
        leads = tuple(op.properties["broadcast_dimensions"])[: self.rows] == tuple(range(self.rows))
        return leads and (shape == self.shape or self.is_row(shape))


def _started(node: Node) -> Group | None:
    """Return a new group that the op is the first of, or None."""
    op = node.op
    value = (op.operands if node.op_class is Reduce else op.results)[:1]
    if not value or not _is_static(value[0].type) or node.op_class in (Map, *VIEWS):
        return None
    if prod(shape_of(value[0])) < min(SIZE, FUNCTION_SIZE if op.operands and on_element(op) in FUNCTIONS else SIZE):
        return None
    group = Group(shape_of(value[0]))
    return group if group.add(node) else None


def _is_plain(op: Operation) -> bool:
    """Return whether an op of a group has operands of static types and one result."""
    definition = REGISTRY.get(op.name)
    if definition is None or len(op.results) != 1 or (op.regions and definition.op_class is not Reduce):
        return False
    is_known = definition.traits.elementwise or definition.op_class in (Reduce, *VIEWS)
    return is_known and all(map(_is_static, (*op.operand_types, *op.result_types)))


def _is_static(type: Type) -> bool:
    return isinstance(type, TensorType) and type.is_static and not isinstance(type.element_type, QuantizedType)


def with_chains(
    frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
) -> BlockPlan:
    """Replace runs of ops of a planned block by chains, and return the plan.

    `dying` are the values that each op is the last to use. A block with chains, whose tensors are large, does not
    become generated source.
    """
    if not is_available() or frame.planner.step_by_step or frame.lanes is not None or plan.communicates:
        return plan
    nodes = [Node(frame, op, dying.get(op, ())) for op in plan.ops]
    found, start = list[tuple[list[int], list[int], Chain]](), 0
    while start < len(nodes):
        members, moved, chain = [start], list[int](), _map(nodes[start]) if nodes[start].op_class is Map else None
        if group := _started(nodes[start]):
            _fill(group, nodes, members, moved)
            chain = _chain(frame, group) if group.pays_off else None
        if chain is not None:
            found.append((members, moved, chain))
        start = members[-1] + 1
    for members, moved, chain in reversed(found):
        _replace(frame, plan, members, moved, chain)
    if found:
        del frame.blocks[block]
    return plan


def _fill(group: Group, nodes: Sequence[Node], members: list[int], moved: list[int]) -> None:
    """Add ops that follow the first of a group: their numbers to `members`, those of ops between them to `moved`."""
    between: list[int] = []
    for number in range(members[0] + 1, len(nodes)):
        if group.add(nodes[number]):
            members.append(number)
            moved += between
            between = []
        elif len(between) < NEAR and group.may_follow(nodes[number]):
            between.append(number)
        else:
            return


def _replace(frame: FramePlanner, plan: BlockPlan, members: Sequence[int], moved: Sequence[int], chain: Chain) -> None:
    """Let one step of a plan run some of its ops, after others between them."""
    block, rest, reports = BlockPlan(), BlockPlan(), frame.planner.generated
    for part, numbers in ((block, members), (rest, moved)):
        part.steps, part.ops = [plan.steps[n] for n in numbers], [plan.ops[n] for n in numbers]
        part.ins, part.outs = [plan.ins[n] for n in numbers], [plan.outs[n] for n in numbers]
    first, run = block.ops[0], slice(members[0], members[-1] + 1)
    title = f"{first.name if chain.is_map else 'a chain'} at {first.location}"
    shared = cast("PlanAccelerator", frame.planner.accelerator).chains.setdefault(chain.key, Shared())
    step = MachineChain(chain, block, shared, lambda what, text: reports.append((f"{title}, {what}", text)))
    plan.steps[run], plan.ops[run] = [*rest.steps, step], [*rest.ops, first]
    plan.ins[run], plan.outs[run] = [*rest.ins, (*chain.inputs.values(),)], [*rest.outs, (*chain.kept.values(),)]


def _dead(frame: FramePlanner, nodes: Sequence[Node]) -> frozenset[int]:
    """Return the slots that are empty after some ops."""
    return frozenset(frame.slot(v) for node in nodes for v in node.dying) - frame.constants.keys()


def _chain(frame: FramePlanner, group: Group) -> Chain:
    """Return the chain of a group."""
    used = dict.fromkeys(v for node in group.nodes for v in node.op.operands if v not in group.made)
    constants = {v: constant for v in used if (constant := frame.constant(v)) is not None and is_splat(constant)}
    inputs = {v: frame.slot(v) for v in used if v not in constants}
    made, dead = {v: frame.slot(v) for node in group.nodes for v in node.op.results}, _dead(frame, group.nodes)
    kept = {v: slot for v, slot in made.items() if slot not in dead}
    row_values = {v for v in (*used, *made) if shape_of(v) != group.shape}
    canonical = {node.op for node in group.nodes if node.is_canonical}
    dead -= set(made.values())
    return Chain(group.shape, group.rows, group.nodes, inputs, kept, row_values, constants, canonical, dead)


def _map(node: Node) -> Chain | None:
    """Return the chain of a map of several ops on many elements that all have instructions, and capture nothing."""
    op, region, frame, (result,) = node.op, node.op.regions[0], node.planner, node.op.results
    if len(region.blocks) != 1 or recognised_op(region) is not None or captured(region) or not _is_static(result.type):
        return None
    *ops, last = region.block.operations
    values = [*region.block.arguments, *(result for x in ops for result in x.results)]
    is_known = all(len(x.results) == 1 for x in ops) and len(ops) <= MAX_OPS
    if not is_known or any(not _is_static(v.type) or shape_of(v) for v in values):
        return None
    constants = {x.results[0]: constant for x in ops if (constant := constant_array(x.results[0])) is not None}
    nodes = [Node(frame, x, ()) for x in ops if x.results[0] not in constants]
    returned, dead = last.operands[0], _dead(frame, [node])
    if returned not in [x.op.results[0] for x in nodes] or not all(has_code(x.op) for x in nodes):
        return None
    if prod(shape_of(result)) <= LANES or frame.slot(result) in dead:
        return None
    canonical = {x.op for x in nodes if x.is_canonical or (node.is_canonical and returned in x.op.results)}
    used = {v for x in nodes for v in x.op.operands}
    inputs = {a: frame.slot(v) for a, v in zip(region.block.arguments, op.operands) if a in used}
    kept = {returned: frame.slot(result)}
    return Chain(shape_of(result), None, nodes, inputs, kept, set(), constants, canonical, dead, is_map=True)
