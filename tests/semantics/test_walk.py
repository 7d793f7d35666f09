"""Programs run by `semantics/`: the lit tests hold, results agree with the engine's, limits and errors are as usual."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.strategies import same
from stablehlo_ref.cli.list_ops import own_definitions
from stablehlo_ref.define.context import Context, Observer
from stablehlo_ref.define.definition import REGISTRY, resolve
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError, split_text
from stablehlo_ref.execute.grid import communicates
from stablehlo_ref.ir.core import Operation, Value, captured
from stablehlo_ref.ir.types import OpaqueType
from stablehlo_ref.program import Program
from stablehlo_ref.semantics.functions import function_of
from stablehlo_ref.walk.walker import ValueScope, Walker
from tests.command_line import run as run_command
from tests.lit import expected_errors
from tests.shared import UPSTREAM
from tests.test_failing import PARTS

FOLDERS = (Path(__file__).parents[1] / "interpret", UPSTREAM / "interpret")
FILES = [(folder, path) for folder in FOLDERS for path in sorted(folder.rglob("*.mlir"))]
NAMES = [f"{folder.parent.name}/{path.relative_to(folder).with_suffix('')}" for folder, path in FILES]

# Ops of other dialects that programs of the lit tests run, and that have no function.
WITHOUT_SEMANTICS = {
    "builtin.unrealized_conversion_cast", "bufferization.to_buffer", "bufferization.to_memref",
    "bufferization.to_tensor", "cf.assert", "cf.br", "cf.cond_br", "cf.switch", "func.call_indirect", "func.constant",
    "memref.cast", "memref.get_global", "ml_program.global_load", "ml_program.global_load_const",
    "ml_program.global_store", "sdy.manual_computation", "ub.poison",
}  # fmt: skip

# How far elements may be from the exact result, in ULP of the largest element; all other results are equal bit for bit.
# The engine's errors are those of docs/accuracy.md.
ULPS = {
    "chlo.ragged_dot": 4.0, "stablehlo.dot_general": 4.0, "stablehlo.convolution": 4.0, "stablehlo.fft": 4.0,
    "stablehlo.triangular_solve": 4.0, "stablehlo.cholesky": 4.0, "chlo.acos": 1.0, "chlo._asin_acos_kernel": 1.0,
    "arith.minnumf": 0.0,  # IEEE-754 leaves the sign of a zero open
}  # fmt: skip

# The body returns its right-hand side, so that the result depends on where the init value is in the schedule.
OF_ANY_SCHEDULE = "@element_and_all_after_it_of_last_elements"


def programs(path: Path) -> Iterator[Program]:
    """Yield the programs of a file that run without inputs."""
    for line, part in split_text(path.read_text("utf-8")):
        program = sr.parse(part, filename=str(path), first_line=line).verify()
        if program.functions and not program.entry.inputs:
            yield program


def run(program: Program, **options: Any) -> bool:
    """Run a program by its semantics; return whether all its ops have some."""
    try:
        program.run(semantics=True, **options)
    except sr.UnsupportedError as error:
        (found,) = error.diagnostics
        op = found.message.split("'")[1]
        assert op in WITHOUT_SEMANTICS and found.location and "semantics" in found.message, str(error)
        return False
    return True


@pytest.mark.parametrize(("folder", "path"), FILES, ids=NAMES)
def test_checks_hold(folder: Path, path: Path) -> None:
    for program in programs(path):
        run(program)


@pytest.mark.parametrize("part", PARTS, ids=[f"{path.stem}:{line}" for path, line, _ in PARTS])
def test_errors_are_located(part: tuple[Path, int, str]) -> None:
    """Programs whose run fails do so here, for the same reason if it is not that an op has no semantics."""
    path, line, text = part
    if "many_dimensions" in path.name:
        pytest.skip("numpy's limit, which the functions of some ops do not reach")
    program = sr.parse(text, filename=path.name, first_line=line).verify()
    with pytest.raises((sr.EvaluationError, sr.UnsupportedError)) as caught:
        program.run(semantics=True)
    found = caught.value.diagnostics[0]
    assert found.line == expected_errors(text, line)[0][0] or "no semantics" in found.message


# --- agreement with the engine --------------------------------------------------------------------------------------


class Compare(Observer):
    """Evaluates each op that the engine has run by its semantics, on the same operands."""

    sees_every_op = True

    def __init__(self, program: Program) -> None:
        self.walker = Walker(program.module, Context(), communicate=pytest.fail)
        self.operands: dict[Operation, Sequence[Any]] = {}
        self.compared: list[str] = []

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        self.operands[op] = operands

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        operands, definition = self.operands[op], resolve(op)
        if definition is None or definition.traits.effects or function_of(op.name) is None:
            return
        if op.name in WITHOUT_SEMANTICS or communicates(op, set()) or any(map(captured, op.regions)):
            return
        if op.name in ("func.call", "stablehlo.composite") or not all(map(is_whole, op.operands, operands)):
            return
        operands = [x if x is None or isinstance(x, tuple) else np.asarray(x) for x in operands]
        for actual, expected in zip(results, self.walker.op(op, operands, ValueScope(None)), strict=True):
            if actual is not None and not isinstance(actual, tuple):
                assert agree(op, np.asarray(actual), np.asarray(expected)), f"{op}: {actual}, not {expected}"
        self.compared.append(op.name)


def is_whole(value: Value, array: Any) -> bool:
    """Return whether an array is a value, and not one for several elements at once as in regions that ops call."""
    is_tensor = array is not None and not isinstance(array, tuple) and not isinstance(value.type, OpaqueType)
    return not is_tensor or np.ndim(array) == len(getattr(value.type, "shape", ()))


def agree(op: Operation, actual: np.ndarray, expected: np.ndarray) -> bool:
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    if op.name not in ULPS or not actual.size:
        return same(actual, expected)
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    a, b = actual.astype(wide), expected.astype(wide)
    largest = np.max(np.abs(expected[np.isfinite(b)]), initial=expected.dtype.type(0).real)
    limit = ULPS[op.name] * float(np.spacing(largest)) if np.issubdtype(largest.dtype, np.inexact) else 0.0
    with np.errstate(invalid="ignore"):
        return bool(np.all((a == b) | (np.abs(a - b) <= limit) | ((a != a) & (b != b))))


@pytest.mark.parametrize(("folder", "path"), FILES, ids=NAMES)
def test_results_agree_with_those_of_the_engine(folder: Path, path: Path) -> None:
    for program in programs(path):
        if OF_ANY_SCHEDULE[1:] != program.entry.name:
            program.run(observer=Compare(program))


def test_ops_without_semantics() -> None:
    """Ops of StableHLO and CHLO all have a function; `return` is a part of the op around it."""
    ops = [d for d in own_definitions() if not d.traits.terminator]
    missing = [d.name for d in ops if function_of(d.name) is None]
    assert [name for name in missing if name.startswith(("stablehlo.", "chlo."))] == []
    others = {d.dialect for d in ops} - {name.partition(".")[0] for name in missing}
    assert others >= {"affine", "arith", "complex", "math", "scf", "shape", "tensor"}


# --- a run ----------------------------------------------------------------------------------------------------------

PRODUCT = """
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""
RING = """
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "stablehlo.collective_permute"(%x) {
    source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>
  } : (tensor<2xi32>) -> tensor<2xi32>
  %1 = "stablehlo.all_reduce"(%0) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.subtract %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  %2 = stablehlo.add %0, %1 : tensor<2xi32>
  return %2 : tensor<2xi32>
}
"""


