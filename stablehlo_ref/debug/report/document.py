"""The whole result of `diff` as a document of plain data: what `--json` prints, and what the HTML report shows.

docs/reference/json.md describes it. Errors of ops are also custom node data of Google's Model Explorer, by the node ids
of its MLIR adapter. That makes a graph of each function, with the function's name as its id, and numbers the ops of a
function in the order of the text. An op in a region is a node too, but not one in a region of such an op, unless that
is Shardy's.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.arrays.descriptions import json_number
from stablehlo_ref.debug.bounds.ball import UNKNOWN, Ball, exact, overflowed, ulp
from stablehlo_ref.debug.cut import Flat, operands_of
from stablehlo_ref.debug.diff import Diff
from stablehlo_ref.debug.judge import Excess, Judge, Judgement, Verdict, errors_of, excess_of
from stablehlo_ref.debug.report import faults_of
from stablehlo_ref.debug.session import Outcome
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.limits.stack import FRAMES, on_enough_stack
from stablehlo_ref.numerics.dtypes import is_fractional
from stablehlo_ref.passes.inspection import elide_constants
from stablehlo_ref.syntax.printer import Printer

SHOWN_ELEMENTS = 8  # of a constant
EDGES = (0.0, 0.5, *(2.0**k for k in range(25)))  # of a histogram of ULPs: 0, up to 1/2, up to 1, up to 2, ...
SHOWN_RANGES = 6  # of indices along an axis
SCHEMA = 1
Document: TypeAlias = dict[str, Any]


def document(found: Diff) -> Document:
    """Return all that a comparison found, of types that JSON has; ops are referred to by their index in `ops`."""
    return {"schema": SCHEMA, **provenance(found), **_result(found)}


def _result(found: Diff) -> Document:
    ops = found.setup.flat.ops
    indices = {op: index for index, op in enumerate(ops)}
    return {
        "verdict": found.verdict,
        "wrong": found.is_wrong,
        "same": found.outputs.same,
        "failure": _outcome(found.failure.outcome if found.failure else None),
        "errors": [json_number(error) for error in found.outputs.errors],
        "compilations": found.setup.compilations,
        "stopped": _outcome(found.stopped),
        "counts": {v.name.lower(): sum(j.verdict is v for j in found.judgements) for v in Verdict},
        "ops": list(_ops(found)),
        "exceptions": [asdict(exception) for exception in found.exceptions],
        "sensitivities": [
            {"output": s.output, "explained": s.is_explained}
            | {name: json_number(getattr(s, name)) for name in ("distance", "noise", "factor")}
            for s in found.outputs.sensitivities
        ],
        "beyond": [
            {"output": b.output, "excess": excess_document(b.excess), "text": str(b)} for b in found.outputs.beyond
        ],
        "faults": [
            {
                "verdict": fault.verdict,
                "ops": [indices[op] for op in fault.ops],
                "excess": excess_document(fault.excess),
                "notes": list(fault.notes),
            }
            for fault in faults_of(found)
        ],
        "not_explained": [indices[op] for op in found.not_explained],
        "unjudged": [] if found.outputs.same or found.failure else [indices[op] for op in found.unjudged],
        "reproducible": found.outputs.are_reproducible,
        "loops": [
            {"op": indices[inner.loop], "turn": inner.turn, "found": _result(inner.found)} for inner in found.inner
        ],
        "group": found.group
        and {
            "ops": [indices[op] for op in found.group.ops],
            "certain": found.group.is_certain,
            "excess": excess_document(found.group.excess),
        },
        "repeated": found.confirmation is None or found.confirmation.is_repeated,
        "wrong_alone": found.confirmation and found.confirmation.is_wrong_alone,
        "unstable": indices.get(found.failure.unstable) if found.failure and found.failure.unstable else None,
        "workarounds": list(found.repro.workarounds) if found.repro else [],
        "repro": None if found.repro is None else found.repro.text(),
    }


def _ops(found: Diff) -> Iterator[Document]:
    """Yield the ops of the program in order, those that were judged with their verdicts."""
    judgements = {judgement.op: judgement for judgement in found.judgements}
    for op, listed in zip(found.setup.flat.ops, listing(found.setup.flat)):
        place, judgement = op.location, judgements.get(op)
        yield {
            "name": op.name,
            **listed,
            "file": place.filename,
            "line": place.line,
            "column": place.column,
            "source": op.model_location,
            "verdict": judgement and judgement.verdict.name.lower(),
            "reason": (judgement and judgement.reason) or None,
            "permissions": list(judgement.permissions) if judgement else [],
            "excess": judgement and excess_document(judgement.excess),
            **_measures(found, judgement),
        }


def _measures(found: Diff, judgement: Judgement | None) -> Document:
    """Return the largest error of an op relative to its bound and in ULPs, and how many elements are off."""
    if judgement is not None and judgement.verdict is Verdict.SAME:
        return {"error": 0.0, "ulps": 0.0, "differing": 0}
    every = [] if judgement is None else list(deviations(found.setup.judge, judgement))
    errors = [float(d.ratios.max(initial=0)) for d in every if d.ratios is not None]
    ulps = [float(d.ulps.max(initial=0)) for d in every if d.ulps is not None]
    return {
        "error": json_number(max(errors, default=None)),
        "ulps": json_number(max(ulps, default=None)),
        "differing": sum(int(d.differs.sum()) for d in every) if every else None,
    }


def excess_document(excess: Excess | None) -> Document | None:
    """Return where and by how much a value exceeds its bound; values as text, which keeps all of their digits."""
    if excess is None:
        return None
    values = {"actual": str(excess.actual), "expected": str(excess.expected), "bound": json_number(excess.bound)}
    return {**asdict(excess), "index": list(excess.index), **values, "text": str(excess)}


def _outcome(outcome: Outcome | None) -> Document | None:
    return None if outcome is None else {"kind": outcome.failure, "reason": outcome.reason}


def provenance(found: Diff) -> Document:
    """Return what a comparison was made of, as plain data."""
    made, program, contract = found.setup, found.setup.program, found.setup.contract
    return {
        "program": {
            "file": program.module.location.filename,
            "sha256": sha256(str(program).encode()).hexdigest(),
            "entry": program.entry.name,
            "ops": len(made.flat.ops),
        },
        "inputs": {
            "origin": made.origin,
            "arrays": [
                {"name": p.name, "type": str(p.type), "sha256": sha256(array.tobytes()).hexdigest()}
                for p, array in zip(program.inputs, made.inputs)
            ],
        },
        "backend": made.backend,
        "backend_versions": dict(made.versions),
        "contract": {f.name: getattr(contract, f.name) for f in fields(contract)} | {"ulps": dict(contract.ulps)},
        "versions": {
            "stablehlo-ref": __version__,
            "numpy": version("numpy"),
            "ml_dtypes": version("ml_dtypes"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
    }


def listing(flat: Flat) -> list[Document]:
    """Return the text of each op of a program, and the names of its results and of the values that it uses.

    Large constants are left out.
    """
    ops = [clone(op, {}) for op in flat.ops]
    for op in ops:
        elide_constants(op, SHOWN_ELEMENTS)
    return on_enough_stack(flat.program.module.location, FRAMES, lambda: list(map(_listed, ops)))


class _Lister(Printer):
    """Prints ops with the names that values have in the program, `@relu/%3`."""

    def operand(self, value: Value) -> str:
        return value.origin or super().operand(value)

    def _result_names(self, op: Operation) -> str:
        is_known = op.results and all(result.origin for result in op.results)
        return f"{', '.join(map(self.operand, op.results))} = " if is_known else super()._result_names(op)


def _listed(op: Operation) -> Document:
    printer = _Lister()
    printer.operation(op)
    results, operands = (list(map(printer.operand, values)) for values in (op.results, operands_of(op)))
    return {"text": "".join(printer.parts).strip(), "results": results, "operands": operands}


@dataclass(frozen=True)
class Deviation:
    """A result of a backend beside the exact result of the op on the backend's own operands, and the bound on both."""

    value: Value
    actual: Array
    expected: Array  # in f64 or complex128 for floating-point types
    radius: Array | None  # None if there is no bound

    @cached_property
    def errors(self) -> Array:
        """The distance of each element from the expected one; infinite where only one of both is special."""
        return errors_of(self.actual, self.expected)

    @cached_property
    def ulps(self) -> Array | None:
        """The errors in ULPs of the result's type at the expected value; None for integers and booleans."""
        if not is_fractional(self.actual.dtype):
            return None
        with np.errstate(all="ignore"):
            return self.errors / ulp(np.abs(self.expected), self.actual.dtype)

    @cached_property
    def ratios(self) -> Array | None:
        """The errors relative to their bounds, more than 1 where they exceed them; None without bounds."""
        if self.radius is None:
            return None
        radius = np.broadcast_to(self.radius, self.errors.shape)
        with np.errstate(all="ignore"):
            found = self.errors / radius
        return np.where(self.errors == 0, 0.0, np.where(np.isinf(radius), 0.0, found))

    @property
    def differs(self) -> Array:
        """Whether each element is more than half an ULP off, or not the expected integer."""
        return self.errors > 0 if self.ulps is None else self.ulps > 0.5

    def histogram(self) -> list[int] | None:
        """Return how many elements are 0, up to 1/2, 1, 2, ..., 2^24, and more ULPs off; None for integers."""
        if self.ulps is None:
            return None
        places = np.searchsorted(EDGES, self.ulps.reshape(-1), side="left")
        return [int(n) for n in np.bincount(places, minlength=len(EDGES) + 1)]


