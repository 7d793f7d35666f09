"""Compare collectives on random grids, groups and element types with their oracles, and messages with queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.evaluate import NOWHERE, combine, operation, type_of
from spec_checks.strategies import ALL, NUMBERS, arrays, dtypes, same, shapes
from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.constraints import check_constraints
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.execute.grid import run_grid
from stablehlo_ref.execute.plan import FramePlanner, Planner
from stablehlo_ref.execute.run import FunctionPlan
from stablehlo_ref.ir.core import Block, Operation, Region
from stablehlo_ref.limits import Limits
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import distribution, elementwise

FAST = settings(max_examples=25, deadline=None)
AtProcess = distribution.AtProcess


def evaluate(
    name: str, operands: AtProcess, expected: AtProcess, grid: Grid, bodies: Any = (), **attributes: Any
) -> AtProcess:
    """Return the results of an op in all processes of a grid; its result types are those of the expected results."""
    first = (0, 0)
    result = [type_of(array) for array in expected[first]]
    op = operation(name, operands[first], bodies, result, **attributes)
    check_constraints(bind_types(op, REGISTRY[op.name]))
    terminator = Operation("func.return", list(op.results), (), {}, {}, [], NOWHERE)
    block = Block(op.operands, [op, terminator])
    function = Operation("func.func", [], (), {"sym_name": name}, {}, [Region([block])], NOWHERE)
    module = Operation("builtin.module", [], (), {}, {}, [Region([Block([], [function])])], NOWHERE)
    frame = FunctionPlan(name)
    FramePlanner(Planner(module, Limits()), frame).plan(block)
    with np.errstate(all="ignore"):
        returned = run_grid(Context(), grid, [(frame, list(operands[process])) for process in grid.processes])
    return {p: tuple(np.asarray(value) for value in values) for p, values in zip(grid.processes, returned)}


def check(actual: AtProcess, expected: AtProcess) -> None:
    assert actual.keys() == expected.keys()
    for process, values in expected.items():
        assert len(actual[process]) == len(values)
        for found, wanted in zip(actual[process], values):
            assert same(found, wanted), f"at process {process}: {found}, not {wanted}"


# --- strategies -----------------------------------------------------------------------------------------------------


@st.composite
def groups_of(draw: st.DrawFn, count: int, even: bool = True, covering: bool = True) -> tuple[tuple[int, ...], ...]:
    """Draw groups of all or some ids below `count`, of one size or padded with -1."""
    ids = draw(st.permutations(range(count)))
    if not covering:
        ids = ids[: draw(st.integers(1, count))]
    size = draw(st.sampled_from([n for n in range(1, len(ids) + 1) if not even or len(ids) % n == 0]))
    groups = [tuple(ids[i : i + size]) for i in range(0, len(ids), size)]
    return tuple(group + (-1,) * (size - len(group)) for group in groups)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    return Grid(draw(st.integers(1, 3)), draw(st.integers(1, 3)))


def count_of(grid: Grid, channel_id: int, use_global_device_ids: bool) -> int:
    """Return the number of ids in the groups of all_gather, all_reduce and reduce_scatter."""
    return len(grid.processes) if use_global_device_ids else grid.num_replicas


STRATEGIES = st.sampled_from([(0, False), (1, False), (1, True)])  # channel_id, use_global_device_ids


@st.composite
def operands_of(draw: st.DrawFn, grid: Grid, operand_shapes: Any, dtype: Any) -> AtProcess:
    """Draw operands for each process, with the same shapes in all of them."""
    return {p: tuple(draw(arrays(dtype, shape)) for shape in operand_shapes) for p in grid.processes}


def computation_of(op: str) -> Any:
    function = getattr(elementwise, op)
    return lambda *arguments: (function(*arguments),)


# --- collectives ----------------------------------------------------------------------------------------------------


@FAST
@given(st.data(), grids(), STRATEGIES, dtypes(ALL))
def test_all_gather(data: Any, grid: Grid, strategy: tuple[int, bool], dtype: Any) -> None:
    groups = data.draw(groups_of(count_of(grid, *strategy)))
    operand_shapes = data.draw(st.lists(shapes(max_size=2, min_rank=2, max_rank=2), min_size=1, max_size=2))
    dimension = data.draw(st.integers(0, 1))
    operands = data.draw(operands_of(grid, operand_shapes, dtype))
    size = (grid.num_replicas, grid.num_partitions)
    expected = distribution.all_gather(operands, dimension, groups, *strategy, grid=size)
    names = {"channel_id": strategy[0], "use_global_device_ids": strategy[1], "all_gather_dim": dimension}
    check(evaluate("all_gather", operands, expected, grid, replica_groups=groups, **names), expected)


@FAST
@given(st.data(), grids(), STRATEGIES, st.sampled_from(["add", "multiply", "maximum", "subtract"]), dtypes(NUMBERS))
def test_all_reduce(data: Any, grid: Grid, strategy: tuple[int, bool], op: str, dtype: Any) -> None:
    groups = data.draw(groups_of(count_of(grid, *strategy), even=False))
    operand_shapes = data.draw(st.lists(shapes(max_rank=2, max_size=3), min_size=1, max_size=2))
    operands = data.draw(operands_of(grid, operand_shapes, dtype))
    size = (grid.num_replicas, grid.num_partitions)
    expected = distribution.all_reduce(operands, groups, *strategy, computation_of(op), element_type=dtype, grid=size)
    names = {"channel_id": strategy[0], "use_global_device_ids": strategy[1]}
    bodies = [combine(op, element_type_of(dtype))]
    check(evaluate("all_reduce", operands, expected, grid, bodies, replica_groups=groups, **names), expected)


@FAST
@given(st.data(), grids(), STRATEGIES, st.sampled_from(["add", "maximum"]), dtypes(NUMBERS))
def test_reduce_scatter(data: Any, grid: Grid, strategy: tuple[int, bool], op: str, dtype: Any) -> None:
    groups = data.draw(groups_of(count_of(grid, *strategy)))
    members = len(groups[0]) * (1 if strategy[1] or not strategy[0] else grid.num_partitions)
    shape, dimension = data.draw(st.sampled_from([((members, 2), 0), ((2, 2 * members), 1), ((0, members), 1)]))
    operands = data.draw(operands_of(grid, [shape], dtype))
    size = (grid.num_replicas, grid.num_partitions)
    expected = distribution.reduce_scatter(
        operands, dimension, groups, *strategy, computation_of(op), element_type=dtype, grid=size
    )
    names = {"channel_id": strategy[0], "use_global_device_ids": strategy[1], "scatter_dimension": dimension}
    bodies = [combine(op, element_type_of(dtype))]
    check(evaluate("reduce_scatter", operands, expected, grid, bodies, replica_groups=groups, **names), expected)


@FAST
@given(st.data(), grids(), st.integers(0, 1), dtypes(ALL))
def test_all_to_all(data: Any, grid: Grid, channel_id: int, dtype: Any) -> None:
    groups = data.draw(groups_of(grid.num_partitions if channel_id else grid.num_replicas))
    count = len(groups[0])
    split, concat = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1))
    factor = data.draw(st.integers(0, 2))
    shape = (count * factor, 2) if split == 0 else (2, count * factor)
    operands = data.draw(operands_of(grid, [shape] * data.draw(st.integers(1, 2)), dtype))
    size = (grid.num_replicas, grid.num_partitions)
    expected = distribution.all_to_all(operands, split, concat, count, groups, channel_id, grid=size)
    names = {"split_dimension": split, "concat_dimension": concat, "split_count": count, "channel_id": channel_id}
    check(evaluate("all_to_all", operands, expected, grid, replica_groups=groups, **names), expected)


@st.composite
def operands_and_roots(draw: st.DrawFn, grid: Grid, dtype: Any, members: int) -> tuple[AtProcess, bool]:
    """Draw operands for each process, with or without a root for each operand."""
    operand_shapes = draw(st.lists(shapes(max_rank=2, max_size=3), min_size=1, max_size=2))
    operands = draw(operands_of(grid, operand_shapes, dtype))
    if not draw(st.booleans()):
        return operands, False
    root = np.array([draw(st.integers(0, members - 1)) for _ in operand_shapes], np.int32)
    return {p: (*values, root) for p, values in operands.items()}, True


@FAST
@given(st.data(), grids(), st.integers(0, 1), dtypes(ALL))
def test_collective_broadcast(data: Any, grid: Grid, channel_id: int, dtype: Any) -> None:
    groups = data.draw(groups_of(grid.num_partitions if channel_id else grid.num_replicas, covering=False))
    operands, dynamic = data.draw(operands_and_roots(grid, dtype, len(groups[0])))
    size = (grid.num_replicas, grid.num_partitions)
    expected = distribution.collective_broadcast(operands, groups, channel_id, dynamic, grid=size)
    names = {"channel_id": channel_id, "has_dynamic_root": dynamic}
    check(evaluate("collective_broadcast", operands, expected, grid, replica_groups=groups, **names), expected)


@FAST
@given(st.data(), grids(), st.integers(0, 1), st.sampled_from(["add", "subtract"]), dtypes(NUMBERS))
def test_collective_reduce(data: Any, grid: Grid, channel_id: int, op: str, dtype: Any) -> None:
    groups = data.draw(groups_of(grid.num_partitions if channel_id else grid.num_replicas, covering=False))
    operands, dynamic = data.draw(operands_and_roots(grid, dtype, len(groups[0])))
    size = (grid.num_replicas, grid.num_partitions)
    expected = distribution.collective_reduce(
        operands, groups, channel_id, dynamic, computation_of(op), element_type=dtype, grid=size
    )
    names = {"channel_id": channel_id, "has_dynamic_root": dynamic}
    bodies = [combine(op, element_type_of(dtype))]
    check(evaluate("collective_reduce", operands, expected, grid, bodies, replica_groups=groups, **names), expected)


@FAST
@given(st.data(), grids(), st.integers(0, 1), dtypes(ALL))
def test_collective_permute(data: Any, grid: Grid, channel_id: int, dtype: Any) -> None:
    count = grid.num_partitions if channel_id else grid.num_replicas
    pairs = tuple(zip(data.draw(st.permutations(range(count))), data.draw(st.permutations(range(count)))))
    pairs = pairs[: data.draw(st.integers(0, count))]
    operands = data.draw(operands_of(grid, [data.draw(shapes(max_rank=2, max_size=2))], dtype))
    size = (grid.num_replicas, grid.num_partitions)
    expected = distribution.collective_permute(operands, pairs, channel_id, grid=size)
    names = {"source_target_pairs": pairs, "channel_id": channel_id}
    check(evaluate("collective_permute", operands, expected, grid, **names), expected)


@FAST
@given(grids())
def test_replica_id_and_partition_id(grid: Grid) -> None:
    for op in ("replica_id", "partition_id"):
        expected = {process: (getattr(distribution, op)(process),) for process in grid.processes}
        check(evaluate(op, dict.fromkeys(grid.processes, ()), expected, grid), expected)


# --- messages -------------------------------------------------------------------------------------------------------

MESSAGES = """
module {{
  func.func @send(%token: !stablehlo.token) -> !stablehlo.token {{
{sends}
    func.return %token : !stablehlo.token
  }}
  func.func @recv(%token: !stablehlo.token) -> ({types}) {{
{recvs}
    func.return {results} : {types}
  }}
  func.func @main() -> ({types}) {{
    %token = stablehlo.after_all : !stablehlo.token
    %results:{count} = "interpreter.run_parallel"(%token, %token) {{programs = [[{programs}]]}}
        : (!stablehlo.token, !stablehlo.token) -> ({outputs})
    func.return {kept} : {types}
  }}
}}
"""
SEND = """\
    %a{i} = stablehlo.constant dense<{value}> : tensor<i32>
    %s{i} = "stablehlo.send"(%a{i}, %token) {{channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 1>}}
        : (tensor<i32>, !stablehlo.token) -> !stablehlo.token"""
RECV = """\
    %r{i}:2 = "stablehlo.recv"(%token) {{channel_handle = #stablehlo.channel_handle<handle = {channel}, type = 1>}}
        : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)"""


def text_of(sent: Sequence[int], received: Sequence[int], sender_first: bool) -> str:
    """Return a program in which one process sends 0, 1, ... to the channels `sent` and one receives from `received`."""
    n = len(sent)
    types = ", ".join(["tensor<i32>"] * n)
    first = int(sender_first)
    return MESSAGES.format(
        sends="\n".join(SEND.format(i=i, value=i, channel=c) for i, c in enumerate(sent)),
        recvs="\n".join(RECV.format(i=i, channel=c) for i, c in enumerate(received)),
        types=types, count=n + 1, results=", ".join(f"%r{i}#0" for i in range(n)),
        programs="@send, @recv" if sender_first else "@recv, @send",
        outputs=f"!stablehlo.token, {types}" if sender_first else f"{types}, !stablehlo.token",
        kept=", ".join(f"%results#{i + first}" for i in range(n)),
    )  # fmt: skip


@FAST
@given(st.data(), st.booleans())
def test_channels_keep_the_order_of_messages(data: Any, sender_first: bool) -> None:
    sent = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    received = data.draw(st.permutations(sent))
    channels: dict[int, list[Any]] = {1: [], 2: [], 3: []}
    for value, channel in enumerate(sent):
        distribution.send((np.array(value, np.int32),), channels[channel])
    expected = [distribution.recv(channels[channel])[0] for channel in received]
    results = sr.load(text_of(sent, received, sender_first)).run()
    assert [int(r) for r in results] == [int(e) for e in expected]
