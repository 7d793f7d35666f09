"""Run a list of instructions on block after block of large arrays, in buffers that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.budget import check_time, reserve, within_time
from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.fuse.boxes import Boxes, boxes, compact, invariant, is_transposed
from stablehlo_ref.execute.fuse.machine.chains import MachineChain
from stablehlo_ref.execute.ownership import is_exclusive_view, is_exclusively_owned
from stablehlo_ref.execute.run import CONTEXT, Step
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.numerics.layout import contiguous

Report: TypeAlias = Callable[[str, str], None]
Values: TypeAlias = list[Any]  # of one block, by index
Instruction: TypeAlias = Callable[[Values], None]


@dataclass(frozen=True)
class Tensor:
    """A value of a chain: the shape that it has as a whole, and whether it has one element for each row."""

    slot: int
    shape: tuple[int, ...]
    dtype: DType
    is_row: bool


@dataclass(frozen=True)
class Computed:
    """A value and how its block is computed from the blocks of the operands, by what `plan` returns for a box.

    If that `stores`, it writes into a further argument; if it `overwrites`, this may be the block of an operand.
    `op` is what it does, and `is_canonical` tells whether its NaNs are made canonical.
    """

    result: Tensor
    operands: tuple[int, ...]  # slots
    plan: Callable[[tuple[int, ...]], Callable[..., Array]]
    op: Operation
    is_canonical: bool
    stores: bool = False
    overwrites: bool = False


@dataclass(frozen=True)
class Chain:
    """What a chain computes: from `inputs`, the values of `parts` one by one, of which those in `kept` are results."""

    shape: tuple[int, ...]
    rows: int | None
    inputs: Sequence[Tensor]
    scalars: Sequence[int]  # slots of operands of rank 0
    parts: Sequence[Computed]
    kept: frozenset[int]  # slots
    dead: frozenset[int]  # slots that are empty after the chain

    @property
    def tensors(self) -> list[Tensor]:
        """The operands and all values that are computed."""
        return [*self.inputs, *[part.result for part in self.parts]]

    def block_shape(self, tensor: Tensor, box: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of a block of a tensor."""
        return box[: self.rows] + tensor.shape[self.rows :] if tensor.is_row else box


def blockwise_step(chain: Chain, report: Report) -> Step:
    """Return the step that runs a chain; `report` is told what becomes machine code."""
    plain = BlockProgram(chain)
    machine = MachineChain(chain, BlockProgram, report)

    def step(slots: Slots) -> None:
        check_time()
        if machine.may_run and slots[CONTEXT].jit:
            machine.run(slots, plain)
        else:
            plain.run(slots)

    return step


class BlockProgram:
    """The instructions of a chain for each block; `compiled` replaces some of them by others."""

    def __init__(self, chain: Chain, compiled: Callable[[_Layout, list[Instruction]], list[Instruction]] | None = None):
        self.chain = chain
        self._split = boxes(chain.shape, chain.rows, max((t.dtype.itemsize for t in chain.tensors), default=1))
        self._layout = _Layout(chain)
        self._outs = [part.result for part in chain.parts if part.result.slot in chain.kept]
        self._programs = [self._layout.program(box) for box in self._split.shapes]
        if compiled is not None:
            self._programs = [compiled(self._layout, program) for program in self._programs]

    def run(self, slots: Slots) -> None:
        """Run the chain on the arrays in slots."""
        chain, layout, split, programs = self.chain, self._layout, self._split, self._programs
        results = self.results(slots)
        blocks = [layout.buffers(box) for box in split.shapes]
        loads = [(layout.targets[slot], array) for slot, array in results.items()]
        for slot in chain.scalars:
            for values in blocks:
                values[layout.index[slot]] = slots[slot]
        copies: list[tuple[int, Array]] = []
        for index, array in _operands(chain.inputs, layout.index, slots, split, blocks):
            (copies if is_transposed(array, split.shapes[0]) else loads).append((index, array))
        for box, is_rest in within_time(split.indices):
            values, program = blocks[is_rest], programs[is_rest]
            for index, array in loads:
                values[index] = array[box]
            for index, array in copies:
                values[index] = contiguous(array[box])
            for instruction in program:
                instruction(values)
        self.finish(slots, results)

    def results(self, slots: Slots) -> dict[int, Array]:
        """Return the arrays of results, by slot, for a run on what is in slots."""
        return _results(self._outs, self._layout.reused, slots)

    def finish(self, slots: Slots, results: Mapping[int, Array]) -> None:
        """Put the results of a run into slots, and empty those whose values are dead."""
        for slot in self.chain.dead:
            slots[slot] = None
        for slot, array in results.items():
            slots[slot] = array


def _results(outs: Sequence[Tensor], reused: Mapping[int, int], slots: Slots) -> dict[int, Array]:
    """Return the arrays of results by slot: those of operands that nothing else refers to, or else new ones."""
    found: dict[int, Array] = {}
    for out in outs:
        operand = reused.get(out.slot)
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


