"""Loops in machine code; needs the extra `jit`."""

from __future__ import annotations

import gc
import signal
import threading
import time
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine import compiler, functions, tensors
from stablehlo_ref.diagnostics import InternalError, LimitError
from stablehlo_ref.numerics import elementary

needs_llvmlite = pytest.mark.skipif(not compiler.is_available(), reason="needs llvmlite (the extra jit)")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)


def loop(state: str, body: str, following: str, *, turns: int = 100, inputs: str = "") -> sr.Program:
    """Return a program whose loop has a counter and one value of the type `state`, the program's first input."""
    return sr.parse(f"""
      !vec = tensor<1000xf32>
      !buf = tensor<100xf64>
      !mat = tensor<10x10xi64>
      !index = tensor<i32>
      func.func @main(%init: {state}{inputs}) -> {state} {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %x = %init) : tensor<i32>, {state}
        cond {{
          %turns = stablehlo.constant dense<{turns}> : tensor<i32>
          %c = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }} do {{
          {body}
          %next = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %next, {following} : tensor<i32>, {state}
        }}
        return %r#1 : {state}
      }}""")


def reports(program: sr.Program) -> list[str]:
    return [title.partition(", ")[2] for plan in program.plans.values() for title, _ in plan.generated if ", " in title]


def check(program: sr.Program, *inputs: Any, compiled: bool | None = True) -> np.ndarray:
    """Compare three runs, whose later ones are in machine code from the start, with one without fast paths."""
    (expected,) = program.run(*inputs, fast=False)
    for _ in range(3):
        (result,) = program.run(*inputs)
        assert np.asarray(result).tobytes() == np.asarray(expected).tobytes()
    assert compiled in (None, "as machine code" in reports(program)), reports(program)
    return np.asarray(expected)


@needs_llvmlite
def test_scalar_loop() -> None:
    program = loop("!index", "%y = stablehlo.multiply %x, %x : !index", "%y", turns=40)
    check(program, np.int32(3))


@needs_llvmlite
@pytest.mark.parametrize("switch", ["1", "strict"])
def test_a_fault_of_the_compiler_is_raised_in_strict_mode(monkeypatch: pytest.MonkeyPatch, switch: str) -> None:
    program = loop("!index", "%y = stablehlo.xor %x, %x : !index", "%y", turns=40)  # no other test's code
    monkeypatch.setattr(compiler, "_engine", lambda text: {}["engine"])
    monkeypatch.setenv(compiler.SWITCH, switch)
    if switch == "strict":
        with pytest.raises(InternalError, match="KeyError"):
            check(program, np.int32(3))
    else:
        check(program, np.int32(3), compiled=False)
        assert reports(program) == ["not as machine code: KeyError: 'engine'"]


@needs_llvmlite
def test_rounding_needs_instructions_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    from llvmlite import binding

    program = loop("!vec", "%y = stablehlo.floor %x : !vec", "%y")
    monkeypatch.setattr(binding, "get_default_triple", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: {"sse4.1": False})
    compiler._llvm.cache_clear()
    try:
        check(program, np.arange(1000, dtype=np.float32) / 7, compiled=False)
    finally:
        compiler._llvm.cache_clear()
    assert reports(program) == ["not as machine code: the processor cannot round to integers, or convert f16"]


@needs_llvmlite
def test_multiply_and_add_are_not_contracted() -> None:
    body = """%p = stablehlo.multiply %x, %k : tensor<8xf32>
              %y = stablehlo.subtract %p, %q : tensor<8xf32>"""
    program = loop("tensor<8xf32>", body, "%y", inputs=", %k: tensor<8xf32>, %q: tensor<8xf32>", turns=50)
    x, k = (np.random.default_rng(seed).uniform(0.9, 1.1, 8).astype(np.float32) for seed in (0, 1))
    check(program, x, k, x * k)  # with a fused multiply-add, the first turn would give the error of the product


UPDATE = """
  %old = stablehlo.dynamic_slice %x, %i, sizes = [1] : (!vec, !index) -> tensor<1xf32>
  %twice = stablehlo.add %old, %old : tensor<1xf32>
  %y = stablehlo.dynamic_update_slice %x, %twice, %i : (!vec, tensor<1xf32>, !index) -> !vec
"""


