"""Limits of time and memory, in every phase and kind of work."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.arrays.descriptions import value_text
from stablehlo_ref.bytecode.writer import write
from stablehlo_ref.cli.main import _ending_on_interrupt, main
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.limits import _cgroup_limits, available_memory
from stablehlo_ref.limits.budget import Budget, Deadline, Memory, in_force, size_text
from stablehlo_ref.numerics.contraction import matmul_in_steps
from stablehlo_ref.text import inline_function

MILLION = "tensor<1000000xf32>"  # 4 MB
ONES = np.ones(1_000_000, np.float32)


def chain(op: str, length: int = 5, of: str = MILLION) -> str:
    lines = [f"  %{i + 1} = stablehlo.{op} %{i} : {of}" for i in range(length)]
    return f"func.func @main(%0: {of}) -> {of} {{\n" + "\n".join(lines) + f"\n  return %{length} : {of}\n}}"


def looks(limit: int) -> Deadline:
    """Return a deadline that passes at the look after `limit` of them."""
    ticks = count()
    return Deadline(limit, lambda: float(next(ticks)))


# --- time -----------------------------------------------------------------------------------------------------------


def test_deadline_by_a_clock() -> None:
    time = 0.0
    deadline = Deadline(2, lambda: time)
    deadline.check()
    with pytest.raises(LimitError, match="needs about 3 seconds, and 2 are left"):
        deadline.check(needed=3)
    time = 2.0
    with pytest.raises(LimitError, match=r"parsing takes longer than the limit of 2 seconds\n.*--max-seconds"):
        deadline.check("parsing")


@pytest.mark.parametrize(
    ("phase", "line"),
    [(sr.parse, 2), (lambda text: sr.parse(text).verify(), 2), (lambda text: sr.load(text).plan(), 2)],
)
def test_phases_look_at_the_time_at_each_op(phase: Callable[[str], object], line: int) -> None:
    text = chain("negate", 50, "tensor<4xf32>")
    with in_force(Budget(looks(30))), pytest.raises(sr.EvaluationError, match="takes longer") as caught:
        phase(text)
    assert caught.value.diagnostics[0].line > line


def test_load_is_limited() -> None:
    with pytest.raises(sr.EvaluationError, match="parsing takes longer than the limit of 1e-09 seconds") as caught:
        sr.load(chain("negate"), limits=sr.Limits(max_seconds=1e-9))
    assert caught.value.diagnostics[0].location


def run_with(deadline: Deadline, text: str, *arrays: np.ndarray, fast: bool = True) -> None:
    """Run a program, planned before, under a deadline that only kernels and steps check."""
    program = sr.load(text)
    program.plan(fast=fast)
    with in_force(Budget(deadline)):
        program.run(*arrays, fast=fast)


def test_straight_line_programs_look_at_the_time() -> None:
    text = chain("negate", 2000, "tensor<4xf32>")
    with pytest.raises(sr.EvaluationError, match="the run takes longer"):
        run_with(looks(4), text, np.ones(4, np.float32))


def test_the_op_that_ran_out_of_time_is_named() -> None:
    with pytest.raises(sr.EvaluationError) as caught:
        run_with(looks(4), chain("negate", 10), ONES, fast=False)
    assert caught.value.diagnostics[0].line == 4


def test_an_op_of_a_chain_that_ran_out_of_time_is_named() -> None:
    with pytest.raises(sr.EvaluationError) as caught:
        run_with(looks(4), chain("negate", 10), ONES)
    assert caught.value.diagnostics[0].line in range(2, 12)


LARGE = 3_000_000
SORT = """func.func @main(%0: tensor<20x150000xf32>) -> tensor<20x150000xf32> {
  %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<20x150000xf32>) -> tensor<20x150000xf32>
  return %1 : tensor<20x150000xf32>
}"""
FFT = """func.func @main(%0: tensor<300x10000xcomplex<f32>>) -> tensor<300x10000xcomplex<f32>> {
  %1 = stablehlo.fft %0, type = FFT, length = [10000]
       : (tensor<300x10000xcomplex<f32>>) -> tensor<300x10000xcomplex<f32>>
  return %1 : tensor<300x10000xcomplex<f32>>
}"""
KERNELS = {
    "in parts": (chain("negate", 1, f"tensor<{LARGE}xf32>"), np.ones(LARGE, np.float32)),
    "in blocks": (chain("sine", 1, f"tensor<{LARGE}xf32>"), np.ones(LARGE, np.float32)),
    "of a narrow format": (chain("tanh", 1, f"tensor<{LARGE}xbf16>"), np.ones(LARGE, np.float32)),
    "sort": (SORT, np.ones((20, 150000), np.float32)),
    "fft": (FFT, np.ones((300, 10000), np.complex64)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_look_at_the_time_while_they_run(name: str) -> None:
    text, array = KERNELS[name]
    program = sr.load(text)
    dtype = np.asarray(program.run(np.zeros_like(array).astype(_dtype(program)))[0]).dtype
    with pytest.raises(sr.EvaluationError, match="the run takes longer"):
        run_with(looks(3), text, array.astype(dtype))


def _dtype(program: sr.Program) -> np.dtype:
    from stablehlo_ref.numerics.dtypes import numpy_dtype

    return numpy_dtype(program.inputs[0].type.element_type)


def test_parts_are_the_whole() -> None:
    text = chain("negate", 1, "tensor<3x1100000xf32>").replace("negate %0", "add %0, %0")
    array = np.arange(3_300_000, dtype=np.float32).reshape(3, -1)
    with in_force(Budget(Deadline(100.0))):
        (result,) = sr.load(text).run(array)
    np.testing.assert_array_equal(result, 2 * array)


@pytest.mark.parametrize("shapes", [((90, 90), (90, 90)), ((3, 50, 20), (3, 20, 10)), ((2, 2, 9, 9), (2, 2, 9, 9))])
def test_large_products_in_steps(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stablehlo_ref.numerics.contraction.STEP", 500)
    a, b = (np.random.default_rng(0).integers(0, 9, shape).astype(np.float64) for shape in shapes)
    np.testing.assert_array_equal(matmul_in_steps(a, b), np.matmul(a, b))
    with in_force(Budget(looks(2))), pytest.raises(LimitError):
        matmul_in_steps(a, b)


def test_runs_in_other_threads_have_limits_of_their_own() -> None:
    program = sr.load(chain("sine", 2))

    def run(seconds: float | None) -> str:
        try:
            program.run(ONES, limits=sr.Limits(max_seconds=seconds))
        except sr.EvaluationError:
            return "limit"
        return "result"

    program.plan()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, [1e-9, None, 1e-9, 1000.0])) == ["limit", "result", "limit", "result"]


# --- memory ---------------------------------------------------------------------------------------------------------


def run_in_memory(text: str, megabytes: float, *arrays: np.ndarray) -> None:
    sr.load(text).run(*arrays, limits=sr.Limits(max_total_bytes=int(megabytes * 1e6)))


def test_values_that_die_do_not_count() -> None:
    run_in_memory(chain("sine", 10), 12.5, ONES)


def test_live_values_count() -> None:
    with pytest.raises(sr.EvaluationError, match=r"exceed the limit of 7 MB") as caught:
        run_in_memory(chain("sine", 10), 7, ONES)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.line == 2
    assert diagnostic.notes[0] == "4 MB more are needed, and 4 MB are live"
    assert "--max-total-bytes" in diagnostic.notes[1]


def test_views_and_splats_take_no_memory() -> None:
    text = f"""func.func @main(%0: {MILLION}) -> tensor<f32> {{
  %1 = stablehlo.reshape %0 : ({MILLION}) -> tensor<1000x1000xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %3 = stablehlo.constant dense<1.0> : tensor<100000000xf32>
  %4 = stablehlo.slice %3 [0:1] : (tensor<100000000xf32>) -> tensor<1xf32>
  %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}}"""
    run_in_memory(text, 5, ONES)


def test_copies_of_results_count() -> None:
    results = ", ".join([MILLION] * 4)
    text = f"""func.func @main() -> ({results}) {{
  %0 = stablehlo.constant dense<1.0> : {MILLION}
  return %0, %0, %0, %0 : {results}
}}"""
    with pytest.raises(sr.EvaluationError, match="exceed the limit") as caught:
        run_in_memory(text, 15)
    assert caught.value.diagnostics[0].line == 1
    run_in_memory(text, 17)


def test_temporaries_count() -> None:
    with pytest.raises(sr.EvaluationError, match=r"of them for temporaries"):
        run_in_memory(SORT, 25, np.ones((20, 150000), np.float32))
    run_in_memory(SORT, 27, np.ones((20, 150000), np.float32))


def test_callers_values_count() -> None:
    text = f"""func.func @main(%0: {MILLION}) -> {MILLION} {{
  %1 = stablehlo.sine %0 : {MILLION}
  %2 = func.call @main(%1) : ({MILLION}) -> {MILLION}
  %3 = stablehlo.add %1, %2 : {MILLION}
  return %3 : {MILLION}
}}"""
    with pytest.raises(sr.EvaluationError, match="exceed the limit of 50 MB"):
        run_in_memory(text, 50, ONES)


def test_small_values_count_together() -> None:
    lines = [f"  %v{i} = stablehlo.sine %0 : tensor<50000xf32>" for i in range(400)]
    lines += [f"  %u{i} = stablehlo.add %{f'u{i - 1}' if i else 'v0'}, %v{i} : tensor<50000xf32>" for i in range(400)]
    text = "func.func @main(%0: tensor<50000xf32>) -> tensor<50000xf32> {\n" + "\n".join(lines)
    text += "\n  return %u399 : tensor<50000xf32>\n}"
    with pytest.raises(sr.EvaluationError, match="exceed the limit"):
        run_in_memory(text, 40, np.ones(50_000, np.float32))


def test_memory_is_measured_only_when_it_gets_short() -> None:
    measured = []
    memory = Memory(100, lambda: measured.append(1) or 10)
    memory.reserve(40)
    memory.reserve(40, 10)
    assert len(measured) == 1
    memory.reserve(20)
    assert len(measured) == 2
    memory.keep(50)
    with pytest.raises(LimitError):
        memory.reserve(45)


def test_size_text() -> None:
    assert [size_text(n) for n in (12, 1200, 2_000_000, 1_234_567_890)] == ["12 bytes", "1.2 kB", "2 MB", "1.235 GB"]


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": "1000", "memory.max": "2000"}, [1000, 2000]),
        ("4:memory:/x\n3:cpu:/\n", {"memory/x/memory.limit_in_bytes": "500"}, [500]),
        ("0::/gone\n", {}, []),
        ("garbage\n", {}, []),
    ],
)
def test_limits_of_cgroups(own: str, files: dict[str, str], expected: list[int], tmp_path: Path) -> None:
    (tmp_path / "own").write_text(own)
    for name, content in files.items():
        (tmp_path / "fs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / name).write_text(content)
    assert list(_cgroup_limits(tmp_path / "own", tmp_path / "fs")) == expected


def test_default_limits_are_parts_of_the_memory() -> None:
    limits = sr.Limits()
    assert (limits.max_bytes, limits.max_total_bytes) == (available_memory() // 2, available_memory() * 3 // 4)


# --- interrupts -----------------------------------------------------------------------------------------------------


def test_interrupts_end_the_process_while_it_starts(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT)))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with _ending_on_interrupt():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# --- all doors ------------------------------------------------------------------------------------------------------

LONG = chain("negate", 200, "tensor<4xf32>")
HLO = "HloModule m\n\nENTRY main {\n  ROOT c = f32[200]{0} constant({" + ", ".join(["1.5"] * 200) + "})\n}\n"
SCATTER = """func.func @main(%0: tensor<4xf32>, %i: tensor<100x1xi32>, %u: tensor<100xf32>) -> tensor<4xf32> {
  %1 = "stablehlo.scatter"(%0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %a : tensor<f32>
    %c = stablehlo.add %s, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<100x1xi32>, tensor<100xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


def scattering() -> Callable[[], object]:
    program = sr.load(SCATTER).plan()
    indices = np.zeros((100, 1), np.int32)
    return lambda: program.run(np.zeros(4, np.float32), indices, np.ones(100, np.float32))


DOORS: dict[str, Callable[[], Callable[[], object]]] = {
    "print": lambda: partial(str, sr.load(LONG)),
    "write bytecode": lambda: partial(write, sr.load(LONG).module),
    "read bytecode": lambda: partial(sr.parse, write(sr.load(LONG).module)),
    "name values": lambda: partial(sr.load(LONG).value, "%5"),
    "read a list": lambda: partial(sr.parse, f"module attributes {{a = [{', '.join(['unit'] * 99)}]}} {{}}"),
    "read a string": lambda: partial(sr.parse, 'module attributes {a = "' + r"\n" * 99 + '"} {}'),
    "read aliases": lambda: partial(sr.parse, "".join(f"#a{i} = {i}\n" for i in range(99)) + "module {}"),
    "read elements of HLO": lambda: partial(sr.parse, HLO),
    "track uses": lambda: partial(Rewriter, sr.load(LONG).module),
    "print elements": lambda: partial(value_text, sr.load(LONG).inputs[0].type, np.ones(99, np.float32)),
    "scatter": scattering,
    "inline text": lambda: partial(inline_function, LONG, ["%x"]),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_looks_at_the_time(door: str) -> None:
    work = DOORS[door]()
    with in_force(Budget(looks(40))), pytest.raises(LimitError, match="takes longer"):
        work()


def test_parts_after_the_deadline_are_not_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "parts.mlir"
    file.write_text("func.func @f() { return }\n// -----\n" * 2000)
    assert main(["opt", str(file), "--split-input-file", "--max-seconds", "0.01"]) == 1
    assert capsys.readouterr().err.count("takes longer") <= 2
