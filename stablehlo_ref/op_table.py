"""Which ops there are, and what stands behind each: `stablehlo-interp --list-ops`, docs/ops.md, the README's table.

evaluated    programs with the op run; a terminator and a symbol are what the ops make of them that have or use them.
verified     every constraint on the op's page of the spec is a formula of its class, or one of `CHECKED_BY_RUNS`. An op
             without a page has formulas of how its members belong together, unless their kinds say it all.
constraints  how many formulas the class has; the kinds of members are checked besides.
oracle       spec_checks/oracles has the op element by element. Ops that compute nothing need none.
lit test     a program of tests/interpret runs the op, and a check depends on it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from stablehlo_ref.define import Op, Out
from stablehlo_ref.evidence import Evidence, collect
from stablehlo_ref.formulas import checks
from stablehlo_ref.kinds import anything

REPOSITORY = Path(__file__).parent.parent

# Only programs of older versions have these.
REMOVED = {"stablehlo.compute_reshape_shape", "stablehlo.cstr_reshapable", "stablehlo.trace"}
REMOVED_GROUP = "removed from stablehlo"

# Constraints on the process grid, or on values, which are known when the op runs: EvaluationErrors with these labels.
CHECKED_BY_RUNS = {
    "stablehlo.all_gather": {"3"},
    "stablehlo.all_reduce": {"2"},
    "stablehlo.all_to_all": {"6"},
    "stablehlo.collective_broadcast": {"6"},
    "stablehlo.reduce_scatter": {"4"},
}

# Ops that give what they are given, or what a function or a variable gives, or of which nothing is promised.
NOTHING_TO_COMPUTE = {
    "builtin.unrealized_conversion_cast", "func.call", "interpreter.probe", "interpreter.run_parallel",
    "ml_program.global_load", "ml_program.global_load_const", "sdy.propagation_barrier", "sdy.reshard",
    "sdy.sharding_constraint", "shape.assuming", "tensor.empty",
}  # fmt: skip

ONE_TYPE = {"token", "index", "i1", "witness", "!shape.size"}  # kinds that leave nothing open
EMPTY = {"token", "witness"}  # kinds of values that hold nothing

Mark = bool | None


@dataclass(frozen=True)
class Row:
    """One op. What only the repository tells is None where there is only the package."""

    definition: type[Op]
    is_evaluated: bool
    constraints: int | None
    is_verified: Mark
    needs_oracle: bool
    has_oracle: Mark
    has_lit_test: Mark

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def group(self) -> str:
        """The dialect; ops that were removed from StableHLO are a group of their own."""
        return REMOVED_GROUP if self.name in REMOVED else self.definition.dialect


def rows(repository: Path = REPOSITORY) -> list[Row]:
    """All ops of the package (programs may register more), StableHLO's own first."""
    evidence = collect(repository)
    first = ["stablehlo", REMOVED_GROUP, "chlo", "check", "interpreter"]
    own = [d for d in Op.registry.values() if d.__module__.startswith(f"{__package__}.")]
    table = [_row(definition, evidence) for definition in own]
    return sorted(table, key=lambda r: (first.index(r.group) if r.group in first else len(first), r.group, r.name))


def _row(definition: type[Op], evidence: Evidence | None) -> Row:
    checked = labels_or_none(definition)
    return Row(
        definition,
        _is_evaluated(definition),
        None if checked is None else len(checked),
        None if evidence is None or checked is None else _is_verified(definition, checked, evidence),
        _needs_oracle(definition),
        None if evidence is None else definition.name in evidence.oracles,
        None if evidence is None else definition.name in evidence.tests,
    )


def _is_evaluated(definition: type[Op]) -> bool:
    is_symbol = "sym_name" in definition.attributes
    return bool({"plan", "inline"} & set(definition.parameters)) or definition.terminator or is_symbol


def _is_verified(definition: type[Op], checked: set[str], evidence: Evidence) -> bool:
    if definition.name in evidence.labels:
        return not missing_labels(definition.name, checked, evidence.labels[definition.name])
    values = [member for member in (*definition.operands, *definition.outputs) if member.kind is not anything]
    return bool(checked) or sum(member.kind.name not in ONE_TYPE for member in values) <= 1


