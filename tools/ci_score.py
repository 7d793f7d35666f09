"""Runs the shared scorers on this interpreter and holds them against what has been reached.

    python tools/ci_score.py ../shared/score

A corpus may gain and must not lose: exits with 1 when one passes fewer cases than `REACHED` says, or when any case ends
in a traceback, a dead process or a time-out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

REACHED: dict[str, int] = {
    "interpret": 500,
    "interpret-chlo": 14,
    "math": 47,
    "testdata": 2298,
    "testdata-quantized": 211,
    "testdata-dynamic": 388,
    "dynamic-run": 381,
    "negative-control": 294,
    "cli": 3,
}


def score(scorers: Path) -> dict[str, dict[str, int]]:
    """The scorer's counts by corpus: passed, failed, crashed, timed out."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "score.json"
        command = [sys.executable, str(scorers / "score_upstream.py"), "--python", sys.executable, "--json", str(out)]
        subprocess.run([*command, "--corpus", *REACHED], check=False)
        return {row["corpus"]: row for row in json.loads(out.read_text())["corpora"]}


def shortfalls(counts: dict[str, dict[str, int]]) -> list[str]:
    """A line for each corpus that fell short."""
    lines = []
    for corpus, least in REACHED.items():
        found = counts[corpus]
        if found["passed"] < least:
            lines.append(f"{corpus}: {found['passed']} pass, {least} did before")
        lines += [f"{corpus}: {found[bad]} {bad}" for bad in ("crashed", "timed_out") if found.get(bad)]
    return lines


if __name__ == "__main__":
    short = shortfalls(score(Path(sys.argv[1])))
    print("\n".join(short) or "no corpus lost a case")
    sys.exit(bool(short))
