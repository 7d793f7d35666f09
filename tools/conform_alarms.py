"""Count false alarms of `conform`: verdicts on a backend that does what the contract permits, with other bits.

    nice python tools/conform_alarms.py --programs 20000 --results alarms.sqlite
    nice python tools/conform_alarms.py --programs 300 --contract strict --start 7 --seed 1

The cases are those of the nightly profile, every n-th of them for fewer programs. Another seed gives the same cases
other bits. Verdicts are kept in the file, and the run goes on from there. Print each alarm as it comes, and the counts.
Exit with 1 if there is any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stablehlo_ref.conform import cases
from stablehlo_ref.conform.campaign import PROFILES, Results
from stablehlo_ref.conform.verdicts import Cell, Record, counts, judge
from stablehlo_ref.debug.contract import contract_of
from tests.debug.programs import InProcess

RIGHT = (Cell.PASS, Cell.LEGAL, Cell.UNTESTED)


def names_of(programs: int, start: int) -> list[str]:
    """Return the names of cases, spread over the profile."""
    names = PROFILES["nightly"].names(cases.names_of_ops())
    return names[start :: max(1, len(names) // programs)][:programs]


def alarms(names: Sequence[str], contract: str, results: Results, seed: int = 0) -> list[Record]:
    """Judge the cases that have no verdict yet, and return those of all that are called wrong."""
    session, rules = InProcess(f"python:tests.conform.different:{seed}:{contract}"), contract_of(contract)
    known = results.records()
    for name in names:
        if name not in known:
            known[name] = record = judge(name, session, rules)
            results.add([record])
            if record.cell not in RIGHT:
                print(f"{record.cell.value:10} {name}: {record.detail}", flush=True)
    return [known[name] for name in names if known[name].cell not in RIGHT]


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--start", type=int, default=0, help="the first case of the profile")
    parser.add_argument("--contract", default="xla-cpu")
    parser.add_argument("--seed", type=int, default=0, help="of the bits that the backend returns")
    parser.add_argument("--results", default=":memory:", metavar="FILE")
    options = parser.parse_args()
    names = names_of(options.programs, options.start)
    results, started = Results(options.results), time.process_time()
    found = alarms(names, options.contract, results, options.seed)
    made = counts({name: record for name, record in results.records().items() if name in set(names)})
    print(f"{len(found)} alarms of {len(names)} programs: {made}; {time.process_time() - started:.0f} CPU seconds")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
