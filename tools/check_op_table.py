"""Keeps the README's table of ops true: generated from the op classes, the oracles and the tests.

    python tools/check_op_table.py [--write]

Exits with 1 if the table in README.md is not what it should be; `--write` mends it.
"""

from __future__ import annotations

import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import spec_checks.oracles  # noqa: E402
import stablehlo_ref  # noqa: E402, F401  (registers the ops)
from stablehlo_ref.define import Op  # noqa: E402

START, END = "<!-- ops -->\n", "<!-- end -->"


def oracles() -> set[str]:
    """The names of the oracle functions."""
    modules = [import_module(f"spec_checks.oracles.{m.name}") for m in iter_modules(spec_checks.oracles.__path__)]
    functions = (name for m in modules for name, _ in inspect.getmembers(m, inspect.isfunction))
    return {name.rstrip("_") for name in functions}


def is_evaluated(definition: type[Op]) -> bool:
    """Whether runs go through it: it has a role that plans, or it ends a region."""
    return bool({"plan", "inline"} & set(definition.parameters)) or definition.terminator or bool(definition.isolated)


def rows() -> list[tuple[str, str, int, int, int, int]]:
    """For each chapter: its ops, and how many there are, are evaluated, have an oracle and a lit test."""
    chapters: dict[str, list[type[Op]]] = {}
    for definition in Op.registry.values():
        chapters.setdefault(definition.__module__.removeprefix("stablehlo_ref."), []).append(definition)
    known = oracles()
    table = []
    for chapter, definitions in sorted(chapters.items()):
        names = sorted(d.name.partition(".")[2] for d in definitions)
        lit = [n for n in names if (ROOT / "tests" / "interpret" / f"{n}.mlir").exists()]
        counts = (len(names), sum(map(is_evaluated, definitions)), sum(n in known for n in names), len(lit))
        table.append((chapter, ", ".join(names), *counts))
    return table


def table() -> str:
    """The table in Markdown."""
    spec = json.loads((ROOT / "spec_checks" / "labels.json").read_text())
    evaluated = sum(is_evaluated(Op.registry[f"stablehlo.{op}"]) for op in spec if f"stablehlo.{op}" in Op.registry)
    lines = [
        f"{evaluated} of the spec's {len(spec)} ops are evaluated.",
        "",
        "| module | ops | evaluated | with oracle | with lit test |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {c} | {names} | {ran} of {n} | {oracle} | {lit} |" for c, names, n, ran, oracle, lit in rows()]
    return "\n".join(lines) + "\n"


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
