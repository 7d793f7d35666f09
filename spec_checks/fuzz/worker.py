"""Runs cases in this process and writes a line of JSON before and after each to the file descriptor that is given.

    python -m spec_checks.fuzz.worker SEED FIRST COUNT DESCRIPTOR [KIND...]

`tools/fuzz.py` starts it, and notices by these lines which case hangs or ends the process.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Sequence
from random import Random

from spec_checks.fuzz.cases import KINDS, Case, Finding, draw, run

MEMORY = 4 << 30  # bytes of address space


def case_of(seed: int, index: int, kinds: Sequence[str]) -> Case:
    """Return the case of a number, which is the same in each run of the same kinds."""
    return draw(Random(f"{seed}:{index}"), kinds or KINDS)


def main(seed: int, first: int, count: int, descriptor: int, kinds: Sequence[str] = ()) -> None:
    """Run cases `first` to `first + count - 1` of a seed."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with os.fdopen(descriptor, "w", encoding="utf-8", buffering=1) as lines:
        for index in range(first, first + count):
            lines.write(json.dumps({"start": index}) + "\n")
            case = case_of(seed, index, kinds)
            try:
                line = {"end": index, "kind": case.kind, "outcome": run(case)}
            except Finding as finding:
                line = {"end": index, "kind": case.kind, "finding": str(finding)}
            lines.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]), sys.argv[5:])
