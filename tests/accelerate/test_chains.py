"""What is fused into chains, what is not, and what a chain takes."""

from __future__ import annotations

import time
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine.compiler import is_available
from stablehlo_ref.diagnostics import LimitError

pytestmark = pytest.mark.skipif(not is_available(), reason="no llvmlite (the extra jit), or no jit")

T = "tensor<1024x512xf32>"
CHAIN = f"""func.func @main(%a: {T}, %b: {T}) -> {T} {{
  %0 = stablehlo.add %a, %b : {T}
  %1 = stablehlo.multiply %0, %a : {T}
  %2 = stablehlo.subtract %1, %b : {T}
  %3 = stablehlo.maximum %2, %0 : {T}
  return %3 : {T}
}}"""


def steps(program: sr.Program, fast: bool) -> int:
    return len(program._planned(False, fast).block.steps)


def arrays(count: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((1024, 512), np.float32) for _ in range(count)]


def test_a_chain_is_one_step() -> None:
    program = sr.parse(CHAIN)
    assert (steps(program, True), steps(program, False)) == (1, 4)


def test_small_tensors_are_left_alone() -> None:
    program = sr.parse(CHAIN.replace("1024x512", "16x512"))
    assert steps(program, True) == 4


def test_two_ops_on_tensors_of_medium_size_are_left_alone() -> None:
    text = "func.func @main(%a: T) -> T {\n %0 = stablehlo.abs %a : T\n %1 = stablehlo.sqrt %0 : T\n return %1 : T\n}"
    assert steps(sr.parse(text.replace("T", T)), True) == 2
    assert steps(sr.parse(text.replace("T", "tensor<2048x512xf32>")), True) == 1


def test_a_view_between_ops_of_a_chain() -> None:
    program = sr.parse(f"""func.func @main(%a: {T}, %bias: tensor<512xf32>) -> {T} {{
      %0 = stablehlo.negate %a : {T}
      %1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<512xf32>) -> {T}
      %2 = stablehlo.add %0, %1 : {T}
      %3 = stablehlo.abs %2 : {T}
      return %3 : {T}
    }}""")
    (a,), bias = arrays(1), np.arange(512, dtype=np.float32)
    (result,) = program.run(a, bias)
    np.testing.assert_array_equal(result, abs(bias - a))
    assert steps(program, True) == 2


def test_an_op_between_that_needs_the_chain_splits_it() -> None:
    program = sr.parse(f"""func.func @main(%a: {T}) -> {T} {{
      %0 = stablehlo.negate %a : {T}
      %1 = stablehlo.reverse %0, dims = [0] : {T}
      %2 = stablehlo.add %0, %1 : {T}
      return %2 : {T}
    }}""")
    (a,) = arrays(1)
    np.testing.assert_array_equal(program.run(a)[0], -a - a[::-1])
    assert steps(program, True) == 3


@pytest.fixture
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)


