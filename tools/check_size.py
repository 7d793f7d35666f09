"""Check the number of lines of each Python file.

    python tools/check_size.py

Print files over the limit of their folder, and exit with 1 if there are any.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMITS = {"stablehlo_ref": 480, "spec_checks": 650, "tests": 450, "tools": 300}


def main() -> int:
    counts = {p: len(p.read_text(encoding="utf-8").splitlines()) for d in LIMITS for p in (ROOT / d).rglob("*.py")}
    over = {p.relative_to(ROOT): n for p, n in counts.items() if n > LIMITS[p.relative_to(ROOT).parts[0]]}
    for path, lines in sorted(over.items()):
        print(f"{path}: {lines} lines, limit {LIMITS[path.parts[0]]}")
    print(f"{len(over)} of {len(counts)} files are too long" if over else "all files are within their limits")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
