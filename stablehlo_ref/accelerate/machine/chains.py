"""Chains in machine code, on whole tensors in a few calls: how they are compiled, and where their results are stored.

A chain is a loop over rows, whose ops are written as those of a `while` on tensors in memory (ops.py), so that a row
stays in the cache while several nests and reductions visit it. Strides are part of the code. Without reductions, a row
is what all tensors have contiguous, and a long one is computed piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import prod
from time import perf_counter
from typing import NamedTuple

import numpy as np

from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.elements import elementwise
from stablehlo_ref.accelerate.ir import Node, NotCompiled, dtype_of, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.compiler import Compiled, address, reason_of, run_code
from stablehlo_ref.accelerate.machine.nests import VECTOR, Count, Held, Pending, Splat
from stablehlo_ref.accelerate.machine.ops import Ops
from stablehlo_ref.accelerate.machine.reductions import is_sum, reduced_row, reduction_of
from stablehlo_ref.accelerate.machine.tensors import HEAD, Memory, offset
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.plan import kernel_kind
from stablehlo_ref.execute.run import CONTEXT, BlockPlan
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.limits.budget import check_time, reserve
from stablehlo_ref.numerics.workers import share
from stablehlo_ref.ops.data_movement import BroadcastInDim, Reshape
from stablehlo_ref.ops.reduction import Reduce

VIEWS = (BroadcastInDim, Reshape)
MAX_SCRATCH = 1 << 20  # bytes of scratch rows
PIECE = 1 << 22  # elements of a call, divided by the weight of the ops: some 0.2 ms
MAX_PIECE = 1 << 18
MAX_FORMS = 8  # of operands, by strides, for which there is code; for others the ops run one by one

Report = Callable[[str, str], None]  # is told what has become of a chain, with the code


@dataclass(frozen=True)
class Chain:
    """Ops on tensors of a shape, of which the first `rows` axes are those of rows, or None.

    `inputs` and `kept`, the results that are stored, have slots; those in `dead` are empty after the chain. Values in
    `row_values` have one element for each row, or one for all; the elements of a constant are all the same.
    """

    shape: tuple[int, ...]
    rows: int | None
    nodes: Sequence[Node]
    inputs: Mapping[Value, int]
    kept: Mapping[Value, int]
    row_values: Set[Value]
    constants: Mapping[Value, Array]
    canonical: Set[Operation]
    dead: Set[int]
    is_map: bool = False

    @property
    def tensors(self) -> list[Value]:
        """The operands and results in the order of the frame."""
        return [*self.inputs, *self.kept]

    def shape_of(self, value: Value) -> tuple[int, ...]:
        """Return the shape of an operand or a result."""
        return shape_of(value) if value in self.row_values else self.shape

    @property
    def key(self) -> object:
        """What chains of one program that have the same code have in common."""
        results = [v for node in self.nodes for v in node.op.results]
        numbers = {v: number for number, v in enumerate((*self.inputs, *self.constants, *results))}
        kinds = [kernel_kind(node.op, node.op in self.canonical, True) for node in self.nodes]
        operands = tuple([tuple([numbers[v] for v in node.op.operands]) for node in self.nodes])
        kept, rows = (frozenset(numbers[v] for v in values if v in numbers) for values in (self.kept, self.row_values))
        constants = tuple([x.reshape(-1)[:1].tobytes() for x in self.constants.values()])
        key = (self.shape, self.rows, tuple(kinds), operands, len(self.inputs), constants, kept, rows)
        return object() if None in kinds else key

    @property
    def weight(self) -> int:
        """The weight of the ops, for LLVM."""
        return sum(policy.weight(node.op) for node in self.nodes)


class Form(NamedTuple):
    """Tensors as matrices of `rows` rows: of how many elements, and the strides of each tensor in elements.

    `most` is the number of elements of a call; longer rows are computed piece by piece.
    """

    rows: int
    length: int
    strides: Sequence[tuple[int, int]]
    is_flat: bool  # a call computes elements of one row, rather than rows


@dataclass
class Shared:
    """What chains of the same code share: the seconds that plans have taken, and codes by the form of operands."""

    seconds: float = 0.0
    codes: dict[object, ChainCode | None] = field(default_factory=dict)


class MachineChain:
    """The step of a chain: it times the plan of its ops, and compiles the chain once that has taken long."""

    def __init__(self, chain: Chain, plan: BlockPlan, shared: Shared, report: Report) -> None:
        self._chain, self._plan, self._shared, self._report = chain, plan, shared, report
        self._expected = chain.weight * policy.WEIGHT_SECONDS
        most = min(MAX_PIECE, PIECE // chain.weight)
        self._most = max(VECTOR, most // VECTOR * VECTOR)

    def __call__(self, slots: Slots) -> None:
        """Run the chain: by machine code, or by the plan of its ops as long as that has not taken long."""
        check_time()
        code = None
        if slots[CONTEXT].jit and policy.is_hot(self._shared.seconds, self._expected):
            code = self._code(slots)
        if code is not None:
            return self._run(code, slots)
        start = perf_counter()
        self._plan.run(slots)
        self._shared.seconds += perf_counter() - start
        return None

    def _code(self, slots: Slots) -> ChainCode | None:
        """Return the code for operands like those in slots; None, of which `report` is told, if there is none."""
        arrays = [np.asarray(slots[slot]) for slot in self._chain.inputs.values()]
        form, codes = tuple([(x.shape, x.strides, x.flags.aligned) for x in arrays]), self._shared.codes
        if form not in codes and len(codes) < MAX_FORMS:
            check_time()
            codes[form] = None
            try:
                code = codes[form] = ChainCode(self._chain, _form_of(self._chain, arrays, self._most), self._most)
                self._report("as machine code", code.compiled.text)
            except Exception as error:
                self._report(f"one by one: {reason_of(error)}", "")
        return codes.get(form)

    def _run(self, code: ChainCode, slots: Slots) -> None:
        kept = [(self._chain.shape_of(v), dtype_of(v)) for v in self._chain.kept]
        reserve(sum(prod(shape) * dtype.itemsize for shape, dtype in kept))
        results = [np.empty(shape, dtype) for shape, dtype in kept]
        arrays = [np.asarray(slots[slot]) for slot in self._chain.inputs.values()]
        arrays += results
        share(lambda pieces: code.run(arrays, pieces), list(_pieces(code.form, self._most)))
        for slot in self._chain.dead:
            slots[slot] = None
        for slot, array in zip(self._chain.kept.values(), results):
            slots[slot] = array


class ChainCode:
    """The code of a chain on tensors of a form, which a call computes some rows or elements of.

    Raises
    ------
    NotCompiled
        If there is none.
    """

    def __init__(self, chain: Chain, form: Form, most: int) -> None:
        self._chain, self.form = chain, form
        self._code = code = Assembly()
        self._ops, index = Ops(code), Kind(INDEX)
        self._length = min(form.length, most) if form.is_flat else form.length
        self._memory = {v: self._ops.arrays.enter(dtype_of(v), (self._length,)) for v in chain.tensors}
        if form.is_flat:
            self._ops.groups.count = Count(Register("%turns", index), form.length % VECTOR > 0)
            self._row(literal(index, 0))
        else:
            code.count(0, Register("%turns", index), 1, self._row)
        code.do("ret i64 0")
        self._scratch = [(x.shape, x.dtype) for x in self._ops.arrays.fields[len(chain.tensors) :]]
        if sum(prod(shape) * dtype.itemsize for shape, dtype in self._scratch) > MAX_SCRATCH:
            raise NotCompiled("long rows")
        self.compiled = Compiled(code.text)

    def run(self, arrays: Sequence[Array], pieces: Iterable[tuple[int, int, int]]) -> None:
        """Compute pieces: the number of their first row and element, and how many rows or elements they have."""
        scratch = [np.empty(shape, dtype) for shape, dtype in self._scratch]
        base = np.array([*[0] * HEAD, *(address(x) for x in (*arrays, *scratch))], np.int64)
        steps = np.array([[n * x.itemsize for n in strides] for x, strides in zip(arrays, self.form.strides)], np.int64)
        for row, start, count in pieces:
            frame = base.copy()
            frame[HEAD : HEAD + len(arrays)] += steps @ (row, start)
            run_code(self.compiled, address(frame), count)

    # --- a row --------------------------------------------------------------------------------------------------

    def _row(self, index: Register) -> None:
        self._values: dict[Value, Held] = {v: self._constant(v, x) for v, x in self._chain.constants.items()}
        self._targets: dict[Value, Memory] = {}
        for value, (outer, inner) in zip(self._chain.tensors, self.form.strides):
            memory = self._memory[value]
            start = offset(self._code, [index], [outer])
            row = self._ops.arrays.view(memory, start, (self._length,), (inner,))
            if value in self._chain.kept:
                self._targets[value] = row
            else:
                self._values[value] = (
                    row if inner else self._spread(value, self._code.load(row.pointer, Kind(row.dtype)))
                )
        for node in self._chain.nodes:
            (result,) = node.op.results
            self._values[result] = self._computed(node, result)
            if result in self._targets:
                self._keep(self._values[result], self._targets[result])
        self._ops.groups.flush()

    def _constant(self, value: Value, constant: Array) -> Held:
        return self._spread(value, literal(Kind(constant.dtype), constant.reshape(-1)[0]))

    def _spread(self, value: Value, element: Register) -> Held:
        """Return an element for a row: of all of it, unless the value has one for each row."""
        return element if value in self._chain.row_values else Splat(element, (self._length,))

    def _computed(self, node: Node, result: Value) -> Held:
        operands, is_canonical = [self._values[v] for v in node.op.operands], node.op in self._chain.canonical
        if node.op_class is Reduce:
            return self._reduced(node, *operands)
        if node.op_class in VIEWS:
            (x,) = operands
            return self._spread(result, x) if isinstance(x, Register) else x
        registers = [x for x in operands if isinstance(x, Register)]
        if result in self._chain.row_values:
            return elementwise(self._code, node.op, registers, is_canonical)
        return self._ops.elementwise(node.op, operands, is_canonical, (self._length,), dtype_of(result))

    def _reduced(self, node: Node, x: Held, init: Held) -> Register:
        body, dtype = reduction_of(node.op), dtype_of(node.op.results[0])
        if body is None or not isinstance(init, Register):
            raise NotCompiled(node.op.name)
        if is_sum(body, dtype) and node.planner.planner.mode.exact_sums:
            raise NotCompiled("exact sums")
        row = self._ops.memory(x, (self._length,))
        self._ops.groups.flush()
        result = reduced_row(self._ops.arrays, 0, body, row, init)
        return self._code.canonical(result) if node.op in self._chain.canonical and dtype.kind == "f" else result

    def _keep(self, x: Held, target: Memory) -> None:
        """Store a result of the chain."""
        if isinstance(x, Register):
            self._code.store(x, target.pointer, target.dtype)
        elif isinstance(x, Pending) and x.term.memory is None:
            x.term.memory = target
            self._ops.groups.store(x.term, target)
        else:
            self._ops.assign(x, target)


def _form_of(chain: Chain, arrays: Sequence[Array], most: int) -> Form:
    """Return the form of operands, and of new results; NotCompiled if they have none."""
    if any(not x.flags.aligned or x.dtype != dtype_of(v) for v, x in zip(chain.inputs, arrays)):
        raise NotCompiled("elements of another form")
    itemsize = max(dtype_of(v).itemsize for v in (*chain.inputs, *(node.op.results[0] for node in chain.nodes)))
    for axis in range(len(chain.shape)) if chain.rows is None else [chain.rows]:
        rows, length = prod(chain.shape[:axis]), prod(chain.shape[axis:])
        if rows > 1 and length < VECTOR // itemsize:
            raise NotCompiled("short rows")
        inputs = [_strides(x, rows, 1 if v in chain.row_values else length) for v, x in zip(chain.inputs, arrays)]
        strides = [x for x in inputs if x is not None]
        if len(strides) == len(inputs):
            strides += [(1, 0) if v in chain.row_values else (length, 1) for v in chain.kept]
            return Form(rows, length, strides, chain.rows is None and (rows == 1 or length > most))
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
    """Yield the first row and element of each call, and the number of its rows or elements."""
    if form.is_flat:
        for row in range(form.rows):
            for start in range(0, form.length, most):
                yield row, start, min(most, form.length - start)
        return
    step = max(1, most // form.length)
    for row in range(0, form.rows, step):
        yield row, 0, min(step, form.rows - row)
