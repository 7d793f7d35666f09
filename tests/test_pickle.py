"""Programs, and the errors of runs, pickled, copied and sent to other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.locations import LocationAlias, name_of

TEXT = """\
module @model attributes {mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<2xf32> loc("args[0]"), %n: tensor<i32>) -> (tensor<2xf32> {jax.result_info = "out"}) {
    %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32> loc(#loc1)
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
      cond {
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %b = func.call @add(%a, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        stablehlo.return %j, %b : tensor<i32>, tensor<2xf32>
      }
    return %0#1 : tensor<2xf32>
  }
  func.func private @add(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %y : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
#loc1 = loc("one"(#loc2))
#loc2 = loc("f.py":3:4)
"""
INPUTS = np.array([10, 20], np.float32), np.int32(3)
EXPECTED = [13, 26]  # three times [1, 2] more


def through_pickle(program: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(program, protocol))


COPIES = [through_pickle, lambda program: through_pickle(program, 2), copy.deepcopy, copy.copy]


@pytest.fixture(params=COPIES, ids=["pickle", "oldest protocol", "deepcopy", "copy"])
def duplicate(request: pytest.FixtureRequest) -> Callable[[sr.Program], sr.Program]:
    function: Callable[[sr.Program], sr.Program] = request.param
    return function


@pytest.mark.parametrize("is_planned", [False, True])
def test_copies_run_planned_or_not(duplicate: Callable[[sr.Program], sr.Program], is_planned: bool) -> None:
    program = sr.load(TEXT)
    if is_planned:
        program.run(*INPUTS)
        program.run(*INPUTS, on_implementation_defined="warn")
    for _ in range(2):
        np.testing.assert_array_equal(duplicate(program).run(*INPUTS)[0], EXPECTED)
    np.testing.assert_array_equal(program.run(*INPUTS)[0], EXPECTED)


def test_copies_print_alike(duplicate: Callable[[sr.Program], sr.Program]) -> None:
    program = sr.load(TEXT)
    assert str(duplicate(program)) == str(program)


def test_copies_share_no_operations(duplicate: Callable[[sr.Program], sr.Program]) -> None:
    program = sr.load(TEXT)
    other = duplicate(program)
    assert not set(program.module.walk()) & set(other.module.walk())
    next(op for op in other.module.walk() if op.name == "stablehlo.add").attributes["note"] = True
    assert "note" not in str(program)


def test_operations_of_copies_are_linked() -> None:
    module = through_pickle(sr.load(TEXT)).module
    inside = set(module.walk())
    for op in inside:
        assert (op.parent_op in inside) is (op is not module)
        assert all(result.owner is op and op.results[result.index] is result for result in op.results)
        for region in op.regions:
            assert region.parent is op
            for block in region.blocks:
                assert block.parent is region and all(argument.owner is block for argument in block.arguments)
        for producer in op.producers():
            assert producer is None or producer in inside
    assert module.regions[0].block.symbol("add").name == "func.func"


def test_copies_keep_entry_limits_and_verification(duplicate: Callable[[sr.Program], sr.Program]) -> None:
    program = sr.load(TEXT, entry="add", limits=sr.Limits(max_depth=3))
    other = duplicate(program)
    assert other.entry.name == "add" and other.limits == sr.Limits(max_depth=3) and other._verified
    assert not duplicate(sr.parse(TEXT))._verified


def test_copies_keep_locations_and_names() -> None:
    program, other = sr.load(TEXT), through_pickle(sr.load(TEXT))
    ops, others = (list(p.module.walk()) for p in (program, other))
    assert [str(op.location) for op in others] == [str(op.location) for op in ops]
    assert len({id(op.location.source) for op in others}) == 1
    assert other.inputs[0].names == ("x", "args[0]") and other.outputs[0].name == "out"
    assert {name_of(op.debug_location) for op in others} == {None, "one"}


def test_copies_leave_out_plans() -> None:
    program = sr.load(TEXT)
    size = len(pickle.dumps(program))
    program.run(*INPUTS)
    assert program.functions and len(pickle.dumps(program)) == size


def test_error_of_a_copy_shows_the_source_line() -> None:
    program = through_pickle(sr.load(TEXT, limits=sr.Limits(max_steps=2)))
    with pytest.raises(sr.EvaluationError, match="more loop iterations and calls") as caught:
        program.run(*INPUTS)
    assert "%0:2 = stablehlo.while(%i = %zero" in str(caught.value)


def test_errors_can_be_pickled() -> None:
    with pytest.raises(sr.InvalidError) as caught:
        sr.load(TEXT.replace("LT, %i, %n : (tensor<i32>, tensor<i32>)", "LT, %i, %x : (tensor<i32>, tensor<2xf32>)"))
    error = through_pickle(caught.value)
    assert type(error) is sr.InvalidError and str(error) == str(caught.value)


# --- constants ------------------------------------------------------------------------------------------------------


def constant(text: str) -> sr.Program:
    t = text.rpartition(" : ")[2]
    return sr.load(f"func.func @main() -> {t} {{\n  %0 = stablehlo.constant {text}\n  return %0 : {t}\n}}\n")


def elements(program: sr.Program) -> np.ndarray:
    op: Operation = program.module.regions[0].block.operations[0].regions[0].block.operations[0]
    assert isinstance(op.properties["value"], DenseElements)
    return op.properties["value"].array


@pytest.mark.parametrize(
    "text",
    [
        "dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>",
        "dense<1.0> : tensor<f32>",
        "dense<1.0> : tensor<2x3xf32>",
        "dense<1.0> : tensor<1x1xf32>",
        "dense<> : tensor<0x3xf32>",
        "dense<1.0> : tensor<0x3xf32>",
        "dense<1> : tensor<2x3xi4>",
        "dense<[1, -2]> : tensor<2xi4>",
        "dense<[1.0, -2.0]> : tensor<2xf8E4M3FN>",
        "dense<[1.0, -2.0]> : tensor<2xbf16>",
        "dense<(1.0, 2.0)> : tensor<complex<f32>>",
        "dense<[true, false]> : tensor<2xi1>",
    ],
)
def test_constants_are_equal_and_read_only(duplicate: Callable[[sr.Program], sr.Program], text: str) -> None:
    program = constant(text)
    other = duplicate(program)
    array, expected = elements(other), elements(program)
    assert array.dtype == expected.dtype and array.shape == expected.shape
    assert (0 in array.strides) is (0 in expected.strides)
    assert array.tobytes() == expected.tobytes() and not array.flags.writeable
    assert str(other) == str(program)
    np.testing.assert_array_equal(other.run()[0], program.run()[0])


def test_splats_stay_small() -> None:
    program = constant("dense<1.0> : tensor<1000000000xf32>")
    assert len(pickle.dumps(program)) < 10_000
    assert elements(through_pickle(program)).strides == (0,)
    assert elements(copy.deepcopy(program)).strides == (0,)


def test_deep_copies_share_the_elements_of_constants() -> None:
    program = constant("dense<[1.0, 2.0]> : tensor<2xf32>")
    assert np.shares_memory(elements(program), elements(copy.deepcopy(program)))


def test_resources_keep_their_elements() -> None:
    text = """
    func.func @main() -> tensor<2xf32> {
      %0 = stablehlo.constant dense_resource<r> : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-#
      dialect_resources: { builtin: { r: "0x040000000000803F00000040" } }
    #-}
    """
    for duplicate in COPIES:
        np.testing.assert_array_equal(duplicate(sr.load(text)).run()[0], [1, 2])


# --- programs that recursion would not get through ------------------------------------------------------------------


def test_long_programs_and_chains_of_aliases_are_copied(duplicate: Callable[[sr.Program], sr.Program]) -> None:
    count = 3 * sys.getrecursionlimit()
    lines = [f"  %{i + 1} = stablehlo.negate %{i} : tensor<f32> loc(#l{i})" for i in range(count)]
    aliases = [f'#l{i} = loc("n{i}"(#l{i + 1}))' for i in range(count)] + [f'#l{count} = loc("f.py":1:2)']
    text = "func.func @main(%0: tensor<f32>) -> tensor<f32> {\n" + "\n".join(lines)
    program = sr.load(f"{text}\n  return %{count} : tensor<f32>\n}}\n" + "\n".join(aliases) + "\n")
    other = duplicate(program)
    assert other.run(np.float32(2))[0] == 2
    location: Any = other.module.regions[0].block.operations[0].regions[0].block.operations[0].debug_location
    for i in range(count):
        assert isinstance(location, LocationAlias) and location.target is not None
        assert name_of(location) == f"n{i}"
        location = location.target.child  # type: ignore[union-attr]


def test_deeply_nested_regions_are_copied(duplicate: Callable[[sr.Program], sr.Program]) -> None:
    depth = 50
    text = "stablehlo.return %x : tensor<f32>"
    for i in range(depth):
        text = f"""%{i} = "stablehlo.case"(%n) ({{\n {text}\n }}) : (tensor<i32>) -> tensor<f32>
        stablehlo.return %{i} : tensor<f32>"""
    last = f"return %{depth - 1} : tensor<f32>"
    text = text.rpartition("stablehlo.return")[0] + last
    program = sr.load(f"func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {{\n {text}\n}}\n")
    other = duplicate(program)
    assert str(other) == str(program)
    assert other.run(np.int32(0), np.float32(2))[0] == 2


# --- other processes ------------------------------------------------------------------------------------------------


def run(program: sr.Program, *arrays: Any) -> Any:
    return program.run(*arrays)


def test_programs_run_in_a_pool_of_processes() -> None:
    program = sr.load(TEXT).plan()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        x, n = INPUTS
        found = pool.starmap(run, [(program, x, n), (program, -x, np.int32(0))])
        with pytest.raises(sr.EvaluationError, match=r"@main takes 2 arguments, but 1 is given") as caught:
            pool.apply(run, (program, x))
    np.testing.assert_array_equal(found[0][0], EXPECTED)
    np.testing.assert_array_equal(found[1][0], [-10, -20])
    assert caught.value.diagnostics[0].line == 2


@pytest.mark.parametrize("seed", ["1", "2"])
def test_types_are_equal_in_a_process_with_other_hashes_of_strings(tmp_path: Path, seed: str) -> None:
    """Types keep their hashes, which depend on hashes of strings."""
    program = constant("dense<[1.0, 2.0]> : tensor<2xbf16>")
    (output,) = program.outputs
    assert isinstance(hash(output.type), int)
    path = tmp_path / "program"
    path.write_bytes(pickle.dumps((program, output.type)))
    script = f"""
import pickle
from pathlib import Path
import stablehlo_ref as sr
from stablehlo_ref.ir.types import FloatType, TensorType
program, type = pickle.loads(Path({str(path)!r}).read_bytes())
assert {{type: 1}}[TensorType((2,), FloatType("bf16"))] == 1
assert hash(program.outputs[0].type) == hash(TensorType((2,), FloatType("bf16")))
print(program.run()[0].dtype)
"""
    run = subprocess.run([sys.executable, "-c", script], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
                         capture_output=True, text=True)  # fmt: skip
    assert (run.stdout.strip(), run.stderr) == (np.dtype(ml_dtypes.bfloat16).name, "")
