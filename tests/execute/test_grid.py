"""Grids of processes: groups, runs from Python, explanations of deadlocks, and errors that name the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.traces.observe import Profile
from stablehlo_ref.define.processes import Grid

ADD = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""


def all_reduce(value: str, groups: str, shape: str = "", attributes: str = "") -> str:
    count = f"{groups.count('[') - 1}x{groups.split(']')[0].count(',') + 1}"
    t = f"tensor<{shape}f32>"
    return (
        f'"stablehlo.all_reduce"({value}) {ADD} {{replica_groups = dense<{groups}> : tensor<{count}xi64>{attributes}}}'
        f" : ({t}) -> {t}"
    )


CHANNEL = ", channel_handle = #stablehlo.channel_handle<handle = {}, type = 0>, use_global_device_ids"


def reducing(groups: str, shape: str = "", attributes: str = "") -> sr.Program:
    """Return a program that reduces its argument over groups."""
    t = f"tensor<{shape}f32>"
    return sr.load(f"""
func.func @main(%a: {t}) -> {t} {{
  %0 = {all_reduce("%a", groups, shape, attributes)}
  return %0 : {t}
}}
""")


def numbers(*values: Any) -> list[list[np.ndarray]]:
    return [[np.array(value, np.float32)] for value in values]


# --- groups ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        (lambda: Grid(4, 2).cross_replica([[0, 1], [2, 3]]),
         [((0, 0), (1, 0)), ((0, 1), (1, 1)), ((2, 0), (3, 0)), ((2, 1), (3, 1))]),
        (lambda: Grid(4, 2).cross_partition([[0, 1]]),
         [((0, 0), (0, 1)), ((1, 0), (1, 1)), ((2, 0), (2, 1)), ((3, 0), (3, 1))]),
        (lambda: Grid(4, 2).cross_replica_and_partition([[0, 1], [2, 3]]),
         [((0, 0), (1, 0), (0, 1), (1, 1)), ((2, 0), (3, 0), (2, 1), (3, 1))]),
        (lambda: Grid(4, 2).flattened_ids([[0, 1, 2, 3], [4, 5, 6, 7]]),
         [((0, 0), (0, 1), (1, 0), (1, 1)), ((2, 0), (2, 1), (3, 0), (3, 1))]),
        (lambda: Grid(3, 1).cross_replica([[0, 2], [1, -1]]), [((0, 0), (2, 0)), ((1, 0),)]),
    ],
)  # fmt: skip
def test_groups_of_the_spec_examples(split: Callable[[], Any], expected: Any) -> None:
    assert split() == expected


@pytest.mark.parametrize(("replicas", "partitions"), [(0, 1), (1, -1), (-1, -1), (1 << 16, 2)])
def test_rejects_grids_of_invalid_size(replicas: int, partitions: int) -> None:
    with pytest.raises(sr.EvaluationError, match=f"got {replicas} x {partitions} processes"):
        Grid(replicas, partitions)


# --- runs -----------------------------------------------------------------------------------------------------------


def test_run_replicas() -> None:
    results = reducing("[[0, 1, 2]]").run_replicas(numbers(1, 2, 4))
    assert [r[0] for r in results] == [7, 7, 7]
    assert not any(r[0].flags.writeable for r in results)


def test_run_parallel_in_row_major_order() -> None:
    program = reducing("[[0, 3], [1, 2]]", attributes=CHANNEL.format(1))
    results = program.run_parallel(numbers(1, 2, 4, 8), num_replicas=2, num_partitions=2)
    assert [float(r[0]) for r in results] == [9, 6, 6, 9]


def test_run_parallel_with_inputs_by_name() -> None:
    results = reducing("[[0, 1]]").run_parallel([{"a": np.float32(1)}, {"a": np.float32(2)}], num_replicas=2)
    assert [float(r[0]) for r in results] == [3, 3]


@pytest.mark.parametrize(("replicas", "partitions"), [(2, 2), (1, 4), (4, 1)])
def test_grid_size_from_module_attributes(replicas: int, partitions: int) -> None:
    program = sr.load(f"""
