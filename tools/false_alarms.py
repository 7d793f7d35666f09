"""Run programs in a backend that is taken to be right, and count what `diff` calls wrong.

    python tools/false_alarms.py PROGRAM.mlir ... --log runs.jsonl [--backend jax] [--contracts "xla-cpu;tpu"]

A run is a program with random inputs of one seed, judged under one contract; the backend computes only once for all
contracts. Each run is a line of the log, and runs that are in it are not repeated, so that the tool can be stopped and
started again. The exit code is 1 if anything was called wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from stablehlo_ref.cli.random_inputs import random_inputs
from stablehlo_ref.debug import Diff, Outcome, Session, diff
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.loading import load


class Remembering(Session):
    """A session that does not run the same program on the same inputs again after `rewind`, until `forget`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._answers: dict[tuple[str, int], Outcome] = {}
        self._times: Counter[str] = Counter()

    def rewind(self) -> None:
        self._times.clear()
        self._seen.clear()

    def forget(self) -> None:
        self._answers.clear()

    def _exchange(self, program: str, inputs: Sequence[Any], setting: Any) -> Outcome:
        digest = hashlib.sha256(f"{program}{setting}".encode())
        for array in inputs:
            digest.update(array.tobytes())
        name = digest.hexdigest()
        self._times[name] += 1
        key = name, self._times[name]
        if key not in self._answers:
            self._answers[key] = super()._exchange(program, inputs, setting)
        return self._answers[key]


def result_of(found: Diff) -> str:
    """Return "wrong", "failed", "stopped" (intermediate values are missing), "suspicious", "same" or "clean"."""
    if found.failure:
        return "failed"
    if found.is_wrong:
        return "wrong"
    if found.stopped:
        return "stopped"
    is_suspicious = found.suspicions or found.group is not None
    return "suspicious" if is_suspicious else "same" if found.same else "clean"


def tally(found: Diff) -> dict[str, int]:
    """Return the number of ops of each verdict, and of each op that is not judged."""
    counts = Counter(judgement.verdict.name for judgement in found.judgements)
    counts.update(j.op.name for j in found.judgements if j.verdict.name == "NOT_JUDGED")
    return dict(counts)


def runs(
    path: Path, options: argparse.Namespace, session: Remembering, done: set[tuple[str, ...]]
) -> list[dict[str, Any]]:
    """Return the runs of a program that are not `done`."""
    made: list[dict[str, Any]] = []
    program = load(path)
    for seed in range(options.seeds):
        name = f"{seed}, special" if options.special else str(seed)
        keys = {c: (str(path), options.backend, c, name) for c in options.contracts.split(";")}
        if all(key in done for key in keys.values()):
            continue
        drawn = random_inputs(program.inputs, seed, {}, program.limits)
        inputs = [drawn[parameter.name] for parameter in program.inputs]
        if options.special:
            inputs = [with_special_values(array, np.random.default_rng((seed, i))) for i, array in enumerate(inputs)]
        session.forget()
        for contract, key in keys.items():
            if key not in done:
                session.rewind()
                made.append(dict(zip(("program", "backend", "contract", "seed"), key)))
                made[-1] |= _run(program, inputs, session, contract)
    return made


def with_special_values(array: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Return an array with a tenth of its numbers replaced by zeros, subnormal, small, large and infinite ones, NaN."""
    array = np.asarray(array)
    if array.dtype.kind not in "fV":
        return array
    info = ml_dtypes.finfo(array.dtype)
    special = [0.0, -0.0, info.smallest_subnormal, info.tiny, -info.tiny, info.max, -info.max, np.inf, -np.inf, np.nan]
    chosen = draw.choice(np.array(special, np.float64), array.shape)
    with np.errstate(over="ignore"):
        return np.where(draw.random(array.shape) < 0.1, chosen.astype(array.dtype), array).astype(array.dtype)


def _run(program: Any, inputs: Sequence[Any], session: Session, contract: str) -> dict[str, Any]:
    started = time.perf_counter()
    found = diff(program, inputs, session, contract)
    result, seconds = result_of(found), round(time.perf_counter() - started, 1)
    text = "" if result in ("same", "clean") else str(found)
    return {"result": result, "seconds": seconds, "ops": found.ops, "verdicts": tally(found), "report": text}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    log: Path = options.log
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {(line["program"], line["backend"], line["contract"], line["seed"]) for line in lines}
    with Remembering(options.backend, python=options.backend_python, seconds=options.seconds) as session:
        for path in options.programs:
            try:
                made = runs(path, options, session, done)
            except StablehloError as error:  # such as inputs of dynamic size, which `diff` does not take
                print(f"{path}: {error}")
                continue
            with log.open("a") as out:
                out.writelines(json.dumps(line) + "\n" for line in made)
            lines += made
            print(f"{path.name}: {', '.join(line['contract'] + ' ' + line['result'] for line in made)}", flush=True)
    return _summary(lines)


def _summary(lines: list[dict[str, Any]]) -> int:
    counts: Counter[tuple[str, str, str]] = Counter()
    verdicts: Counter[str] = Counter()
    for line in lines:
        counts[line["backend"], line["contract"], line["result"]] += 1
        verdicts.update({name: n for name, n in line["verdicts"].items() if name.isupper()})
    for (backend, contract, result), count in sorted(counts.items()):
        print(f"{backend} under {contract}: {count} {result}")
    alarms = [line for line in lines if line["result"] == "wrong"]
    for line in alarms:
        print(f"\n{line['program']}, {line['contract']}, seed {line['seed']}:\n{line['report']}")
    print(f"{len(lines)} runs, {len(alarms)} called wrong; ops: {dict(verdicts)}")
    return 1 if alarms else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="PROGRAM", nargs="*", type=Path)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--backend", default="jax")
    parser.add_argument("--backend-python", default="")
    parser.add_argument("--contracts", default="xla-cpu;xla-gpu;tpu", help="with `;` between them")
    parser.add_argument("--special", action="store_true", help="inputs with zeros, subnormal, infinite numbers and NaN")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300)
    return parser


if __name__ == "__main__":
    sys.exit(main())
