"""The HTML report: one file that needs no network, for any result of `diff`."""

from __future__ import annotations

import gzip
import io
import json
import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref.arrays.digest import statistics
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.debug.contract import PRESETS
from stablehlo_ref.debug.cut import operands_of
from stablehlo_ref.debug.diff import Diff, Setup
from stablehlo_ref.debug.judge import Verdict
from stablehlo_ref.debug.report import SUSPICIOUS, WRONG, Fault, faults_of, inner_text
from stablehlo_ref.debug.report.document import (
    EDGES,
    Deviation,
    Document,
    deviations,
    document,
    excess_document,
    places,
)
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


@dataclass(frozen=True)
class Plotted:
    """A result of a wrong op: its histogram and map as SVG, with the numbers that they show."""

    name: str
    deviation: Deviation
    histogram: str
    counts: Sequence[tuple[str, int]]
    map: str
    axes: Sequence[tuple[int, int, str]]  # number, size, indices

    @property
    def counted(self) -> int:
        return int(exceeding(self.deviation).sum())


def report(found: Diff) -> str:
    """Return the page. ImportError that says what to install if jinja2 or matplotlib is missing."""
    require_packages()
    data = document(found)
    listed = list(findings(found, data))
    rows = list(_rows(data, ""))
    script = _file("page.js")
    return _render(
        "report", found, data, listed,
        plotted=[list(_plotted(finding, index)) for index, finding in enumerate(listed[:DETAILED])],
        overview=overview(rows), rows=_compressed(rows), row_count=len(rows),
        linked=True, has_sources=any(row[7] for row in rows),
        style=_file("page.css"), script=script, policy=_policy(script),
    )  # fmt: skip


def require_packages() -> None:
    """Raise ImportError, which says what to install, if a package that the page needs is missing."""
    for name in ("jinja2", "matplotlib"):
        require(name)


def summary(found: Diff) -> str:
    """Return the finding as an HTML fragment, for notebooks; as plain text if jinja2 is missing."""
    try:
        data = document(found)
        return _render("summary", found, data, list(findings(found, data)), style=_file("page.css"), linked=False)
    except ImportError:
        return f"<pre>{escape(str(found))}</pre>"