@needs_llvmlite
def test_updates_in_place_keep_inputs() -> None:
    program = loop("!vec", UPDATE, "%y")
    x = np.arange(1000, dtype=np.float32)
    result = check(program, x)
    assert (result[:100] == 2 * x[:100]).all() and (x == np.arange(1000)).all()


@needs_llvmlite
def test_strided_inputs() -> None:
    program = loop("!vec", UPDATE, "%y")
    check(program, np.arange(2000, dtype=np.float32)[::2])


@needs_llvmlite
def test_inner_loop_that_starts_from_a_constant_array() -> None:
    body = """
      %zeros = stablehlo.constant dense<0.0> : !buf
      %seven = stablehlo.constant dense<7> : !index
      %inner:2 = stablehlo.while(%j = %zero, %t = %zeros) : !index, !buf
      cond {
        %c = stablehlo.compare LT, %j, %seven : (!index, !index) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %u = stablehlo.dynamic_slice %t, %j, sizes = [2] : (!buf, !index) -> tensor<2xf64>
        %w = stablehlo.add %u, %x : tensor<2xf64>
        %n = stablehlo.add %j, %one : !index
        %y = stablehlo.dynamic_update_slice %t, %w, %n : (!buf, tensor<2xf64>, !index) -> !buf
        stablehlo.return %n, %y : !index, !buf
      }
      %z = stablehlo.slice %inner#1 [5:7] : (!buf) -> tensor<2xf64>
    """
    check(loop("tensor<2xf64>", body, "%z"), np.array([1.5, -0.25]))


@needs_llvmlite
def test_branch_that_updates() -> None:
    body = """
      %three = stablehlo.constant dense<3> : !index
      %rest = stablehlo.remainder %i, %three : !index
      %y = "stablehlo.case"(%rest) ({
        stablehlo.return %x : !mat
      }, {
        %v = stablehlo.dynamic_slice %x, %rest, %i, sizes = [2, 3] : (!mat, !index, !index) -> tensor<2x3xi64>
        %t = stablehlo.transpose %v, dims = [1, 0] : (tensor<2x3xi64>) -> tensor<3x2xi64>
        %w = stablehlo.reshape %t : (tensor<3x2xi64>) -> tensor<2x3xi64>
        %n = stablehlo.not %w : tensor<2x3xi64>
        %u = stablehlo.dynamic_update_slice %x, %n, %i, %rest : (!mat, tensor<2x3xi64>, !index, !index) -> !mat
        stablehlo.return %u : !mat
      }, {
        stablehlo.return %x : !mat
      }) : (!index) -> !mat
    """
    check(loop("!mat", body, "%y"), np.arange(100).reshape(10, 10))


def test_ops_without_machine_code_stay_in_python() -> None:
    program = loop("tensor<f32>", "%y = stablehlo.cbrt %x : tensor<f32>", "%y")
    check(program, np.float32(1), compiled=False)
    if compiler.is_available():
        assert reports(program) == ["not as machine code: stablehlo.cbrt"]


@needs_llvmlite
@pytest.mark.parametrize("type", ["tensor<f32>", "tensor<5xf32>", "tensor<70xf32>"])
def test_functions_of_f32(type: str) -> None:
    body = "\n".join(
        f"%v{n + 1} = {op} %v{n} : {type} {'-> ' + type if 'chlo' in op else ''}"
        for n, op in enumerate(
            [
                "stablehlo.tanh",
                "stablehlo.exponential",
                "stablehlo.log",
                "chlo.erf",
                "chlo.erfc",
                "stablehlo.sine",
                "stablehlo.cosine",
            ]
        )
    )
    program = loop(type, body.replace("%v0", "%x"), "%v7")
    (x,) = program.inputs
    check(program, np.resize(np.float32([0.3, -0.7, 1.5, 2.5, -0.0]), x.shape))


def test_jit_can_be_switched_off() -> None:
    program = loop("!index", "%y = stablehlo.add %x, %i : !index", "%y")
    assert program.run(np.int32(0), jit=False) == (4950,)
    assert not reports(program)
    with pytest.raises(TypeError, match="jit"):
        program.run(np.int32(0), jit="no")  # type: ignore[arg-type]


ENDLESS = "%y = stablehlo.add %x, %x : !index"


