"""Extract from StableHLO's docs/spec.md the names of each op's inputs and outputs and its constraint labels.

    python tools/spec_labels.py PATH/TO/spec.md > spec_checks/labels.json

Tests compare these names, which are all that the project stores of the spec, with the op classes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

Labels = dict[str, list[str]]


def sections(spec: str) -> dict[str, str]:
    """Return the section of each op by mnemonic."""
    ops = spec.split("\n## Ops\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^### ([a-z0-9_]+)\n(.*?)(?=^### |\Z)", ops, re.M | re.S))


def labels(section: str) -> Labels:
    """Return the names of inputs and outputs and the constraint labels of a section, in order."""
    inputs, _, rest = section.partition("#### Outputs")
    outputs, _, constraints = rest.partition("#### Constraints")
    constraints = constraints.split("#### Examples")[0]
    return {
        "inputs": re.findall(r"^\| (?:\(I\d+\) +\| )?`(\w+)`", inputs, re.M),
        "outputs": re.findall(r"^\| `(\w+)`", outputs, re.M),
        "constraints": list(dict.fromkeys(re.findall(r"^ *\* \(C(\d+)\)", constraints, re.M))),
    }


def main() -> None:
    spec = Path(sys.argv[1]).read_text(encoding="utf-8")
    found = {op: labels(section) for op, section in sorted(sections(spec).items()) if "#### Semantics" in section}
    lines = [f" {json.dumps(op)}: {json.dumps(names)}" for op, names in found.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
