"""What a copy of the repository has to show for each op: labels of the spec, oracles, lit tests that run it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stablehlo_ref.console import split_text
from stablehlo_ref.define import Op
from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import OpaqueType, TokenType
from stablehlo_ref.loading import parse
from stablehlo_ref.program import Program

ORACLES_OF_DIALECTS = ("arith", "check", "chlo", "sdy", "shape", "tensor")  # all other modules have StableHLO's


@dataclass(frozen=True)
class Evidence:
    """`labels`: the spec's constraints of the ops that have a page. `oracles`, `tests`: by full names of ops."""

    labels: dict[str, set[str]]
    oracles: frozenset[str]
    tests: frozenset[str]


def collect(repository: Path) -> Evidence | None:
    """None where there is no repository, but only the package."""
    if not (repository / "spec_checks").is_dir():
        return None
    pages = json.loads((repository / "spec_checks" / "labels.json").read_text("utf-8"))
    labels = {f"stablehlo.{op}": set(page["constraints"]) for op, page in pages.items()}
    tests = (repository / "tests" / "interpret").rglob("*.mlir")
    return Evidence(labels, frozenset(_oracles(repository)), frozenset().union(*map(checked_by, tests)))


# --- oracles --------------------------------------------------------------------------------------------------------


def _oracles(repository: Path) -> Iterator[str]:
    """The public names that the modules of spec_checks/oracles define: of ops, less an underscore at the end.

    CHLO's ops that broadcast have the oracles of the ops that they apply.
    """
    found: set[str] = set()
    for path in (repository / "spec_checks" / "oracles").glob("*.py"):
        dialect = path.stem.partition("_")[0]
        dialect = dialect if dialect in ORACLES_OF_DIALECTS else "stablehlo"
        found |= {f"{dialect}.{name}" for name in _defined(path) if not path.name.startswith("test_")}
    for name in Op.registry:
        operation = name.removeprefix("chlo.").removeprefix("broadcast_")
        plain = name.replace("-", "_").replace("chlo._", "chlo.")
        if {plain} & found or ("broadcast_" in name and {f"chlo.{operation}", f"stablehlo.{operation}"} & found):
            yield name


def _defined(path: Path) -> Iterator[str]:
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name.rstrip("_")
        elif isinstance(statement, ast.Assign):
            targets = (name for target in statement.targets for name in ast.walk(target))
            yield from (target.id for target in targets if isinstance(target, ast.Name))


# --- lit tests ------------------------------------------------------------------------------------------------------


def checked_by(path: Path) -> set[str]:
    """The ops that a lit test runs and checks; none where it can't be read."""
    parts = (part for _, part in split_text(path.read_text("utf-8")))
    try:
        return {name for part in parts for name in _checked(parse(part, filename=str(path)))}
    except MalformedError:
        return set()


def _checked(program: Program) -> Iterator[str]:
    """The ops on which a check depends: those whose results reach one, and those that run for what else they do."""
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
    """The ops of the entry, and of the functions that it calls, which stand in front of what calls them."""
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
    """The strings among attributes, and those in the text of others: names of symbols, if there are such."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (name for item in value.values() for name in _symbols(item))
    elif isinstance(value, tuple):
        yield from (name for item in value for name in _symbols(item))
    elif isinstance(text := getattr(value, "text", None), str):
        yield from (part.partition(",")[0].strip('"') for part in text.split("@")[1:])


def _is_check(op: Operation) -> bool:
    target = op.properties.get("call_target_name") or ""
    return op.name.startswith("check.") or str(target).startswith("check.")


def _is_empty(value: Value) -> bool:
    """Whether there is nothing to look at: a token, a witness."""
    return isinstance(value.type, TokenType) or (isinstance(value.type, OpaqueType) and "witness" in value.type.text)