def _operands(
    inputs: Sequence[Tensor], index: Mapping[int, int], slots: Slots, split: Boxes, blocks: Sequence[Values]
) -> Iterator[tuple[int, Array]]:
    """Store operands that are the same in all blocks; yield the others."""
    firsts = [split.indices[0][0], split.indices[-1][0]]
    for tensor in inputs:
        position, x = index[tensor.slot], slots[tensor.slot]
        if tensor.is_row or not invariant(x, firsts[0]):
            yield position, x
            continue
        for box, values in zip(firsts, blocks):
            values[position] = compact(x[box])


class _Layout:
    """Where the values of a block are: each has an index, and those that are stored have a buffer.

    What a kernel returns may be a view of its operands, whose buffers are then in use as long as it is.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.index: dict[int, int] = {}
        for slot in (*(t.slot for t in chain.inputs), *chain.scalars, *(p.result.slot for p in chain.parts)):
            self.index.setdefault(slot, len(self.index))
        self.count = len(self.index)
        self.targets: dict[int, int] = {}  # where the block of the array of a result is
        for part in chain.parts:
            if part.result.slot in chain.kept:
                self.targets[part.result.slot] = self.index[part.result.slot]
                if not part.stores:
                    self.targets[part.result.slot] = self.count
                    self.count += 1
        self._find_lifetimes()
        self.reused = self._reused()
        self._assign_buffers()

    def _find_lifetimes(self) -> None:
        roots: dict[int, frozenset[int]] = {slot: frozenset([slot]) for slot in self.index}
        self.last: dict[int, int] = {}  # the last part that reads a value, or a view of it
        for number, part in enumerate(self.chain.parts):
            read = frozenset().union(*[roots[slot] for slot in part.operands])
            self.last.update(dict.fromkeys(read, number))
            if not part.stores:
                roots[part.result.slot] |= read

    def _reused(self) -> dict[int, int]:
        """Return, for results, an operand whose array may become that of the result: nothing reads it later."""
        free = {t.slot: t for t in self.chain.inputs if t.slot in self.chain.dead and not t.is_row}
        found: dict[int, int] = {}
        for number, part in enumerate(self.chain.parts):
            result = part.result
            if result.slot not in self.chain.kept or result.is_row:
                continue
            earliest = number if part.overwrites or not part.stores else number - 1
            for slot, tensor in free.items():
                if self.last.get(slot, -1) <= earliest and tensor.dtype == result.dtype:
                    found[result.slot] = free.pop(slot).slot
                    break
        return found

    def _assign_buffers(self) -> None:
        self.buffer: dict[int, int] = {}  # by slot
        self.shapes: list[Tensor] = []  # a tensor like those in each buffer
        free: dict[tuple[DType, tuple[int, ...]], list[int]] = {}
        ends: dict[int, list[int]] = {}
        for slot, number in self.last.items():
            ends.setdefault(number, []).append(slot)
        done = 0
        for number, part in enumerate(self.chain.parts):
            result, end = part.result, number + part.overwrites
            for slot in (slot for n in range(done, end) for slot in ends.get(n, ()) if slot in self.buffer):
                buffer = self.buffer[slot]
                free[self.shapes[buffer].dtype, self.shapes[buffer].shape].append(buffer)
            done = end
            if part.stores and result.slot not in self.chain.kept:
                unused = free.setdefault((result.dtype, result.shape), [])
                if not unused:
                    unused.append(len(self.shapes))
                    self.shapes.append(result)
                self.buffer[result.slot] = unused.pop()

    def buffers(self, box: tuple[int, ...]) -> Values:
        """Return the values of a block of the shape `box`, with new buffers."""
        values: Values = [None] * self.count
        arrays = [np.empty(self.chain.block_shape(t, box), t.dtype) for t in self.shapes]
        for slot, buffer in self.buffer.items():
            values[self.index[slot]] = arrays[buffer]
        return values

    def program(self, box: tuple[int, ...]) -> list[Instruction]:
        """Return the instructions for a block of the shape `box`."""
        found = []
        for part in self.chain.parts:
            slot, operands = part.result.slot, [self.index[s] for s in part.operands]
            run = part.plan(box)
            if part.stores:
                found.append(_into(run, operands, self.index[slot]))
            elif slot in self.targets:
                found.append(_stored(run, operands, self.index[slot], self.targets[slot]))
            else:
                found.append(_new(run, operands, self.index[slot]))
        return found


def _into(store: Callable[..., Array], operands: Sequence[int], out: int) -> Instruction:
    match operands:
        case [a]:

            def unary(values: Values) -> None:
                store(values[a], out=values[out])

            return unary
        case [a, b]:

            def binary(values: Values) -> None:
                store(values[a], values[b], out=values[out])

            return binary

    def run(values: Values) -> None:
        store(*[values[index] for index in operands], out=values[out])

    return run


def _new(kernel: Callable[..., Array], operands: Sequence[int], out: int) -> Instruction:
    def run(values: Values) -> None:
        values[out] = kernel(*[values[index] for index in operands])

    return run


def _stored(kernel: Callable[..., Array], operands: Sequence[int], out: int, target: int) -> Instruction:
    def run(values: Values) -> None:
        values[out] = values[target][...] = kernel(*[values[index] for index in operands])

    return run
