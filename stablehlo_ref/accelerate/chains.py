"""Chains: consecutive elementwise ops and row reductions on large tensors, which become one pass in machine code.

A chain has elementwise ops, reductions of the last dimensions, and what lies between a reduction and the ops that use
it: ops on one value per row, and broadcasts of it. Ops between these that need no result of it run before. A map of
several ops is a chain by itself, and so is an op that numpy takes long for: a function, a sum of floats, or one on
narrow floats. A chain on small tensors has all consecutive ops of a function that have machine code.

The ops of a chain are a block of their own in the plan. It runs them one after the other until machine code has taken
over, and whenever operands have a form that this is not for. The code is a loop over rows, whose ops are those of a
`while` on tensors in memory (machine/ops.py), so that a row stays in the cache while several nests and reductions visit
it. Strides are part of the code. Without reductions, a row is a strip of what all tensors have contiguous. On small
tensors, whose shapes differ, there is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.elements import has_code, is_narrow
from stablehlo_ref.accelerate.ir import Node, NotCompiled, dtype_of, is_plain, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.compiler import address, compiled, is_available, reason_of, run_code, words_of
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS
from stablehlo_ref.accelerate.machine.ops import RULES, Ops, is_sum, reduction_of
from stablehlo_ref.accelerate.machine.tensors import VECTOR, Held, Memory, Pending, is_splat, offset, row_major
from stablehlo_ref.define.bound import constant_array
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import CONTEXT, BlockPlan
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value, captured
from stablehlo_ref.ir.types import QuantizedType, TensorType, Type
from stablehlo_ref.limits.budget import check_time, reserve
from stablehlo_ref.numerics.workers import share
from stablehlo_ref.ops.data_movement import BroadcastInDim, Reshape
from stablehlo_ref.ops.dot_general import DotGeneral
from stablehlo_ref.ops.elementwise import LANES, Map, on_element
from stablehlo_ref.ops.reduction import Reduce

if TYPE_CHECKING:
    from stablehlo_ref.accelerate import PlanAccelerator
    from stablehlo_ref.execute.plan import FramePlanner

VIEWS = (BroadcastInDim, Reshape)
NEAR = 32  # ops that may lie between one of a chain and the next
SIZE = 1 << 18  # elements of a tensor from which on ops on it are fused: smaller ones stay in the cache as they are
WORK = 5 << 18  # elements that the ops of a chain visit in all, at least: with fewer, machine code saves nothing
ROW = 1 << 16  # elements of a row that is reduced at most, so that a few rows fit into the cache
FUNCTION_SIZE = 1 << 15  # elements of a tensor from which on a function of f32 is fused
FUNCTION_WEIGHT = 50  # of an elementary function; other ops count 1
NARROW_PASSES = 6  # of an op on narrow floats, which numpy computes in f32
SUM_PASSES = 3  # of a sum of floats, which numpy computes level by level
SMALL, MANY = 1 << 10, 32  # elements of small tensors, and consecutive ops on them, from which on they are a chain
MAX_SMALL_WEIGHT = 2500  # of these ops
MAX_OPS = 200  # of the computation of a map
MAX_WEIGHT = 500  # of the ops of a chain, above which LLVM takes too long
MAX_SCRATCH = 1 << 20  # bytes of scratch rows
PIECE = 1 << 22  # elements of a call, divided by the weight of the ops: some 0.2 ms
MAX_PIECE = 1 << 18
STRIP = 1 << 10  # elements of a strip
MAX_FORMS = 8  # of operands, by strides, for which there is code; for others the ops run one by one


@dataclass(eq=False)
class Chain:
    """Ops that become one step: on small tensors, on tensors of a shape, or, if it is `of_map`, on their elements.

    `rows` is the number of leading dimensions that a reduction keeps, those of rows; None without a reduction. Small
    tensors have different shapes: for them `rows` is 0, as all are one row, and `shape` is empty. `inputs` and `kept`,
    the results that are stored, have slots; those in `dead` are empty after the chain. The elements of a constant are
    all the same.
    """

    shape: tuple[int, ...]
    of_map: bool = False
    rows: int | None = None
    weight: int = 0  # of its ops, for LLVM
    passes: int = 0  # ops that visit all elements, rather than one for each row
    nodes: list[Node] = field(default_factory=list)
    made: set[Value] = field(default_factory=set)  # results
    touched: set[Value] = field(default_factory=set)  # operands and results

    # --- which ops are in it ------------------------------------------------------------------------------------

    def append(self, node: Node) -> None:
        """Add an op of one result."""
        op = node.op
        self.nodes.append(node)
        self.weight += _weight(op)
        if node.op_class is Reduce or (node.op_class not in VIEWS and shape_of(op.results[0]) == self.shape):
            self.passes += _passes(op)
        self.made.add(op.results[0])
        self.touched.update(op.operands, op.results)

    def may_follow(self, node: Node) -> bool:
        """Return whether the chain may run after an op that follows it."""
        is_apart = self.made.isdisjoint(node.op.operands) and self.touched.isdisjoint(node.dying)
        known = node.frame.known_kernel(node.op, node.frame.planner.kind(node.op))
        return is_apart and not node.op.regions and known is not None and not known.traits.effects

    def _is_row(self, shape: Sequence[int]) -> bool:
        """Return whether a tensor of this shape has one element for each row."""
        rows = self.rows
        return rows is not None and tuple(shape[:rows]) == self.shape[:rows] and all(n == 1 for n in shape[rows:])

    def may_add(self, node: Node) -> bool:
        """Return whether an op can be part of the chain; a reduction sets the number of dimensions of rows."""
        op, types = node.op, (*node.op.operand_types, *node.op.result_types)
        if self.rows == 0:
            return self.weight < MAX_SMALL_WEIGHT and _is_small(node)
        if self.weight >= MAX_WEIGHT or len(op.results) != 1 or not all(map(_is_static, types)):
            return False
        if self.nodes and self.touched.isdisjoint(op.operands):
            return False
        if node.op_class is Reduce:
            return self._reduces_rows(op)
        shape = shape_of(op.results[0])
        if node.op_class in VIEWS:
            return op.operands[0] in self.made and self._spreads(op, shape)
        fits = shape == self.shape or (self._is_row(shape) and not self.made.isdisjoint(op.operands))
        return fits and all(shape_of(t) in ((), shape) for t in op.operand_types) and has_code(op)

    def _reduces_rows(self, op: Operation) -> bool:
        """Return whether an op reduces the last dimensions of a tensor of the chain's shape; fix these if it does."""
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

    def _spreads(self, op: Operation, shape: tuple[int, ...]) -> bool:
        """Return whether a view turns one value per row into the same for ops on rows, or on the whole."""
        if self.rows is None or not self._is_row(shape_of(op.operands[0])):
            return False
        if "broadcast_dimensions" not in op.properties:
            return self._is_row(shape)
        leads = tuple(op.properties["broadcast_dimensions"])[: self.rows] == tuple(range(self.rows))
        return leads and (shape == self.shape or self._is_row(shape))

    # --- what it needs ------------------------------------------------------------------------------------------

    def complete(self, slots: Mapping[Value, int], constant: Callable[[Value], Array | None], dead: Set[int]) -> Chain:
        """Fix what comes in and out, by the slots of values and those that are empty after the last op."""
        used = dict.fromkeys(v for node in self.nodes for v in node.op.operands if v not in self.made)
        made = {v: slots[v] for node in self.nodes for v in node.op.results if v in slots}
        self.constants = {v: known for v in used if (known := constant(v)) is not None and is_splat(known)}
        self.inputs = {v: slots[v] for v in used if v not in self.constants}
        self.kept = {v: slot for v, slot in made.items() if slot not in dead}
        self.dead = dead - set(made.values())
        return self

    def is_apart(self, value: Value) -> bool:
        """Return whether a value has one element for each row, or one for all."""
        return not self.of_map and shape_of(value) != self.shape

    def row_of(self, value: Value, length: int) -> tuple[int, ...]:
        """Return the shape of one row of a value: of `length` elements, or of one if the value has one for each row."""
        if self.rows == 0:
            return shape_of(value)
        if self.is_apart(value):
            return (1,) * len(shape_of(value))
        return (length,) if self.rows is None else (1,) * self.rows + self.shape[self.rows :]


