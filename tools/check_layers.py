"""Checks that imports inside the package point one way, from later phases to earlier ones.

    python tools/check_layers.py

Prints every import that points the other way and exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "stablehlo_ref"

# Each layer may import itself and what stands before it.
LAYERS = (
    ("_version",),
    ("choices", "diagnostics", "formulas", "limits"),
    ("processes",),
    ("ir",),
    ("spec",),
    ("kinds",),
    ("define",),
    ("numerics",),
    ("algorithms", "text"),
    ("ops", "targets", "dialects"),
    ("verify", "syntax", "bytecode"),
    ("execute",),
    ("signature", "arguments", "program"),
    ("loading",),
    ("inputs", "console", "evidence", "op_table"),
    ("opt", "translate"),
    ("cli", "__init__", "__main__"),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
REGISTERS_OPS = "dialects.registered"  # importing it makes the op classes known; it may be imported from anywhere


def room(module: str) -> str:
    """`execute` of `stablehlo_ref.execute.plan`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(path: Path) -> list[tuple[int, str]]:
    """The modules of this package that a file imports to run (not only for annotations), with line numbers."""
    found = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    conditions = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    guarded = {statement for condition in conditions for statement in condition.body}
    for node in (n for n in ast.walk(tree) if n not in guarded):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names] if "." not in node.module else [node.module]
            found += [(node.lineno, name) for name in names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
    return [(line, name) for line, name in found if name.startswith("stablehlo_ref")]


def violations() -> list[str]:
    """One line for each import from an earlier layer to a later one, and for each room without a layer."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        here = relative.parts[0].removesuffix(".py")
        if here not in RANK:
            wrong.append(f"{relative}: {here} has no layer in {Path(__file__).name}")
            continue
        for line, module in imports(path):
            if module.endswith(REGISTERS_OPS):
                continue
            if RANK.get(room(module), 99) > RANK[here]:
                wrong.append(f"{relative}:{line}: {here} imports {module}, which is a later layer")
    return wrong


if __name__ == "__main__":
    found = violations()
    print("\n".join(found) or "imports point one way")
    sys.exit(bool(found))
