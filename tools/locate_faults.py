"""Measure how many faults `diff` locates, and whether it raises false alarms.

    for name in functions loops programs models; do python tools/exports/jax_$name.py --save exports/$name; done
    nice python tools/locate_faults.py --exports exports --out faults.jsonl
    nice python tools/locate_faults.py --exports exports --out right.jsonl --right
    nice python tools/locate_faults.py --exports exports --again 'one turn too few|exports/functions/lax.scan|0|self'
    nice python tools/locate_faults.py --exports exports --short

Rules put faults into the programs of the benchmarks (beside the repository, or in STABLEHLO_REF_SHARED), of the
examples, of upstream's test data, and those that JAX exported; programs, ops and executors are drawn by the seed. A
fault counts if it changes an output far beyond rounding. `--right` compares backends in which nothing is wrong instead.
Results are appended to `--out`, and those that are there are not computed again. `--again` prints the program and the
report of one trial. `--short` takes about a minute. The exit code is 1 if less than 97 % of the faults are located, or
91 % of the few of `--short`, or anything is called wrong in a right run. Needs the extras `jax` and `lapack`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from faults import algebra, elementwise, joined, loops, movement, numbers, rare, reductions  # noqa: F401 (they register rules)
from faults.programs import Case, cases, readable
from faults.rules import RULES
from faults.trials import SECONDS, Reordered, in_order, right_run, run, trial_of, trials_of

from stablehlo_ref.debug import Session

LEAST = 0.97  # of the faults that must be located
LEAST_OF_FEW = 0.91  # of 70: if 97.8 % are located in the long run, fewer than that are once in a thousand samples
UNCOUNTED = ("no effect", "not applicable", "not valid", "too slow", "the interpreter fails", "the backend fails")
LOCATED = ("exact", "group")
TRIES = 14  # programs for a rule and a fault that counts
RIGHT = ("same bits", "other bits", "alarm")
# The C++ interpreter computes functions of CHLO by the polynomials of XLA, and sums in the type of the operands.
CPP = "xla-cpu,excess_precision=false,fma=false,flush_subnormals=false,signed_zeros=true,accumulator=operand"
RUNS = {
    "plain": (("jax", "xla-cpu"), ("jax", "tpu"), ("reordered", "strict"), ("cpp", CPP)),
    "special": (("jax", "xla-cpu"),),
    **dict.fromkeys(("large", "ties", "zeros", "halves"), (("jax", "xla-cpu"), ("reordered", "strict"))),
}
SHORT = {"seed": 1, "ops": 60, "each": 1, "rules": 100, "tries": 3, "runs": 60}


class Log:
    """The rows of a file of JSON lines by their keys, to which rows are added; of no file without a path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.rows = {row["key"]: row for row in map(json.loads, lines)}

    def add(self, key: str, row: Mapping[str, Any]) -> None:
        self.rows[key] = {"key": key, **row}
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(self.rows[key]) + "\n")


def sessions_of(stack: ExitStack, *names: str) -> dict[str, Session]:
    """Return the sessions of backends, which are open so that no run is slow because of that."""
    made = {name: stack.enter_context(Session(name, seconds=SECONDS[name])) for name in names}
    for session in made.values():
        session.open()
    return {**made, "reordered": Reordered(made["self"])}


def faults(programs: Sequence[Case], log: Log, options: argparse.Namespace) -> bool:
    """Put faults of each rule into programs until `--each` have an effect; return whether enough are located."""
    rows: list[dict[str, Any]] = []
    rules = [rule for rule in RULES.values() if re.search(options.only, rule.name)]
    with ExitStack() as stack:
        sessions = sessions_of(stack, "self", "jax")
        for rule in random.Random(options.seed).sample(rules, min(options.rules, len(rules))):
            counted = 0
            for tries, trial in enumerate(trials_of(rule, programs, options.seed)):
                if counted >= options.each or tries >= options.tries * options.each:
                    break
                if trial.key not in log.rows:
                    log.add(trial.key, run(trial, sessions)[0])
                rows.append(log.rows[trial.key])
                if not rows[-1]["result"].startswith(UNCOUNTED):
                    counted += 1
                    print(rows[-1]["result"], trial.key, rows[-1].get("named", ""), sep=" | ", flush=True)
    return summary(rows) >= (LEAST_OF_FEW if options.short else LEAST)