def deviations(judge: Judge, judgement: Judgement) -> Iterator[Deviation]:
    """Yield the deviation of each result of an op; none if values are missing and the op cannot be evaluated."""
    op = judgement.op
    if not judge.knows(op):
        return
    balls = _bounds(judge, judgement)
    ours = (judge.evaluate(op, judge.operands(op)) if UNKNOWN in balls else None) or []
    for index, (result, ball) in enumerate(zip(op.results, balls)):
        actual = judge.values[result]
        expected = exact(ours[index]) if ball is UNKNOWN and ours else overflowed(ball, actual.dtype)
        if expected.center.shape == actual.shape and expected is not UNKNOWN:
            yield Deviation(result, actual, expected.center, None if ball is UNKNOWN else expected.radius)


def _bounds(judge: Judge, judgement: Judgement) -> Sequence[Ball]:
    """Return the bounds on the op alone, or those of what may be computed again with it where they are exceeded."""
    alone, op = judge.known_bounds(judgement.op), judgement.op
    if judgement.verdict is Verdict.SAME:
        return alone
    pairs = zip(op.results, alone)
    is_inside = all(excess_of(judge.values[result], ball, judge.contract) is None for result, ball in pairs)
    return alone if is_inside else judge.bounds(op)


def places(where: Array) -> list[str]:
    """Return for each axis the indices at which anything is true: `all 16`, `31`, `0-3, 7`."""
    return [_ranges(np.any(where, tuple(i for i in range(where.ndim) if i != axis))) for axis in range(where.ndim)]


