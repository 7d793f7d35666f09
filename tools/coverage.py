"""What the repository has for each op: formulas of its constraints, a function in semantics/, lit tests that run it.

evaluated    programs with the op run; a terminator and a symbol are used by the ops that have them.
verified     every constraint on the op's page of the spec is a formula of its class, or one of `CHECKED_AT_RUN_TIME`.
             An op without a page has formulas that relate its members, unless types alone determine them.
constraints  how many formulas the class has; the types of members are also checked.
semantics    stablehlo_ref/semantics has the op element by element. Ops that compute nothing need none.
lit test     a program of tests/interpret runs the op, and a check depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.cli.list_ops import is_evaluated, own_definitions
from stablehlo_ref.define.definition import OpDefinition
from stablehlo_ref.define.formulas import labels
from stablehlo_ref.define.op import Out
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import MalformedError, split_text
from stablehlo_ref.distribution.sdy_attributes import Shardings
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import OpaqueType, TokenType
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse
from stablehlo_ref.semantics.functions import function_of

REPOSITORY = Path(__file__).parent.parent

# Only programs of older versions have these.
REMOVED = {"stablehlo.compute_reshape_shape", "stablehlo.cstr_reshapable", "stablehlo.trace"}
REMOVED_GROUP = "removed from stablehlo"

# Constraints on the process grid, or on values, which are known when the op runs: EvaluationErrors with these labels.
CHECKED_AT_RUN_TIME = {
    "stablehlo.all_gather": {"3"},
    "stablehlo.all_reduce": {"2"},
    "stablehlo.all_to_all": {"6"},
    "stablehlo.collective_broadcast": {"6"},
    "stablehlo.reduce_scatter": {"4"},
}

# Ops that return an operand, a variable or the results of a function, or whose result is unspecified.
NOTHING_TO_COMPUTE = {
    "bufferization.to_buffer", "bufferization.to_memref", "bufferization.to_tensor",
    "builtin.unrealized_conversion_cast", "func.call", "func.call_indirect", "func.constant",
    "interpreter.probe", "interpreter.run_parallel",
    "memref.cast", "memref.get_global", "ml_program.global_load", "ml_program.global_load_const",
    "sdy.all_gather", "sdy.all_reduce", "sdy.all_slice",
    "sdy.all_to_all", "sdy.collective_permute", "sdy.constant", "sdy.data_flow_edge", "sdy.func_data_flow_edge",
    "sdy.named_computation", "sdy.propagation_barrier", "sdy.reduce_scatter", "sdy.replicated_to_unreduced",
    "sdy.reshard", "sdy.sharded_to_unreduced", "sdy.sharding_constraint", "shape.assuming", "tensor.empty",
    "ub.poison",
}  # fmt: skip

ONE_TYPE = {"token", "index", "i1", "witness", "!shape.size"}  # types without free parameters
EMPTY = {"token", "witness"}  # types of values that hold nothing


@dataclass(frozen=True)
class Row:
    """One op of the table."""

    definition: OpDefinition
    is_evaluated: bool
    constraints: int
    is_verified: bool
    needs_semantics: bool
    has_semantics: bool
    has_lit_test: bool

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def lacks_semantics(self) -> bool:
        return self.needs_semantics and not self.has_semantics

    @property
    def lacks_facts(self) -> bool:
        dialects = ("stablehlo", "chlo", "arith", "math", "complex")
        return self.definition.dialect in dialects and self.definition.facts is None

    @property
    def missing(self) -> list[str]:
        """What has to be added for the op, and where; nothing for a complete op."""
        mnemonic = self.definition.mnemonic
        return [
            *([] if self.is_evaluated else ["a role `plan` in the class"]),
            *([] if self.is_verified else ["a role `constraints` in the class, with a formula for each constraint"]),
            *([] if self.has_lit_test else [f"tests/interpret/{mnemonic}.mlir with a check that depends on the op"]),
            *([f"a function `{mnemonic}` in stablehlo_ref/semantics"] if self.lacks_semantics else []),
            *(["facts= of the class, for debugging tools"] if self.lacks_facts else []),
        ]

    @property
    def group(self) -> str:
        """The dialect; ops that were removed from StableHLO are a group of their own."""
        return REMOVED_GROUP if self.name in REMOVED else self.definition.dialect


def rows(repository: Path = REPOSITORY) -> list[Row]:
    """Return all ops of the package, StableHLO's own first."""
    evidence = collect(repository)
    first = ["stablehlo", REMOVED_GROUP, "chlo", "check", "interpreter"]
    table = [_row(definition, evidence) for definition in own_definitions()]
    return sorted(table, key=lambda r: (first.index(r.group) if r.group in first else len(first), r.group, r.name))


def _row(definition: OpDefinition, evidence: Evidence) -> Row:
    checked = labels(definition.op_class)
    return Row(
        definition,
        is_evaluated(definition),
        len(checked),
        _is_verified(definition, checked, evidence),
        _needs_semantics(definition),
        function_of(definition.name) is not None,
        definition.name in evidence.tests,
    )


