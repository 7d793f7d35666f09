"""Check that the tables of ops in README.md and docs/ops.md match the op classes, semantics/ and the tests.

    python tools/check_op_table.py [--write]

Exit with 1 if a table is out of date; `--write` updates it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tools.coverage import COLUMNS, Row, counts, groups, rows  # noqa: E402

START, END = "<!-- ops -->\n", "<!-- end -->"
HEAD = """| | evaluated | verified | with semantics | with lit test |
|---|---|---|---|---|
"""
PAGE = """# Coverage of the ops

One line for each op. `tools/check_op_table.py --write` generated this table.

- **Evaluated**: programs with the op run.
- **Verified**: every constraint on the op's page of the spec is an executable formula. An op without a page there has
  formulas that relate the types of its operands, attributes and results, unless the types alone determine them.
  `tests/invalid` breaks each formula.
- **Semantics**: `stablehlo_ref/semantics` has the op element by element, in plain Python or
  with mpmath, and hypothesis compares. Ops that compute nothing need none.
- **Lit test**: a program of `tests/interpret` runs the op, and a check depends on it.

"""


def readme(table: list[Row]) -> str:
    """Return the README with an up-to-date table."""
    before, _, rest = (ROOT / "README.md").read_text("utf-8").partition(START)
    _, _, after = rest.partition(END)
    lines = (
        f"| {group} | {' | '.join(c or 'not needed' for c in counts(ops).values())} |" for group, ops in groups(table)
    )
    return before + START + HEAD + "".join(f"{line}\n" for line in lines) + END + after


def page(table: list[Row]) -> str:
    """Return the text of docs/ops.md."""
    return PAGE + "\n".join(f"## {group}\n\n{_lines(ops)}" for group, ops in groups(table))


def _lines(ops: list[Row]) -> str:
    columns = {name: cell for name, cell in COLUMNS.items() if name != "constraints"}  # their numbers change too often
    head = f"| op | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}\n"
    return head + "".join(f"| {row.name} | {' | '.join(cell(row) for cell in columns.values())} |\n" for row in ops)


def main() -> int:
    table = rows(ROOT)
    wanted = {ROOT / "README.md": readme(table), ROOT / "docs" / "ops.md": page(table)}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        if "--write" in sys.argv:
            path.write_text(wanted[path], encoding="utf-8")
        else:
            print(f"{path.relative_to(ROOT)} is out of date: run tools/check_op_table.py --write")
    if not stale or "--write" in sys.argv:
        print("the tables of ops are up to date")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
