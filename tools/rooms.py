"""Print the lines and files of each room of the package, and what they may be at most.

    python tools/rooms.py

A room is a folder, or some that belong together. A room that grows beyond its budget needs a reason in the commit.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent / "stablehlo_ref"


class Room(NamedTuple):
    """Folders of the package, and how many lines they may have together."""

    folders: tuple[str, ...]
    most: int


ROOMS = {
    "semantics": Room(("semantics",), 4600),
    "execute": Room(("execute",), 3000),
    "accelerate": Room(("accelerate",), 3500),
    "algorithms": Room(("algorithms",), 2000),
    "numerics": Room(("numerics",), 8000),
    "syntax, text": Room(("syntax", "text"), 7500),
    "dialects, distribution": Room(("dialects", "distribution"), 7000),
    "hlo": Room(("hlo",), 1500),
    "debug": Room(("debug",), 7500),
    "cli": Room(("cli",), 2800),
}
REST, ALL, FILES = 24_700, 70_600, 400


def main() -> None:
    counts = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    left = dict(counts)
    print(f"{'room':24} {'lines':>7} {'at most':>8} {'files':>6}")
    for name, room in ROOMS.items():
        of_room = [path for path in counts if path.relative_to(PACKAGE).parts[0] in room.folders]
        _print(name, [left.pop(path) for path in of_room], room.most)
    _print("the rest", list(left.values()), REST)
    _print("all", list(counts.values()), ALL)
    print(f"files: {len(counts)}, at most {FILES}")


def _print(name: str, lines: list[int], most: int) -> None:
    total = sum(lines)
    print(f"{name:24} {total:7} {most:8} {len(lines):6}{'  over' if total > most else ''}")


if __name__ == "__main__":
    main()
