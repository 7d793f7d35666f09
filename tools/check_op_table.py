"""Keeps the README's table of ops true: generated from the op classes, the oracles and the tests.

    python tools/check_op_table.py [--write]

Exits with 1 if the table in README.md is not what it should be; `--write` mends it. `stablehlo-interp --list-ops` says
the same op by op.
"""

from __future__ import annotations

import sys
from itertools import groupby
from operator import attrgetter
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import stablehlo_ref  # noqa: E402, F401  (registers the ops)
from stablehlo_ref.op_table import Row, rows, totals  # noqa: E402

START, END = "<!-- ops -->\n", "<!-- end -->"


def table() -> str:
    """The table in Markdown."""
    known = rows(ROOT)
    chapter = attrgetter("chapter")
    lines = [
        "; ".join(totals(known)) + ".",
        "",
        "| module | ops | evaluated | with oracle | with lit test |",
        "|---|---|---|---|---|",
    ]
    return "\n".join(lines + [_line(c, list(ops)) for c, ops in groupby(sorted(known, key=chapter), chapter)]) + "\n"


def _line(chapter: str, ops: list[Row]) -> str:
    names = ", ".join(sorted(row.name.partition(".")[2] for row in ops))
    counts = [sum(map(bool, map(attrgetter(count), ops))) for count in ("is_evaluated", "has_oracle", "has_lit_test")]
    return f"| {chapter} | {names} | {counts[0]} of {len(ops)} | {counts[1]} | {counts[2]} |"


def main() -> int:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    wanted = before + START + table() + END + after
    if "--write" in sys.argv:
        readme.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        print("README.md: the table of ops is not up to date: run tools/check_op_table.py --write")
        return 1
    print("the README's table of ops is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
