"""Run the scorers of the shared test suites and compare with the numbers of passing cases so far.

    python tools/ci_score.py ../shared/score

Exit with 1 if a corpus passes fewer cases than in `REACHED`, or if a case ends in a traceback, a crash or a
time-out.
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
    """Return the counts of passed, failed, crashed and timed out cases by corpus."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "score.json"
        command = [sys.executable, str(scorers / "score_upstream.py"), "--python", sys.executable, "--json", str(out)]
        subprocess.run([*command, "--corpus", *REACHED], check=False)
        return {row["corpus"]: row for row in json.loads(out.read_text())["corpora"]}


def shortfalls(counts: dict[str, dict[str, int]]) -> list[str]:
    """Return a message for each corpus that lost cases or has crashes or time-outs."""
    lines = []
    for corpus, least in REACHED.items():
        found = counts[corpus]
        if found["passed"] < least:
            lines.append(f"{corpus}: {found['passed']} cases pass, expected at least {least}")
        lines += [f"{corpus}: {found[bad]} {bad}" for bad in ("crashed", "timed_out") if found.get(bad)]
    return lines


if __name__ == "__main__":
    short = shortfalls(score(Path(sys.argv[1])))
    print("\n".join(short) or "all corpora pass as many cases as before")
    sys.exit(bool(short))
