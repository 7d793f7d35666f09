"""Measure how many faults `diff` locates, and whether it raises false alarms.

    nice python tools/locate_faults.py --exports FOLDER --out faults.jsonl [--each 3] [--only REGEX] [--seed 0]
    nice python tools/locate_faults.py --again KEY --exports FOLDER
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from faults import algebra, elementwise, joined, loops, movement, reductions  # noqa: F401 (they register rules)
from faults.programs import Case, cases, readable
from faults.rules import RULES
from faults.trials import SECONDS, Reordered, Trial, in_order, right_run, run, trials_of

from stablehlo_ref.debug import Session

UNCOUNTED = ("no effect", "not applicable", "not valid", "too slow", "the interpreter fails", "the backend fails")
LOCATED = ("exact", "group")
TRIES = 14  # programs for a rule and a fault that counts


def is_counted(row: dict[str, Any]) -> bool:
    return not row["result"].startswith(UNCOUNTED)


def campaign(programs: Sequence[Case], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run each rule on programs until `--each` faults of it had an effect."""
    out: Path = options.out
    lines = out.read_text().splitlines() if out.exists() else []
    done = {row["key"]: row for row in map(json.loads, lines)}
    rows = []
    with Session("self", seconds=SECONDS) as ours, Session("jax", seconds=SECONDS) as xla:
        sessions = {"self": ours, "jax": xla}
        ours.open(), xla.open()
        for rule in RULES.values():
            if not re.search(options.only, rule.name):
                continue
            counted = 0
            for tries, trial in enumerate(trials_of(rule, programs, options.seed)):
                if counted >= options.each or tries >= TRIES * options.each:
                    break
                if trial.key not in done:
                    row, found = run(trial, sessions)
                    done[trial.key] = {"key": trial.key} | row
                    with out.open("a") as file:
                        file.write(json.dumps(done[trial.key]) + "\n")
                    if options.verbose and found is not None and row["result"] not in LOCATED:
                        print(found)
                row = done[trial.key]
                rows.append(row)
                counted += is_counted(row)
                if is_counted(row):
                    print(row["result"], "|", trial.key, "|", row["op"], row.get("named"), flush=True)
    return rows


RIGHT = ("same bits", "other bits", "alarm")
RUNS = (("jax", "xla-cpu"), ("jax", "tpu"), ("self", "strict"), ("cpp", "strict,accumulator=operand"))  # `self` with other sums


def right_runs(programs: Sequence[Case], options: argparse.Namespace) -> int:
    """Compare backends in which nothing is wrong; return the number of alarms."""
    out: Path = options.out
    lines = out.read_text().splitlines() if out.exists() else []
    done = {row["key"]: row for row in map(json.loads, lines)}
    rows = []
    with Session("self", seconds=SECONDS) as ours, Session("jax", seconds=SECONDS) as xla, Session("cpp", seconds=SECONDS / 6) as cpp:
        sessions = {"self": ours, "jax": xla, "cpp": cpp, "reordered": Reordered(ours)}
        for session in (ours, xla, cpp):
            session.open()
        for case in in_order(programs, random.Random(options.seed)):
            if sum(row["result"] in RIGHT for row in rows) >= options.runs:
                break
            for kind in ("plain", "large", "special"):
                for backend, contract in RUNS if kind == "plain" else RUNS[:1]:
                    key = f"{case.name}|{kind}|{backend}|{contract}"
                    if not re.search(options.only, key):
                        continue
                    if key not in done:
                        name = "reordered" if backend == "self" else backend
                        done[key] = {"key": key} | right_run(case, kind, name, contract, sessions)
                        with out.open("a") as file:
                            file.write(json.dumps(done[key]) + "\n")
                    rows.append(done[key])
                    if done[key]["result"] == "alarm":
                        print(key, done[key]["report"], sep="\n", flush=True)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[" under ".join(row["key"].split("|")[2:])][row["result"].partition(":")[0]] += 1
    for name, count in counts.items():
        print(f"{name}: {dict(count)}")
    return sum(count["alarm"] for count in counts.values())


def again(programs: Sequence[Case], key: str) -> int:
    """Run one trial and print the report."""
    rule, name, index, executor = key.split("|")
    case = next(case for case in programs if case.name == name)
    from faults.rules import entry_of, fed_ops, fingerprint

    kinds = list(dict.fromkeys(fingerprint(op) for op in fed_ops(entry_of(case.program)) if op.name in RULES[rule].ops))
    trial = Trial(case, RULES[rule], kinds[int(index)], executor, int(index))
    with Session("self", seconds=SECONDS) as ours, Session("jax", seconds=SECONDS) as xla:
        ours.open(), xla.open()
        row, found = run(trial, {"self": ours, "jax": xla})
    print(case.program, json.dumps(row, indent=1), found, sep="\n")
    return 0


def summary(rows: Sequence[dict[str, Any]]) -> None:
    by_rule: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        result = row["result"] if is_counted(row) else "uncounted"
        by_rule[row["group"], row["rule"]][result] += 1
    columns = ("exact", "group", "large group", "wrong op", "missed")
    print(f"{'rule':58}", *(f"{c:>11}" for c in ("counted", *columns, "other")))
    for (group, name), counts in by_rule.items():
        counted = counts.total() - counts["uncounted"]
        other = counted - sum(counts[c] for c in columns)
        print(f"{group + ': ' + name:58}", *(f"{n:11}" for n in (counted, *(counts[c] for c in columns), other)))
    counted_rows = [row for row in rows if is_counted(row)]
    located = sum(row["result"] in LOCATED for row in counted_rows)
    kinds = len({row["rule"] for row in counted_rows})
    ratios = sorted(row["ratio"] for row in counted_rows if "ratio" in row)
    compilations = sorted(row["compilations"] for row in counted_rows if "compilations" in row)
    print(f"{located} of {len(counted_rows)} faults of {kinds} kinds in {len({r['program'] for r in counted_rows})} programs"
          f" located ({located / max(len(counted_rows), 1):.1%}); {len(rows) - len(counted_rows)} without effect")
    if ratios:
        print(f"cost beside the backend, of a plain run: median {ratios[len(ratios) // 2]}, most {ratios[-1]};"
              f" compilations: median {compilations[len(compilations) // 2]}, most {compilations[-1]}")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    programs = [case for case in cases(options.exports) if re.search(options.programs, case.name) and readable(case)]
    if options.right:
        return int(right_runs(programs, options) > 0)
    if options.again:
        return again(programs, options.again)
    summary(campaign(programs, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exports", type=Path)
    parser.add_argument("--out", type=Path, default=Path("faults.jsonl"))
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--programs", metavar="REGEX", default="")
    parser.add_argument("--again", metavar="KEY", default="")
    parser.add_argument("--runs", type=int, default=500, help="of --right")
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--right", action="store_true", help="compare backends in which nothing is wrong")
    parser.add_argument("--verbose", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
