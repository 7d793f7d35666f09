"""tests/invalid: what the verifier refuses, each error announced by `// expected-error@+1 {{message}}` above the op.

A part that has a `@main` is run: it breaks a constraint on values, which no type tells.
Every constraint of every op has a case that breaks it, and so has the kind of every operand, result and attribute.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.console import split_text
from stablehlo_ref.define import Op
from stablehlo_ref.diagnostics import Diagnostic
from stablehlo_ref.kinds import Opaque, anything
from stablehlo_ref.op_table import formulas
from tests.lit import announced

FOLDER = Path(__file__).parent / "invalid"
SPEC = json.loads((Path(__file__).parents[1] / "spec_checks" / "labels.json").read_text("utf-8"))
FILES = sorted(FOLDER.rglob("*.mlir"))
LABELLED = re.compile(r"'(\S+)' op \(([\w ]+)\): (.*)")
KIND = re.compile(r"'(\S+)' op (?:(?:operand|result) #\d+ \((\w+)\)|attribute '(\w+)') must be ")


@cache
def errors(path: Path) -> list[Diagnostic]:
    """What is found wrong in the parts of a file."""
    parts = split_text(path.read_text("utf-8"))
    return [error for first_line, text in parts for error in _errors(text, path.name, first_line)]


def _errors(text: str, name: str, first_line: int) -> Iterable[Diagnostic]:
    try:
        program = sr.parse(text, filename=name, first_line=first_line).verify()
        if "main" in program.functions:
            program.run()
    except (sr.MalformedError, sr.InvalidError, sr.EvaluationError) as error:
        return error.diagnostics
    return ()


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER).with_suffix("")))
def test_every_error_is_announced_and_found(path: Path) -> None:
    expected = announced(path.read_text("utf-8"))
    found = errors(path)
    assert [error.line for error in found] == [line for line, _ in expected]
    for error, (line, message) in zip(found, expected):
        assert message in error.message, f"{path.name}:{line}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER).with_suffix("")))
def test_the_caret_stands_below_the_name_of_the_op(path: Path) -> None:
    for error in errors(path):
        name = error.message.split("'")[1]
        assert error.location is not None
        line, caret = error.location.excerpt().split("\n")
        assert line[len(caret) - 1 :].lstrip('"').startswith(name), error


def _found(pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """The messages, of all errors, that begin like `pattern`."""
    messages = [error.message for path in FILES for error in errors(path)]
    return list(filter(None, map(pattern.match, messages)))


def test_every_formula_of_every_op_fails_somewhere() -> None:
    checked = {(op.name, _label(label), formula) for op in _ops() for label, formula in formulas(op)}
    missing = checked - {match.groups() for match in _found(LABELLED)}
    assert not missing, f"no case breaks these: {sorted(missing)}"


def test_every_label_of_the_spec_fails_somewhere() -> None:
    constraints = {(f"stablehlo.{op}", _label(label)) for op, page in SPEC.items() for label in page["constraints"]}
    missing = constraints - {match.group(1, 2) for match in _found(LABELLED)}
    assert not missing, f"no case breaks these: {sorted(missing)}"


def test_every_kind_of_a_member_is_refused_somewhere() -> None:
    kinds = {(op.name, name) for op in _ops() if op.dialect in ("stablehlo", "chlo") for name in _members_of_a_kind(op)}
    missing = kinds - {(match[1], match[2] or match[3]) for match in _found(KIND)}
    assert not missing, f"no case refuses these: {sorted(missing)}"


def _ops() -> list[type[Op]]:
    """The project's own; other tests may have registered more."""
    return [op for op in Op.registry.values() if op.__module__.startswith("stablehlo_ref.")]


def _label(label: str) -> str:
    return f"C{label}" if label.isdecimal() else label


def _members_of_a_kind(op: type[Op]) -> Iterator[str]:
    grouped = {member for group in op.groups.values() for member in group.members.values()}
    yield from (m.name for m in (*op.operands, *op.outputs) if m.kind is not anything)
    yield from (m.spelling for m in op.attributes.values() if m.kind is not Opaque and m not in grouped)
    yield from op.groups