@needs_llvmlite
def test_limit_of_time() -> None:
    program = loop("!index", "%y = stablehlo.add %x, %i : !index", "%y", turns=2**31 - 1)
    start = time.perf_counter()
    with pytest.raises(sr.EvaluationError, match="longer than the limit") as caught:
        program.run(np.int32(0), limits=sr.Limits(max_seconds=0.3, max_steps=2**60))
    assert "as machine code" in reports(program)
    assert caught.value.diagnostics[0].location
    assert time.perf_counter() - start < 5


@needs_llvmlite
def test_interrupt() -> None:
    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    program = loop("!index", "%y = stablehlo.add %x, %i : !index", "%y", turns=2**31 - 1)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            program.run(np.int32(0), limits=sr.Limits(max_steps=2**60, max_seconds=20))
    finally:
        signal.signal(signal.SIGALRM, before)


@needs_llvmlite
def test_interrupt_while_a_function_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last turns, after which nothing asks for the loop to end."""

    def kernel(x: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    known = functions.FUNCTIONS[elementary.tanh]._replace(error=0.5)
    monkeypatch.setattr(functions, "FUNCTIONS", {**functions.FUNCTIONS, elementary.tanh: known})
    monkeypatch.setattr(functions, "KERNELS", [lambda dtype: kernel] * len(functions.KERNELS))
    program = loop("tensor<f32>", "%y = stablehlo.tanh %x : tensor<f32>", "%y")
    with pytest.raises(KeyboardInterrupt):
        program.run(np.float32(1.0))
    assert "as machine code" in reports(program)


@needs_llvmlite
def test_large_tensors() -> None:
    body = """
      %k = stablehlo.constant dense<0.99> : tensor<f32>
      %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<30x28xf32>
      %left = stablehlo.slice %x [0:28, 0:28] : (tensor<30x30xf32>) -> tensor<28x28xf32>
      %right = stablehlo.slice %x [2:30, 2:30] : (tensor<30x30xf32>) -> tensor<28x28xf32>
      %sum = stablehlo.add %left, %right : tensor<28x28xf32>
      %column = stablehlo.slice %x [0:30, 3:4] : (tensor<30x30xf32>) -> tensor<30x1xf32>
      %row = stablehlo.slice %x [5:6, 0:28] : (tensor<30x30xf32>) -> tensor<1x28xf32>
      %wide = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x28xf32>) -> tensor<30x28xf32>
      %high = stablehlo.broadcast_in_dim %column, dims = [0, 1] : (tensor<30x1xf32>) -> tensor<30x28xf32>
      %max = stablehlo.maximum %wide, %high : tensor<30x28xf32>
      %less = stablehlo.multiply %max, %b : tensor<30x28xf32>
      %joined = stablehlo.concatenate %less, %column, %column, dim = 1
        : (tensor<30x28xf32>, tensor<30x1xf32>, tensor<30x1xf32>) -> tensor<30x30xf32>
      %y = stablehlo.dynamic_update_slice %joined, %sum, %i, %one
        : (tensor<30x30xf32>, tensor<28x28xf32>, !index, !index) -> tensor<30x30xf32>
      %negative = stablehlo.negate %y : tensor<30x30xf32>
      %small = stablehlo.sqrt %negative : tensor<30x30xf32>
      %c2 = stablehlo.compare GT, %y, %small : (tensor<30x30xf32>, tensor<30x30xf32>) -> tensor<30x30xi1>
      %z = stablehlo.select %c2, %small, %y : tensor<30x30xi1>, tensor<30x30xf32>
    """
    x = np.random.default_rng(0).standard_normal((30, 30)).astype(np.float32)
    check(loop("tensor<30x30xf32>", body, "%z"), x)


@needs_llvmlite
def test_threads() -> None:
    program = loop("!index", "%y = stablehlo.add %x, %i : !index", "%y", turns=1_000_000)
    limits = sr.Limits(max_steps=2_000_000)
    expected = program.run(np.int32(0), limits=limits)
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(program.run(np.int32(0), limits=limits))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def shifts(size: int, turns: int) -> sr.Program:
    """Return a loop whose state, and two values of each turn, are vectors of f64."""
    vector = f"tensor<{size}xf64>"
    return loop(
        vector,
        f"""%tail = stablehlo.slice %x [1:{size}] : ({vector}) -> tensor<{size - 1}xf64>
            %head = stablehlo.slice %x [0:1] : ({vector}) -> tensor<1xf64>
            %l = stablehlo.concatenate %tail, %head, dim = 0 : (tensor<{size - 1}xf64>, tensor<1xf64>) -> {vector}
            %r = stablehlo.concatenate %head, %tail, dim = 0 : (tensor<1xf64>, tensor<{size - 1}xf64>) -> {vector}
            %y = stablehlo.maximum %l, %r : {vector}""",
        "%y",
        turns=turns,
    )


def error_of(program: sr.Program, *inputs: Any, **options: Any) -> str:
    try:
        program.run(*inputs, **options)
    except LimitError as error:
        return str(error).splitlines()[0]
    return ""


@needs_llvmlite
def test_memory_is_limited_as_in_the_plan() -> None:
    size = 100_000
    program, x = shifts(size, 50), np.arange(size, dtype=np.float64)
    check(program, x)
    for vectors in (0.9, 1.01, 2.01, 3.01, 4.01, 6.01):
        limits = sr.Limits(max_total_bytes=int(vectors * x.nbytes))
        errors = [
            error_of(program, x, limits=limits, jit=jit, fast=fast) for jit, fast in ((True, True), (False, False))
        ]
        assert errors[0] == errors[1] and bool(errors[0]) == (vectors < 4)
    check(program, x)


@needs_llvmlite
def test_memory_of_large_values_is_freed() -> None:
    x = np.arange(100_000, dtype=np.float64)
    shifts(x.size, 50).run(x)
    tracemalloc.start()
    try:
        program = shifts(x.size, 50)
        for _ in range(3):
            program.run(x)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "as machine code" in reports(program) and kept < x.nbytes / 2


ARITHMETIC = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "remainder",
    "maximum",
    "minimum",
    "clamp",
    "negate",
    "abs",
    "sign",
)
OPS = [
    *[(name, "si32") for name in (*ARITHMETIC, "and", "or", "xor", "not", "popcnt", "count_leading_zeros", "shift_left",
                                  "shift_right_logical", "shift_right_arithmetic")],
    *[(name, "ui8") for name in ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "clamp")],
    *[(name, "f32") for name in (*ARITHMETIC, "sqrt") if name != "remainder"],
    *[(name, "i1") for name in ("add", "multiply", "maximum", "minimum", "clamp", "and", "or", "xor", "not")],
]  # fmt: skip
UNARY = ("negate", "abs", "sign", "not", "popcnt", "count_leading_zeros", "sqrt")


@needs_llvmlite
@pytest.mark.parametrize(("op", "element"), OPS)
@pytest.mark.parametrize("sizes", ["", "6x"])
def test_every_elementwise_op_is_compiled(op: str, element: str, sizes: str) -> None:
    type = f"tensor<{sizes}{element.replace('si', 'i')}>"
    operands = ", ".join(["%x"] if op in UNARY else ["%k", "%x", "%k"] if op == "clamp" else ["%x", "%k"])
    program = loop(type, f"%y = stablehlo.{op} {operands} : {type}", "%y", inputs=f", %k: {type}", turns=40)
    dtypes: dict[str, Any] = {"si32": np.int32, "ui8": np.uint8, "f32": np.float32, "i1": np.bool}
    x, k = (np.array(values).astype(dtypes[element]) for values in ([7, 3, 0, 1, 2, 5], [2, 5, 0, 3, 1, 7]))
    check(program, *([x, k] if sizes else [x[0], k[0]]))


@needs_llvmlite
@pytest.mark.parametrize("size", [8, 64])
def test_variables_fit_on_the_stack(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of small vectors are variables on the stack as long as there is room."""
    monkeypatch.setattr(tensors, "MAX_STACK", 1 << 10)
    monkeypatch.setattr(policy, "SECONDS_OF_LINE", 0.0)
    names, vector = ["%x", *(f"%x{number}" for number in range(60))], f"tensor<{size}xf64>"
    body = "\n".join(
        f"""{result} = stablehlo.dynamic_update_slice {operand}, %u, %i
          : ({vector}, tensor<1xf64>, tensor<i32>) -> {vector}
        {result}r = stablehlo.add {result}, {result} : {vector}"""
        for operand, result in pairwise(names)
    )
    constant = "%u = stablehlo.constant dense<2.0> : tensor<1xf64>\n"
    check(loop(vector, constant + body, names[-1], turns=40), np.arange(float(size)))
