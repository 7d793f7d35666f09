"""Chains in machine code, on whole tensors in a few calls: how they are compiled, and where their results are stored.

A chain is a loop over rows, whose ops are written as those of a `while` on tensors in memory (large.py), so that a row
stays in the cache while several loops and reductions visit it. Shapes and strides are part of the code. Without
reductions, a row is what all tensors have contiguous.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stablehlo_ref.accelerate.elements import elementwise
from stablehlo_ref.accelerate.ir import NotCompiled, dtype_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind, Register, literal
from stablehlo_ref.accelerate.machine.compiler import Compiled, address, is_available, reason_of, run_code
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS
from stablehlo_ref.accelerate.machine.nests import VECTOR, Count, Held, Pending, Splat
from stablehlo_ref.accelerate.machine.ops import Ops
from stablehlo_ref.accelerate.machine.reductions import SUM, reduced_row
from stablehlo_ref.accelerate.machine.tensors import HEAD, Memory, offset
from stablehlo_ref.accelerate.policy import TimedCode, weight
from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import Kernel, Slots
from stablehlo_ref.execute.ownership import is_exclusive_view, is_exclusively_owned
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import CONTEXT, BlockPlan, current
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits.budget import check_time, reserve
from stablehlo_ref.numerics.dtypes import FLOAT32
from stablehlo_ref.numerics.workers import share
from stablehlo_ref.ops.elementwise import on_element

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import Planner

VIEWS = ("stablehlo.broadcast_in_dim", "stablehlo.reshape")
REDUCE = "stablehlo.reduce"
MAX_SCRATCH = 1 << 20  # bytes of scratch rows
PIECE = 1 << 22  # elements of a call, divided by the weight of the ops: some 0.2 ms
MAX_PIECE = 1 << 18
FEW = 64  # elements: below this, a call of a function in machine code saves nothing
BLOCK = 1 << 17  # elements of a function, some 0.2 ms, between checks of the time
MAX_FORMS = 8  # of operands, by strides, for which there is code; for others the ops run one by one

Report = Callable[[str, str], None]  # is told what has become of a chain, with the code


class Tensor(NamedTuple):
    """A tensor of a chain: its slot and shape, and whether it has one element for each row."""

    slot: int
    shape: tuple[int, ...]
    dtype: DType
    is_row: bool


@dataclass(frozen=True)
class Part:
    """An op, the slots of its operands, its result, and whether NaNs of that are made canonical."""

    op: Operation
    operands: tuple[int, ...]
    result: Tensor
    is_canonical: bool


@dataclass(frozen=True)
class Chain:
    """What a chain computes: from `inputs`, the results of `parts` one by one, of which those in `kept` are stored."""

    shape: tuple[int, ...]
    rows: int | None
    inputs: Sequence[Tensor]  # those of rank 0 are rows
    parts: Sequence[Part]
    kept: frozenset[int]  # slots
    dead: frozenset[int]  # slots that are empty after the chain
    exact_sums: bool  # whether sums are exact

    @property
    def results(self) -> list[Tensor]:
        """The tensors that are stored."""
        return [part.result for part in self.parts if part.result.slot in self.kept]

    @property
    def tensors(self) -> list[Tensor]:
        """The operands and results in the order of the frame."""
        return [*self.inputs, *self.results]

    @property
    def weight(self) -> int:
        """The weight of the ops, for LLVM."""
        return sum(weight(part.op) for part in self.parts)


class MachineChain:
    """The step of a chain: it times the plan of its ops, and compiles the chain once that has taken long."""

    def __init__(self, chain: Chain, plan: BlockPlan, report: Report) -> None:
        self._chain, self._plan, self._report = chain, plan, report
        self._results, self._reused = chain.results, reused_operands(chain)
        self._timed = TimedCode[WholeChain](chain.weight, report)

    def __call__(self, slots: Slots) -> None:
        """Run the chain: by machine code, or by the plan of its ops as long as that has not taken long."""
        check_time()
        if not self._timed.may_run(slots[CONTEXT]):
            self._plan.run(slots)
        elif self._timed.code is None:
            self._timed.timed(lambda: self._plan.run(slots), lambda: WholeChain(self._chain, self._report))
        else:
            self._run_code(self._timed.code, slots)

    def _run_code(self, code: WholeChain, slots: Slots) -> None:
        bound = code.bound(slots)
        if bound is None:
            return self._plan.run(slots)
        results = self._allocated(slots)
        code.run(bound, slots, results)
        for slot in self._chain.dead:
            slots[slot] = None
        for slot, array in results.items():
            slots[slot] = array

    def _allocated(self, slots: Slots) -> dict[int, Array]:
        """Return the arrays of results by slot: those of operands that nothing else refers to, or else new ones."""
        found: dict[int, Array] = {}
        for out in self._results:
            operand = self._reused.get(out.slot)
            if operand is not None and _may_be_overwritten(slots, operand):
                found[out.slot] = slots[operand]
                continue
            reserve(prod(out.shape) * out.dtype.itemsize)
            found[out.slot] = np.empty(out.shape, out.dtype)
        return found


def _may_be_overwritten(slots: Slots, operand: int) -> bool:
    """Return whether nothing else refers to a contiguous operand, or to the array that it is a view of the whole of."""
    if is_exclusively_owned(slots, operand):
        return bool(slots[operand].flags.c_contiguous)
    is_whole = is_exclusive_view(slots, operand) and slots[operand].base.nbytes == slots[operand].nbytes
    return is_whole and bool(slots[operand].flags.c_contiguous)


def reused_operands(chain: Chain) -> Mapping[int, int]:
    """Return, for results, an operand whose array may become that of the result: no later part reads it.

    A part reads the elements at a place before it stores any there.
    """
    last = {slot: number for number, part in enumerate(chain.parts) for slot in part.operands}
    free = {t.slot: t for t in chain.inputs if t.slot in chain.dead and not t.is_row}
    found: dict[int, int] = {}
    for number, part in enumerate(chain.parts):
        result = part.result
        if result.slot not in chain.kept or result.is_row:
            continue
        for slot, tensor in free.items():
            if last[slot] <= number and tensor.dtype == result.dtype:
                found[result.slot] = free.pop(slot).slot
                break
    return found


class ChainCode:
    """The code of a chain whose operands and results have these strides, in elements, along axes of these sizes.

    It computes as many rows, or elements of the only axis, as it is called with. `has_rest` is whether these may be
    other numbers than multiples of what a vector has.

    Raises
    ------
    NotCompiled
        If there is none.
    """

    def __init__(
        self, chain: Chain, sizes: Sequence[int], strides: Sequence[tuple[int, ...]], has_rest: bool = True
    ) -> None:
        self._chain, self._sizes = chain, tuple(sizes)
        self._code = code = Assembly()
        self._ops = Ops(code)
        turns = Register("%turns", Kind(INDEX))
        if len(sizes) == 1:
            self._ops.groups.count = Count(turns, has_rest)
        self._outer = 0 if len(sizes) == 1 else 1 if chain.rows is None else len(sizes) - 1
        self._memory = {t.slot: self._entered(t, steps) for t, steps in zip(chain.tensors, strides)}
        self._rows([])
        code.do("ret i64 0")
        self.scratch = [(x.shape, x.dtype) for x in self._ops.arrays.fields[len(chain.tensors) :]]
        if sum(prod(shape) * dtype.itemsize for shape, dtype in self.scratch) > MAX_SCRATCH:
            raise NotCompiled("long rows")
        self.compiled = Compiled(code.text)

    def _entered(self, tensor: Tensor, strides: tuple[int, ...]) -> Memory:
        return replace(self._ops.arrays.enter(tensor.dtype, self._sizes), strides=strides)

    def _rows(self, indices: list[Register]) -> None:
        """Write the loops over the outer axes that are left, and the ops in them."""
        axis = len(indices)
        if axis == self._outer:
            return self._row(indices)
        stop = literal(Kind(INDEX), self._sizes[axis]) if axis else Register("%turns", Kind(INDEX))
        return self._code.count(0, stop, 1, lambda i: self._rows([*indices, i]))

    def _row(self, indices: Sequence[Register]) -> None:
        self._values: dict[int, Held] = {}
        self._targets: dict[int, Memory] = {}
        for tensor in self._chain.tensors:
            memory, outer = self._memory[tensor.slot], self._outer
            start = offset(self._code, indices, memory.strides)
            row = self._ops.arrays.view(memory, start, self._sizes[outer:], memory.strides[outer:])
            if tensor.slot in self._chain.kept:
                self._targets[tensor.slot] = row
            else:
                self._values[tensor.slot] = row if any(row.strides) else self._spread(tensor, row)
        for part in self._chain.parts:
            self._values[part.result.slot] = self._computed(part)
            if part.result.slot in self._targets:
                self._keep(part.result, self._targets[part.result.slot])
        self._ops.groups.flush()

    def _spread(self, tensor: Tensor, row: Memory) -> Held:
        """Load the element that is broadcast along a row."""
        element = self._code.load(row.pointer, Kind(row.dtype))
        return element if tensor.is_row else Splat(element, row.shape)

    def _computed(self, part: Part) -> Held:
        operands, shape = [self._values[slot] for slot in part.operands], self._sizes[self._outer :]
        if part.op.name == REDUCE:
            return self._reduced(part, operands[0], operands[1])
        if part.op.name in VIEWS:
            (x,) = operands
            return Splat(x, shape) if isinstance(x, Register) and not part.result.is_row else x
        if part.result.is_row:
            registers = [x for x in operands if isinstance(x, Register)]
            return elementwise(self._code, part.op, registers, part.is_canonical)
        return self._ops.elementwise(part.op, operands, part.is_canonical, shape, part.result.dtype)

    def _reduced(self, part: Part, x: Held, init: Held) -> Register:
        body, dtype = recognised_op(part.op.regions[0]), part.result.dtype
        assert isinstance(init, Register)
        if body is None or init.kind.dtype != dtype:
            raise NotCompiled("a reduction of other elements")
        if body.name == SUM and dtype.kind == "f" and self._chain.exact_sums:
            raise NotCompiled("exact sums")
        row = self._ops.memory(x, self._sizes[self._outer :])
        self._ops.groups.flush()
        result = reduced_row(self._ops.arrays, 0, body, row, init)
        return self._code.canonical(result) if part.is_canonical and dtype.kind == "f" else result

    def _keep(self, result: Tensor, target: Memory) -> None:
        """Store a result of the chain."""
        x = self._values[result.slot]
        if isinstance(x, Register):
            self._code.store(x, target.pointer, target.dtype)
        elif isinstance(x, Pending) and x.term.memory is None:
            x.term.memory = target
            self._ops.groups.store(x.term, target)
        else:
            self._ops.assign(x, target)


class _Bound(NamedTuple):
    """The code for operands of some strides, and for each call a number of rows, and offsets of addresses."""

    code: ChainCode
    pieces: Sequence[tuple[int, Array]]


class WholeChain:
    """A chain on whole tensors, in code for operands of each form."""

    def __init__(self, chain: Chain, report: Report) -> None:
        self._chain, self._report = chain, report
        most = min(MAX_PIECE, PIECE // chain.weight)
        self._most = max(VECTOR, most // VECTOR * VECTOR)
        self._bound: dict[object, _Bound | None] = {}  # by the form of operands

    def bound(self, slots: Slots) -> _Bound | None:
        """Return the code for operands like those in slots; None, of which `report` is told, if there is none."""
        arrays = [np.asarray(slots[tensor.slot]) for tensor in self._chain.inputs]
        form = tuple([(x.shape, x.strides, x.flags.aligned) for x in arrays])
        if form not in self._bound and len(self._bound) < MAX_FORMS:
            check_time()
            found = None
            try:
                found = self._bind(arrays)
                self._report("as machine code", found.code.compiled.text)
            except Exception as error:
                self._report(f"one by one: {reason_of(error)}", "")
            self._bound[form] = found
        return self._bound.get(form)

    def run(self, bound: _Bound, slots: Slots, results: Mapping[int, Array]) -> None:
        """Compute the chain into arrays of its results, by slot."""
        arrays = [np.asarray(slots[tensor.slot]) for tensor in self._chain.inputs]
        arrays += [results[tensor.slot] for tensor in self._chain.results]

        def work(pieces: Iterable[tuple[int, Array]]) -> None:
            scratch = [np.empty(shape, dtype) for shape, dtype in bound.code.scratch]
            base = np.array([*[0] * HEAD, *(address(x) for x in (*arrays, *scratch))], np.int64)
            for count, offsets in pieces:
                frame = base.copy()
                frame[HEAD : HEAD + len(offsets)] += offsets
                run_code(bound.code.compiled, address(frame), count)

        share(work, bound.pieces)

    def _bind(self, arrays: Sequence[Array]) -> _Bound:
        """Compile the code for operands like these; NotCompiled if there is none."""
        chain, shape = self._chain, self._chain.shape
        if any(not x.flags.aligned or x.dtype != t.dtype for x, t in zip(arrays, chain.inputs)):
            raise NotCompiled("elements of another form")
        outer = len(shape) if chain.rows is None else chain.rows
        strides = [_strides(t, shape, outer, x.strides) for t, x in zip(chain.inputs, arrays)]
        strides += [_strides(t, shape, outer) for t in chain.results]
        sizes, strides = _rows_of(shape, strides, chain.rows)
        _check(chain, sizes, strides)
        axis = next((a for a in range(len(sizes)) if prod(sizes[a + 1 :]) <= self._most), 0)
        if chain.rows is not None:
            axis = min(axis, len(sizes) - 2)
        steps = [tuple([n // t.dtype.itemsize for n in x[axis:]]) for x, t in zip(strides, chain.tensors)]
        inner = [min(sizes[axis], self._most), *sizes[axis + 1 :]]
        code = ChainCode(chain, inner, steps, sizes[-1] % VECTOR > 0)
        return _Bound(code, list(_pieces(sizes, strides, self._most, axis)))


def _check(chain: Chain, sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> None:
    if any(x[-1] not in (0, t.dtype.itemsize) or any(n % t.dtype.itemsize for n in x)
           for x, t in zip(strides, chain.tensors)):  # fmt: skip
        raise NotCompiled("elements that are apart")
    itemsizes = [t.dtype.itemsize for t in (*chain.inputs, *(part.result for part in chain.parts))]
    if len(sizes) > 1 and sizes[-1] < VECTOR // max(itemsizes):
        raise NotCompiled("short rows")


def merged(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Merge dimensions that lie one after the other in all tensors; return sizes, and the strides of each tensor."""
    sizes: list[int] = []
    columns: list[list[int]] = []
    for n, *column in zip(shape, *strides):
        if n == 1:
            continue
        if sizes and all(outer == inner * n for outer, inner in zip(columns[-1], column)):
            sizes[-1], columns[-1] = sizes[-1] * n, column
        else:
            sizes.append(n)
            columns.append(column)
    return sizes, [list(x) for x in zip(*columns)] if sizes else [[] for _ in strides]


