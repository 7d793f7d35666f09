"""Each op class against the spec's own names: its inputs, its outputs, its constraint labels.

`labels.json` is made from the spec by tools/spec_labels.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stablehlo_ref  # noqa: F401  (registers the ops)
from stablehlo_ref.define import Group, In, Ins, Op, Out, Outs
from stablehlo_ref.op_table import labels, missing_labels

SPEC = json.loads((Path(__file__).parent / "labels.json").read_text())
EVALUATED = sorted(op for op in SPEC if f"stablehlo.{op}" in Op.registry)

# What can't be called as in the spec: a class attribute has the name, or MLIR names it otherwise.
RENAMED = {"composite_name": "name", "composite_regions": "regions"}


@pytest.mark.parametrize("op", EVALUATED)
def test_constraints_have_the_labels_of_the_spec(op: str) -> None:
    definition = Op.registry[f"stablehlo.{op}"]
    written = {label for label in labels(definition) if label.isdecimal()}  # the others are titles of sections
    expected = set(SPEC[op]["constraints"])
    missing = missing_labels(definition.name, written, expected)
    assert not missing, f"{op}: no formula for {sorted('C' + m for m in missing)}"
    assert not written - expected, f"{op}: the spec has no {sorted('C' + w for w in written - expected)}"


@pytest.mark.parametrize("op", EVALUATED)
def test_members_have_the_names_of_the_spec(op: str) -> None:
    definition = Op.registry[f"stablehlo.{op}"]
    inputs = SPEC[op]["inputs"]
    names = {RENAMED.get(m.name, m.name) for m in definition.members.values() if not isinstance(m, Group | Out | Outs)}
    assert not set(inputs) - names, f"{op}: inputs of the spec are missing"
    operands = [m.name for m in definition.members.values() if isinstance(m, In | Ins)]
    assert operands == [n for n in inputs if n in operands], f"{op}: the spec has other operands, or in another order"
    outputs = [m.name for m in definition.outputs]
    assert outputs == SPEC[op]["outputs"], f"{op}: outputs {outputs}, the spec has {SPEC[op]['outputs']}"