module attributes {{mhlo.num_replicas = {replicas} : i32, mhlo.num_partitions = {partitions} : i32}} {{
  func.func @main() -> (tensor<ui32>, tensor<ui32>) {{
    %0 = stablehlo.replica_id : tensor<ui32>
    %1 = stablehlo.partition_id : tensor<ui32>
    return %0, %1 : tensor<ui32>, tensor<ui32>
  }}
}}
""")
    places = [tuple(map(int, r)) for r in program.run_parallel([()] * 4)]
    assert places == [(r, p) for r in range(replicas) for p in range(partitions)]
    assert tuple(map(int, program.run())) == (0, 0)
    with pytest.raises(sr.EvaluationError, match=f"inputs for 3, but the grid is of {replicas} x {partitions}"):
        program.run_parallel([()] * 3)


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, Grid(4, 1)), ({"num_partitions": 2}, Grid(2, 2)), ({"num_replicas": 1}, Grid(1, 4))],
)
def test_grid_size_from_number_of_inputs(given: Any, expected: Grid) -> None:
    assert reducing("[[0]]").grid(4, **given) == expected


def test_collectives_on_dynamic_shapes() -> None:
    program = sr.load("""
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
""")
    for size in (1, 3, 0, 3):
        results = program.run_replicas(numbers([1.0] * size, [2.0] * size))
        assert [r[0].tolist() for r in results] == [[1.0] * size + [2.0] * size] * 2
    with pytest.raises(sr.EvaluationError, match=r"with operands \(tensor<3xf32>\), not \(tensor<2xf32>\)"):
        program.run_replicas(numbers([1.0, 2.0], [1.0, 2.0, 3.0]))


def test_run_is_a_grid_of_one_process() -> None:
    assert reducing("[[0]]").run(np.float32(3)) == (3,)
    with pytest.raises(sr.EvaluationError) as raised:
        reducing("[[0, 1]]").run(np.float32(3))
    assert "(C3): 0 <= ids < num_replicas" in str(raised.value)
    assert "grid = 1 x 1 processes" in str(raised.value)
    assert "use --replicas 2, or run_parallel(inputs, num_replicas=2)" in str(raised.value)


def test_rejects_groups_that_do_not_cover_the_grid() -> None:
    with pytest.raises(sr.EvaluationError, match=r"\(C2\): size\(ids\) == num_replicas"):
        reducing("[[0, 1]]").run_replicas(numbers(1, 2, 3))


def test_channels_may_be_reused() -> None:
    program = sr.load(f"""
