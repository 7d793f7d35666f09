"""Run one fault of the campaign, and say whether it was located."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from math import ceil, log2
from pathlib import Path
from typing import Any

from faults.trials import Trial

from stablehlo_ref.debug import Diff, Session, diff
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.loading import load
from stablehlo_ref.program import Program

GROUP = 5  # ops
TRIES = 4  # types for which the fault may have no effect
BENCH = Path(os.environ.get("STABLEHLO_REF_SHARED", "/work/shared")) / "bench"
sys.path.insert(0, str(BENCH))


@cache
def model(name: str) -> tuple[Program, tuple[Any, ...]]:
    """Return a program of the benchmarks and its inputs."""
    from inputs import draw_all  # type: ignore[import-not-found]

    manifest = json.loads((BENCH / "manifest.json").read_text())
    entry = next(e for e in manifest["programs"] if e["name"] == f"models/{name}")
    return load(BENCH / entry["file"]).verify(), tuple(draw_all(entry))


def inputs_of(trial: Trial) -> list[Any]:
    """Return the inputs of a trial: scaled, and with a special value if it has one."""
    arrays = [
        array * array.dtype.type(trial.scale) if array.dtype.kind == "f" else array for array in model(trial.model)[1]
    ]
    arrays = [x * x.dtype.type(trial.stretch) if x.dtype.kind == "i" else x for x in arrays]
    if trial.special:
        index = next(i for i, array in enumerate(arrays) if array.dtype.kind == "f" and array.ndim)
        arrays[index] = arrays[index].copy()
        arrays[index].reshape(-1)[arrays[index].size // 2] = trial.special
    return arrays


def types_of(program: Program, name: str, seed: int) -> list[str]:
    """Return the types of the results of ops of a name, in the program and its loops, in an order that is drawn."""
    ops = [inner for op in Flat(program).ops for inner in op.walk() if inner.name == name and inner.results]
    found = sorted({str(op.results[0].type) for op in ops if _is_fed(op)})
    return random.Random(seed).sample(found, len(found))


def _is_fed(op: Operation) -> bool:
    """Return whether an op is not in a body of a reduction."""
    parent = op.parent_op
    return parent is None or parent.name in ("func.func", "stablehlo.while", "stablehlo.if", "stablehlo.case")


def run(trial: Trial, seed: int) -> dict[str, Any]:
    """Return a row of the table."""
    program, _ = model(trial.model)
    arrays, row = inputs_of(trial), {"model": trial.model, "fault": f"{trial.fault}:{trial.op}", "result": "no such op"}
    plain = plain_seconds(program, arrays)
    for type in types_of(program, f"stablehlo.{trial.op}", seed)[:TRIES]:
        backend = f"faulty:{trial.fault}:stablehlo.{trial.op}:{type}"
        row |= compared(program, arrays, backend, trial, type, plain)
        if row["result"] != "no effect":
            break
    if trial.permissive and row["result"] != "no effect":
        with Session(backend, seconds=1200) as session:
            found = diff(program, arrays, session, trial.permissive)
        row["permissive"] = "flagged" if found.is_wrong else "not flagged"
    return row


def plain_seconds(program: Program, arrays: list[Any]) -> float:
    """Return the time in which a user who reads the program gets its results."""
    started = time.perf_counter()
    load(str(program)).verify().run(*arrays)
    return time.perf_counter() - started


def compared(
    program: Program, arrays: list[Any], backend: str, trial: Trial, type: str, plain: float
) -> dict[str, Any]:
    with Session(backend, seconds=1200) as session:
        started = time.perf_counter()
        found = diff(program, arrays, session, trial.contract)
        seconds = time.perf_counter() - started
        own = seconds - session.elapsed
    ops = sum(1 for op in Flat(program).ops for _ in op.walk())
    return {
        "ops": ops, "type": type, "contract": trial.contract, "result": outcome(found, f"stablehlo.{trial.op}", type),
        "located": ", ".join(f"{op.name} at {op.location.line}" for op in named(found)),
        "fused": found.group is not None, "compilations": found.compilations, "limit": 2 * ceil(log2(ops)) + 5,
        "ratio": round(own / plain, 1), "seconds": round(seconds, 1), "plain": round(plain, 2), "report": trial.report,
    }  # fmt: skip


def named(found: Diff) -> list[Operation]:
    """Return the op or the group that is named, also in a loop."""
    if found.inner:
        return named(found.inner[0].found)
    if found.suspects:
        return [found.suspects[0].op]
    return list(found.group.ops) if found.group is not None else []


def outcome(found: Diff, name: str, type: str) -> str:
    """Return "exact", "group", "no effect", or what went wrong."""
    if found.same:
        return "no effect"
    if found.failure:
        return f"failed: {found.failure}"
    ops = named(found)
    is_inside = any((op.name, str(op.results[0].type)) == (name, type) for op in ops)
    if not ops or not is_inside:
        return "wrong op" if ops else "missed"
    return "exact" if len(ops) == 1 else "group" if len(ops) <= GROUP else "large group"


def summary(rows: Mapping[str, Mapping[str, Any]], trials: Mapping[str, Trial]) -> Iterator[str]:
    """Yield lines on how many faults were located, and at what cost."""
    for kind, accepted in (("unfused", ("exact",)), ("fused", ("exact", "group"))):
        results = [r["result"] for k, r in rows.items() if trials[k].is_fused == (kind == "fused")]
        counted = [r for r in results if r not in ("no effect", "no such op")]
        right = sum(r in accepted for r in counted)
        yield f"{kind}: {right} of {len(counted)} located; {dict(Counter(results))}"
    permissive = Counter(r["permissive"] for r in rows.values() if "permissive" in r)
    yield f"under the permissive contract: {dict(permissive)}"
    over = [k for k, r in rows.items() if r.get("compilations", 0) > r.get("limit", 0)]
    ratios = sorted(r["ratio"] for r in rows.values() if "ratio" in r)
    yield f"over the limit of compilations: {over or 'none'}"
    if ratios:
        yield f"cost beside the backend, of our plain run: median {ratios[len(ratios) // 2]}, most {ratios[-1]}"
