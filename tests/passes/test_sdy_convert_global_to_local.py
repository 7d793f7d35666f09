"""What each device computes on its shards of a program with shardings, and upstream's tests of that."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug.exceptions import exceptions_parallel
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.passes.sdy.convert_global_to_local import HANDLERS
from tests.shared import SHARED

CHECKOUT = Path(os.environ.get("SHARDY_CHECKOUT", SHARED / "shardy"))
PARTS = ("sdy.mesh", "sdy.return")  # of the program and of an op
FILES = sorted(CHECKOUT.glob("shardy/dialect/sdy/transforms/*/test/executable*/*.mlir"))


# --- upstream's executable tests --------------------------------------------------------------------------------------


@pytest.mark.skipif(not FILES, reason=f"there is no checkout of Shardy at {CHECKOUT}; SHARDY_CHECKOUT names another")
def test_upstream_has_executable_files() -> None:
    assert len(FILES) >= 71


def parts_of(path: Path) -> tuple[str, str]:
    """Return the two parts of a file: functions to partition, and one that runs and compares them."""
    _, first, second = re.split(r"//--- part\d\.mlir\n", path.read_text(encoding="utf-8"))
    return first, second


def without_mesh(text: str) -> str:
    return re.sub(r"sdy\.mesh .*", "", text)


@pytest.mark.parametrize("semantics", [False, True], ids=["planned", "semantics"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_parallel_functions_agree_with_sequential_ones(path: Path, semantics: bool) -> None:
    first, second = parts_of(path)
    others = ""
    if "@transformed_" in first:
        others = first.replace("transformed_", "original_")
    elif "@parallel_" in first and "@sequential_" not in first:
        others = without_mesh(first).replace("parallel_", "sequential_")
    elif "@all_gather_test" in first:
        others = without_mesh(first).replace("all_gather_test", "per_dim_gather")
        first = first.replace("all_gather_test", "combined_gather")
    sr.load((first + others + second).encode(), entry="main").run(semantics=semantics)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_pass_keeps_no_shardings(path: Path) -> None:
    text = str(sr.load(parts_of(path)[0].encode()).transform("sdy-convert-global-to-local"))
    assert not re.search(r"#sdy\.|sdy\.(?!mesh)\w", text)


# --- programs in a grid -----------------------------------------------------------------------------------------------


def program(body: str, *arguments: str, result: str = "[{}]", mesh: str = '["x"=2, "y"=2]') -> sr.Program:
    """Return a program of one function, whose arguments are pairs of types and shardings."""
    types = [argument.split(" ", 1) for argument in arguments]
    signature = ", ".join(
        f"%{name}: tensor<{type}> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"
        for name, (type, sharding) in zip("abc", types)
    )
    returned = re.findall(r"tensor<[^>]*>", body)[-1]
    return sr.load(f"""