def _is_verified(definition: OpDefinition, checked: set[str], evidence: Evidence) -> bool:
    if definition.name in evidence.labels:
        return not missing_labels(definition.name, checked, evidence.labels[definition.name])
    values = [member for member in (*definition.operands, *definition.results) if member.constraint is not anything]
    return bool(checked) or sum(member.constraint.name not in ONE_TYPE for member in values) <= 1


def missing_labels(name: str, checked: set[str], page: set[str]) -> set[str]:
    """Return the labels on an op's page of the spec that nothing checks."""
    return page - checked - CHECKED_AT_RUN_TIME.get(name, set())


def _needs_semantics(definition: OpDefinition) -> bool:
    is_empty = all(isinstance(member, Out) and member.constraint.name in EMPTY for member in definition.results)
    return not (is_empty or definition.name in NOTHING_TO_COMPUTE)


# --- as text --------------------------------------------------------------------------------------------------------

COLUMNS: dict[str, Callable[[Row], str]] = {
    "evaluated": lambda row: _mark(row.is_evaluated),
    "verified": lambda row: _mark(row.is_verified),
    "constraints": lambda row: str(row.constraints),
    "semantics": lambda row: _mark(row.has_semantics) if row.needs_semantics else "not needed",
    "lit test": lambda row: _mark(row.has_lit_test),
}


def groups(table: list[Row]) -> list[tuple[str, list[Row]]]:
    """Return the ops of each dialect."""
    return [(group, list(ops)) for group, ops in groupby(table, lambda row: row.group)]


def counts(table: list[Row]) -> dict[str, str]:
    """Return how many ops are evaluated, verified, have semantics if they need some, and a lit test: `3 of 4`."""
    return {
        "evaluated": _count(row.is_evaluated for row in table),
        "verified": _count(row.is_verified for row in table),
        "with semantics": _count(row.has_semantics for row in table if row.needs_semantics),
        "with lit test": _count(row.has_lit_test for row in table),
    }


def _count(marks: Iterable[bool]) -> str:
    known = list(marks)
    return f"{sum(known)} of {len(known)}" if known else ""


def _mark(holds: bool) -> str:
    return "yes" if holds else "no"


# --- evidence ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """`labels`: the spec's constraints of the ops that have a page. `tests`: the names of ops that lit tests check."""

    labels: dict[str, set[str]]
    tests: frozenset[str]


def collect(repository: Path) -> Evidence:
    """Read what the repository has."""
    pages = json.loads((repository / "spec_checks" / "labels.json").read_text("utf-8"))
    labels = {f"stablehlo.{op}": set(page["constraints"]) for op, page in pages.items()}
    tests = (repository / "tests" / "interpret").rglob("*.mlir")
    return Evidence(labels, frozenset().union(*map(checked_by, tests)))


# --- lit tests ------------------------------------------------------------------------------------------------------


def checked_by(path: Path) -> set[str]:
    """Return the ops that a lit test runs and checks; none if it cannot be parsed."""
    parts = (part for _, part in split_text(path.read_text("utf-8")))
    try:
        return {name for part in parts for name in _checked(parse(part, filename=str(path)))}
    except MalformedError:
        return set()


def _checked(program: Program) -> Iterator[str]:
    """Yield the ops on which a check depends: ops whose results reach it, and ops that run for their side effects."""
    if not program.functions:
        return
    yield from ("builtin.module", "func.func")
    running = list(_running(program))
    symbols = {name for op in running for name in _symbols(op.properties)}
    yield from (op.name for op in program.module.regions[0].block.operations if _symbol_of(op) in symbols)
    looked_at: set[Value] = set()
    if not any(map(_is_check, running)):
        return
    for op in reversed(running):
        if all(map(_is_empty, op.results)) or not looked_at.isdisjoint(op.results):
            looked_at.update(op.operands)
            yield op.name


def _running(program: Program) -> Iterator[Operation]:
    """Yield the ops of the entry and of the functions that it calls, callees before callers."""
    functions = {_symbol_of(op): op for op in program.module.regions[0].block.operations if op.name == "func.func"}
    waiting, seen = [program.entry.name], list[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.append(name)
            names = (n for op in functions[name].walk() for n in _symbols(op.properties))
            waiting += [n for n in names if n in functions]
    for name in reversed(seen):
        yield from (op for op in functions[name].walk() if op is not functions[name])


def _symbol_of(op: Operation) -> Any:
    return op.properties.get("sym_name")


def _symbols(value: Any) -> Iterator[str]:
    """Yield the strings in attributes, also in the text of opaque ones: they may be names of symbols."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (name for item in value.values() for name in _symbols(item))
    elif isinstance(value, tuple):
        yield from (name for item in value for name in _symbols(item))
    elif isinstance(value, Shardings):
        yield from (sharding.mesh for sharding in value.shardings if isinstance(sharding.mesh, str))
    elif isinstance(text := getattr(value, "text", None), str):
        yield from (part.partition(",")[0].strip('"') for part in text.split("@")[1:])


def _is_check(op: Operation) -> bool:
    target = op.properties.get("call_target_name") or ""
    return op.name.startswith("check.") or str(target).startswith("check.")


def _is_empty(value: Value) -> bool:
    """Return whether a value holds nothing that a check could compare: a token, a witness."""
    return isinstance(value.type, TokenType) or (isinstance(value.type, OpaqueType) and "witness" in value.type.text)