def with_chains(
    frame: FramePlanner, plan: BlockPlan, block: Block, dying: Mapping[Operation, Sequence[Value]]
) -> BlockPlan:
    """Replace runs of ops of a planned block by chains, and return the plan.

    `dying` are the values that each op is the last to use. A block with chains does not become generated source: only
    where no loop has it, small tensors are in chains.
    """
    if not is_available() or frame.planner.step_by_step or frame.lanes is not None or plan.communicates:
        return plan
    nodes = [Node(frame, op, dying.get(op, ())) for op in plan.ops]
    found, start, may_be_small = list[tuple[Chain, list[int], list[int]]](), 0, plan is frame.frame.block
    while start < len(nodes):
        members, moved = [start], list[int]()
        if chain := _of_map(nodes[start]) or _of_ops(nodes, members, moved, may_be_small):
            found.append((chain, members, moved))
        start = members[-1] + 1
    for chain, members, moved in reversed(found):
        _replace(frame, plan, chain, members, moved)
    if found:
        del frame.blocks[block]
    return plan


def _of_ops(nodes: Sequence[Node], members: list[int], moved: list[int], may_be_small: bool) -> Chain | None:
    """Return a chain that begins with an op: `members` become the numbers of its ops, `moved` those between them."""
    first, frame = nodes[members[0]], nodes[members[0]].frame
    value, between = (first.op.operands if first.op_class is Reduce else first.op.results)[:1], list[int]()
    if not value or not _is_static(value[0].type) or first.op_class in (Map, *VIEWS):
        return None
    is_small = prod(shape_of(value[0])) < min(SIZE, FUNCTION_SIZE if _weight(first.op) > 1 else SIZE)
    chain = Chain((), rows=0) if is_small else Chain(shape_of(value[0]))
    if (is_small and not may_be_small) or not chain.may_add(first):
        return None
    chain.append(first)
    for number in range(members[0] + 1, len(nodes)):
        if chain.may_add(nodes[number]):
            chain.append(nodes[number])
            members.append(number)
            moved += between
            between = []
        elif len(between) < NEAR and chain.may_follow(nodes[number]):
            between.append(number)
        else:
            break
    if len(members) < MANY if is_small else chain.passes < 2 or chain.passes * prod(chain.shape) < WORK:
        return None
    return chain.complete({v: frame.slot(v) for v in chain.touched}, frame.constant, _dead(chain.nodes))


