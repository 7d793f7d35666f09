"""Print the lines and files of each room of the package, and what they may be at most.

    python tools/rooms.py

A room is a folder, or some folders and modules that belong together. One that grows beyond its budget needs a reason in
the commit.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent / "stablehlo_ref"


class Room(NamedTuple):
    """Folders and modules of the package, and how many lines they may have together."""

    paths: tuple[str, ...]
    most: int


ROOMS = {
    "execute": Room(("execute",), 3000),
    "accelerate": Room(("accelerate",), 3500),
    "algorithms": Room(("algorithms",), 2000),
    "numerics": Room(("numerics",), 8000),
    "syntax, text": Room(("syntax", "text"), 7500),
    "dialects, distribution": Room(("dialects", "distribution"), 7000),
    "debug": Room(("debug",), 7500),
    "cli": Room(("cli",), 2800),
}
# What the interpreter can be used without: it does not count toward the whole.
BESIDE = {
    "semantics, walk": Room(("semantics", "walk"), 5400),
    "conformance kit": Room(
        ("conform", "testing/golden.py", "testing/strategies.py", "golden.py", "cli/conform.py", "cli/conform_files.py",
         "cli/survey.py", "cli/equiv.py"), 4000),
    "HLO, wrong passes, shards": Room(
        ("hlo", "passes/sdy", "distribution/layouts.py", "debug/diff_passes.py",
         "debug/pass_dumps.py", "debug/spmd_check.py", "debug/spmd_locate.py", "cli/diff_passes.py",
         "cli/spmd_check.py"), 4000),
    "newer passes, mpmd": Room(
        ("passes/compatibility_expander.py", "passes/complex_math_expander.py", "passes/patterns.py",
         "passes/shape_legalize_to_stablehlo.py", "passes/simplify.py", "passes/simplify_movement.py",
         "dialects/mpmd.py", "dialects/mpmd_meshes.py"), 2200),
}  # fmt: skip
REST, ALL, FILES = 24_700, 66_000, 400


def main() -> None:
    counts = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    print(f"{'room':26} {'lines':>7} {'at most':>8} {'files':>6}")
    for name, room in BESIDE.items():
        _print(name, _taken(counts, room), room.most)
    left = dict(counts)
    for name, room in ROOMS.items():
        _print(name, _taken(left, room), room.most)
    _print("the rest", list(left.values()), REST)
    _print("all of the last ten", list(counts.values()), ALL)
    print(f"files: {len(counts)}, at most {FILES}")


def _taken(counts: dict[Path, int], room: Room) -> list[int]:
    """Take the files of a room out of `counts`; return their lines."""
    places = [PACKAGE / path for path in room.paths]
    return [counts.pop(path) for path in list(counts) if any(path.is_relative_to(place) for place in places)]


def _print(name: str, lines: list[int], most: int) -> None:
    total = sum(lines)
    print(f"{name:26} {total:7} {most:8} {len(lines):6}{'  over' if total > most else ''}")


if __name__ == "__main__":
    main()
