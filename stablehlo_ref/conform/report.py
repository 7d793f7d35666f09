"""Reports of a campaign (text, JSON, JUnit XML, a badge, HTML), the faults that are known, and reports of one case.

Known failures are a file of TOML, with one table for each fault:

    [[known]]
    op = "stablehlo.tanh"       # with wildcards
    type = "f8*"                # with wildcards; the label of a constraint for invalid programs; any if left out
    reason = "https://github.com/openxla/xla/issues/1"

An entry that no case needs any more is reported, once all of its cases are judged: it is healed.
"""

from __future__ import annotations

import json
import platform
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.argument_types import check_fields
from stablehlo_ref.arrays.descriptions import dense_text
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.conform.cases import Case, case
from stablehlo_ref.conform.verdicts import BLOCKING, UNKNOWN, Cell, Record, counts, judge, meaning
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.explain import bounds_of
from stablehlo_ref.debug.fused import repro_of
from stablehlo_ref.debug.reduce import reduce
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, StablehloError, file_errors
from stablehlo_ref.limits.files import read_text

# From the worst to the best: the cell of an op and an element type is that of its worst case.
LOOKS = {
    Cell.DIES: ("†", "#4a148c"), Cell.HANGS: ("h", "#6a1b9a"), Cell.FAIL: ("✗", "#c62828"),
    Cell.ACCEPTS: ("a", "#ef6c00"), Cell.FLAKY: ("~", "#ff8f00"), Cell.SUSPICIOUS: ("?", "#fbc02d"),
    Cell.REFUSES: ("-", "#b0bec5"), Cell.BLOCKED: ("b", "#cfd8dc"), Cell.LEGAL: ("≈", "#7cb342"),
    Cell.PASS: ("✓", "#2e7d32"), Cell.UNTESTED: (" ", "#ffffff"),
}  # fmt: skip
ORDER = tuple(LOOKS)
SHOWN = 40  # faults in the table of the terminal


def grid(records: Mapping[str, Record]) -> tuple[list[str], dict[str, list[Cell]]]:
    """Return the element types, and of each op the worst cell on each of them."""
    worst: dict[str, dict[str, Cell]] = defaultdict(dict)
    for record in records.values():
        if record.element:
            before = worst[record.op].get(record.element, Cell.UNTESTED)
            worst[record.op][record.element] = min(before, record.cell, key=ORDER.index)
    elements = sorted({element for row in worst.values() for element in row}, key=_element_order)
    return elements, {op: [row.get(e, Cell.UNTESTED) for e in elements] for op, row in worst.items()}


def _element_order(name: str) -> tuple[int, str]:
    groups = ("i1", "i", "ui", "f8", "f", "bf", "complex")
    return next((n for n, start in reversed(list(enumerate(groups))) if name.startswith(start)), 9), name.zfill(16)


def faults(records: Mapping[str, Record]) -> list[tuple[Record, int]]:
    """Return one record of each fault, the shortest name first, and how many cases show it; the most frequent first."""
    numbers = Counter(r.fingerprint for r in records.values() if r.cell.is_bad)
    first: dict[str, Record] = {}
    for record in sorted(records.values(), key=lambda r: (len(r.name), r.name)):
        if record.cell.is_bad:
            first.setdefault(record.fingerprint, record)
    return [(first[fingerprint], number) for fingerprint, number in numbers.most_common()]


def as_text(records: Mapping[str, Record], title: str) -> str:
    """Return the table of ops and element types, the faults, and how many cases there are of each verdict."""
    elements, table = grid(records)
    width, height = (max(map(len, names), default=0) for names in (table, elements))
    columns = zip(*(element.rjust(height) for element in elements))  # their names, from top to bottom
    lines = [title, "", *(f"{'':{width}} {' '.join(letters)}" for letters in columns)]
    lines += [f"{op:{width}} {' '.join(LOOKS[cell][0] for cell in row)}" for op, row in table.items()]
    lines += ["", "   ".join(f"{LOOKS[cell][0]} {cell.value}" for cell in ORDER), ""]
    found = faults(records)
    for record, number in found[:SHOWN]:
        more = f" ({number} cases)" if number > 1 else ""
        lines.append(f"{record.cell.value:10} {record.name}{more}\n           {record.detail}")
    if len(found) > SHOWN:
        lines.append(f"and {len(found) - SHOWN} more")
    return "\n".join([*lines, "", summary(records)])


def summary(records: Mapping[str, Record]) -> str:
    """Return one line: how many cases there are of each verdict."""
    return f"{len(records)} cases: " + ", ".join(f"{number} {name}" for name, number in counts(records).items())


def as_json(records: Mapping[str, Record], about: Mapping[str, Any]) -> str:
    """Return the document with all records; `about` are the backend, the contract and versions."""
    cases = [{**asdict(record), "cell": record.cell.value} for record in records.values()]
    return json.dumps({"schema": 1, **about, "counts": counts(records), "cases": cases}, indent=1)