def _of_map(node: Node) -> Chain | None:
    """Return the chain of a map of several ops on many elements that all have instructions, and capture nothing."""
    op, frame = node.op, node.frame
    if node.op_class is not Map or len(op.regions[0].blocks) != 1 or captured(op.regions[0]):
        return None
    (result,), block, chain = op.results, op.regions[0].block, Chain(shape_of(op.results[0]), of_map=True)
    *ops, last = block.operations
    values = [*block.arguments, *(x for inner in ops for x in inner.results)]
    if recognised_op(op.regions[0]) is not None or not _is_static(result.type) or len(ops) > MAX_OPS:
        return None
    if any(len(x.results) != 1 for x in ops) or any(not _is_static(v.type) or shape_of(v) for v in values):
        return None
    returned, dead = last.operands[0], _dead([node])
    for inner in ops:
        if constant_array(inner.results[0]) is None:
            chain.append(Node(frame, inner, ()))
            chain.nodes[-1].is_canonical |= node.is_canonical and inner.results[0] is returned
    slots = {**dict(zip(block.arguments, frame.slots_of(op.operands))), returned: frame.slot(result)}
    if returned not in chain.made or prod(chain.shape) <= LANES or slots[returned] in dead:
        return None
    return chain.complete(slots, constant_array, dead) if all(has_code(x.op) for x in chain.nodes) else None


def _is_small(node: Node) -> bool:
    """Return whether an op has machine code on small tensors."""
    op, planner, types = node.op, node.frame.planner, (*node.op.operand_types, *node.op.result_types)
    if len(op.results) != 1 or not all(is_plain(t) and 0 < prod(shape_of(t)) <= SMALL for t in types):
        return False
    known, kind = cast("PlanAccelerator", planner.accelerator).have_code, planner.kind(op)
    if kind not in known or kind is None:
        known[kind] = _has_rule(node) if node.op_class in RULES else has_code(op)
    return known[kind]


def _has_rule(node: Node) -> bool:
    """Return whether the rule for an op's class takes it: sums and products are not rounded to narrow types."""
    if node.op_class is Reduce and reduction_of(node.op) is None:
        return False
    return node.op_class not in (DotGeneral, Reduce) or not is_narrow(node.op.operands[0].type)


def _passes(op: Operation) -> int:
    """Return how many simple ops take numpy about as long as `op`."""
    if is_narrow(op.operands[0].type):
        return NARROW_PASSES
    body = reduction_of(op) if op.regions else None
    return SUM_PASSES if body and is_sum(body, dtype_of(op.results[0])) else _weight(op)


def _weight(op: Operation) -> int:
    """Return how many simple ops take LLVM as long as `op`."""
    return FUNCTION_WEIGHT if op.operands and on_element(op) in FUNCTIONS else 1


def _is_static(type: Type) -> bool:
    return isinstance(type, TensorType) and type.is_static and not isinstance(type.element_type, QuantizedType)


def _dead(nodes: Sequence[Node]) -> frozenset[int]:
    """Return the slots that are empty after some ops."""
    frame = nodes[0].frame
    return frozenset(frame.slots_of(v for node in nodes for v in node.dying)) - frame.constants.keys()


