"""Compare what generated Python and machine code compute for each op of which they have a form with its kernel."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
import stablehlo_ref.program
from spec_checks.accelerate.test_chains import DTYPES, bits
from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.elements import ELEMENTS
from stablehlo_ref.accelerate.machine import functions
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ops.elementwise import Elementwise

FORMS = {*ELEMENTS, *functions.FUNCTIONS}
KINDS = {"boolean": ["i1"], "integer": ["i8", "i32", "i64"], "floating": ["f32", "f64"]}
CASES = sorted(
    (name, element)
    for name, known in REGISTRY.items()
    if issubclass(known.op_class, Elementwise) and len(known.operands) < 3
    for kind, elements in KINDS.items()
    if getattr(known.op_class, kind) in FORMS
    for element in elements
    if "finite" not in name and not name.startswith("complex.")
)


def values(element: str, seed: int, count: int = 240) -> np.ndarray:
    dtype, rng = np.dtype(DTYPES[element]), np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(count) < 0.5
    if dtype.kind == "i":
        special = np.array([0, 1, -1, 2, 31, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    else:
        special = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-40, 2.5, 1e30], dtype)
    return rng.choice(special, count)


@pytest.mark.parametrize("shape", ["", "24x"])
@pytest.mark.parametrize(("name", "element"), CASES)
def test_elements(name: str, element: str, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, attribute, value in ((policy, "HOT", 1), (policy, "SECONDS", -1.0)):
        monkeypatch.setattr(module, attribute, value)
    count, t = len(REGISTRY[name].operands), f"tensor<{shape}{element}>"
    program = sr.parse(f"""func.func @main(%init: {t}, %k: {t}) -> {t} {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %x = %init) : tensor<i32>, {t}
      cond {{
        %turns = stablehlo.constant dense<4> : tensor<i32>
        %c = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %one : tensor<i32>
        %y = "{name}"({", ".join(["%k", "%x"][-count:])}) : ({", ".join([t] * count)}) -> {t}
        stablehlo.return %next, %y : tensor<i32>, {t}
      }}
      return %r#1 : {t}
    }}""")
    x, k, size = values(element, 1), values(element, 2), 24
    for start in range(0, x.size, size):
        arrays = [z[start : start + size] if shape else z[start] for z in (x, k)]
        expected = bits(program.run(*arrays, fast=False))
        for jit in (False, True, True):
            assert bits(program.run(*arrays, jit=jit)) == expected, arrays