def test_a_grid_of_processes() -> None:
    inputs = [[np.array([n, 10 * n], np.int32)] for n in (1, 2, 3)]
    results = sr.parse(RING).run_parallel(inputs, num_replicas=3, num_partitions=1, semantics=True)
    # Process 0 receives [3, 30], 1 receives [1, 10], 2 receives [2, 20]: 3 - 1 - 2 = 0.
    assert [r[0].tolist() for r in results] == [[3, 30], [1, 10], [2, 20]]


def test_quantized_elements_are_promoted_to_the_type_of_the_reducer() -> None:
    narrow, wide = "!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i16:f32, 0.25:-7>"
    text = f"""
    func.func @main(%x: tensor<4xi8>, %init: tensor<i8>) -> tensor<i16> {{
      %0 = stablehlo.bitcast_convert %x : (tensor<4xi8>) -> tensor<4x{narrow}>
      %1 = stablehlo.bitcast_convert %init : (tensor<i8>) -> tensor<{narrow}>
      %2 = "stablehlo.reduce"(%0, %1) <{{dimensions = array<i64: 0>}}> ({{
      ^bb0(%a: tensor<{wide}>, %b: tensor<{wide}>):
        %s = stablehlo.add %a, %b : tensor<{wide}>
        stablehlo.return %s : tensor<{wide}>
      }}) : (tensor<4x{narrow}>, tensor<{narrow}>) -> tensor<{wide}>
      %3 = stablehlo.bitcast_convert %2 : (tensor<{wide}>) -> tensor<i16>
      return %3 : tensor<i16>
    }}
    """
    # The numbers are (x - 3) * 0.5 = -1, -0.5, 13.5, 0.5 and 0, whose sum is 12.5 = (43 + 7) * 0.25.
    (result,) = sr.parse(text).run(np.array([1, 2, 30, 4], np.int8), np.array(3, np.int8), semantics=True)
    assert result == 43


def test_a_deadlock_is_reported_and_ends_all_threads() -> None:
    text = """
    func.func @main(%x: tensor<2xi32>, %p: tensor<i1>) -> tensor<2xi32> {
      %0 = "stablehlo.if"(%p) ({
        %1 = "stablehlo.all_gather"(%x) {
          all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
        } : (tensor<2xi32>) -> tensor<4xi32>
        %2 = stablehlo.slice %1 [0:2] : (tensor<4xi32>) -> tensor<2xi32>
        stablehlo.return %2 : tensor<2xi32>
      }, {
        stablehlo.return %x : tensor<2xi32>
      }) : (tensor<i1>) -> tensor<2xi32>
      return %0 : tensor<2xi32>
    }
    """
    x = np.zeros(2, np.int32)
    before = set(threading.enumerate())
    with pytest.raises(sr.EvaluationError, match=r"deadlock: process \(0, 0\) waits at 'stablehlo.all_gather'"):
        sr.parse(text).run_replicas([[x, True], [x, False]], semantics=True)
    for thread in set(threading.enumerate()) - before:
        if not thread.name.startswith("ThreadPool"):  # of kernels, which stay
            thread.join(30)  # one that has returned may still be ending
            assert not thread.is_alive()


