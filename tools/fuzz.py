"""Fuzz the package for some time: generated and changed programs, inputs and command lines.

    python tools/fuzz.py --minutes 60 --seed 1
    python tools/fuzz.py --minutes 5 --kind hlo npz   cases of these kinds only
    python tools/fuzz.py --cases 5000 --kind npz      as many cases, however long they take
    python tools/fuzz.py --seed 1 --case 4711         one case again, with its program

Cases run in processes of their own, which are ended when a case takes too long. Print how many cases of each kind ended
how, and what must not happen: an error without a location, another exception, a warning, a hang, a signal. Exit with 1
if there was any.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from spec_checks.fuzz.cases import KINDS, SECONDS, Finding, run  # noqa: E402
from spec_checks.fuzz.worker import case_of  # noqa: E402

WORKER = ("-m", "spec_checks.fuzz.worker")
BATCH = 200  # cases of one process
START = 60  # seconds that a process may take to import the package


def main() -> int:
    """Fuzz as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, help="run that many cases, in place of some minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="run one case and print it")
    parser.add_argument("--kind", nargs="+", choices=sorted(set(KINDS)), default=(), help="run cases of these kinds")
    options = parser.parse_args()
    if options.case is not None:
        return replay(options.seed, options.case, options.kind)
    seconds = options.minutes * 60 if options.cases is None else math.inf
    return fuzz(options.seed, seconds, options.kind, options.cases)


def fuzz(seed: int, seconds: float, kinds: Sequence[str] = (), count: int | None = None) -> int:
    """Run cases for some seconds, or `count` cases; print findings as they come, and a table at the end."""
    outcomes: Counter[str] = Counter()
    findings = 0
    for line in islice(cases(seed, time.monotonic() + seconds, kinds), count):
        if "finding" in line:
            findings += 1
            print(f"finding: case {line['end']} ({line.get('kind', '?')}): {line['finding']}\n", flush=True)
        outcomes[f"{line.get('kind', '?'):10} {line.get('outcome', 'FINDING')}"] += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:8d}  {outcome}")
    print(f"{outcomes.total():8d}  cases of seed {seed}, {findings} findings")
    return int(findings > 0)


def cases(seed: int, deadline: float, kinds: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """Yield what became of each case, until the deadline."""
    first = 0
    while time.monotonic() < deadline:
        last = first
        for line in batch(seed, first, deadline, kinds=kinds):
            last = int(str(line["end"])) + 1
            yield line
        first = max(last, first + (last == first))


def batch(
    seed: int,
    first: int,
    deadline: float,
    worker: Sequence[str] = WORKER,
    seconds: float = SECONDS,
    kinds: Sequence[str] = (),
) -> Iterator[dict[str, object]]:
    """Run cases in a process until it ends, which a hang or a signal does early, or until the deadline."""
    read, write = os.pipe()
    arguments = [sys.executable, *worker, *map(str, (seed, first, BATCH, write)), *kinds]
    process = subprocess.Popen(arguments, cwd=ROOT, pass_fds=[write], stdout=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read, "rb", buffering=0) as pipe:
            yield from answers(process, pipe, first, deadline, seconds)
    finally:
        process.kill()
        process.wait()


def answers(
    process: subprocess.Popen[bytes], pipe: io.RawIOBase, first: int, deadline: float, seconds: float
) -> Iterator[dict[str, object]]:
    """Yield what a process writes of each case that it has run, and a finding if it hangs or ends early.

    SystemExit if it ends before its first case.
    """
    current, has_started = None, False
    while time.monotonic() < deadline:
        ready, _, _ = select.select([pipe], [], [], seconds if current is not None else START)
        if not ready:
            yield {"end": first if current is None else current, "finding": f"no answer in {seconds} seconds"}
            return
        text = pipe.readline()
        if not text:
            break
        line = json.loads(text)
        current, has_started = line.get("start"), True
        if current is None:
            yield line
    else:
        return
    code = process.wait()
    if not has_started:
        sys.exit("the process that runs cases does not start")
    if code:
        reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        yield {"end": first if current is None else current, "finding": f"the process ended: {reason}"}


def replay(seed: int, index: int, kinds: Sequence[str] = ()) -> int:
    """Run one case in this process."""
    case = case_of(seed, index, kinds)
    print(case.kind, case.source if isinstance(case.source, str) else case.source.hex())
    try:
        print(run(case))
    except Finding as finding:
        print(f"finding: {finding}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
