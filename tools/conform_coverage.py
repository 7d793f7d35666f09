"""Print which ops run in generated programs, and which constraints are at their edge in one and broken in another.

    nice python tools/conform_coverage.py
    nice python tools/conform_coverage.py --rounds 15 stablehlo.slice chlo.broadcast_add

A constraint that is never broken alone is either implied by others, which are named, or a gap of the search. It counts
as implied if no members are found that break it and satisfy these others, even when nothing else has to hold. Exit with
1 if less than 95 % are at their edge, or broken alone or implied, or if an op does not run.
"""

from __future__ import annotations

import argparse
import random
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stablehlo_ref.conform.cases import PLAIN, case, names_of_ops, valid_case
from stablehlo_ref.conform.members import PER_TENSOR, QUANTIZED, NotDrawn, per_axis_tensor
from stablehlo_ref.conform.programs import ASYNC_START, Builder, completed
from stablehlo_ref.conform.solve import BASES, Broken, Solver
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.ir.types import FLOATS, Type, integer_type

ELEMENTS: Sequence[Sequence[Type]] = ((), (FLOATS["f32"],), (PER_TENSOR,), (), QUANTIZED, (integer_type(64, "u"),))
LEAST = 0.95
REASONS = 8  # constraints that together imply another one, at most
SEARCHES = 4  # for members that these allow, of each constraint


@dataclass
class Coverage:
    """What is found of an op: the names of constraints by what programs do with them."""

    op: str
    labels: tuple[str, ...]
    runs: int = 0  # programs that run
    tight: set[str] = field(default_factory=set)  # in a program that runs; the smallest step breaks them
    alone: set[str] = field(default_factory=set)  # broken in a program that breaks nothing else
    first: set[str] = field(default_factory=set)  # the first that is broken; those after it depend on it
    implied: dict[str, tuple[str, ...]] = field(default_factory=dict)  # never broken alone, with what implies them

    @property
    def is_complete(self) -> bool:
        """Whether the op runs, and each constraint is at its edge in one program and broken in another."""
        return self.runs > 0 and set(self.labels) <= self.tight and set(self.labels) <= self.first

    def left(self, covered: set[str]) -> list[str]:
        """Return the constraints that are not among those covered."""
        return [label for label in self.labels if label not in covered]


def coverage(name: str, rounds: int) -> Coverage:
    """Return what `rounds` programs of an op, and all that are one smallest step away from these, cover."""
    definition = REGISTRY[name]
    labels = tuple(dict.fromkeys(label for label, _ in labelled_formulas(definition.op_class)))
    found = Coverage(name, labels)
    rng = random.Random(zlib.crc32(name.encode()))
    for number in range(rounds if name != ASYNC_START else 0):
        solver = _solver(definition, rng, number)
        members = solver.solve()
        if members is None:
            continue
        members = completed(definition, members)
        edges = _edges(solver, members, found)
        if runs(rng, solver, members):
            found.runs += 1
            found.tight |= edges
        if found.is_complete:
            break
    if not found.runs:  # ops of which more than the members is decided together, or whose element type is rarely drawn
        found.runs = sum(_runs_alone(definition, rng) for _ in range(BASES))
        found.runs = found.runs or sum(case(f"op/{name}/{element}/0") is not None for element in PLAIN)
    for label in labels if name != ASYNC_START else ():
        for number in range(SEARCHES):
            if label not in found.alone and (broken := _solver(definition, rng, number).break_singly(label)):
                _add(found, label, broken)
    return found


def _solver(definition: OpDefinition, rng: random.Random, number: int) -> Solver:
    """Return a solver that draws from other element types for each number."""
    elements = ELEMENTS[number % len(ELEMENTS)]
    types = [per_axis_tensor(rng)] * 3 if number % len(ELEMENTS) == 0 else []
    return Solver(definition, rng, types, [rng.choice(elements)] if elements else [])


def _edges(solver: Solver, members: dict[str, object], found: Coverage) -> set[str]:
    labels = set()
    for label, broken in solver.edges(members):
        labels.add(label)
        _add(found, label, broken)
    return labels


def _add(found: Coverage, label: str, broken: Broken) -> None:
    found.first.add(label)
    if not broken.others:
        found.alone.add(label)


def _runs_alone(definition: OpDefinition, rng: random.Random) -> bool:
    builder = Builder(rng)
    return builder.add(definition) is not None and valid_case("", rng, builder) is not None


def runs(rng: random.Random, solver: Solver, members: dict[str, object]) -> bool:
    """Return whether the interpreter runs a program of an op with these members."""
    builder = Builder(rng)
    try:
        builder.add_members(solver, members)
    except NotDrawn:
        return False
    return valid_case("", rng, builder) is not None


# --- constraints that others imply ------------------------------------------------------------------------------------

_implied: dict[tuple[Callable[..., object], str], tuple[str, ...]] = {}  # of ops that share a role


def implied_by(name: str, label: str) -> tuple[str, ...]:
    """Return constraints that together imply one: it is not found broken where these hold; () if others would be."""
    definition = REGISTRY[name]
    key = (definition.roles["constraints"].function, label)
    if key not in _implied:
        _implied[key] = _reasons(definition, label)
    return _implied[key]


def _reasons(definition: OpDefinition, label: str) -> tuple[str, ...]:
    rng = random.Random(zlib.crc32(f"{definition.name}/{label}".encode()))
    reasons: list[str] = []
    found = 0
    for number in range(SEARCHES * SEARCHES):
        broken = _solver(definition, rng, number).break_singly(label, reasons)
        if broken is None:
            continue
        if not broken.others or len(reasons) > REASONS:
            return ()
        found += 1
        if not set(reasons) & set(broken.others):  # members that satisfy all reasons so far: there is another one
            reasons.append(broken.others[0])
            found = 0
        if found == SEARCHES:
            return tuple(sorted(reasons))
    return ()


# --- all ops ----------------------------------------------------------------------------------------------------------


def measure(ops: Sequence[str], rounds: int) -> bool:
    """Print the coverage of ops; return whether it is enough."""
    every = []
    for op in ops:
        every.append(found := coverage(op, rounds))
        found.implied = {
            label: reasons
            for label in found.left(found.alone)
            if label in found.first and (reasons := implied_by(found.op, label))
        }
        if not found.runs:
            print(f"{found.op} does not run")
        for label in found.left(found.tight):
            print(f"{found.op} {label} is not at its edge")
        for label, reasons in found.implied.items():
            print(f"{found.op} {label} is implied: {' or '.join(reasons)} is broken, too", flush=True)
        for label in found.left(found.alone | found.implied.keys()):
            print(f"{found.op} {label} is not broken{' alone' if label in found.first else ''}")
    total = sum(len(c.labels) for c in every)
    implied, alone, tight = (sum(len(getattr(c, kind)) for c in every) for kind in ("implied", "alone", "tight"))
    others = total - implied
    print(
        f"{sum(c.runs > 0 for c in every)} of {len(every)} ops run. "
        f"Of {total} constraints, {tight} ({tight / total:.1%}) are at their edge; {implied} are implied by others. "
        f"{alone} of the other {others} ({alone / others:.1%}) are broken alone."
    )
    return all(c.runs for c in every) and min(tight / total, alone / others) >= LEAST


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    return int(not measure(options.ops or names_of_ops(), options.rounds))


if __name__ == "__main__":
    sys.exit(main())