def as_junit(records: Mapping[str, Record], title: str) -> str:
    """Return a JUnit document: a case is a test, faults are failures, what is refused or not tested is skipped."""
    suite = ElementTree.Element("testsuite", name=title, tests=str(len(records)))
    for record in records.values():
        test = ElementTree.SubElement(
            suite, "testcase", classname=record.op, name=record.name, time=f"{record.seconds:.3f}"
        )
        if record.cell.is_bad:
            ElementTree.SubElement(test, "failure", type=record.cell.value, message=record.detail)
        elif record.cell in (Cell.REFUSES, Cell.BLOCKED, Cell.UNTESTED):
            ElementTree.SubElement(test, "skipped", message=f"{record.cell.value}: {record.detail}")
    suite.set("failures", str(sum(record.cell.is_bad for record in records.values())))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def as_badge(records: Mapping[str, Record]) -> str:
    """Return the JSON of a badge as shields.io reads it: the fraction of tested cases that are right."""
    found = [r for r in records.values() if r.cell not in (Cell.UNTESTED, Cell.REFUSES, Cell.BLOCKED)]
    right = sum(not record.cell.is_bad for record in found)
    percent = 100 * right / len(found) if found else 0.0
    color = "brightgreen" if right == len(found) else "yellow" if percent >= 99 else "orange"
    badge = {"schemaVersion": 1, "label": "StableHLO", "message": f"{percent:.1f} % of {len(found)}", "color": color}
    return json.dumps(badge)


def as_html(records: Mapping[str, Record], title: str) -> str:
    """Return a page with the table, and the faults below it. ImportError that says what to install without jinja2."""
    environment = require("jinja2").Environment(autoescape=True, trim_blocks=True)
    template = environment.from_string((files(__package__) / "page.jinja").read_text("utf-8"))
    elements, table = grid(records)
    found = {"title": title, "summary": summary(records), "faults": faults(records)}
    return str(template.render(found, looks=LOOKS, elements=elements, table=table))


# --- known failures ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """An entry: which cases may fail, and why."""

    op: str
    type: str
    reason: str

    def covers(self, record: Record) -> bool:
        """Return whether the entry is about the op and the type of a record, or those of a value in its program.

        Values count in a chain, where they are those of the op that is wrong if the detail says so, and in a program
        with unknown dimensions.
        """
        uses = [use.split("/") for use in record.uses if record.element in ("", UNKNOWN)]
        located = [use for use in uses if record.detail.startswith(f"{use[0]}: ")]
        named = [(record.op, record.type), *(located or uses)]
        return any(fnmatchcase(op, self.op) and fnmatchcase(type, self.type) for op, type in named)

    def may_cover(self, record: Record) -> bool:
        """Return whether the entry may be about a case that has not been made: chains may have any op and type."""
        is_any_type = record.element in ("", UNKNOWN) and fnmatchcase(record.op, self.op)
        return record.op == "chain" or is_any_type or self.covers(record)

    def __str__(self) -> str:
        return f"{self.op} {self.type}: {self.reason}"


def read_known(path: Path) -> list[Known]:
    """Return the entries of a file; EvaluationError if it cannot be read or has something else."""
    with file_errors(path, f"read {path}"):
        text = read_text(path)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise EvaluationError(f"{path}: {error}") from None
    entries = document.get("known", [])
    found = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
        try:
            found.append(Known(**{"type": "*", **entry}))
            check_fields(found[-1])
        except TypeError:
            expected = "expected op, reason, and maybe type, which are texts"
            raise EvaluationError(f"{path}: entry {number} of 'known': {expected}") from None
    return found


def split(
    records: Mapping[str, Record], known: Sequence[Known], left: Iterable[str] = ()
) -> tuple[list[Record], list[Known]]:
    """Return the bad records that no entry covers, and the entries that are healed.

    These cover cases but no bad one, and none of those that are `left`, for which there was no time.
    """
    bad = [record for record in records.values() if record.cell.is_bad]
    waiting = [Record(name, Cell.UNTESTED) for name in left]
    new = [record for record in bad if not any(entry.covers(record) for entry in known)]
    healed = [
        entry
        for entry in known
        if any(entry.covers(record) for record in records.values())
        and not any(entry.covers(record) for record in bad)
        and not any(entry.may_cover(record) for record in waiting)
    ]
    return new, healed


# --- one case ---------------------------------------------------------------------------------------------------------

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
    program, shown = made.text, ""
    if made.broken:
        shown = f"The program breaks the constraint {made.broken} of `{record.op}` and must be rejected.\n\n"
    elif record.cell in BLOCKING:
        shown = f"Got: `{record.detail}`\n\n"
        if made.grid.count == 1 and not made.static:
            program, shown = _small(made, session, contract, record.detail)
    versions = {**session.versions(), "stablehlo-ref": __version__, "Python": platform.python_version()}
    text = f"# {record.op}: {record.cell.value}\n\n{session.description}: {record.detail}\n\n"
    text += f"```mlir\n{program.rstrip()}\n```\n\n{shown}"
    text += f"Case `{record.name}`; {', '.join(f'{name} {version}' for name, version in versions.items())}\n"
    return Explanation(record, program, text)


def _small(made: Case, session: Session, contract: Contract, detail: str) -> tuple[str, str]:
    """Return a small program that checks itself, and what is expected of it and came."""
    program, inputs = made.program, made.inputs
    with suppress(EvaluationError):  # the fault does not show again, so the whole program is left
        small = reduce(program, inputs, session, contract, max_calls=MAX_CALLS)
        program, inputs = small.program, small.inputs
    expected, outcome = list(map(np.asarray, program.run(*inputs))), session.run(str(program), inputs)
    types = [output.type for output in program.outputs]
    right, got = (", ".join(map(dense_text, types, arrays)) for arrays in (expected, outcome.results))
    shown = f"Expected: `{right}`\n\nGot: `{meaning(outcome.reason) if outcome.failure else got}`\n\n"
    try:
        flat = Flat(program)
        bounds = bounds_of(flat, inputs, contract, Evaluator(flat))
        return repro_of(flat, inputs, bounds, expected, detail).text(), shown
    except StablehloError:  # as of tokens, which are no constants
        return str(program), shown