def summary(rows: Sequence[Mapping[str, Any]]) -> float:
    """Print a table by rule, and the cost; return the share of the faults that are located."""
    counted = [row for row in rows if not row["result"].startswith(UNCOUNTED)]
    by_rule: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        by_rule[f"{row['group']}: {row['rule']}"].update(
            ("drawn", "counted", row["result"])[: 3 if row in counted else 1]
        )
    columns = ("drawn", "counted", "exact", "group", "large group", "wrong op", "missed")
    print(f"{'':58}", *(f"{column:>11}" for column in (*columns, "other")))
    for name, counts in sorted(by_rule.items()):
        numbers_ = [counts[column] for column in columns]
        print(f"{name:58}", *(f"{n:11}" for n in (*numbers_, numbers_[1] - sum(numbers_[2:]))))
    located = sum(row["result"] in LOCATED for row in counted)
    share = located / max(len(counted), 1)
    kinds, programs = (len({row[name] for row in counted}) for name in ("rule", "program"))
    print(f"{located} of {len(counted)} faults located ({share:.1%}), of {kinds} kinds in {programs} programs")
    for name in ("ratio", "compilations"):
        values = sorted(row[name] for row in counted if name in row)
        if values:
            print(f"{name}: median {values[len(values) // 2]}, 95 % at most {values[len(values) * 19 // 20]}")
    return share


def right_runs(programs: Sequence[Case], log: Log, options: argparse.Namespace) -> bool:
    """Compare backends in which nothing is wrong; return whether none is called wrong."""
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        sessions = sessions_of(stack, "self", "jax", "cpp")
        for case in in_order(programs, random.Random(options.seed)):
            if sum(row["result"] in RIGHT for row in rows) >= options.runs:
                break
            differing: set[str] = set()  # backends with other bits for plain inputs, of which more runs are made
            for kind, backend, contract in ((kind, *pair) for kind, pairs in RUNS.items() for pair in pairs):
                key = f"{case.name}|{kind}|{backend}|{contract}"
                if not re.search(options.only, key) or (kind not in ("plain", "special") and backend not in differing):
                    continue
                if key not in log.rows:
                    log.add(key, right_run(case, kind, backend, contract, sessions))
                rows.append(log.rows[key])
                if rows[-1]["result"] == "other bits":
                    differing.add(backend)
                if rows[-1]["result"] == "alarm":
                    print(key, rows[-1]["report"], sep="\n", flush=True)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[" under ".join(row["key"].split("|")[2:])][row["result"].partition(":")[0]] += 1
    for name, count in counts.items():
        print(f"right runs of {name}: {dict(count)}")
    return not any(count["alarm"] for count in counts.values())


def again(programs: Sequence[Case], key: str) -> None:
    """Print the program and the report of one trial."""
    with ExitStack() as stack:
        trial = trial_of(key, programs)
        row, found = run(trial, sessions_of(stack, "self", "jax"))
        print(trial.case.program, json.dumps(row, indent=1), found, sep="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.short:
        vars(options).update(SHORT)
    programs = [case for case in cases(options.exports) if readable(case, options.ops)]
    if options.again:
        again(programs, options.again)
        return 0
    log = Log(options.out)
    results = []
    if options.short or not options.right:
        results.append(faults(programs, log, options))
    if options.short or options.right:
        results.append(right_runs(programs, log, options))
    return 0 if all(results) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exports", metavar="FOLDER", type=Path, help="programs that JAX exported")
    parser.add_argument("--out", metavar="FILE", type=Path)
    parser.add_argument("--only", metavar="REGEX", default="", help="of rules, or of right runs")
    parser.add_argument("--again", metavar="KEY", default="")
    parser.add_argument("--right", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ops", type=int, default=250, help="most ops of a program (default: %(default)s)")
    parser.add_argument("--each", type=int, default=3, help="faults of a rule that count (default: %(default)s)")
    parser.add_argument("--rules", type=int, default=len(RULES), help="most rules (default: all)")
    parser.add_argument("--tries", type=int, default=TRIES, help="programs for each of them (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=550, help="right runs (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