def _strides(tensor: Tensor, shape: Sequence[int], outer: int, strides: Sequence[int] | None = None) -> list[int]:
    """Return the strides of a tensor, or of a new one in C order, along the dimensions of a chain."""
    if tensor.is_row and strides is not None and len(strides) < outer:
        return [0] * len(shape)  # a scalar
    own = [*shape[:outer], *[1] * (len(shape) - outer)] if tensor.is_row else shape
    if strides is None:
        strides = [tensor.dtype.itemsize * prod(own[axis + 1 :]) for axis in range(len(own))]
    found = [*strides[:outer], *[0] * (len(shape) - outer)] if tensor.is_row else list(strides)
    return [0 if n == 1 else stride for n, stride in zip(own, found)]


def _rows_of(
    shape: Sequence[int], strides: Sequence[Sequence[int]], rows: int | None
) -> tuple[list[int], list[list[int]]]:
    """Merge axes; the last one is a row. A chain with rows has another axis before it."""
    sizes, columns = merged(shape[:rows], [x[:rows] for x in strides])
    if rows is not None:
        lengths, steps = merged(shape[rows:], [x[rows:] for x in strides])
        if len(lengths) != 1:
            raise NotCompiled("rows of elements that are apart")
        if not sizes:
            sizes, columns = [1], [[0] for _ in strides]
        sizes, columns = [*sizes, *lengths], [[*x, *step] for x, step in zip(columns, steps)]
    if not sizes:
        raise NotCompiled("one element")
    return sizes, columns


