"""Which ops there are, and what stands behind each: `stablehlo-interp --list-ops` and the table in the README."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stablehlo_ref.define import Op, checks

REPOSITORY = Path(__file__).parent.parent


@dataclass(frozen=True)
class Row:
    """One op. What lies in the repository, its oracle and its tests, is None where only the package is installed."""

    definition: type[Op]
    is_evaluated: bool
    constraints: int | None  # how many formulas the verifier checks, besides the kinds of members
    has_oracle: bool | None
    has_lit_test: bool | None

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def chapter(self) -> str:
        """The module that defines it: `ops.elementwise`."""
        return self.definition.__module__.removeprefix("stablehlo_ref.")


def rows(repository: Path = REPOSITORY) -> list[Row]:
    """All ops that are known, StableHLO's own first."""
    definitions = sorted(Op.registry.values(), key=lambda d: (d.dialect != "stablehlo", d.name))
    return [_row(definition, repository) for definition in definitions]


def _row(definition: type[Op], repository: Path) -> Row:
    dialect, _, op = definition.name.partition(".")
    is_evaluated = bool({"plan", "inline"} & set(definition.parameters)) or definition.terminator or definition.isolated
    is_repository = (repository / "spec_checks").is_dir()
    folder = repository / "tests" / "interpret" / ("" if dialect == "stablehlo" else dialect)
    return Row(
        definition,
        is_evaluated,
        _count(definition),
        _has_oracle(dialect, op, repository) if is_repository else None,
        (folder / f"{op}.mlir").is_file() if is_repository else None,
    )


def listing(repository: Path = REPOSITORY) -> str:
    """One line for each op, and the sums."""
    table = rows(repository)
    width = max(len(row.name) for row in table)
    lines = [f"{'op':{width}}  evaluated  constraints  oracle  lit test"]
    for row in table:
        marks = [_mark(row.is_evaluated), str(row.constraints or "-"), _mark(row.has_oracle), _mark(row.has_lit_test)]
        lines.append(f"{row.name:{width}}  {marks[0]:^9}  {marks[1]:^11}  {marks[2]:^6}  {marks[3]:^8}".rstrip())
    return "\n".join([*lines, "", *totals(table)])


def totals(table: list[Row]) -> list[str]:
    """For each dialect how many of its ops are evaluated."""
    count = Counter(row.definition.dialect for row in table)
    evaluated = Counter(row.definition.dialect for row in table if row.is_evaluated)
    return [f"{dialect}: {evaluated[dialect]} of {number} evaluated" for dialect, number in count.items()]


def _mark(holds: bool | None) -> str:
    return "?" if holds is None else "yes" if holds else "-"


# --- oracles --------------------------------------------------------------------------------------------------------


def _has_oracle(dialect: str, op: str, repository: Path) -> bool:
    """CHLO's ops that broadcast have the oracles of the ops that they apply."""
    name = op.removeprefix("broadcast_") if dialect == "chlo" else op
    return dialect in ("stablehlo", "chlo") and name in _oracles(repository)


@cache
def _oracles(repository: Path) -> frozenset[str]:
    """The public names that the modules of spec_checks/oracles define: of ops, less an underscore at the end."""
    files = (repository / "spec_checks" / "oracles").glob("*.py")
    trees = [ast.parse(path.read_text("utf-8")) for path in files if not path.name.startswith("test_")]
    statements = [statement for tree in trees for statement in tree.body]
    functions = [s.name for s in statements if isinstance(s, ast.FunctionDef)]
    assigned = [t.id for s in statements if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
    return frozenset(name.rstrip("_") for name in functions + assigned if not name.startswith("_"))


# --- constraints ----------------------------------------------------------------------------------------------------


def _count(definition: type[Op]) -> int | None:
    """How many constraints the class checks; None where its source is not at hand."""
    try:
        return len(labels(definition))
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
