"""Measure how many of 75 faults `diff` locates in exported models, and at what cost; or whether it raises false alarms.

    nice python tools/locate_faults.py --out faults.jsonl [--only REGEX] [--seed 0]
    python tools/locate_faults.py --clean jax --backend-python PYTHON PROGRAM.mlir ...

A fault is in the ops of a name and a type; the type is drawn by the seed. Results are appended to `--out`, and those
that are there are not computed again. Needs the benchmark programs beside the repository (STABLEHLO_REF_SHARED).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from faults.campaign import run, summary
from faults.trials import ALL

from stablehlo_ref.cli.random_inputs import random_inputs
from stablehlo_ref.debug import Session, diff
from stablehlo_ref.loading import load

COLUMNS = ("model", "ops", "fault", "type", "result", "located", "compilations", "limit", "ratio", "permissive")


def campaign(out: Path, only: str, seed: int) -> None:
    trials = {f"{seed}:{index}:{t.model}:{t.fault}:{t.op}": t for index, t in enumerate(ALL)}
    lines = out.read_text().splitlines() if out.exists() else []
    done = {row.pop("key"): row for row in map(json.loads, lines)}
    for key, trial in trials.items():
        if key not in done and re.search(only, key):
            done[key] = run(trial, seed)
            with out.open("a") as file:
                file.write(json.dumps({"key": key, **done[key]}) + "\n")
        if key in done:
            print("  ".join(str(done[key].get(column, "")) for column in COLUMNS), flush=True)
    rows = {key: row for key, row in done.items() if key in trials}
    print(*summary(rows, trials), sep="\n")


def clean(paths: Sequence[Path], backend: str, python: str, contract: str, seed: int) -> int:
    """Compare programs with a backend that is taken to be right; return the number of false alarms."""
    alarms = 0
    for path in paths:
        program = load(path)
        drawn = random_inputs(program.inputs, seed, {}, program.limits)
        with Session(backend, python=python, seconds=300) as session:
            found = diff(program, [drawn[parameter.name] for parameter in program.inputs], session, contract)
        alarms += found.is_wrong or bool(found.suspicions)
        print(f"{path.name}: {found if found.is_wrong or found.suspicions else 'clean'}", flush=True)
    return alarms


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.clean:
        alarms = clean(options.programs, options.clean, options.backend_python, options.contract, options.seed)
        print(f"{alarms} false alarms in {len(options.programs)} programs")
        return int(alarms > 0)
    campaign(options.out, options.only, options.seed)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="PROGRAM", nargs="*", type=Path, help="of --clean")
    parser.add_argument("--out", type=Path, default=Path("faults.jsonl"))
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clean", metavar="BACKEND", help="a backend in which nothing should be wrong")
    parser.add_argument("--contract", default="xla-cpu", help="of --clean")
    parser.add_argument("--backend-python", default="")
    return parser


if __name__ == "__main__":
    sys.exit(main())
