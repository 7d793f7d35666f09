"""Programs in tests/invalid that the verifier rejects; each with a comment `// expected-error@+1 {{message}}`.

A part with a `@main` is run, since it violates a constraint on values. Every constraint of every op has a case that
violates it, and so has the type constraint of every operand and result, and the codec of every attribute.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.list_ops import own_definitions
from stablehlo_ref.define.attribute_codecs import Opaque
from stablehlo_ref.define.definition import OP_CHECKS, PARAMETER_CHECKS, REGISTRY, OpDefinition
from stablehlo_ref.define.formulas import formulas
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import Diagnostic, split_text
from tests.lit import expected_errors

FOLDER = Path(__file__).parent / "invalid"
SPEC = json.loads((Path(__file__).parents[1] / "spec_checks" / "labels.json").read_text("utf-8"))
FILES = sorted(FOLDER.rglob("*.mlir"))
LABELLED = re.compile(r"'(\S+)' op \(([\w ]+)\): (.*)")
KIND = re.compile(r"'(\S+)' op (?:(operand|result) #\d+ \((\w+)\)|attribute '(\w+)') must be ")


@cache
def errors(path: Path) -> list[Diagnostic]:
    """Return the errors in all parts of a file."""
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
def test_reports_exactly_the_expected_errors(path: Path) -> None:
    expected = expected_errors(path.read_text("utf-8"))
    found = errors(path)
    assert [error.line for error in found] == [line for line, _ in expected]
    for error, (line, message) in zip(found, expected):
        assert message in error.message, f"{path.name}:{line}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER).with_suffix("")))
def test_notes_show_values_as_text(path: Path) -> None:
    for error in errors(path):
        assert " object at 0x" not in str(error)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(FOLDER).with_suffix("")))
def test_caret_is_below_the_op_or_what_is_wrong_with_it(path: Path) -> None:
    for error in errors(path):
        name = error.message.split("'")[1]
        found = _at_caret(error)
        if match := KIND.match(error.message):
            expected = _spelling(match, name)
            assert _at_caret(error.related or error).startswith(expected), error
        elif found.startswith("%"):
            assert error.subjects and isinstance(error.subjects[0], int), error
        elif not found.startswith(name):
            assert found.startswith(tuple(_names_of_attributes(name))), error
        if error.related:
            assert found.startswith(name), error


def _at_caret(diagnostic: Diagnostic) -> str:
    """Return the text of the excerpt from the caret on."""
    assert diagnostic.location is not None
    line, caret = diagnostic.location.excerpt().split("\n")
    assert 0 < len(caret) <= len(line)
    return line[len(caret) - 1 :].lstrip('"')


def _spelling(match: re.Match[str], op: str) -> str:
    """Return how the text begins at what a message of the form `KIND` is about."""
    return {"operand": "%", "result": op}.get(match[2], match[4])


def _names_of_attributes(op: str) -> Iterator[str]:
    """Yield the names that attributes of an op have in texts, of either form."""
    definition = REGISTRY[op]
    if definition.dialect == "sdy":
        yield from "<[{"  # how attributes begin that are written without a name
    yield from (*OP_CHECKS, *PARAMETER_CHECKS)
    lines = (definition.syntax,) if isinstance(definition.syntax, str) else definition.syntax
    yield from (name for line in lines if isinstance(line, str) for name in re.findall(r"(\w+) ?=", line))
    yield from definition.groups
    for member in definition.attributes.values():
        yield from (member.name, member.spelling)
    for group in definition.groups.values():
        yield from group.fields


def _found(pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the matches of `pattern` at the start of all messages."""
    messages = [error.message for path in FILES for error in errors(path)]
    return list(filter(None, map(pattern.match, messages)))


def test_every_formula_has_a_case_that_violates_it() -> None:
    checked = {(op.name, _label(label), formula) for op in _ops() for label, formula in formulas(op.op_class)}
    missing = checked - {match.groups() for match in _found(LABELLED)}
    assert not missing, "\n".join(
        [
            "tests/invalid needs programs that violate these formulas, with the expected errors:",
            *(f"{op}: // expected-error@+1 {{{{({label}): {formula}}}}}" for op, label, formula in sorted(missing)),
        ]
    )


def test_every_label_of_the_spec_has_a_case() -> None:
    constraints = {(f"stablehlo.{op}", _label(label)) for op, page in SPEC.items() for label in page["constraints"]}
    missing = constraints - {match.group(1, 2) for match in _found(LABELLED)}
    assert not missing, f"tests/invalid needs programs that violate these: {sorted(missing)}"


def test_every_type_constraint_and_codec_has_a_case() -> None:
    kinds = {(op.name, name) for op in _ops() if op.dialect in ("stablehlo", "chlo") for name in _members_of_a_kind(op)}
    missing = kinds - {(match[1], match[3] or match[4]) for match in _found(KIND)}
    assert not missing, "\n".join(
        [
            "tests/invalid needs programs in which these members are of a wrong type ('... must be ...'):",
            *(f"{op}: {member}" for op, member in sorted(missing)),
        ]
    )


def _ops() -> list[OpDefinition]:
    """Return the ops of the package; other tests may have registered more."""
    return own_definitions()


def _label(label: str) -> str:
    return f"C{label}" if label.isdecimal() else label


def _members_of_a_kind(op: OpDefinition) -> Iterator[str]:
    grouped = {member for group in op.groups.values() for member in group.fields.values()}
    yield from (m.name for m in (*op.operands, *op.results) if m.constraint is not anything)
    yield from (m.spelling for m in op.attributes.values() if m.value_type is not Opaque and m not in grouped)
    yield from op.groups
