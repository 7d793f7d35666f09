"""Measure how small `reduce` makes programs with the faults that `locate_faults.py` located, and in how many calls.

    nice python tools/reduce_faults.py faults.jsonl --out reduced.jsonl [--only REGEX]

Results are appended to `--out`, and those that are there are not computed again.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from faults.campaign import inputs_of, model
from faults.trials import ALL, Trial

from stablehlo_ref.debug import Session, by_backend, contract_of, reduce


def reduced(trial: Trial, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a fault's program was made small."""
    program, _ = model(trial.model)
    backend = f"faulty:{trial.fault}:stablehlo.{trial.op}:{row['type']}"
    started = time.perf_counter()
    with Session(backend, seconds=1200) as session:
        predicate = by_backend(session, contract_of(trial.contract))
        found = reduce(program, inputs_of(trial), predicate)
        is_kept = predicate(str(found.program), found.inputs) == found.fingerprint
    size = max((array.size for array in found.inputs), default=0)
    seconds = round(time.perf_counter() - started)
    return {
        "ops": found.ops, "before": found.before, "calls": found.calls, "kept": is_kept, "elements": size,
        "seconds": seconds,
    }  # fmt: skip


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    ops, calls = sorted(row["ops"] for row in rows), sorted(row["calls"] for row in rows)
    few = ops[min(len(ops) - 1, int(0.95 * len(ops)))]
    return (
        f"{len(rows)} programs: median {statistics.median(ops)} ops, 95 % at most {few}; calls: median "
        f"{statistics.median(calls)}, most {calls[-1]}; fingerprint kept in {sum(row['kept'] for row in rows)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", metavar="FAULTS.jsonl", type=Path)
    parser.add_argument("--out", type=Path, default=Path("reduced.jsonl"))
    parser.add_argument("--only", metavar="REGEX", default="")
    options = parser.parse_args(arguments)
    done = {}
    if options.out.exists():
        done = {row["key"]: row for row in map(json.loads, options.out.read_text().splitlines())}
    for located in map(json.loads, options.faults.read_text().splitlines()):
        key = located["key"]
        index = int(key.split(":")[1])
        if located["result"] in ("exact", "group") and key not in done and re.search(options.only, key):
            done[key] = {"key": key, **reduced(ALL[index], located)}
            with options.out.open("a") as file:
                file.write(json.dumps(done[key]) + "\n")
            print(json.dumps(done[key]), flush=True)
    if done:
        print(summary(list(done.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
