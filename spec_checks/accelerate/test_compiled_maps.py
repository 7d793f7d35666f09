"""Compare maps in machine code with their computations op by op, bit by bit; needs the extra `jit`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.accelerate.test_chains import DTYPES, bits, type_text
from spec_checks.accelerate.test_compiled_chains import specials
from stablehlo_ref.accelerate import chains, policy
from stablehlo_ref.accelerate.machine import compiler

pytestmark = pytest.mark.skipif(not compiler.is_available(), reason="no llvmlite (the extra jit), or no jit")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)
    monkeypatch.setattr(chains, "PIECE", 30_000)


def map_text(shape: tuple[int, ...], element: str, body: str, result: str = "") -> str:
    t, u, one, dims = type_text(shape, element), type_text(shape, result or element), element, [*range(len(shape))]
    return f"""func.func @main(%x: {t}, %y: {t}) -> {u} {{
      %0 = "stablehlo.map"(%x, %y) ({{
      ^bb0(%a: tensor<{one}>, %b: tensor<{one}>):
        {body}
        stablehlo.return %r : tensor<{result or element}>
      }}) {{dimensions = array<i64: {str(dims)[1:-1]}>}} : ({t}, {t}) -> {u}
      return %0 : {u}
    }}"""


BODIES = {
    "f32": """%c = stablehlo.constant dense<0.75> : tensor<f32>
        %1 = stablehlo.multiply %a, %c : tensor<f32>
        %2 = stablehlo.tanh %1 : tensor<f32>
        %r = stablehlo.maximum %2, %b : tensor<f32>""",
    "f64": """%1 = stablehlo.minimum %a, %b : tensor<f64>
        %2 = stablehlo.sqrt %1 : tensor<f64>
        %r = stablehlo.subtract %2, %a : tensor<f64>""",
    "i32": """%1 = stablehlo.divide %a, %b : tensor<i32>
        %2 = stablehlo.remainder %1, %a : tensor<i32>
        %r = stablehlo.shift_left %2, %b : tensor<i32>""",
    "i1": """%1 = stablehlo.not %a : tensor<i1>
        %r = stablehlo.xor %1, %b : tensor<i1>""",
}


def titles(program: sr.Program) -> list[str]:
    """Return what the maps of a program have become."""
    return [t for plan in program.plans.values() for t, _ in plan.generated if t.startswith("stablehlo.map")]


@pytest.mark.parametrize("shape", [(20_001,), (4, 131, 160)])
@pytest.mark.parametrize("element", BODIES)
def test_maps(element: str, shape: tuple[int, ...]) -> None:
    program, rng = sr.parse(map_text(shape, element, BODIES[element])), np.random.default_rng(4)
    for number in range(5):
        x, y = (specials(rng, shape, np.dtype(DTYPES[element]), number) for _ in range(2))
        for z in (y, np.asfortranarray(y), np.broadcast_to(y.reshape(-1)[:1].reshape(()), shape)):
            expected = bits(program.run(x, z, fast=False))
            assert bits(program.run(x, z)) == expected
            assert bits(program.run(x, z)) == expected
    assert any(title.endswith(", as machine code") for title in titles(program))


def test_a_map_to_another_type() -> None:
    compare = "stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>"
    body = f"%c = {compare}\n%r = stablehlo.not %c : tensor<i1>"
    program, rng = sr.parse(map_text((300, 100), "f32", body, "i1")), np.random.default_rng(4)
    x, y = (specials(rng, (300, 100), np.dtype(np.float32), 4) for _ in range(2))
    for _ in range(2):
        assert bits(program.run(x, y)) == bits(program.run(x, y, fast=False))
    assert any(title.endswith(", as machine code") for title in titles(program))


@pytest.mark.parametrize(
    "body",
    [
        "stablehlo.return %k : tensor<f32>",
        "%1 = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %a : tensor<f32>",
        """%1 = stablehlo.add %a, %k : tensor<f32>
        %2 = stablehlo.add %1, %b : tensor<f32>
        stablehlo.return %2 : tensor<f32>""",
        "stablehlo.custom_call @f() {has_side_effect = true} : () -> ()\nstablehlo.return %a : tensor<f32>",
    ],
    ids=["captured result", "argument", "captured operand", "no results"],
)
def test_maps_of_other_forms_stay_in_numpy(body: str) -> None:
    t = type_text((20_000,), "f32")
    program = sr.parse(f"""func.func @main(%x: {t}, %y: {t}, %k: tensor<f32>) -> {t} {{
      %0 = "stablehlo.map"(%x, %y) ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        {body}
      }}) {{dimensions = array<i64: 0>}} : ({t}, {t}) -> {t}
      return %0 : {t}
    }}""")
    arguments = [np.ones(20_000, np.float32), np.zeros(20_000, np.float32), np.float32(3)]
    calls = {"f": lambda call: []} if "@f" in body else None
    for _ in range(3):
        assert bits(program.run(*arguments, custom_calls=calls)) == bits(
            program.run(*arguments, custom_calls=calls, fast=False)
        )
    assert not titles(program)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7, 0, 3), (1 << 14,)])
def test_small_maps_stay_in_numpy(shape: tuple[int, ...]) -> None:
    program = sr.parse(map_text(shape, "f32", BODIES["f32"]))
    x = np.ones(shape, np.float32)
    for _ in range(3):
        assert bits(program.run(x, x)) == bits(program.run(x, x, fast=False))
    assert not any("machine code" in title for title in titles(program))


def test_limits_and_threads() -> None:
    program, rng = sr.parse(map_text((100_000,), "f32", BODIES["f32"])), np.random.default_rng(4)
    inputs = [[rng.standard_normal(100_000).astype(np.float32) for _ in range(2)] for _ in range(6)]
    expected = [bits(program.run(*arrays, fast=False)) for arrays in inputs]
    for arrays in inputs[:2]:
        program.run(*arrays)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda arrays: bits(program.run(*arrays)), inputs)) == expected
    for steps in range(1, 12):
        outcomes = []
        for options in ({"fast": False}, {}):
            try:
                outcomes.append(bits(program.run(*inputs[0], limits=sr.Limits(max_steps=steps), **options)))
            except sr.StablehloError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