sdy.mesh @mesh = <{mesh}>
func.func @main({signature}) -> ({returned} {{sdy.sharding = #sdy.sharding<@mesh, {result}>}}) {{
  {body}
  return %r : {returned}
}}""")


def run(loaded: sr.Program, *inputs: list[object]) -> list[list[object]]:
    """Run a program with an input of each device for each argument; return the result of each device as a list."""
    rows = [[np.array(x, np.int32) for x in values] for values in zip(*inputs)]
    return [result.tolist() for (result,) in loaded.run_parallel(rows, num_partitions=len(rows))]


def test_every_op_is_converted() -> None:
    names = {name for name, d in REGISTRY.items() if d.dialect == "sdy" and not d.variant}
    assert names <= {*HANDLERS, *PARTS}


def test_rejects_a_grid_of_another_size_than_the_mesh() -> None:
    loaded = program("%r = sdy.reshard %a <@mesh, [{}]> : tensor<4xi32>", '4xi32 [{"x"}]')
    with pytest.raises(sr.EvaluationError, match=r"expected a grid of 4 processes, one for each device of .*, got 2"):
        run(loaded, [[1, 2], [3, 4]])


def test_reports_the_types_of_shards() -> None:
    loaded = program("%r = sdy.reshard %a <@mesh, [{}]> : tensor<4xi32>", '4xi32 [{"x"}]')
    with pytest.raises(sr.EvaluationError, match="tensor<2xi32>"):
        run(loaded, [[1, 2, 3, 4]] * 4)


def test_a_tensor_that_does_not_split_evenly_is_padded_at_its_end() -> None:
    loaded = program("%r = stablehlo.add %a, %a : tensor<5xi32>", '5xi32 [{"x", "y"}]')
    assert run(loaded, [[1, 2], [3, 4], [5, -1], [-1, -1]]) == [[2, 4, 6, 8, 10]] * 4


def test_a_dimension_that_does_not_split_evenly_is_reshaped_whole() -> None:
    sharding = 'sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>'
    body = f"%r = stablehlo.reshape %a {{{sharding}}} : (tensor<9xi32>) -> tensor<3x3xi32>"
    loaded = program(body, "9xi32 [{}]", result="[{}, {}]")
    assert run(loaded, [list(range(9))] * 4) == [[[0, 1, 2], [3, 4, 5], [6, 7, 8]]] * 4


def test_a_sum_over_padded_elements_has_none_of_them() -> None:
    body = """%0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<3xi32>
      %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<3xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %r = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0]
        : (tensor<3xi32>, tensor<i32>) -> tensor<i32>"""
    loaded = program(body, "3xi32 [{}]", result="[]")
    assert run(loaded, [[1, 2, 3]] * 4) == [12] * 4


@pytest.mark.parametrize(("op", "init", "expected"), [("add", 0, 10), ("add", 1, 11), ("maximum", 2, 4)])
def test_a_reduction_over_a_sharded_dimension_combines_terms(op: str, init: int, expected: int) -> None:
    body = f"""%c = stablehlo.constant dense<{init}> : tensor<i32>
      %r = stablehlo.reduce(%a init: %c) applies stablehlo.{op} across dimensions = [0]
        : (tensor<4xi32>, tensor<i32>) -> tensor<i32>"""
    loaded = program(body, '4xi32 [{"x", "y"}]', result="[]")
    assert run(loaded, [[1], [2], [3], [4]]) == [expected] * 4


def test_a_loop_carries_shards() -> None:
    body = """%n = stablehlo.constant dense<3> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<4xi32>
        attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}]>]>}
        cond { %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1> }
        do { %j = stablehlo.add %i, %one : tensor<i32>
          %y = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xi32>
          stablehlo.return %j, %y : tensor<i32>, tensor<4xi32> }
      %r = stablehlo.negate %0#1 : tensor<4xi32>"""
    loaded = program(body, '4xi32 [{"x"}]')
    assert run(loaded, [[1, 2], [1, 2], [3, 4], [3, 4]]) == [[-8, -16, -24, -32]] * 4
    text = str(loaded.transform("sdy-convert-global-to-local"))
    assert re.search(r"stablehlo\.while.*: tensor<i32>, tensor<2xi32>", text)


def test_a_called_function_takes_and_returns_shards() -> None:
    loaded = sr.load("""
sdy.mesh @mesh = <["x"=2]>
func.func private @double(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = call @double(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}""")
    assert run(loaded, [[1, 2, 3, 4]] * 2) == [[2, 4, 6, 8]] * 2


def test_one_function_runs_on_whole_tensors_and_on_shards() -> None:
    loaded = sr.load(
        """
sdy.mesh @mesh = <["x"=2]>
func.func private @f(%x: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xi32> {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xi32>
  %1 = stablehlo.multiply %x, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xi32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<4xi32>
  return %2 : tensor<4xi32>
}
func.func @main() {
  %whole = stablehlo.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %low = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
  %high = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %sequential = call @f(%whole) : (tensor<4xi32>) -> tensor<4xi32>
  %parallel:2 = "interpreter.run_parallel"(%low, %high) {programs = [[@f, @f]]}
      : (tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %sequential, dense<[0, 6, 14, 24]> : tensor<4xi32>
  check.expect_eq %parallel#0, %sequential : tensor<4xi32>
  check.expect_eq %parallel#1, %sequential : tensor<4xi32>
  return
}""",
        entry="main",
    )
    loaded.run()
    loaded.run(semantics=True)


