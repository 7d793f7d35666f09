"""Compare chains in machine code with the ops one by one, bit by bit; needs the extra `jit`."""

from __future__ import annotations

import time

import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.test_chains import bits, pieces, small_blocks, type_text
from stablehlo_ref.execute.fuse.machine import chains, compiler, functions, kernels, segments, sums
from stablehlo_ref.numerics.kernels import ArrayKernel

__all__ = ["small_blocks"]
pytestmark = pytest.mark.skipif(not compiler.is_available(), reason="no llvmlite (the extra jit), or no jit")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "SECONDS", -1.0)


def compiled(program: sr.Program) -> bool:
    """Return whether a chain of a program runs as machine code."""
    return any(title.endswith(", as machine code") for plan in program.plans.values() for title, _ in plan.generated)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("start", range(1000, 1160, 40))
def test_generated_programs(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "VECTOR", 16)
    count = 0
    for text, arrays in pieces(range(start, start + 40)):
        program = sr.parse(text)
        expected = bits(program.run(*arrays, fast=False))
        before = [x.tobytes() for x in arrays]
        for _ in range(3):
            assert bits(program.run(*arrays)) == expected, text
        assert [x.tobytes() for x in arrays] == before, f"an input was overwritten: {text}"
        count += compiled(program)
    assert count > 5


def operands(name: str) -> np.ndarray:
    """Return numbers of all magnitudes and signs, those at which results change most, and special ones."""
    rng = np.random.default_rng(len(name))
    random_bits = rng.integers(0, 1 << 32, 3 << 18, dtype=np.uint32).view(np.float32)
    usual = (rng.standard_normal(1 << 18) * 2.0 ** rng.integers(-12, 6, 1 << 18)).astype(np.float32)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 88.72284, -103.97, 4.0, 20.0])
    near = np.concatenate([special, np.nextafter(special, np.float32(1)), np.nextafter(special, np.float32(-1))])
    return np.concatenate([random_bits, usual, near, -near, np.float32(1) + near * np.float32(1e-6)])


def run_twice(name: str, x: np.ndarray) -> sr.Program:
    t = type_text(x.shape, "f32")
    text = f"""func.func @main(%x: {t}) -> ({t}, {t}) {{
      %0 = "{name}"(%x) : ({t}) -> {t}
      %1 = stablehlo.multiply %0, %x : {t}
      return %0, %1 : {t}, {t}
    }}"""
    program = sr.parse(text)
    expected = bits(program.run(x, fast=False))
    for _ in range(2):
        assert bits(program.run(x)) == expected
    assert compiled(program)
    return program


@pytest.mark.parametrize("name", functions.FUNCTIONS)
def test_functions(name: str) -> None:
    run_twice(name, operands(name))


@pytest.mark.parametrize("name", functions.FUNCTIONS)
def test_elements_in_doubt_are_computed_by_the_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known, asked = functions.FUNCTIONS[name], list[int]()

    def kernels(dtype: np.dtype) -> ArrayKernel:
        kernel = known.kernels(dtype)

        def run(x: np.ndarray) -> np.ndarray:
            asked.append(x.size)
            return kernel(x)

        return run

    wide = known._replace(error=2.0**-33, kernels=kernels)
    monkeypatch.setattr(functions, "FUNCTIONS", {**functions.FUNCTIONS, name: wide})
    x = np.random.default_rng(3).standard_normal(5 << 17).astype(np.float32)
    program = run_twice(name, x)
    expected, counts = bits(program.run(x, fast=False)), []
    for _ in range(2):  # from the third run on, all elements are computed by the chain's machine code
        asked.clear()
        assert bits(program.run(x)) == expected
        counts.append(len(asked))
    assert counts[0] == counts[1] > 300  # about one of 60 vectors


@pytest.fixture
def _functions_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "SECONDS", -1.0)
    monkeypatch.setattr(kernels, "FEW", 1)
    monkeypatch.setattr(kernels, "BLOCK", 50)
    for known in kernels._FUNCTIONS.values():
        monkeypatch.setattr(known, "code", None)


