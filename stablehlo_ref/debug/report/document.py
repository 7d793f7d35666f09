"""The whole result of `diff` as a document of plain data: what `--json` prints, and what the HTML report shows.

docs/reference/json.md describes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TypeAlias

from stablehlo_ref.arrays.value_text import json_number
from stablehlo_ref.debug.diff import Diff, Inner
from stablehlo_ref.debug.fused import Group
from stablehlo_ref.debug.judge import Excess, Judgement, Verdict
from stablehlo_ref.debug.report.listing import Listed, listing
from stablehlo_ref.debug.report.measure import deviations
from stablehlo_ref.debug.report.provenance import provenance
from stablehlo_ref.debug.session import Outcome
from stablehlo_ref.ir.core import Operation

SCHEMA = 1
Document: TypeAlias = dict[str, Any]


def document(found: Diff) -> Document:
    """Return all that a comparison found, of types that JSON has; ops are referred to by their index in `ops`."""
    return {"schema": SCHEMA, **provenance(found), **_result(found)}


def json_text(found: Diff) -> str:
    """Return the document in one line of JSON."""
    return json.dumps(document(found), allow_nan=False)


def _result(found: Diff) -> Document:
    ops = found.evidence.flat.ops if found.evidence else []
    indices = {op: index for index, op in enumerate(ops)}
    return {
        "verdict": found.verdict,
        "wrong": found.is_wrong,
        "same": found.same,
        "failure": _outcome(found.failure),
        "errors": [json_number(error) for error in found.errors],
        "compilations": found.compilations,
        "stopped": _outcome(found.stopped),
        "counts": {v.name.lower(): sum(j.verdict is v for j in found.judgements) for v in Verdict},
        "ops": list(_ops(found)),
        "exceptions": [asdict(exception) for exception in found.exceptions],
        "sensitivities": [
            {
                "output": s.output,
                "distance": json_number(s.distance),
                "noise": json_number(s.noise),
                "factor": json_number(s.factor),
                "explained": s.is_explained,
            }
            for s in found.sensitivities
        ],
        "beyond": [{"output": b.output, "excess": excess_document(b.excess), "text": str(b)} for b in found.beyond],
        "not_explained": [indices[op] for op in found.not_explained],
        "unjudged": [] if found.same or found.failure else [indices[op] for op in found.unjudged],
        "reproducible": found.is_reproducible,
        "loops": [_inner(inner, indices) for inner in found.inner],
        "group": None if found.group is None else _group(found.group, indices),
        "repeated": found.is_repeated,
        "wrong_alone": found.is_wrong_alone,
        "unstable": None if found.unstable is None else indices.get(found.unstable),
        "workarounds": list(found.workarounds),
        "repro": None if found.repro is None else found.repro.text(),
    }


def _ops(found: Diff) -> Iterator[Document]:
    """Yield the ops of the program in order, those that were judged with their verdicts."""
    if found.evidence is None:
        return
    judgements = {judgement.op: judgement for judgement in found.judgements}
    for op, listed in zip(found.evidence.flat.ops, listing(found.evidence.flat)):
        yield {**_op(op, listed), **_judgement(found, judgements.get(op))}


def _op(op: Operation, listed: Listed) -> Document:
    place = op.location
    return {
        "name": op.name,
        "text": listed.text,
        "results": list(listed.results),
        "operands": list(listed.operands),
        "file": place.filename,
        "line": place.line,
        "column": place.column,
        "source": op.model_location,
    }


def _judgement(found: Diff, judgement: Judgement | None) -> Document:
    if judgement is None:
        nothing = {"excess": None, "error": None, "ulps": None, "differing": None}
        return {"verdict": None, "reason": None, "permissions": [], **nothing}
    return {
        "verdict": judgement.verdict.name.lower(),
        "reason": judgement.reason or None,
        "permissions": list(judgement.permissions),
        "excess": excess_document(judgement.excess),
        **_measures(found, judgement),
    }


def _measures(found: Diff, judgement: Judgement) -> Document:
    """Return the largest error of an op relative to its bound and in ULPs, and how many elements are off."""
    if judgement.verdict is Verdict.SAME:
        return {"error": 0.0, "ulps": 0.0, "differing": 0}
    assert found.evidence is not None and found.evidence.judge is not None
    every = list(deviations(found.evidence.judge, judgement))
    if not every:
        return {"error": None, "ulps": None, "differing": None}
    errors = [float(d.ratios.max(initial=0)) for d in every if d.ratios is not None]
    ulps = [float(d.ulps.max(initial=0)) for d in every if d.ulps is not None]
    return {
        "error": json_number(max(errors, default=None)),
        "ulps": json_number(max(ulps, default=None)),
        "differing": sum(int(d.differs.sum()) for d in every),
    }


def excess_document(excess: Excess | None) -> Document | None:
    """Return where and by how much a value exceeds its bound; values as text, which keeps all of their digits."""
    if excess is None:
        return None
    values = {"actual": str(excess.actual), "expected": str(excess.expected), "bound": json_number(excess.bound)}
    return {**asdict(excess), "index": list(excess.index), **values}


def _inner(inner: Inner, indices: dict[Operation, int]) -> Document:
    return {"op": indices[inner.loop], "turn": inner.turn, "found": _result(inner.found)}


def _group(group: Group, indices: dict[Operation, int]) -> Document:
    return {
        "ops": [indices[op] for op in group.ops],
        "certain": group.is_certain,
        "excess": excess_document(group.excess),
    }


def _outcome(outcome: Outcome | None) -> Document | None:
    return None if outcome is None else {"kind": outcome.failure, "reason": outcome.reason}