def test_weights_are_bound_as_whole_tensors() -> None:
    loaded = program("%r = stablehlo.multiply %a, %b : tensor<4xi32>", '4xi32 [{"x"}]', '4xi32 [{"x"}]')
    bound = loaded.bind({1: np.array([1, 2, 3, 4], np.int32)})
    assert run(bound, [[5, 6], [5, 6], [7, 8], [7, 8]]) == [[5, 12, 21, 32]] * 4


def test_tracing_a_grid_names_the_values_of_shards() -> None:
    loaded = program('%r = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xi32>', '4xi32 [{"x"}]')
    rows = [[np.array(x, np.int32)] for x in ([1, 2], [1, 2], [3, 4], [3, 4])]
    trace = loaded.trace_parallel(rows, num_partitions=4)
    assert trace.results[0][0].tolist() == [1, 2, 3, 4]


def test_exceptional_values_are_found_on_shards() -> None:
    body = """%0 = stablehlo.log %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
      %r = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<4xf32>"""
    loaded = program(body, '4xf32 [{"x"}]', mesh='["x"=2]')
    rows = [[np.array(x, np.float32)] for x in ([1, 2], [3, -4])]
    found = exceptions_parallel(loaded, rows, num_partitions=2)
    assert "stablehlo.log" in str(found)


def test_the_command_line_runs_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program.mlir"
    text = program("%r = stablehlo.negate %a : tensor<4xi32>", '4xi32 [{"x"}]', mesh='["x"=2]')
    file.write_text(str(text), encoding="utf-8")
    shards = ["[dense<[1, 2]> : tensor<2xi32>]", "[dense<[3, 4]> : tensor<2xi32>]"]
    assert main([str(file), "--partitions", "2", "--args", shards[0], "--args", shards[1]]) == 0
    assert capsys.readouterr().out.count("[-1, -2, -3, -4]") == 2


def test_dropping_shardings_leaves_a_program_on_whole_tensors() -> None:
    body = """%0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<4xi32>
      %1 = sdy.constant dense<1> : tensor<4xi32>
      %2 = sdy.named_computation<"f">(%0) (%x: tensor<4xi32>) {
        sdy.return %x : tensor<4xi32>
      } : (tensor<4xi32>) -> tensor<4xi32>
      sdy.sharding_group %2 group_id=1 : tensor<4xi32>
      %r = stablehlo.add %2, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<4xi32>"""
    dropped = program(body, '4xi32 [{"x"}]').transform("sdy-drop-sharding-and-mesh")
    assert "sdy" not in str(dropped)
    assert dropped.run(np.arange(4, dtype=np.int32))[0].tolist() == [1, 2, 3, 4]


def test_dropping_meshes_keeps_those_that_replica_groups_name() -> None:
    loaded = sr.parse("""sdy.mesh @used = <["x"=2]>
    sdy.mesh @unused = <["x"=2]>
    func.func @main(%a: tensor<1xi32> {sdy.sharding = #sdy.sharding<@unused, [{}]>}) -> tensor<2xi32> {
      %r = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups =
        #stablehlo.replica_group_mesh_axes<mesh = @used, axes = [#stablehlo.axis_ref<name = "x">]>}>
        : (tensor<1xi32>) -> tensor<2xi32>
      return %r : tensor<2xi32>
    }""")
    dropped = loaded.verify().transform("sdy-drop-sharding-and-mesh").verify()
    assert [op.properties["sym_name"] for op in dropped.module.walk() if op.name == "sdy.mesh"] == ["used"]


def test_a_matrix_product_on_1024_devices() -> None:
    body = """%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
        : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
      %r = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x64xi32>"""
    mesh = '["x"=32, "y"=32]'
    loaded = program(body, '64x64xi32 [{"x"}, {"y"}]', '64x64xi32 [{"y"}, {}]', result='[{"x"}, {}]', mesh=mesh)
    a = np.arange(64 * 64, dtype=np.int32).reshape(64, 64)
    b = a.T.copy()
    tiles = [(a[2 * x : 2 * x + 2, 2 * y : 2 * y + 2], b[2 * y : 2 * y + 2]) for x in range(32) for y in range(32)]
    results = loaded.run_parallel(tiles, num_partitions=1024)
    np.testing.assert_array_equal(np.concatenate([results[32 * x][0] for x in range(32)]), a @ b)
