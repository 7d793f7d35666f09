"""Reads StableHLO's docs/spec.md and writes what it names: each op's inputs, outputs and constraint labels.

    python tools/spec_labels.py PATH/TO/spec.md > spec_checks/labels.json

The project keeps these names (and no sentence of the spec) so that its tests can compare them with the op classes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

Labels = dict[str, list[str]]


def chapters(spec: str) -> dict[str, str]:
    """The text of each op's chapter by mnemonic."""
    ops = spec.split("\n## Ops\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^### ([a-z0-9_]+)\n(.*?)(?=^### |\Z)", ops, re.M | re.S))


def labels(chapter: str) -> Labels:
    """The names of inputs and outputs and the constraint labels of a chapter, in its order."""
    inputs, _, rest = chapter.partition("#### Outputs")
    outputs, _, constraints = rest.partition("#### Constraints")
    constraints = constraints.split("#### Examples")[0]
    return {
        "inputs": re.findall(r"^\| (?:\(I\d+\) +\| )?`(\w+)`", inputs, re.M),
        "outputs": re.findall(r"^\| `(\w+)`", outputs, re.M),
        "constraints": list(dict.fromkeys(re.findall(r"^ *\* \(C(\d+)\)", constraints, re.M))),
    }


def main() -> None:
    spec = Path(sys.argv[1]).read_text(encoding="utf-8")
    found = {op: labels(chapter) for op, chapter in sorted(chapters(spec).items()) if "#### Semantics" in chapter}
    lines = [f" {json.dumps(op)}: {json.dumps(names)}" for op, names in found.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