def _render(macro: str, found: Diff, data: Document, listed: Sequence[DiffFinding], **more: Any) -> str:
    text: str = getattr(_templates().module, macro)(
        {"found": found, "data": data, "findings": listed, "headline": headline(found), "shown": SHOWN,
         "detailed": DETAILED, "longest": LONGEST, "verdicts": _verdicts(data), "permissions": _permissions(data),
         "contract": _contract(data),
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


def _verdicts(data: Document) -> list[tuple[str, int, str]]:
    counts = data["counts"]
    return [(LABELS[name], counts[name], v.value) for v in Verdict if counts[name := v.name.lower()]]


def _permissions(data: Document) -> list[tuple[str, int]]:
    return Counter(text for op in data["ops"] for text in op["permissions"]).most_common()


def _contract(data: Document) -> list[tuple[str, Any, Any]]:
    """Return the fields of the contract with their values here and in the strict one."""
    strict = PRESETS["strict"]
    fields = [(name, value, getattr(strict, name)) for name, value in data["contract"].items()]
    return [(name.replace("_", " "), value, dict(other) if name == "ulps" else other) for name, value, other in fields]


def _plotted(finding: DiffFinding, index: int) -> Iterator[Plotted]:
    for number, (name, deviation) in enumerate(zip(finding.ops[0]["results"], finding.deviations)):
        counts = deviation.histogram()
        named = [] if counts is None else [(n, c) for n, c in zip(bin_names(), counts) if c]
        where = exceeding(deviation)
        axes = [(axis, where.shape[axis], text) for axis, text in enumerate(places(where))]
        yield Plotted(
            name, deviation, histogram(counts, f"h{index}-{number}") if named and counts else "", named,
            map_of(deviation, f"m{index}-{number}") if where.size > 1 else "", axes,
        )  # fmt: skip


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
    excess = op["excess"]
    if excess is None:
        return "; ".join([op["reason"], *op["permissions"]] if op["reason"] else op["permissions"])
    where = f"[{', '.join(map(str, excess['index']))}]"
    text = f"{excess['count']} of {excess['size']} elements; at {where} got {excess['actual']}, "
    text += f"expected {excess['expected']} within {excess['bound']} of it"
    if op["reason"]:
        text += f" ({op['reason']})"
    return "; ".join([text, *(f"legal with {permission}" for permission in op["permissions"])])


def _compressed(data: Any) -> str:
    """Return JSON as base64 of gzip, since the rows of 20,000 ops are 3 MB, and much alike."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _policy(script: str) -> str:
    """Return a content security policy that allows the page's own script, and nothing from elsewhere."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


@dataclass(frozen=True)
class Neighbour:
    """An op in a slice: its role, its document (None for an argument of the program), the backend's value."""

    role: str  # "operand", "this op", "user"
    name: str
    op: Document | None
    value: str
    anchor: str


@dataclass
class DiffFinding:
    """Ops that are wrong or suspicious; `where` says in which turn of which loops."""

    verdict: str
    ops: list[Document]
    anchors: list[str]  # the numbers of the ops in the program table
    excess: Document | None
    where: str
    notes: Sequence[str]
    slice: list[Neighbour]
    deviations: list[Deviation]
    repro: str | None


def findings(found: Diff, document: Document, prefix: str = "", where: str = "") -> Iterator[DiffFinding]:
    """Yield what was found, the most certain first; `prefix` is that of numbers of ops in the program table."""
    for inner, inside in zip(found.inner, document["loops"]):
        yield from findings(inner.found, inside["found"], f"{prefix}{inside['op']}.", inner_text(inner))
    made = _Findings(found, document, found.setup, prefix, where)
    yield from map(made.finding, faults_of(found))


@dataclass
class _Findings:
    found: Diff
    document: Document
    setup: Setup
    prefix: str
    where: str

    def __post_init__(self) -> None:
        self.indices: dict[object, int] = {op: index for index, op in enumerate(self.setup.flat.ops)}
        self.users: dict[Value, list[Operation]] = defaultdict(list)
        for op in self.setup.flat.ops:
            for value in operands_of(op):
                self.users[value].append(op)

    def finding(self, fault: Fault) -> DiffFinding:
        numbers = [self.indices[op] for op in fault.ops]
        return DiffFinding(
            fault.verdict, [self.document["ops"][number] for number in numbers], [f"{self.prefix}{n}" for n in numbers],
            excess_document(fault.excess), self.where, fault.notes, list(self._slice(fault.ops)),
            [] if fault.judgement is None else list(deviations(self.setup.judge, fault.judgement)),
            self.document["repro"] if fault.is_shown_by_repro else None,
        )  # fmt: skip

    def _slice(self, ops: Sequence[Operation]) -> Iterator[Neighbour]:
        """Yield the values that ops use, the ops, and the ops that use their results."""
        inside = {result for op in ops for result in op.results}
        used = dict.fromkeys(value for op in ops for value in operands_of(op))
        yield from (self._neighbour("operand", value) for value in used if value not in inside)
        yield from (self._neighbour("this op", op.results[0]) for op in ops)
        users = dict.fromkeys(user for value in inside for user in self.users.get(value, ()) if user not in ops)
        for user in sorted(users, key=self.indices.__getitem__)[:SHOWN_USERS]:
            yield from (self._neighbour("user", result) for result in user.results[:1])

    def _neighbour(self, role: str, value: Value) -> Neighbour:
        """Return a value with its op, its type, and the statistics of what the backend returned."""
        number, array = self.indices.get(value.owner), self.setup.judge.values.get(value)
        contents = str(value.type) + (f": {statistics(array)}" if array is not None else "")
        if number is None:
            return Neighbour(role, value.origin, None, contents, "")
        return Neighbour(role, value.origin, self.document["ops"][number], contents, f"{self.prefix}{number}")


# --- plots, as SVG that takes its colours from the page: matplotlib draws them ---------------------------------------

# Colours that stand for those of the page, which depend on its theme.
INK, ACCENT, BAD = "#010203", "#040506", "#070809"
THEMED = {INK: "currentColor", ACCENT: "var(--accent)", BAD: "var(--bad)"}
ROWS, COLUMNS = 48, 96  # cells of a map, at most
BINS = 240  # of the overview
LOWEST, HIGHEST = 1e-3, 1e4  # errors relative to the bound, as far as the overview shows them


def bin_names() -> list[str]:
    """Return what the bins of a histogram of ULPs hold, such as `up to 2`."""
    names = ["0", "up to 1/2", *(f"up to {int(edge)}" for edge in EDGES[2:])]
    return [*names, f"more than {int(EDGES[-1])}"]


def histogram(counts: Sequence[int], identifier: str) -> str:
    """Return a bar chart of a histogram of ULPs."""
    filled = np.flatnonzero(counts)
    first = min(max(0, int(filled[0]) - 1), len(counts) - 6)
    shown = range(first, max(int(filled[-1]), first + 5) + 1)
    labels = ["0", "½", *(f"{int(e)}" if e < 1024 else f"2^{int(np.log2(e))}" for e in EDGES[2:]), "more"]
    figure, axes = _figure(4.6, 2.2)
    axes.bar(shown, [counts[index] for index in shown], color=ACCENT, width=0.8)
    if max(counts) > 50 * min(count for count in counts if count):
        axes.set_yscale("log")
    axes.set_xticks(shown, labels[first : shown.stop], rotation=0 if len(shown) < 10 else 60)
    axes.set_xlabel("error in ULPs, up to")
    axes.set_ylabel("elements")
    return _svg(figure, identifier)


def map_of(deviation: Deviation, identifier: str) -> str:
    """Return an image of where elements exceed their bounds, or are off if none does: rows are leading axes."""
    cells = shares(exceeding(deviation))
    figure, axes = _figure(4.6, 0.9 + 1.6 * min(1.0, cells.shape[0] / 24))
    colour = np.zeros((*cells.shape, 4), np.float32)
    colour[..., 0], colour[..., 1], colour[..., 2] = 0.86, 0.24, 0.20
    colour[..., 3] = np.where(cells > 0, 0.3 + 0.7 * cells, 0.0)
    shape = deviation.actual.shape
    width, height = (shape[-1] if shape else 1), max(1, deviation.actual.size // max(1, shape[-1] if shape else 1))
    axes.imshow(colour, aspect="auto", interpolation="nearest", extent=(0, width, height, 0))
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(f"axis {max(0, len(shape) - 1)}")
    axes.set_ylabel("axis 0" if len(shape) == 2 else "axes " + ", ".join(map(str, range(len(shape) - 1))))
    if len(shape) < 2:
        axes.set_ylabel("")
        axes.set_yticks([])
    return _svg(figure, identifier)


def exceeding(deviation: Deviation) -> Array:
    """Return which elements exceed their bounds; if none does, which are off by more than half an ULP."""
    beyond = None if deviation.ratios is None else deviation.ratios > 1
    return deviation.differs if beyond is None or not beyond.any() else beyond


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


def overview(rows: Sequence[Sequence[Any]]) -> str:
    """Return a plot of the error of each op relative to its bound; of many ops, the largest of neighbours.

    It is empty if there are no errors.
    """
    known = np.array([min(float(row[1] or 0), HIGHEST) for row in rows])
    wrong = np.array([row[2] == "wrong" for row in rows], bool)
    if not known.any() and not wrong.any():
        return ""
    known = np.where(wrong, np.maximum(known, 1.5), known)  # such as a sign of zero, which has no size
    figure, axes = _figure(9.4, 1.9)
    for chosen, colour, marker in ((~wrong & (known > LOWEST), ACCENT, "."), (wrong, BAD, "X")):
        x, y = _largest(np.flatnonzero(chosen), known[chosen], len(known))
        axes.plot(x, y, linestyle="", marker=marker, color=colour, markersize=4 if marker == "." else 7)
    axes.axhline(1.0, color=INK, linewidth=0.8, linestyle="--")
    axes.set_yscale("log")
    axes.set_ylim(LOWEST, HIGHEST * 2)
    axes.set_xlim(-0.5, max(len(known) - 0.5, 0.5))
    axes.set_xlabel("op, in the order of the program")
    axes.set_ylabel("error / bound")
    return _svg(figure, "overview")


def _largest(x: Array, y: Array, count: int) -> tuple[Array, Array]:
    """Return points of which at most one is in each of `BINS` parts of the program."""
    if not len(x):
        return x, y
    order = np.lexsort((-y, x * BINS // max(count, 1)))
    _, first = np.unique((x * BINS // max(count, 1))[order], return_index=True)
    return x[order][first], y[order][first]


def _figure(width: float, height: float) -> tuple[Any, Any]:
    """Return a figure of a size in inches, without a background, and its axes."""
    figure = require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    figure.patch.set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)
    axes.xaxis.label.set(color=INK, size=8)
    axes.yaxis.label.set(color=INK, size=8)
    axes.spines[:].set_color(INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any, identifier: str) -> str:
    """Return a figure as an SVG element: text stays text, ids begin with `identifier`, colours are the page's."""
    buffer = io.StringIO()
    with require("matplotlib").rc_context({"svg.fonttype": "none", "svg.hashsalt": identifier}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{identifier}-", text)
    text = re.sub(r"<svg ", '<svg aria-hidden="true" focusable="false" ', text, count=1)
    return re.sub("|".join(THEMED), lambda match: THEMED[match[0]], text)