@pytest.mark.usefixtures("_compiled_at_once")
def test_peak_memory_is_that_of_the_result() -> None:
    program, given = sr.parse(CHAIN).plan(), arrays()
    for _ in range(2):
        program.run(*given)
    tracemalloc.start()
    program.run(*given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * given[0].nbytes


def test_transposed_operands() -> None:
    program = sr.parse(f"""func.func @main(%a: tensor<512x1024xf32>, %b: {T}) -> {T} {{
      %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<512x1024xf32>) -> {T}
      %0 = stablehlo.multiply %t, %b : {T}
      %1 = stablehlo.subtract %0, %t : {T}
      %2 = stablehlo.abs %1 : {T}
      return %2 : {T}
    }}""")
    (b,), a = arrays(1), np.arange(512 * 1024, dtype=np.float32).reshape(512, 1024)
    np.testing.assert_array_equal(program.run(a, b)[0], abs(a.T * b - a.T))
    assert steps(program, True) == 2


def test_memory_is_limited() -> None:
    program = sr.parse(CHAIN)
    with pytest.raises(LimitError, match="exceed the limit") as caught:
        program.run(*arrays(), limits=sr.Limits(max_total_bytes=5 << 20))
    assert caught.value.diagnostics[0].location


def test_time_is_limited() -> None:
    program = sr.parse(CHAIN).plan()
    with pytest.raises(LimitError, match="limit of"):
        program.run(*arrays(), limits=sr.Limits(max_seconds=1e-9))


@pytest.mark.parametrize("shape", [(64, 64, 3), (2, 100, 5), (3, 40, 50, 2), (1, 33, 17, 31)])
@pytest.mark.parametrize("element", ["f32", "bf16", "i8", "i1"])
def test_broadcasts_along_short_rows(shape: tuple[int, ...], element: str) -> None:
    sizes = "x".join(map(str, shape))
    text = f"tensor<{shape[0]}x{shape[-1]}x{element}>) -> tensor<{sizes}x{element}>"
    program = sr.parse(f"""func.func @main(%a: {text} {{
      %0 = stablehlo.broadcast_in_dim %a, dims = [0, {len(shape) - 1}] : ({text}
      return %0 : tensor<{sizes}x{element}>
    }}""")
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i1": np.bool_}[element]
    a = (np.arange(shape[0] * shape[-1]).reshape(shape[0], shape[-1]) % 2).astype(dtype)
    expected = np.broadcast_to(a.reshape(shape[0], *[1] * (len(shape) - 2), shape[-1]), shape)
    np.testing.assert_array_equal(program.run(a)[0], expected)


NORMALIZE = f"""func.func @main(%a: {T}) -> ({T}, {T}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : ({T}, tensor<f32>) -> tensor<1024xf32>
  %b = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<1024xf32>) -> {T}
  %c = stablehlo.subtract %a, %b : {T}
  %zero_again = stablehlo.constant dense<0.0> : tensor<f32>
  %again = stablehlo.reduce(%a init: %zero_again) applies stablehlo.add across dimensions = [1] : ({T}, tensor<f32>) -> tensor<1024xf32>
  %d = stablehlo.broadcast_in_dim %again, dims = [0] : (tensor<1024xf32>) -> {T}
  %e = stablehlo.divide %c, %d : {T}
  return %c, %e : {T}, {T}
}}"""  # noqa: E501


def test_a_chain_that_starts_with_a_reduction_of_an_argument() -> None:
    program, given = sr.parse(NORMALIZE), arrays(1)
    assert steps(program, True) == 1
    for result, expected in zip(program.run(*given), program.run(*given, fast=False)):
        np.testing.assert_array_equal(result, expected)


def test_a_maximum_and_ops_on_rows_are_no_chain() -> None:
    program = sr.parse(f"""func.func @main(%a: {T}, %init: tensor<f32>) -> tensor<1024xf32> {{
      %0 = stablehlo.reduce(%a init: %init) applies stablehlo.maximum across dimensions = [1]
        : ({T}, tensor<f32>) -> tensor<1024xf32>
      %1 = stablehlo.negate %0 : tensor<1024xf32>
      return %1 : tensor<1024xf32>
    }}""")
    assert steps(program, True) == 2


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("ops", ["sqrt", "sine sqrt", "tanh sine sqrt", "sqrt negate", "sine log", "rsqrt"])
def test_nans_have_the_bits_of_the_plan_in_each_run(ops: str, element: str) -> None:
    """Square roots and logarithms of negative numbers have the sign bit set on x86."""
    type, value, body = T.replace("f32", element), "%x", ""
    for number, op in enumerate(["abs", "negate", *ops.split()]):
        body += f"  %{number} = stablehlo.{op} {value} : {type}\n"
        value = f"%{number}"
    program = sr.parse(f"func.func @main(%x: {type}) -> {type} {{\n{body}  return {value} : {type}\n}}")
    x = arrays(1)[0].astype(np.dtype("f4" if element == "f32" else "f8"))
    expected = program.run(x, fast=False)[0].tobytes()
    assert np.isnan(program.run(x)[0]).any()
    assert all(program.run(x)[0].tobytes() == expected for _ in range(3))


def test_a_sum_of_rows_is_a_chain_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """numpy adds pairs level by level; the sum of small integers is exact, so that any order of additions has it."""
    program = sr.parse("""func.func @main(%x: tensor<1024x1000xf32>) -> tensor<1024xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<1024x1000xf32>, tensor<f32>) -> tensor<1024xf32>
      return %0 : tensor<1024xf32>
    }""")
    x = np.random.default_rng(0).integers(-8000, 8000, (1024, 1000))
    monkeypatch.setattr(policy, "SECONDS", -1.0)
    for _ in range(3):
        (result,) = program.run(x.astype(np.float32))
        np.testing.assert_array_equal(result, x.sum(1))
    y = np.random.default_rng(1).standard_normal((1024, 1000), np.float32)
    assert program.run(y)[0].tobytes() == program.run(y, jit=False)[0].tobytes()
    assert any("machine code" in title for plan in program.plans.values() for title, _ in plan.generated)


SMALL_OPS = """
  %%p%d = stablehlo.dot_general %%x%d, %%b, contracting_dims = [1] x [0] : (!m, !m) -> !m
  %%s%d = stablehlo.reduce(%%p%d init: %%zero) applies stablehlo.maximum across dimensions = [1] : (!m, !s) -> !v
  %%r%d = stablehlo.broadcast_in_dim %%s%d, dims = [0] : (!v) -> !m
  %%t%d = stablehlo.transpose %%r%d, dims = [1, 0] : (!m) -> !m
  %%x%d = stablehlo.subtract %%t%d, %%x%d : !m
"""


def small_ops(repeats: int) -> sr.Program:
    """Return a program whose function repeats x -> the maxima of the rows of x @ b, as columns, less x."""
    body = "".join(SMALL_OPS % (n, n, n, n, n, n, n, n, n + 1, n, n) for n in range(repeats))
    return sr.parse(f"""!m = tensor<4x4xf32>
    !v = tensor<4xf32>
    !s = tensor<f32>
    func.func @main(%x0: !m, %b: !m) -> !m {{
      %zero = stablehlo.constant dense<0.0> : !s
      {body}
      return %x{repeats} : !m
    }}""")


@pytest.mark.usefixtures("_compiled_at_once")
def test_many_ops_on_small_tensors_are_a_chain() -> None:
    program, (x, b) = small_ops(8), np.random.default_rng(0).integers(-2, 3, (2, 4, 4)).astype(np.float32)
    assert (steps(program, True), steps(small_ops(6), True)) == (1, 30)
    expected = x
    for _ in range(8):
        expected = np.maximum((expected @ b).max(1), 0)[np.newaxis] - expected
    for given in (x, x.T.copy().T):  # the second one is not in row-major order
        np.testing.assert_array_equal(program.run(given, b)[0], expected)
    assert [title.partition(", ")[2] for plan in program.plans.values() for title, _ in plan.generated] == [
        "as machine code", "one by one: elements that are apart",
    ]  # fmt: skip


@pytest.mark.usefixtures("_compiled_at_once")
@pytest.mark.parametrize("reducer", ["maximum", "add"])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64", "i8", "ui32"])
def test_small_chains_keep_the_type_of_what_they_reduce(element: str, reducer: str) -> None:
    body = "".join(f"%x{n + 1} = stablehlo.negate %x{n} : !m\n" for n in range(32))
    program = sr.parse(f"""!m = tensor<4x6x{element}>
    !v = tensor<4x{element}>
    func.func @main(%x0: !m) -> !v {{
      %zero = stablehlo.constant dense<{0 if "i" in element else 0.0}> : tensor<{element}>
      {body}
      %0 = stablehlo.reduce(%x32 init: %zero) applies stablehlo.{reducer} across dimensions = [1]
          : (!m, tensor<{element}>) -> !v
      return %0 : !v
    }}""")
    x = np.arange(24).reshape(4, 6)
    expected = x.max(1) if reducer == "maximum" else x.sum(1)
    dtype = program.inputs[0].dtype
    for _ in range(3):
        np.testing.assert_array_equal(program.run(x.astype(dtype))[0].astype(int), expected.astype(dtype).astype(int))


def test_small_tensors_run_one_by_one_until_code_pays_off(monkeypatch: pytest.MonkeyPatch) -> None:
    program, x = small_ops(8), np.eye(4, dtype=np.float32)

    def reports() -> list[str]:
        program.run(x, x)
        return [title for plan in program.plans.values() for title, _ in plan.generated]

    monkeypatch.setattr(policy, "SECONDS", 0.0)
    start = time.perf_counter()
    while not reports():
        assert time.perf_counter() < start + 60
    assert time.perf_counter() - start > 40 * policy.WEIGHT_SECONDS  # for 40 ops
