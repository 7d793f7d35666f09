"""The HTML report: one file that needs no network, for any result of `diff`."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import log2
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.arrays.descriptions import statistics
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.debug.contract import PRESETS
from stablehlo_ref.debug.cut import operands_of
from stablehlo_ref.debug.diff import Diff
from stablehlo_ref.debug.judge import Verdict
from stablehlo_ref.debug.report import SUSPICIOUS, WRONG, faults_of, inner_text
from stablehlo_ref.debug.report.document import EDGES, Document, deviations, document, places
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.text.tokens import counted

SHOWN_USERS = 5  # of an op, in its slice
SHOWN = 100  # findings in the table
DETAILED = 20  # findings with plots and a slice
LONGEST = 1 << 18  # characters of a small program that is shown
LABELS = {
    "wrong": "✗ certainly wrong", "permitted": "△ needs permission", "legal": "✓ legal",
    "same": "= same bits", "not_judged": "? not judged", "": "- not compared",
}  # fmt: skip


def report(found: Diff) -> str:
    """Return the page. ImportError that says what to install if jinja2 is missing."""
    require_packages()
    data = document(found)
    rows, script = list(_rows(data, "")), _file("page.js")
    return _render(
        "report", found, data, overview=overview(rows), rows=_compressed(rows), row_count=len(rows),
        linked=True, has_sources=any(row[7] for row in rows),
        style=_file("page.css"), script=script, policy=_policy(script),
    )  # fmt: skip


def require_packages() -> None:
    """Raise ImportError, which says what to install, if the package that the page needs is missing."""
    require("jinja2")


def summary(found: Diff) -> str:
    """Return the finding as an HTML fragment, for notebooks; as plain text if jinja2 is missing."""
    try:
        return _render("summary", found, document(found), style=_file("page.css"), linked=False)
    except ImportError:
        return f"<pre>{escape(str(found))}</pre>"


def _render(macro: str, found: Diff, data: Document, **more: Any) -> str:
    counts = data["counts"]
    verdicts = [(LABELS[name], counts[name], v.value) for v in Verdict if counts[name := v.name.lower()]]
    permissions = Counter(text for op in data["ops"] for text in op["permissions"])
    text: str = getattr(_templates().module, macro)(
        {"found": found, "data": data, "findings": list(findings(found, data)), "headline": headline(found),
         "shown": SHOWN, "detailed": DETAILED, "longest": LONGEST, "verdicts": verdicts,
         "permissions": permissions.most_common(), "contract": _contract(data), "plots": plots,
         "exceptions": [exception for exception in found.exceptions if exception.is_generated],
         "labels_by_verdict": LABELS, **more}
    )  # fmt: skip
    return str(text)


@cache
def _templates() -> Any:
    environment = require("jinja2").Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {}  # which would sort the keys
    return environment.from_string(_file("page.jinja"))


def _file(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def headline(found: Diff) -> str:
    """Return what was found in one sentence."""
    name = found.setup.contract.name
    if found.failure:
        return f"The backend failed on the program: {found.failure.outcome.failure}"
    if found.outputs.same:
        return "No difference: all outputs have the bits that the interpreter computes"
    if found.inner:
        return f"Wrong under the contract {name} inside of {counted(len(found.inner), 'op')}"
    if named := found.suspects or (found.group.ops if found.group is not None else ()):
        verb, certainty = "is" if len(named) == 1 else "are", WRONG if found.is_located else SUSPICIOUS
        together = "" if found.suspects else ", only together"
        return f"{counted(len(named), 'op')} {verb} {certainty} under the contract {name}{together}"
    if count := len(found.outputs.beyond):
        return f"{counted(count, 'output')} not explained by the contract {name}: {found.verdict}"
    return f"The outputs differ, and no op is wrong under the contract {name}"


def _contract(data: Document) -> list[tuple[str, Any, Any]]:
    """Return the fields of the contract with their values here and in the strict one."""
    strict = PRESETS["strict"]
    fields = [(name, value, getattr(strict, name)) for name, value in data["contract"].items()]
    return [(name.replace("_", " "), value, dict(other) if name == "ulps" else other) for name, value, other in fields]


def _rows(data: Document, prefix: str) -> Iterator[list[Any]]:
    """Yield rows of the program table in the order of the program, those of a loop's turn after the loop.

    Each is: number, error relative to the bound, verdict, text, ULPs, elements that are off, place, source, excess.
    """
    inner = {loop["op"]: loop for loop in data["loops"]}
    for index, op in enumerate(data["ops"]):
        place = f"{op['line']}:{op['column']}"
        yield [f"{prefix}{index}", op["error"], op["verdict"] or "", op["text"], op["ulps"], op["differing"], place,
               _source(op), _excess(op)]  # fmt: skip
        if index in inner:
            yield from _rows(inner[index]["found"], f"{prefix}{index}.")


def _source(op: Document) -> str:
    """Return where an op comes from in the model, the file first and without its folders: `model.py:3:1 jit(f)/add`."""
    name, at, place = (op["source"] or "").rpartition(" at ")
    return f"{Path(place).name} {name}" if at else place


def _excess(op: Document) -> str:
    parts = [op["excess"]["text"]] if op["excess"] else []
    parts += [op["reason"]] if op["reason"] else []
    return "; ".join([*parts, *(f"legal with {permission}" for permission in op["permissions"])])


def _compressed(data: Any) -> str:
    """Return JSON as base64 of gzip, since the rows of 20,000 ops are 3 MB, and much alike."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _policy(script: str) -> str:
    """Return a content security policy that allows the page's own script, and nothing from elsewhere."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def findings(found: Diff, data: Document, prefix: str = "", where: str = "") -> Iterator[Document]:
    """Yield the faults of a document with their ops, slices and deviations, those inside of loops first.

    `prefix` is that of numbers of ops in the program table, and `where` says in which turn of a loop they are.
    """
    for inner, loop in zip(found.inner, data["loops"]):
        yield from findings(inner.found, loop["found"], f"{prefix}{loop['op']}.", inner_text(inner))
    slices = _Slices(found, data, prefix)
    for fault, shown in zip(faults_of(found), data["faults"]):
        judgement = fault.judgement
        yield {
            **shown,
            "ops": [data["ops"][number] for number in shown["ops"]],
            "anchors": [f"{prefix}{number}" for number in shown["ops"]],
            "where": where,
            "slice": list(slices.of(shown["ops"])),
            "deviations": [] if judgement is None else list(deviations(found.setup.judge, judgement)),
            "repro": data["repro"] if fault.is_shown_by_repro else None,
        }


class _Slices:
    """Finds the values that ops of a document use, and the ops that use their results."""

    def __init__(self, found: Diff, data: Document, prefix: str) -> None:
        self._ops, self._arrays = found.setup.flat.ops, found.setup.judge.values
        self._data, self._prefix = data["ops"], prefix
        self._numbers = {op: number for number, op in enumerate(self._ops)}
        self._users: dict[Value, list[int]] = defaultdict(list)
        for number, op in enumerate(self._ops):
            for value in operands_of(op):
                self._users[value].append(number)

    def of(self, numbers: Sequence[int]) -> Iterator[Document]:
        """Yield rows of a table: operands of the ops with these numbers, the ops, and ops that use their results.

        `op` is None for an argument of the function.
        """
        ops = [self._ops[number] for number in numbers]
        results = [result for op in ops for result in op.results]
        used = dict.fromkeys(value for op in ops for value in operands_of(op))
        yield from (self._row("operand", value) for value in used if value not in results)
        yield from (self._row("this op", value) for op in ops for value in op.results[:1])
        users = sorted({user for result in results for user in self._users[result]} - {*numbers})[:SHOWN_USERS]
        yield from (self._row("user", value) for number in users for value in self._ops[number].results[:1])

    def _row(self, role: str, value: Value) -> Document:
        """Return a value with its op, its type, and the statistics of what the backend returned."""
        number = self._numbers.get(value.owner) if isinstance(value.owner, Operation) else None
        contents = f"{value.type}: {statistics(self._arrays[value])}" if value in self._arrays else str(value.type)
        op = None if number is None else self._data[number]
        return {"role": role, "name": value.origin, "op": op, "value": contents, "anchor": f"{self._prefix}{number}"}


# --- plots, which the template draws ---------------------------------------------------------------------------------

ROWS, COLUMNS = 48, 96  # cells of a map, at most
BINS = 240  # of the overview
LOWEST, HIGHEST = 1e-3, 1e4  # errors relative to the bound, as far as the overview shows them


def plots(finding: Document) -> Iterator[Document]:
    """Yield for each result of a finding the bars of its histogram of ULPs, and a map of where it differs.

    That is where it exceeds its bound; if it does nowhere, where it is off by more than half an ULP.
    """
    for name, deviation in zip(finding["ops"][0]["results"], finding["deviations"]):
        beyond = None if deviation.ratios is None else deviation.ratios > 1
        where = deviation.differs if beyond is None or not beyond.any() else beyond
        counts = deviation.histogram() or []
        longest = log2(1 + max(counts, default=0))
        axes = [(axis, where.shape[axis], text) for axis, text in enumerate(places(where))]
        yield {
            "name": name,
            "bars": [(bin, n, log2(1 + n) / longest) for bin, n in zip(bin_names(), counts) if n],
            "map": shares(where) if where.size > 1 else None,
            "counted": int(where.sum()), "size": where.size, "axes": axes,
        }  # fmt: skip


def bin_names() -> list[str]:
    """Return what the bins of a histogram of ULPs hold, such as `up to 2`."""
    names = ["0", "up to 1/2", *(f"up to {int(edge)}" for edge in EDGES[2:])]
    return [*names, f"more than {int(EDGES[-1])}"]


def shares(where: Array) -> Array:
    """Return the share of true elements in each cell of a map: rows are all axes but the last."""
    flat = where.reshape(-1, where.shape[-1]) if where.ndim > 1 else where.reshape(1, -1)
    for axis, most in ((0, ROWS), (1, COLUMNS)):
        if flat.shape[axis] > most:
            edges = np.linspace(0, flat.shape[axis], most, endpoint=False).astype(int)
            sizes = np.diff([*edges, flat.shape[axis]])
            sums = np.add.reduceat(flat, edges, axis, dtype=np.float64)
            flat = sums / (sizes[:, None] if axis == 0 else sizes)
    return np.asarray(flat, np.float64)


def overview(rows: Sequence[Sequence[Any]]) -> list[tuple[float, float, bool]]:
    """Return points for the errors of ops relative to their bounds; of many ops, the largest of neighbours.

    Each has the place across and, in a logarithmic scale, the height, between 0 and 1, and whether the op is wrong.
    """
    largest: dict[tuple[int, bool], tuple[float, int]] = {}
    for index, row in enumerate(rows):
        is_wrong = row[2] == "wrong"
        error = max(float(row[1] or 0), 1.5 if is_wrong else 0.0)  # such as a sign of zero, which has no size
        if error > LOWEST:
            key = index * BINS // len(rows), is_wrong
            largest[key] = max(largest.get(key, (0.0, 0)), (min(error, HIGHEST), index))
    scale = log2(HIGHEST / LOWEST)
    return [((i + 0.5) / len(rows), log2(e / LOWEST) / scale, wrong) for (_, wrong), (e, i) in largest.items()]