def test_limits_hold() -> None:
    program, x = sr.parse(PRODUCT), np.ones((64, 64), np.float32)
    with pytest.raises(sr.EvaluationError, match="takes longer than the limit of") as caught:
        program.run(x, semantics=True, limits=sr.Limits(max_seconds=0.05))
    assert caught.value.diagnostics[0].line == 3
    with pytest.raises(sr.EvaluationError, match="larger than the limit of 1000 bytes"):
        program.run(x, semantics=True, limits=sr.Limits(max_bytes=1000))
    with pytest.raises(sr.EvaluationError, match="exceed the limit of 20 kB"):
        program.run(x, semantics=True, limits=sr.Limits(max_total_bytes=20_000))


def test_recursion_ends_at_the_limit_of_depth() -> None:
    text = "func.func @main() { call @main() : () -> () return }"
    with pytest.raises(sr.EvaluationError, match="nested deeper than the limit of 20"):
        sr.parse(text).run(semantics=True, limits=sr.Limits(max_depth=20))


def test_observers_and_until_see_the_same_values() -> None:
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %a = stablehlo.sine %x : tensor<3xf32>
      %b = stablehlo.add %a, %a : tensor<3xf32>
      return %b : tensor<3xf32>
    }
    """
    program, x = sr.parse(text), np.array([0.0, 0.5, 2.0], np.float32)
    assert [v.tolist() for v in program.run(x, until="%a", semantics=True)] == [np.sin(x).tolist()]
    trace = program.trace(x, semantics=True)
    assert trace["%b"].tolist() == program.trace(x)["%b"].tolist()


def test_options_that_a_run_by_semantics_does_not_have() -> None:
    program = sr.parse("func.func @main() { return }")
    with pytest.raises(ArgumentValueError, match="does not have the option on_implementation_defined"):
        program.run(semantics=True, on_implementation_defined="warn")
    with pytest.raises(ArgumentTypeError, match="semantics must be True or False"):
        program.run(semantics=1)  # type: ignore[arg-type]


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text("""
    func.func @main() -> tensor<2xf32> {
      %0 = stablehlo.constant dense<[1.0, 4.0]> : tensor<2xf32>
      %1 = stablehlo.sqrt %0 : tensor<2xf32>
      return %1 : tensor<2xf32>
    }
    """)
    assert run_command(path, "--mode", "semantics", "--print-dense", "--profile") == 0
    assert "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>" in capsys.readouterr().out
    assert run_command(path, "--mode=semantics", "--on-implementation-defined=error") == 2
    assert "--mode semantics excludes --on-implementation-defined" in capsys.readouterr().err


def test_references_to_functions_are_right() -> None:
    """Docstrings of ops name the functions that say what the ops mean."""
    package = Path(sr.__file__).parent
    texts = [path.read_text("utf-8") for path in (*package.glob("ops/*.py"), *package.glob("dialects/*.py"))]
    found = {match for text in texts for match in re.findall(r"`semantics\.(\w+)\.(\w+)`", text)}
    assert len(found) > 10
    for module, name in found:
        assert callable(getattr(import_module(f"stablehlo_ref.semantics.{module}"), name)), (module, name)


def test_pages_of_ops_show_the_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs" / "_extensions")
    page = import_module("op_pages").page
    for op, source in (("stablehlo.gather", "def gather("), ("math.exp2", "exp2 = unary("), ("scf.if", "def if_(")):
        assert f"```python\n{source}" in page(REGISTRY[op])


def test_parts_of_an_infinite_factor_are_not_multiplied() -> None:
    program = sr.load("""func.func @main(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<f32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = bf16,
    rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
    num_primitive_operations = 6, allow_imprecise_accumulation = false> : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}""")
    x = np.array([1 + 2.0**-8 + 2.0**-10], np.float32)  # its second part in bf16 is negative
    assert program.run(x, np.array([np.inf], np.float32), semantics=True)[0] == np.inf


def test_a_slice_of_nothing_has_no_element() -> None:
    program = sr.load("""func.func @main(%x: tensor<3xf32>, %i: tensor<1xi32>) -> tensor<f32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0],
    start_index_map = [0]>, slice_sizes = array<i64: 0>}> : (tensor<3xf32>, tensor<1xi32>) -> tensor<f32>
  return %0 : tensor<f32>
}""")
    with pytest.raises(sr.StablehloError, match="index 3 is out of bounds for size 3"):
        program.run(np.zeros(3, np.float32), np.array([3], np.int32), semantics=True)