def _ranges(hit: Array) -> str:
    """Return the indices of what is true as ranges."""
    if hit.all():
        return f"all {hit.size}" if hit.size != 1 else "0"
    steps = np.diff(np.concatenate(([0], hit.astype(np.int8), [0])))
    pairs = list(zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1))
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in pairs[:SHOWN_RANGES]]
    more = f" and {int(hit.sum()) - sum(b - a + 1 for a, b in pairs[:SHOWN_RANGES])} more"
    return ", ".join(shown) + (more if len(pairs) > SHOWN_RANGES else "") if shown else "none"


# --- node data of Google's Model Explorer ----------------------------------------------------------------------------

LARGEST = 1e6  # an error relative to the bound: larger ones, and those of ops that are wrong by any error, are this
COLOURS = {
    "wrong": "#b42318", "suspicious": "#f79009", "permitted": "#f5c04c", "legal": "#b7dfc0", "same": "#e3f3e6",
}  # fmt: skip
RANKS = list(COLOURS)

_Judged: TypeAlias = dict[tuple[str, int, int], tuple[str, float]]  # verdicts and errors by name, line, column


def node_data(found: Diff) -> dict[str, Any]:
    """Return node data by graph and node id: the largest error of each op relative to its bound, coloured by verdict.

    Of an op that several calls or turns of loops run, it is the worst. Ops that were not judged have no data.
    """
    judged: _Judged = {}
    _collect(document(found), judged)
    graphs: dict[str, Any] = {}
    for function in found.setup.program.module.walk():
        if function.name == "func.func" and function.regions[0].blocks:
            keyed = ((str(number), judged.get(_key(op))) for number, op in enumerate(_nodes(function)))
            results = {
                identifier: {"value": known[1], "bgColor": COLOURS[known[0]]} for identifier, known in keyed if known
            }
            graphs[str(function.properties["sym_name"])] = {
                "name": f"error / bound of {found.setup.backend} under {found.setup.contract.name}",
                "results": results,
                "hideAggregatedStats": ["sum", "avg"],
            }
    return graphs


def _nodes(function: Operation) -> Iterator[Operation]:
    """Yield the ops of a function that are nodes, in the order of their ids."""
    for op in function.regions[0].blocks[0].operations:
        yield from (op, *_inside(op))


def _inside(op: Operation) -> Iterator[Operation]:
    for inner in (inner for region in op.regions for block in region.blocks for inner in block.operations):
        yield inner
        if inner.name.startswith("sdy."):
            yield from _inside(inner)


def _collect(data: Document, judged: _Judged) -> None:
    """Add the worst verdict and error of each op of a document."""
    ops = data["ops"]
    for op in ops:
        if op["verdict"] in COLOURS:
            _add(judged, op, op["verdict"], float(op["error"] or 0))
    if data["group"]:
        for index in data["group"]["ops"]:
            verdict = "wrong" if data["group"]["certain"] else "suspicious"
            _add(judged, ops[index], verdict, LARGEST if data["group"]["certain"] else 0.0)
    for loop in data["loops"]:
        _add(judged, ops[loop["op"]], "wrong", LARGEST)
        _collect(loop["found"], judged)


def _add(judged: _Judged, op: Document, verdict: str, error: float) -> None:
    key = op["name"], op["line"], op["column"]
    known, largest = judged.get(key, (verdict, 0.0))
    judged[key] = min(verdict, known, key=RANKS.index), min(max(error, largest), LARGEST)


def _key(op: Operation) -> tuple[str, int, int]:
    return op.name, op.location.line, op.location.column