def _pieces(
    sizes: Sequence[int], strides: Sequence[Sequence[int]], most: int, axis: int
) -> Iterator[tuple[int, Array]]:
    """Yield counts along an axis, and offsets of addresses in bytes, of parts of about `most` elements."""
    step = max(1, most // prod(sizes[axis + 1 :]))
    table = np.array([x[: axis + 1] for x in strides], np.int64)
    for outer in product(*map(range, sizes[:axis])):
        for start in range(0, sizes[axis], step):
            yield min(step, sizes[axis] - start), table @ np.array([*outer, start], np.int64)


# --- functions of f32, once for all programs of a process -----------------------------------------------------------

_CODE = {what: TimedCode[Compiled]() for what in FUNCTIONS}
_Frame = ctypes.c_int64 * (HEAD + 2)


def with_machine_code(kernel: Kernel, bound: BoundOp, planner: Planner) -> Kernel:
    """Return a kernel that becomes machine code once it has taken long, if it is a function of f32."""
    what = on_element(bound.op, bound.operands[0]) if bound.operands and is_available() else None
    types = (*bound.operands, *bound.results)
    if what not in FUNCTIONS or not all(isinstance(t, TensorType) and dtype_of(t) == FLOAT32 for t in types):
        return kernel
    code, op, plain, title = _CODE[what], bound.site.op, kernel.run, f"{bound.site.op.name} at {bound.site.op.location}"
    reported = False

    def run(x: Array) -> Array:
        nonlocal reported
        flags = x.flags  # a new object each time
        if x.size < FEW or not code.may_run(current.get()) or not (flags.c_contiguous and flags.aligned):
            return plain(x)  # type: ignore[no-any-return]
        if code.code is None:
            return code.timed(lambda: plain(x), lambda: _function_code(op))
        if not reported:
            reported = True
            planner.generated.append((f"{title}, as machine code", code.code.text))
        return _applied(code.code, x)

    return Kernel(run)


def _function_code(op: Operation) -> Compiled:
    """Compile the function that an op applies."""
    x, y = (Tensor(slot, (), FLOAT32, False) for slot in range(2))
    chain = Chain((MAX_PIECE,), None, [x], [Part(op, (x.slot,), y, True)], frozenset([y.slot]), frozenset(), False)
    return ChainCode(chain, [MAX_PIECE], [(1,), (1,)]).compiled


def _applied(code: Compiled, x: Array) -> Array:
    """Return the results for a contiguous array."""
    result = np.empty(x.shape, FLOAT32)
    source, target = address(x), address(result)

    def work(starts: Iterable[int]) -> None:
        for start in starts:
            frame = _Frame(0, source + start * x.itemsize, target + start * x.itemsize)
            run_code(code, ctypes.addressof(frame), min(BLOCK, x.size - start))

    share(work, range(0, x.size, BLOCK))
    return result
