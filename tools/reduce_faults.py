"""Measure how small `reduce` makes programs with the faults that `locate_faults.py` located, and in how many calls.

    nice python tools/reduce_faults.py faults.jsonl --exports FOLDER --out reduced.jsonl [--only REGEX]

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
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from faults.programs import cases
from faults.rules import Fault
from faults.trials import Faulty, Trial, trial_of
from locate_faults import LOCATED, Log, sessions_of

from stablehlo_ref.debug import Session, by_backend, contract_of, reduce


def reduced(trial: Trial, sessions: Mapping[str, Session]) -> dict[str, Any]:
    """Return how a fault's program was made small."""
    started = time.perf_counter()
    session = Faulty(Fault(trial.rule, trial.like), sessions[trial.executor])
    predicate = by_backend(session, contract_of(trial.contract))
    found = reduce(trial.case.program, trial.case.inputs(trial.rule.inputs), predicate)
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
    parser.add_argument("--exports", metavar="FOLDER", type=Path, help="as for locate_faults.py")
    parser.add_argument("--out", type=Path, default=Path("reduced.jsonl"))
    parser.add_argument("--only", metavar="REGEX", default="")
    options = parser.parse_args(arguments)
    programs, log = list(cases(options.exports)), Log(options.out)
    with ExitStack() as stack:
        sessions = sessions_of(stack, "self", "jax")
        for key, row in Log(options.faults).rows.items():
            if row["result"] in LOCATED and key not in log.rows and re.search(options.only, key):
                log.add(key, reduced(trial_of(key, programs), sessions))
                print(json.dumps(log.rows[key]), flush=True)
    if log.rows:
        print(summary(list(log.rows.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
