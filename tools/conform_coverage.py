"""Which ops run in generated programs, and which constraints are at their edge in one and broken in another."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from stablehlo_ref.conform.cases import valid_case
from stablehlo_ref.conform.members import PER_TENSOR, QUANTIZED, NotDrawn, per_axis_tensor
from stablehlo_ref.conform.programs import ASYNC_START, Builder, completed
from stablehlo_ref.conform.solve import BASES, Broken, Solver
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.formulas import labelled_formulas
from stablehlo_ref.ir.types import FLOATS, Type, integer_type

ELEMENTS: Sequence[Sequence[Type]] = ((), (FLOATS["f32"],), (PER_TENSOR,), (), QUANTIZED, (integer_type(64, "u"),))


@dataclass
class Coverage:
    """What is found of an op: the names of constraints by what programs do with them."""

    op: str
    labels: tuple[str, ...]
    runs: int = 0  # programs that run
    tight: set[str] = field(default_factory=set)  # in a program that runs; the smallest step breaks them
    alone: set[str] = field(default_factory=set)  # broken in a program that breaks nothing else
    first: set[str] = field(default_factory=set)  # the first that is broken; those after it depend on it

    @property
    def is_complete(self) -> bool:
        """Whether the op runs, and each constraint is at its edge in one program and broken in another."""
        return self.runs > 0 and set(self.labels) <= self.tight and set(self.labels) <= self.first


def coverage(name: str, rounds: int) -> Coverage:
    """Return what `rounds` programs of an op, and all that are one smallest step away from these, cover."""
    definition = REGISTRY[name]
    labels = tuple(dict.fromkeys(label for label, _ in labelled_formulas(definition.op_class)))
    found = Coverage(name, labels)
    rng = random.Random(zlib.crc32(name.encode()))
    for number in range(rounds if name != ASYNC_START else 0):
        elements = ELEMENTS[number % len(ELEMENTS)]
        types = [per_axis_tensor(rng)] * 3 if number % len(ELEMENTS) == 0 else []
        solver = Solver(definition, rng, types, [rng.choice(elements)] if elements else [])
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
    if not found.runs:  # ops of which more than the members is decided together
        found.runs = sum(_runs_alone(definition, rng) for _ in range(BASES))
    for label in labels if name != ASYNC_START else ():
        if label not in found.first and (broken := Solver(definition, rng).break_singly(label)) is not None:
            _add(found, label, broken)
    return found


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
