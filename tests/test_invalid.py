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
from stablehlo_ref.op_table import labels

FOLDER = Path(__file__).parent / "invalid"
SPEC = json.loads((Path(__file__).parents[1] / "spec_checks" / "labels.json").read_text("utf-8"))
FILES = sorted(FOLDER.rglob("*.mlir"))
ANNOUNCED = re.compile(r"// expected-error@\+1 \{\{(.*)\}\}")
LABELLED = re.compile(r"'(\S+)' op \(([\w ]+)\): ")
KIND = re.compile(r"'(\S+)' op (?:(?:operand|result) #\d+ \((\w+)\)|attribute '(\w+)') must be ")

# Constraints that no program breaks without breaking one that is checked before.
NEVER_ALONE: dict[tuple[str, str], str] = {}


@cache
def errors(path: Path) -> list[tuple[str, list[Diagnostic]]]:
    """The parts of a file, each with what is found wrong in it."""
    return [(text, list(_errors(text, path.name, line))) for line, text in split_text(path.read_text("utf-8"))]


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
    text = path.read_text("utf-8")
    announced = [(text.count("\n", 0, m.start()) + 2, m[1]) for m in ANNOUNCED.finditer(text)]
    assert announced, "a test that announces no error can't fail"
    found = [error for _, part in errors(path) for error in part]
    assert [error.line for error in found] == [line for line, _ in announced]
    for error, (line, message) in zip(found, announced):
        assert message in error.message, f"{path.name}:{line}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER).with_suffix("")))
def test_the_caret_stands_below_the_name_of_the_op(path: Path) -> None:
    for _, part in errors(path):
        for error in part:
            name = error.message.split("'")[1]
            assert error.location is not None
            line, caret = error.location.excerpt().split("\n")
            assert line[len(caret) - 1 :].lstrip('"').startswith(name), error


def _found(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """The op, and what of it, of every error whose message is like `pattern`."""
    messages = [error.message for path in FILES for _, part in errors(path) for error in part]
    for match in filter(None, map(pattern.match, messages)):
        yield match[1], next(filter(None, match.groups()[1:]))


def _label(label: str) -> str:
    return f"C{label}" if label.isdecimal() else label


def test_every_constraint_of_every_op_fails_somewhere() -> None:
    constraints = {(op.name, _label(label)) for op in _ops() for label in _labels(op)}
    fails = set(_found(LABELLED))
    assert not constraints - fails - NEVER_ALONE.keys()
    assert not fails & NEVER_ALONE.keys(), "these do fail"


def test_every_kind_of_a_member_is_refused_somewhere() -> None:
    kinds = {(op.name, member) for op in _ops() if op.dialect == "stablehlo" for member in _members_of_a_kind(op)}
    assert not kinds - set(_found(KIND))


def _labels(op: type[Op]) -> set[str]:
    """The constraints that the class checks, and those of the spec that it leaves to runs."""
    return labels(op) | set(SPEC.get(op.name.removeprefix("stablehlo."), {}).get("constraints", ()))


def _ops() -> list[type[Op]]:
    """The project's own; other tests may have registered more."""
    return [
        op
        for op in Op.registry.values()
        if op.__module__.startswith("stablehlo_ref.")
        and (FOLDER / (op.name.removeprefix("stablehlo.") + ".mlir")).exists()
    ]


def _members_of_a_kind(op: type[Op]) -> Iterator[str]:
    grouped = {member for group in op.groups.values() for member in group.members.values()}
    yield from (m.name for m in (*op.operands, *op.outputs) if m.kind is not anything)
    yield from (m.spelling for m in op.attributes.values() if m.kind is not Opaque and m not in grouped)
