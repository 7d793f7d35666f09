"""Each op class against the spec's own names: its inputs, its outputs, its constraint labels.

`labels.json` is made from the spec by tools/spec_labels.py.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from pathlib import Path

import pytest

import stablehlo_ref  # noqa: F401  (registers the ops)
from stablehlo_ref.define import Group, In, Ins, Op, Out, Outs

SPEC = json.loads((Path(__file__).parent / "labels.json").read_text())
ROOT = Path(__file__).parent.parent
EVALUATED = sorted(op for op in SPEC if f"stablehlo.{op}" in Op.registry)

# Constraints that members and their kinds state already, so that no formula repeats them, and those of the spec that
# MLIR's syntax cannot violate.
STATED_BY_MEMBERS: dict[str, set[str]] = {}


def labels_in(definition: type[Op]) -> set[str]:
    """The labels of the `C(n, ...)` calls in the role `constraints`, in all classes it is inherited from or calls."""
    found: set[str] = set()
    for cls in definition.__mro__:
        if "constraints" in vars(cls):
            found |= _labels(inspect.unwrap(vars(cls)["constraints"].__func__))
            if "super()" not in inspect.getsource(vars(cls)["constraints"].__func__):
                break
    return found


def _labels(function: object) -> set[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))  # type: ignore[arg-type]
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "C"]
    found = {str(ast.literal_eval(call.args[0])) for call in calls}
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        helper = inspect.getmodule(function).__dict__.get(name)  # type: ignore[union-attr]
        if inspect.isfunction(helper) and any(isinstance(a, ast.Name) and a.id == "C" for a in call.args):
            found |= _labels(helper)
    return found


@pytest.mark.parametrize("op", EVALUATED)
def test_constraints_have_the_labels_of_the_spec(op: str) -> None:
    definition = Op.registry[f"stablehlo.{op}"]
    written = labels_in(definition) if "constraints" in definition.parameters else set()
    expected = set(SPEC[op]["constraints"])
    missing = expected - written - STATED_BY_MEMBERS.get(op, set())
    assert not missing, f"{op}: no formula for {sorted('C' + m for m in missing)}"
    assert not written - expected, f"{op}: the spec has no {sorted('C' + w for w in written - expected)}"


@pytest.mark.parametrize("op", EVALUATED)
def test_members_have_the_names_of_the_spec(op: str) -> None:
    definition = Op.registry[f"stablehlo.{op}"]
    names = [m.name.rstrip("_") for m in definition.members.values() if not isinstance(m, Group | Out | Outs)]
    assert [n for n in names if n in SPEC[op]["inputs"]] == SPEC[op]["inputs"], f"{op}: inputs differ from the spec's"
    extra = [m for m in definition.members.values() if isinstance(m, In | Ins) and m.name.rstrip("_") not in SPEC[op]["inputs"]]
    assert not extra, f"{op}: operands that the spec does not have: {extra}"
    outputs = [m.name for m in definition.outputs]
    assert outputs == SPEC[op]["outputs"], f"{op}: outputs {outputs}, the spec has {SPEC[op]['outputs']}"


@pytest.mark.parametrize("op", EVALUATED)
def test_every_op_has_its_lit_test(op: str) -> None:
    assert (ROOT / "tests" / "interpret" / f"{op}.mlir").exists(), f"tests/interpret/{op}.mlir is missing"