func.func @main(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {{
  %0 = {all_reduce("%a", "[[0, 1]]", attributes=CHANNEL.format(1))}
  %1 = {all_reduce("%0", "[[0, 1]]", attributes=CHANNEL.format(1))}
  return %0, %1 : tensor<f32>, tensor<f32>
}}
""")
    for _ in range(3):
        results = program.run_parallel(numbers(1, 2), num_replicas=1, num_partitions=2)
        assert [tuple(map(float, r)) for r in results] == [(3, 6), (3, 6)]


@pytest.mark.parametrize("more", ["%id", "%f"])
def test_computations_that_depend_on_the_process(more: str) -> None:
    """Each process returns `a + b + 10 * replica_id`, where the computation captures the id or reads it itself."""
    inside = ID.format("id") if more == "%id" else ""
    program = sr.load(f"""
func.func @main(%a: tensor<f32>) -> tensor<f32> {{
{ID.format("f")}
  %0 = "stablehlo.all_reduce"(%a) ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
{inside}
    %s = stablehlo.add %x, %y : tensor<f32>
    %t = stablehlo.add %s, {more} : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }}) {{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}
""")
    assert [float(r[0]) for r in program.run_replicas(numbers(1, 2))] == [3, 13]


ID = """
    %{0}.id = stablehlo.replica_id : tensor<ui32>
    %{0}.ten = stablehlo.constant dense<10.0> : tensor<f32>
    %{0}.float = stablehlo.convert %{0}.id : (tensor<ui32>) -> tensor<f32>
    %{0} = stablehlo.multiply %{0}.float, %{0}.ten : tensor<f32>
"""


@pytest.mark.parametrize("shape", ["", "1000x"])
def test_many_processes(shape: str) -> None:
    count = 256
    program = reducing(str([list(range(count))]), shape)
    sizes = tuple(int(n) for n in shape.split("x") if n)
    results = program.run_replicas([[np.full(sizes, i, np.float32)] for i in range(count)])
    assert all(np.all(r[0] == count * (count - 1) / 2) for r in results)


def test_results_share_no_memory_with_inputs() -> None:
    value = np.ones(3, np.float32)
    (result,), _ = reducing("[[0], [1]]", "3x").run_replicas([[value], [value]])
    assert not np.shares_memory(result, value)


def test_large_reductions_are_left_folds() -> None:
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(100_000).astype(np.float32) for _ in range(5)]
    expected = values[0]
    for value in values[1:]:
        expected = expected + value
    for (result,) in reducing("[[0, 1, 2, 3, 4]]", "100000x").run_replicas([[v] for v in values]):
        assert result.tobytes() == expected.tobytes()


# --- deadlocks and mismatches ---------------------------------------------------------------------------------------


def deadlock(text: str) -> str:
    with pytest.raises(sr.EvaluationError) as raised:
        sr.load(text).run()
    return str(raised.value)


def grid_of(programs: str, *functions: str) -> str:
    """Return a module whose main function runs a grid of functions without results, each with the argument 0.0."""
    count = programs.count("@")
    listed = ", ".join(["%0"] * count)
    types = ", ".join(["tensor<f32>"] * count)
    return "\n".join([
        *functions,
        "func.func @main() {",
        "  %0 = stablehlo.constant dense<0.0> : tensor<f32>",
        f'  "interpreter.run_parallel"({listed}) {{programs = {programs}}} : ({types}) -> ()',
        "  return",
        "}",
    ])  # fmt: skip


def function(name: str, *lines: str) -> str:
    return "\n".join([f"func.func @{name}(%a: tensor<f32>) {{", *(f"  {line}" for line in lines), "  return", "}"])


def test_deadlock_with_process_that_has_finished() -> None:
    message = deadlock(grid_of("[[@a], [@b]]", function("a", f"%0 = {all_reduce('%a', '[[0, 1]]')}"), function("b")))
    assert "<string>:2:8: error: deadlock: process (0, 0) waits at 'stablehlo.all_reduce'" in message
    assert "  its group is (0, 0), (1, 0)\n  process (1, 0) has not arrived: it has finished" in message


def test_deadlock_at_different_ops() -> None:
    gather = '"stablehlo.all_gather"(%b) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}'
    lines = [
        "%b = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>",
        f"%0 = {gather} : (tensor<1xf32>) -> tensor<2xf32>",
    ]
    reduce = f"%0 = {all_reduce('%a', '[[0, 1]]')}"
    message = deadlock(grid_of("[[@a], [@b]]", function("a", reduce), function("b", *lines)))
    assert "process (1, 0) has not arrived: it waits at 'stablehlo.all_gather' at <string>:11:8" in message
    assert "process (0, 0) has not arrived: it waits at 'stablehlo.all_reduce' at <string>:2:8" in message


def test_deadlock_with_different_operand_types() -> None:
    reshape = "%b = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>"
    reduce = f"%0 = {all_reduce('%a', '[[0, 1]]')}"
    other = f"%0 = {all_reduce('%b', '[[0, 1]]', '1x')}"
    message = deadlock(grid_of("[[@a], [@b]]", function("a", reduce), function("b", reshape, other)))
    assert "with operands (tensor<1xf32>), not (tensor<f32>)" in message


def test_deadlock_with_different_channels() -> None:
    first = f"%0 = {all_reduce('%a', '[[0, 1]]', attributes=CHANNEL.format(1))}"
    second = f"%0 = {all_reduce('%a', '[[0, 1]]', attributes=CHANNEL.format(2))}"
    message = deadlock(grid_of("[[@a, @b]]", function("a", first), function("b", second)))
    assert "process (0, 1) has not arrived: it waits at another 'stablehlo.all_reduce' at <string>:10:8" in message
    assert "with channel_id 2, not 1" in message


def test_deadlock_with_different_computations() -> None:
    first = f"%0 = {all_reduce('%a', '[[0, 1]]')}"
    message = deadlock(grid_of("[[@a], [@b]]", function("a", first), function("b", first.replace(".add", ".maximum"))))
    assert "with computation (stablehlo.maximum), not (stablehlo.add)" in message


def test_deadlock_with_different_groups() -> None:
    first = f"%0 = {all_reduce('%a', '[[0, 1], [2, -1]]')}"
    second = f"%0 = {all_reduce('%a', '[[1, 2], [0, -1]]')}"
    message = deadlock(grid_of("[[@a], [@b], [@b]]", function("a", first), function("b", second)))
    assert "process (1, 0) has not arrived: it has finished" in message
    assert "process (0, 0) waits" in message


def test_deadlock_of_collectives_in_different_order() -> None:
    pair = [f"%{i} = {all_reduce('%a', '[[0, 1]]', attributes=CHANNEL.format(i + 1))}" for i in range(2)]
    crossed = [pair[1].replace("%1 =", "%0 ="), pair[0].replace("%0 =", "%1 =")]
    message = deadlock(grid_of("[[@a, @b]]", function("a", *pair), function("b", *crossed)))
    assert message.count("deadlock: process") == 2


RECV = """%token = stablehlo.after_all : !stablehlo.token
  %0:2 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>PAIRS}
      : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)"""
PAIRS = ", source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"


def test_deadlock_of_recv_without_send() -> None:
    programs = grid_of("[[@a], [@b]]", function("a"), function("b", RECV.replace("PAIRS", "")))
    message = deadlock(programs)
    assert "deadlock: process (1, 0) waits at 'stablehlo.recv'" in message
    assert "for a message that no process has sent" in message
    message = deadlock(programs.replace(", type = 1>}", f", type = 1>{PAIRS}}}"))
    assert "for a message from process (0, 0): it has finished" in message


def test_rejects_messages_of_another_type() -> None:
    send = """%token = stablehlo.after_all : !stablehlo.token
  %0 = "stablehlo.send"(%a, %a, %token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (tensor<f32>, tensor<f32>, !stablehlo.token) -> !stablehlo.token"""
    message = deadlock(grid_of("[[@a], [@b]]", function("a", send), function("b", RECV.replace("PAIRS", ""))))
    assert "'stablehlo.recv' op: expected (tensor<f32>), got (tensor<f32>, tensor<f32>)" in message
    assert "in process (1, 0)" in message


def test_summarizes_deadlocks_of_many_processes() -> None:
    count = 256
    reduce = f"%0 = {all_reduce('%a', str([list(range(count))]))}"
    programs = ", ".join(["[@a]"] * (count - 1) + ["[@b]"])
    message = deadlock(grid_of(f"[{programs}]", function("a", reduce), function("b")))
    assert "process (255, 0) has not arrived: it has finished" in message
    assert "deadlock: 247 more processes wait" in message
    assert "(256 in all)" in message


def test_rejects_roots_out_of_range() -> None:
    text = """
func.func @main(%a: tensor<f32>, %root: tensor<1xi32>) -> tensor<f32> {
  %0 = "stablehlo.collective_broadcast"(%a, %root) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root
  } : (tensor<f32>, tensor<1xi32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    inputs = [[np.float32(i), np.array([2], np.int32)] for i in range(2)]
    with pytest.raises(sr.EvaluationError, match=r"\(C6\): 0 <= root < 2"):
        sr.load(text).run_replicas(inputs)


@pytest.mark.parametrize(("type", "convert"), [("1xf32", "reshape"), ("i32", "convert")])
def test_deadlock_of_sums_of_different_types(type: str, convert: str) -> None:
    total = '"stablehlo.cross-replica-sum"({}) {{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : ({}) -> {}'
    other = [f"%b = stablehlo.{convert} %a : (tensor<f32>) -> tensor<{type}>"]
    other.append(f"%0 = {total.format('%b', f'tensor<{type}>', f'tensor<{type}>')}")
    first = f"%0 = {total.format('%a', 'tensor<f32>', 'tensor<f32>')}"
    message = deadlock(grid_of("[[@a], [@b]]", function("a", first), function("b", *other)))
    assert f"with operand tensor<{type}>, not tensor<f32>" in message


# --- failures -------------------------------------------------------------------------------------------------------


def test_failed_checks_name_the_process() -> None:
    check = "check.expect_eq_const %0, dense<0> : tensor<ui32>"
    message = deadlock(grid_of("[[@a], [@a]]", function("a", "%0 = stablehlo.replica_id : tensor<ui32>", check)))
    assert message.count("failed") == 1
    assert "in process (1, 0)" in message


def test_reports_failed_checks_before_the_final_error() -> None:
    check = "check.expect_eq_const %a, dense<1.0> : tensor<f32>"
    first = f"%0 = {all_reduce('%a', '[[0, 1]]')}"
    message = deadlock(grid_of("[[@a], [@b]]", function("a", first), function("b", check)))
    assert message.index("check.expect_eq_const") < message.index("deadlock: process (0, 0)")


def test_errors_name_the_process() -> None:
    line = "%0 = stablehlo.custom_call @nobody(%a) : (tensor<f32>) -> tensor<f32>"
    with pytest.raises(sr.UnsupportedError, match=r"(?s)@nobody.*in process \(0, 0\)"):
        sr.load(grid_of("[[@a], [@a]]", function("a", line))).run()


def test_rejects_collectives_in_regions_of_other_ops() -> None:
    text = f"""
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = "stablehlo.map"(%a) ({{
  ^bb0(%v: tensor<f32>):
    %1 = {all_reduce("%v", "[[0]]")}
    stablehlo.return %1 : tensor<f32>
  }}) {{dimensions = array<i64: 0>}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""
    with pytest.raises(sr.UnsupportedError, match="inside a region of another op"):
        sr.load(text).run(np.zeros(2, np.float32))


def test_rejects_grids_that_start_themselves() -> None:
    text = """
func.func @main() {
  "interpreter.run_parallel"() {programs = [[@main], [@main]]} : () -> ()
  return
}
"""
    message = deadlock(text)
    assert "nested" in message
    assert message.count("in process (0, 0)") == 1


def test_rejects_infeed_functions_with_arguments() -> None:
    read = "func.func @read(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }"
    text = grid_of("[[@a]]", function("a"), read).replace("{programs", "{infeed = [@read], programs")
    with pytest.raises(sr.InvalidError, match=r"\(infeed\)"):
        sr.load(text)


def test_profile_of_a_grid() -> None:
    profile = Profile()
    reducing("[[0, 1]]").run_parallel(numbers(1, 2), observer=profile)
    assert profile.by_op()["stablehlo.all_reduce"][1] == 2


def test_reductions_that_are_not_associative_go_in_the_order_of_the_group() -> None:
    count = 70  # more than one run of the schedule for associative bodies
    groups = [list(range(count))]
    program = sr.load(f"""
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {{
      %0 = "stablehlo.all_reduce"(%x) <{{replica_groups = dense<{groups}> : tensor<1x{count}xi64>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.subtract %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }}) : (tensor<1xf32>) -> tensor<1xf32>
      return %0 : tensor<1xf32>
    }}""")
    results = program.run_replicas([[np.full(1, i, np.float32)] for i in range(count)])
    assert all(result.tolist() == [-sum(range(1, count))] for (result,) in results)