def missing_labels(name: str, checked: set[str], page: set[str]) -> set[str]:
    """The labels of an op's page of the spec that nothing checks."""
    return page - checked - CHECKED_BY_RUNS.get(name, set())


def _needs_oracle(definition: type[Op]) -> bool:
    is_empty = all(isinstance(member, Out) and member.kind.name in EMPTY for member in definition.outputs)
    return not (is_empty or definition.name in NOTHING_TO_COMPUTE)


# --- as text --------------------------------------------------------------------------------------------------------

COLUMNS: dict[str, Callable[[Row], str]] = {
    "evaluated": lambda row: _mark(row.is_evaluated),
    "verified": lambda row: _mark(row.is_verified),
    "constraints": lambda row: "?" if row.constraints is None else str(row.constraints),
    "oracle": lambda row: _mark(row.has_oracle) if row.needs_oracle else "not needed",
    "lit test": lambda row: _mark(row.has_lit_test),
}


def listing(repository: Path = REPOSITORY) -> str:
    """One line for each op, and the sums."""
    table = rows(repository)
    width = max(len(row.name) for row in table)
    lines = [f"{'op':{width}}  {'  '.join(COLUMNS)}"]
    for row in table:
        cells = (f"{cell(row):^{len(column)}}" for column, cell in COLUMNS.items())
        lines.append(f"{row.name:{width}}  {'  '.join(cells)}".rstrip())
    sums = (
        f"{group}: {', '.join(f'{n} {what}' for what, n in counts(ops).items() if n)}" for group, ops in groups(table)
    )
    return "\n".join([*lines, "", *sums])


def groups(table: list[Row]) -> list[tuple[str, list[Row]]]:
    """The ops of each dialect."""
    return [(group, list(ops)) for group, ops in groupby(table, lambda row: row.group)]


def counts(table: list[Row]) -> dict[str, str]:
    """How many of the ops are evaluated, verified, have an oracle if one is needed, and a lit test: `3 of 4`."""
    return {
        "evaluated": _count(row.is_evaluated for row in table),
        "verified": _count(row.is_verified for row in table),
        "with oracle": _count(row.has_oracle for row in table if row.needs_oracle),
        "with lit test": _count(row.has_lit_test for row in table),
    }


def _count(marks: Iterable[Mark]) -> str:
    """Nothing where that is not known, and of nothing."""
    known = list(marks)
    return "" if None in known or not known else f"{sum(map(bool, known))} of {len(known)}"


def _mark(holds: Mark) -> str:
    return "?" if holds is None else "yes" if holds else "no"


# --- constraints ----------------------------------------------------------------------------------------------------


def labels_or_none(definition: type[Op]) -> set[str] | None:
    """The labels that the class checks; None where its source is not at hand."""
    try:
        return labels(definition)
    except OSError:
        return None


def labels(definition: type[Op]) -> set[str]:
    """The labels of the constraints that the class checks."""
    return {label for label, _ in formulas(definition)}


def formulas(definition: type[Op]) -> set[tuple[str, str]]:
    """The `C(label, formula)` calls in the role `constraints`, also in what it extends and calls."""
    found: set[tuple[str, str]] = set()
    for cls in definition.__mro__:
        if "constraints" in vars(cls):
            role = vars(cls)["constraints"].__func__
            found |= _formulas(inspect.unwrap(role))
            if "super()" not in inspect.getsource(role):
                break
    return found


def _formulas(function: Any) -> set[tuple[str, str]]:
    found = {(str(ast.literal_eval(call.args[0])), formula) for call, formula in checks(function.__code__)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        helper = _called(call.func, vars(inspect.getmodule(function)))
        if inspect.isfunction(helper) and any(_name(argument) == "C" for argument in call.args):
            found |= _formulas(helper)
    return found


def _called(function: ast.expr, scope: dict[str, Any]) -> Any:
    """What `helper` or `Class.constraints` stands for in a module."""
    if isinstance(function, ast.Attribute):
        return getattr(scope.get(_name(function.value)), function.attr, None)
    return scope.get(_name(function))


def _name(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""
