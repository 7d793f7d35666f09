"""Decide which chains become machine code, and run those that have.

Elementwise ops on whole blocks become segments, each a run of such ops; reductions, and ops on one value per row, are
computed by numpy's kernels between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stablehlo_ref.define.computation import Slots
from stablehlo_ref.execute.fuse.machine.assembly import NotCompiled
from stablehlo_ref.execute.fuse.machine.blocks import Instruction, MachineSegment
from stablehlo_ref.execute.fuse.machine.compiler import is_available
from stablehlo_ref.execute.fuse.machine.elementwise import has_code
from stablehlo_ref.execute.fuse.machine.segments import Part, Segment
from stablehlo_ref.execute.fuse.machine.timing import TimedCode, weight
from stablehlo_ref.execute.fuse.machine.whole import WholeChain
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.kernels import stored

if TYPE_CHECKING:
    from stablehlo_ref.execute.fuse.blockwise import BlockProgram, Chain, Computed

MAX_WEIGHT = 500  # of the ops of a segment, and
MAX_TOTAL = 4000  # of those of a chain: further ones stay in numpy


class MachineChain:
    """Times a chain that runs in numpy, and compiles its segments once that has taken long."""

    def __init__(self, chain: Chain, make: Callable[..., BlockProgram], report: Callable[[str, str], None]) -> None:
        self._chain, self._make, self._report = chain, make, report
        self._weight = sum(weight(part.op) for part in chain.parts)
        self._timed = TimedCode["BlockProgram"](min(self._weight, MAX_TOTAL), report)
        self._whole: WholeChain | None = None

    @property
    def may_run(self) -> bool:
        """Whether the chain is, or may become, machine code."""
        return is_available() and not self._timed.has_failed

    def run(self, slots: Slots, plain: BlockProgram) -> None:
        """Run the chain: by machine code, or by `plain` as long as that has not taken long."""
        program = self._timed.code
        if program is None:
            self._timed.timed(lambda: plain.run(slots), self._compiled)
        elif self._whole is None or not self._whole.run(slots, program):
            program.run(slots)

    def _compiled(self) -> BlockProgram:
        parts, runs = ordered(self._chain.parts)
        if not runs:
            raise NotCompiled("no ops on whole blocks that have instructions")
        compiled = {number for run in runs for number in run}
        stored = [storing(part) if n in compiled else part for n, part in enumerate(parts)]
        chain = replace(self._chain, parts=stored)
        segments = [_segment(chain, run) for run in runs]
        self._whole = self._as_whole(chain, runs, segments)
        machines: list[MachineSegment] = []

        def instructions(layout: Any, program: list[Instruction]) -> list[Instruction]:
            if not machines:
                for segment in segments:
                    loads, stores = ([layout.index[x] for x in slots] for slots in (segment.loads, segment.stores))
                    machines.append(MachineSegment(segment, loads, stores, self._report))
            result = list(program)
            for run, machine in reversed(list(zip(runs, machines))):
                span = slice(run.start, run.stop)
                result[span] = [machine.instruction(result[span])]
            return result

        return self._make(chain, instructions)

    def _as_whole(self, chain: Chain, runs: Sequence[range], segments: Sequence[Segment]) -> WholeChain | None:
        firsts, inner = {run.start: n for n, run in enumerate(runs)}, {n for run in runs for n in run[1:]}
        phases = [
            segments[firsts[n]] if n in firsts else _part(part) for n, part in enumerate(chain.parts) if n not in inner
        ]
        try:
            return WholeChain(chain, phases, self._weight, self._report)
        except NotCompiled as reason:
            self._report(f"in blocks: {reason}", "")
            return None


def ordered(parts: Sequence[Computed]) -> tuple[list[Computed], list[range]]:
    """Return parts such that those in machine code follow each other where they can, and the numbers of these."""
    result: list[Computed] = []
    runs: list[range] = []
    run: list[Computed] = []
    of_run = total = 0  # weights

    def end() -> None:
        nonlocal of_run
        if run:
            runs.append(range(len(result), len(result) + len(run)))
            result.extend(run)
        run.clear()
        of_run = 0

    for part in parts:
        added = weight(part.op)
        if total + added <= MAX_TOTAL and _has_code(part):
            if of_run + added > MAX_WEIGHT:
                end()
            total, of_run = total + added, of_run + added
            run.append(part)
        else:
            if not {p.result.slot for p in run}.isdisjoint(part.operands):
                end()
            result.append(part)
    end()
    return result, runs


def _has_code(part: Computed) -> bool:
    return not part.result.is_row and has_code(part.op)


def _part(part: Computed) -> Part:
    return Part(part.op, part.operands, part.result.slot, part.result.dtype, part.is_canonical)


def storing(part: Computed) -> Computed:
    """Return a part that stores its result, as machine code does."""
    if part.stores:
        return replace(part, overwrites=False)

    def plan(box: tuple[int, ...]) -> Callable[..., Array]:
        kernel = part.plan(box)
        return lambda *operands, out: stored(kernel(*operands), out)

    return replace(part, plan=plan, stores=True, overwrites=False)


def _segment(chain: Chain, run: range) -> Segment:
    """Return the ops of a run; they store what is a result of the chain, or what other parts use."""
    parts = [_part(chain.parts[n]) for n in run]
    made = {part.result: part.dtype for part in parts}
    others = {slot for n, part in enumerate(chain.parts) if n not in run for slot in part.operands}
    loads = {
        slot: dtype for part in parts for slot, dtype in zip(part.operands, part.operand_dtypes) if slot not in made
    }
    stores = {slot: dtype for slot, dtype in made.items() if slot in others or slot in chain.kept}
    return Segment(parts, loads, stores)
