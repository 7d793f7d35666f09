"""Check that modules import only from their own layer and earlier ones, and `semantics` only from itself.

    python tools/check_layers.py

Print imports of later layers, and exit with 1 if there are any. A seam is a module that offers what a later layer has:
it imports that in functions, when they are called, and for types.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "stablehlo_ref"

# Each layer may import itself and those before it.
LAYERS = (
    ("semantics",),  # the meaning of the ops: it reads without the rest, which it does not import
    ("_version", "argument_types", "diagnostics", "limits", "suggestions"),
    ("ir",),
    ("define",),
    ("numerics",),
    ("arrays", "algorithms", "distribution"),
    ("ops", "dialects", "targets"),
    ("verify", "syntax", "bytecode"),
    ("hlo",),
    ("passes", "execute"),
    ("accelerate", "walk"),
    ("display", "program", "reading", "frameworks"),
    ("text", "debug"),
    ("conform",),
    ("cli", "lsp", "testing", "golden", "__init__", "__main__"),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
SEAMS = {"program.py": "stablehlo_ref.debug.traces"}  # the modules, and the packages that they may import
REGISTERS_OPS = "dialects.register_all"  # importing it registers all op classes; allowed from any layer


def folder_of(module: str) -> str:
    """Return the top-level folder or module: `execute` for `stablehlo_ref.execute.plan`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(path: Path, seam: str | None = None) -> list[tuple[int, str]]:
    """Return the modules of this package that a file imports, type-only imports included, with line numbers.

    Those of the package `seam` are left out, unless they are imported with the file.
    """
    found = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if seam and isinstance(node, ast.ImportFrom) and node not in tree.body and f"{node.module}.".startswith(seam):
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names] if "." not in node.module else [node.module]
            found += [(node.lineno, name) for name in names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
    return [(line, name) for line, name in found if name.startswith("stablehlo_ref")]


def violations() -> list[str]:
    """Return a message for each import of a later layer and for each folder without a layer."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        here = relative.parts[0].removesuffix(".py")
        if here not in RANK:
            wrong.append(f"{relative}: {here} has no layer in {Path(__file__).name}")
            continue
        for line, module in imports(path, SEAMS.get(relative.as_posix())):
            if module.endswith(REGISTERS_OPS):
                continue
            is_alone = here == "semantics" and folder_of(module) != here
            if is_alone or RANK.get(folder_of(module), 99) > RANK[here]:
                wrong.append(f"{relative}:{line}: {here} imports {module} from a later layer")
    return wrong


if __name__ == "__main__":
    found = violations()
    print("\n".join(found) or "no module imports a later layer")
    sys.exit(bool(found))
