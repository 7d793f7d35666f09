"""What is wrong in a case: a small program that checks itself, and a draft of a report."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.arrays.value_text import dense_text
from stablehlo_ref.conform.cases import ONE, Case, case, of_one_value
from stablehlo_ref.conform.verdicts import BLOCKING, Cell, Record, judge, meaning
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.reduce import reduce
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.program import Program
from stablehlo_ref.reading.parsing import parse

ELEMENTS_TRIED = 20  # of all values of a type, alone
MAX_CALLS = 120  # of the backend, to make the program small


@dataclass(frozen=True)
class Explanation:
    """The verdict on a case, a small program that shows it, and a draft of a report in Markdown."""

    record: Record
    program: str
    report: str


def explain(name: str, session: Session, contract: Contract) -> Explanation:
    """Return what is wrong in a case, with a small program; ArgumentValueError if the case has no program."""
    made = case(name)
    if made is None:
        raise ArgumentValueError(f"no program was found for the case {name}")
    record = judge(name, session, contract)
    if name.startswith("exhaustive/") and record.cell is Cell.FAIL:
        single = _of_one_value(made, session, contract)
        if single is not None:
            return explain(single, session, contract)
    if made.broken or record.cell not in BLOCKING or not made.is_plain:
        return _explained(record, made.text, made.text, record.detail, made, session)
    program, inputs = parse(made.text).verify(), made.inputs
    try:
        small = reduce(program, inputs, session, contract, max_calls=MAX_CALLS)
        program, inputs = small.program, small.inputs
    except EvaluationError:  # the fault does not show again, so the whole program is left
        pass
    expected, outcome = program.run(*inputs), session.run(str(program), inputs)
    types = [output.type for output in program.outputs]
    got = meaning(outcome.reason) if outcome.failure else _values(types, outcome.results)
    return _explained(record, self_checking(program, inputs, expected), _values(types, expected), got, made, session)


def _of_one_value(made: Case, session: Session, contract: Contract) -> str | None:
    """Return the name of the case of one value on which a backend fails; None if it fails on none of those tried."""
    outcome = session.run(made.text, made.inputs)
    if outcome.failure or made.name.rpartition("/")[2].startswith(ONE):
        return None
    got, expected = (np.asarray(results[0]) for results in (outcome.results, made.expected))
    (different,) = np.nonzero((got != expected) & ~((got != got) & (expected != expected)))
    names = (of_one_value(made.name, int(index)) for index in different[:: max(1, len(different) // ELEMENTS_TRIED)])
    return next((name for name in names if judge(name, session, contract).cell is Cell.FAIL), None)


def _explained(record: Record, program: str, expected: str, got: str, made: Case, session: Session) -> Explanation:
    versions = {**session.versions(), "stablehlo-ref": __version__, "Python": platform.python_version()}
    lines = [f"# {record.op}: {record.cell.value}", "", f"{session.description}: {record.detail}", ""]
    lines += ["```mlir", program.rstrip(), "```", ""]
    if made.broken:
        lines += [f"The program breaks the constraint {made.broken} of `{record.op}` and must be rejected.", ""]
    elif record.cell in BLOCKING:
        lines += [f"Expected: `{expected}`", "", f"Got: `{got}`", ""]
    lines += [f"Case `{record.name}`; " + ", ".join(f"{name} {version}" for name, version in versions.items()), ""]
    return Explanation(record, program, "\n".join(lines))


def self_checking(program: Program, inputs: Sequence[Any], expected: Sequence[Any]) -> str:
    """Return a program that has its inputs as constants, and checks the results of its @main."""
    text = str(program)
    head = re.search(r"^ *func\.func (public )?@main\((?P<arguments>.*?)\)(?P<results> -> .*)? {$", text, re.MULTILINE)
    last = re.search(r"^    (func\.)?return *(?P<values>[^:\n]*).*$", text, re.MULTILINE)
    if head is None or last is None:
        return text
    names = re.findall(r"(%[\w$.-]+): ", head["arguments"])
    types = [parameter.type for parameter in program.inputs]
    constants = []
    for index, (name, type, array) in enumerate(zip(names, types, inputs)):  # which compilers must not fold
        constants.append(f"    %given{index} = stablehlo.constant {_dense(type, array)}")
        constants.append(f"    {name} = stablehlo.optimization_barrier %given{index} : {type}")
    results = [value.strip() for value in last["values"].split(",") if value.strip()]
    outputs = [output.type for output in program.outputs]
    checks = [f"    {_check(v, t, np.asarray(array))}" for v, t, array in zip(results, outputs, expected)]
    start = text[: head.start()] + "  func.func @main() {\n" + "\n".join(constants)
    return (
        f"{start}{text[head.end() : last.start()].rstrip()}\n" + "\n".join(checks) + f"\n    return{text[last.end() :]}"
    )


def _check(value: str, type: Type, array: Array) -> str:
    exact = kind(array.dtype) in ("integer", "boolean")
    return f"check.expect_{'eq' if exact else 'almost_eq'}_const {value}, {_dense(type, array)}"


def _values(types: Sequence[Type], arrays: Sequence[Any]) -> str:
    return ", ".join(_dense(type, array) for type, array in zip(types, arrays))


def _dense(type: Type, array: Any) -> str:
    return dense_text(type, np.asarray(array)) if isinstance(type, TensorType) else str(type)