@pytest.mark.usefixtures("_functions_at_once")
@pytest.mark.parametrize("name", functions.FUNCTIONS)
@pytest.mark.parametrize("shape", [(), (1,), (3, 33), (500,)])
def test_functions_by_themselves(name: str, shape: tuple[int, ...]) -> None:
    t = type_text(shape, "f32")
    program = sr.parse(f'func.func @main(%x: {t}) -> {t} {{ %0 = "{name}"(%x) : ({t}) -> {t} return %0 : {t} }}')
    x = np.resize(operands(name)[-80:], shape)
    for y in (x, x.T.copy().T, np.broadcast_to(x.reshape(-1)[0], shape)):
        expected = bits(program.run(y, fast=False))
        for _ in range(2):
            assert bits(program.run(y)) == expected
        assert bits(program.run(y, jit=False)) == expected
    assert compiled(program)


@pytest.mark.usefixtures("_functions_at_once")
def test_limit_of_time_where_all_elements_are_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    known, asked = functions.FUNCTIONS["stablehlo.tanh"], list[int]()

    def slow(x: np.ndarray) -> np.ndarray:
        asked.append(x.size)
        time.sleep(0.01)
        return x

    monkeypatch.setattr(kernels, "BLOCK", 1 << 20)
    wide = known._replace(error=2.0**-10, kernels=lambda dtype: slow)
    monkeypatch.setattr(functions, "FUNCTIONS", {**functions.FUNCTIONS, "stablehlo.tanh": wide})
    t = type_text((1 << 14,), "f32")
    program = sr.parse(f"func.func @main(%x: {t}) -> {t} {{ %0 = stablehlo.tanh %x : {t} return %0 : {t} }}")
    program.run(np.ones(1 << 14, np.float32))
    asked.clear()
    with pytest.raises(sr.EvaluationError, match="longer than the limit"):
        program.run(np.ones(1 << 14, np.float32), limits=sr.Limits(max_seconds=0.1))
    assert 0 < len(asked) <= 10


@pytest.mark.usefixtures("_functions_at_once")
def test_functions_in_regions() -> None:
    program = sr.parse("""func.func @main(%x: tensor<70x80xf32>) -> tensor<70x80xf32> {
      %0 = "stablehlo.map"(%x) ({
      ^bb0(%a: tensor<f32>):
        %1 = stablehlo.logistic %a : tensor<f32>
        %2 = stablehlo.multiply %1, %a : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) {dimensions = array<i64: 0, 1>} : (tensor<70x80xf32>) -> tensor<70x80xf32>
      return %0 : tensor<70x80xf32>
    }""")
    x = np.random.default_rng(0).standard_normal((70, 80)).astype(np.float32)
    for _ in range(3):
        assert bits(program.run(x)) == bits(program.run(x, fast=False))


@pytest.mark.parametrize("shape", [(300, 1024), (2, 5, 27000), (40, 16, 8, 64), (4, 72000), (36, 7208)])
@pytest.mark.parametrize("is_special", [False, True])
def test_sums_of_rows(shape: tuple[int, ...], is_special: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "SECONDS", -1.0)
    rows = len(shape) - 1 - (len(shape) == 4)
    t, kept, dims = type_text(shape, "f32"), type_text(shape[:rows], "f32"), [*range(rows, len(shape))]
    text = f"""func.func @main(%x: {t}, %c: tensor<f32>) -> ({t}, {kept}) {{
      %0 = stablehlo.multiply %x, %x : {t}
      %1 = stablehlo.subtract %0, %x : {t}
      %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = {dims} : ({t}, tensor<f32>) -> {kept}
      %3 = stablehlo.broadcast_in_dim %2, dims = {[*range(rows)]} : ({kept}) -> {t}
      %4 = stablehlo.divide %1, %3 : {t}
      %5 = stablehlo.add %4, %x : {t}
      %6 = stablehlo.multiply %5, %x : {t}
      return %6, %2 : {t}, {kept}
    }}"""
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    if is_special:
        x.reshape(-1)[::50021] = [np.inf, -np.inf, np.nan, -0.0][shape[0] % 4]
    program = sr.parse(text)
    for init in (0.0, -0.0, 1.5):
        expected = bits(program.run(x, np.float32(init), fast=False))
        for jit in (True, True, False):
            assert bits(program.run(x, np.float32(init), jit=jit)) == expected
        exact = bits(program.run(x, np.float32(init), fast=False, exact_sums=True))
        assert bits(program.run(x, np.float32(init), exact_sums=True)) == exact
    assert sums._SUMS.code
