"""Compare op classes with the spec: names of inputs and outputs, labels of constraints.

`labels.json` is extracted from the spec by tools/spec_labels.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stablehlo_ref.dialects.register_all  # noqa: F401
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.formulas import labels
from stablehlo_ref.define.op import Group, In, Ins, Out, Outs
from tools.coverage import missing_labels

SPEC = json.loads((Path(__file__).parent / "labels.json").read_text())
EVALUATED = sorted(op for op in SPEC if f"stablehlo.{op}" in REGISTRY)


@pytest.mark.parametrize("op", EVALUATED)
def test_constraint_labels_match_the_spec(op: str) -> None:
    definition = REGISTRY[f"stablehlo.{op}"]
    written = {label for label in labels(definition.op_class) if label.isdecimal()}  # other labels name a section
    expected = set(SPEC[op]["constraints"])
    missing = missing_labels(definition.name, written, expected)
    assert not missing, f"{op}: no formula for {sorted('C' + m for m in missing)}"
    assert not written - expected, f"{op}: the spec has no {sorted('C' + w for w in written - expected)}"


@pytest.mark.parametrize("op", EVALUATED)
def test_member_names_match_the_spec(op: str) -> None:
    definition = REGISTRY[f"stablehlo.{op}"]
    inputs = SPEC[op]["inputs"]
    names = {m.name for m in definition.members.values() if not isinstance(m, Group | Out | Outs)}
    assert not set(inputs) - names, f"{op}: inputs of the spec are missing"
    operands = [m.name for m in definition.members.values() if isinstance(m, In | Ins)]
    assert operands == [n for n in inputs if n in operands], f"{op}: operands {operands}, the spec has {inputs}"
    outputs = [m.name for m in definition.results]
    assert outputs == SPEC[op]["outputs"], f"{op}: outputs {outputs}, the spec has {SPEC[op]['outputs']}"