def _replace(frame: FramePlanner, plan: BlockPlan, chain: Chain, members: Sequence[int], moved: Sequence[int]) -> None:
    """Let one step of a plan run some of its ops, after others between them."""
    block, rest = BlockPlan(), BlockPlan()
    for part, numbers in ((block, members), (rest, moved)):
        part.steps, part.ops = [plan.steps[n] for n in numbers], [plan.ops[n] for n in numbers]
        part.ins, part.outs = [plan.ins[n] for n in numbers], [plan.outs[n] for n in numbers]
    first, run = block.ops[0], slice(members[0], members[-1] + 1)
    step = MachineChain(frame, chain, block)
    plan.steps[run], plan.ops[run] = [*rest.steps, step], [*rest.ops, first]
    plan.ins[run], plan.outs[run] = [*rest.ins, (*chain.inputs.values(),)], [*rest.outs, (*chain.kept.values(),)]


# --- code -------------------------------------------------------------------------------------------------------------


class Form(NamedTuple):
    """Tensors as `rows` rows of `length` elements, and the strides of each tensor, in elements.

    The code has a loop over rows or, where `strips` is set, over parts of one row that have so many elements.
    """

    rows: int
    length: int
    strides: Sequence[tuple[int, int]]
    strips: int | None


class MachineChain:
    """The step of a chain: it times the plan of its ops, and compiles the chain once that has taken long."""

    def __init__(self, frame: FramePlanner, chain: Chain, plan: BlockPlan) -> None:
        self._frame, self._chain, self._plan = frame, chain, plan
        self._seconds = cast("PlanAccelerator", frame.planner.accelerator).seconds
        # Chains with the same key take about as long, as they do where models repeat layers.
        self._key = f"{chain.shape} {' '.join(node.op.name for node in chain.nodes)}"
        self._expected = chain.weight * policy.WEIGHT_SECONDS
        self._most = min(MAX_PIECE, PIECE // chain.weight)
        self._codes: dict[object, ChainCode | None] = {}  # by the form of operands

    def __call__(self, slots: Slots) -> None:
        """Run the chain: by machine code, or by the plan of its ops as long as that has not taken long."""
        check_time()
        if slots[CONTEXT].jit and policy.is_hot(self._seconds[self._key], self._expected):
            arrays = [np.asarray(slots[slot]) for slot in self._chain.inputs.values()]
            if code := self._code(arrays):
                return self._run(code, slots, arrays)
        start = perf_counter()
        self._plan.run(slots)
        self._seconds[self._key] += perf_counter() - start
        return None

    def _code(self, arrays: Sequence[Array]) -> ChainCode | None:
        """Return the code for operands like these; None, which is reported, if there is none."""
        form, codes = tuple([(x.shape, x.strides, x.flags.aligned) for x in arrays]), self._codes
        if form not in codes and len(codes) < MAX_FORMS:
            codes[form] = None
            try:
                code = codes[form] = ChainCode(self._chain, _form_of(self._chain, arrays, self._most))
                self._report("as machine code", code.compiled.text)
            except Exception as error:
                self._report(f"one by one: {reason_of(error)}", "")
        return codes.get(form)

    def _report(self, what: str, text: str) -> None:
        first = self._plan.ops[0]
        title = f"{first.name if self._chain.of_map else 'a chain'} at {first.location}, {what}"
        self._frame.planner.generated.append((title, text))

    def _run(self, code: ChainCode, slots: Slots, arrays: list[Array]) -> None:
        chain = self._chain
        kept = [(chain.shape if chain.of_map else shape_of(v), dtype_of(v)) for v in chain.kept]
        reserve(sum(prod(shape) * dtype.itemsize for shape, dtype in kept))
        results = [np.empty(shape, dtype) for shape, dtype in kept]
        arrays += results
        share(lambda pieces: code.run(arrays, pieces), list(_pieces(code.form, self._most)))
        for slot in self._chain.dead:
            slots[slot] = None
        for slot, array in zip(self._chain.kept.values(), results):
            slots[slot] = array if array.ndim else array[()]


class ChainCode:
    """The code of a chain on tensors of a form, which a call computes some rows or strips of. NotCompiled without."""

    def __init__(self, chain: Chain, form: Form) -> None:
        self._chain, self.form = chain, form
        length = form.strips or form.length
        self._code = code = Assembly()
        self._ops = ops = Ops(code, lambda value: chain.row_of(value, length))
        self._memory = {v: ops.arrays.enter(dtype_of(v), (length,)) for v in (*chain.inputs, *chain.kept)}
        if form.rows == 1 and not form.strips:
            self._row(literal(Kind(INDEX), 0))
        else:
            code.count(0, Register("%turns", Kind(INDEX)), 1, self._row)
        code.do("ret i64 0")
        self._scratch = [(x.shape, x.dtype) for x in ops.arrays.fields[len(self._memory) :]]
        if sum(prod(shape) * dtype.itemsize for shape, dtype in self._scratch) > MAX_SCRATCH:
            raise NotCompiled("long rows")
        self.compiled = compiled(code.text)

    def run(self, arrays: Sequence[Array], pieces: Iterable[tuple[int, int, int]]) -> None:
        """Compute pieces: the number of their first row and element, and how many rows or strips they have."""
        scratch = [np.empty(shape, dtype) for shape, dtype in self._scratch]
        base = words_of([*arrays, *scratch])
        steps = np.array([[n * x.itemsize for n in strides] for x, strides in zip(arrays, self.form.strides)], np.int64)
        for row, start, count in pieces:
            words = base.copy()
            words[1 : 1 + len(arrays)] += steps @ (row, start)
            run_code(self.compiled, address(words), count)

    def _row(self, index: Register) -> None:
        """Write the ops of a row."""
        ops, code, targets = self._ops, self._code, dict[Value, Memory]()
        values: dict[Value, Held] = {v: ops.constant(x) for v, x in self._chain.constants.items()}
        for (value, memory), (outer, inner) in zip(self._memory.items(), self.form.strides):
            shape, step = ops.shape(value), inner * self.form.strips if self.form.strips else outer
            row = ops.arrays.view(memory, offset(code, [index], [step]), shape, row_major(shape))
            if value in self._chain.kept:
                targets[value] = row
            else:
                values[value] = row if inner else code.load(row.pointer, Kind(row.dtype))
        for node in self._chain.nodes:
            (result,) = node.op.results
            x = values[result] = ops.compute(node, [values[v] for v in node.op.operands])
            if result in targets and isinstance(x, Pending) and x.term.memory is None:
                x.term.memory = targets[result]
                ops.nests.store(x.term, targets[result])
            elif result in targets:
                ops.assign(x, targets[result])
        ops.nests.flush()


def _form_of(chain: Chain, arrays: Sequence[Array], most: int) -> Form:
    """Return the form of operands, and of new results; NotCompiled if they have none."""
    if any(not x.flags.aligned or x.dtype != dtype_of(v) for v, x in zip(chain.inputs, arrays)):
        raise NotCompiled("elements of another form")
    itemsize = max(dtype_of(v).itemsize for v in (*chain.inputs, *(node.op.results[0] for node in chain.nodes)))
    for axis in range(len(chain.shape)) if chain.rows is None else [chain.rows]:
        rows, length = prod(chain.shape[:axis]), prod(chain.shape[axis:])
        if rows > 1 and length < VECTOR // itemsize:
            raise NotCompiled("short rows")
        inputs = [_strides(x, rows, prod(chain.row_of(v, length))) for v, x in zip(chain.inputs, arrays)]
        strides = [x for x in inputs if x is not None]
        if len(strides) == len(inputs):
            sizes = [prod(chain.row_of(v, length)) for v in chain.kept]  # of rows; the only one starts at 0
            strides += [(n if rows > 1 else 0, int(n > 1)) for n in sizes]
            has_strips = chain.rows is None and (rows == 1 or length > most)
            return Form(rows, length, strides, min(length, STRIP) if has_strips else None)
    raise NotCompiled("elements that are apart")


def _strides(x: Array, rows: int, length: int) -> tuple[int, int] | None:
    """Return the strides, in elements, of an array as a matrix whose rows are contiguous or one element; else None."""
    if x.size == 1:
        return 0, 0
    try:
        matrix = np.reshape(x, (rows, length), copy=False)
    except ValueError:
        return None
    outer, inner = (stride if n > 1 else 0 for n, stride in zip(matrix.shape, matrix.strides))
    return (outer // x.itemsize, inner // x.itemsize) if inner in (0, x.itemsize) and not outer % x.itemsize else None


def _pieces(form: Form, most: int) -> Iterator[tuple[int, int, int]]:
    """Yield the first row and element of each call, and the number of its rows or strips. The last strips overlap."""
    if form.strips is None:
        step = max(1, most // form.length)
        for row in range(0, form.rows, step):
            yield row, 0, min(step, form.rows - row)
        return
    count, step = form.length // form.strips, max(1, most // form.strips)
    for row in range(form.rows):
        for first in range(0, count, step):
            yield row, first * form.strips, min(step, count - first)
        if form.length % form.strips:
            yield row, form.length - form.strips, 1
