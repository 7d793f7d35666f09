"""Results are the caller's: they share memory with no input, constant, cache or other result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr


def function(types: str, *lines: str, inputs: str = "") -> sr.Program:
    """A program that returns what its last line does."""
    text = "\n  ".join(lines)
    return sr.load(f"func.func @main({inputs}) -> ({types}) {{\n  {text}\n}}\n")


LARGE = 1 << 17  # elements, more than are computed while planning
PROGRAMS = {
    "constant": function(
        "tensor<2xf32>", "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>", "return %0 : tensor<2xf32>"
    ),
    "splat": function(
        "tensor<2xf32>", "%0 = stablehlo.constant dense<1.0> : tensor<2xf32>", "return %0 : tensor<2xf32>"
    ),
    "scalar": function("tensor<f32>", "%0 = stablehlo.constant dense<1.0> : tensor<f32>", "return %0 : tensor<f32>"),
    "constant twice": function(
        "tensor<2xf32>, tensor<2xf32>",
        "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "return %0, %0 : tensor<2xf32>, tensor<2xf32>",
    ),
    "view of a constant": function(
        "tensor<2x1xf32>",
        "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "%1 = stablehlo.reshape %0 : (tensor<2xf32>) -> tensor<2x1xf32>",
        "return %1 : tensor<2x1xf32>",
    ),
    "folded": function(
        "tensor<2xf32>",
        "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "%1 = stablehlo.add %0, %0 : tensor<2xf32>",
        "return %1 : tensor<2xf32>",
    ),
    "iota": function("tensor<4xi32>", "%0 = stablehlo.iota dim = 0 : tensor<4xi32>", "return %0 : tensor<4xi32>"),
    "large iota": function(
        f"tensor<{LARGE}xi32>",
        f"%0 = stablehlo.iota dim = 0 : tensor<{LARGE}xi32>",
        f"return %0 : tensor<{LARGE}xi32>",
    ),
    "tuple": function(
        "tuple<tensor<2xf32>, tensor<2xf32>>",
        "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "%1 = stablehlo.tuple %0, %0 : tuple<tensor<2xf32>, tensor<2xf32>>",
        "return %1 : tuple<tensor<2xf32>, tensor<2xf32>>",
    ),
    "value and view of it": function(
        "tensor<2xf32>, tensor<1x2xf32>, tensor<2xf32>",
        "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "%1 = stablehlo.custom_call @test.fresh(%0) : (tensor<2xf32>) -> tensor<2xf32>",
        "%2 = stablehlo.reshape %1 : (tensor<2xf32>) -> tensor<1x2xf32>",
        "return %1, %2, %1 : tensor<2xf32>, tensor<1x2xf32>, tensor<2xf32>",
    ),
    "result of a loop that does not run": function(
        "tensor<2xf32>",
        "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
        "%1 = stablehlo.constant dense<false> : tensor<i1>",
        "%2 = stablehlo.while(%a = %0) : tensor<2xf32>",
        "cond { stablehlo.return %1 : tensor<i1> } do { stablehlo.return %a : tensor<2xf32> }",
        "return %2 : tensor<2xf32>",
    ),
    "kept by a handler": function(
        "tensor<2xf32>, tensor<2xf32>",
        "%0:2 = stablehlo.custom_call @test.kept() : () -> (tensor<2xf32>, tensor<2xf32>)",
        "return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>",
    ),
}  # fmt: skip
KEPT = np.array([1, 2], np.float32)
READ_ONLY_VIEW = KEPT[:]
READ_ONLY_VIEW.flags.writeable = False
sr.register_custom_call("test.fresh", lambda call, x: [x + np.float32(1)])
sr.register_custom_call("test.kept", lambda call: [KEPT, READ_ONLY_VIEW])


def arrays_of(results: Sequence[Any]) -> list[np.ndarray]:
    return [x for r in results for x in (arrays_of(r) if isinstance(r, tuple) else [r])]


@pytest.mark.parametrize("mode", ["ignore", "warn"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_writing_to_results_changes_nothing_else(name: str, mode: Any) -> None:
    program = PROGRAMS[name]
    first = arrays_of(program.run(on_implementation_defined=mode))
    expected = [x.copy() for x in first]
    for x, y in combinations(first, 2):
        assert not np.shares_memory(x, y)
    for array in first:
        assert (array.flags.c_contiguous and array.flags.owndata) or array.base.flags.owndata
        array.flags.writeable = True
        array[...] = 7
    second = arrays_of(program.run(on_implementation_defined=mode))
    for x, y, before in zip(second, expected, first):
        np.testing.assert_array_equal(x, y)
        assert not np.shares_memory(x, before)
    np.testing.assert_array_equal(KEPT, [1, 2])


def test_results_share_no_memory_with_values_that_an_observer_keeps() -> None:
    kept: list[np.ndarray] = []

    class Keep(sr.Observer):
        def after(self, op: Any, results: Sequence[Any]) -> None:
            kept.extend(results)

    program = function(
        "tensor<2xf32>", "%0 = stablehlo.negate %x : tensor<2xf32>", "return %0 : tensor<2xf32>",
        inputs="%x: tensor<2xf32>",
    )  # fmt: skip
    (result,) = program.run(np.array([1, 2], np.float32), observer=Keep())
    result[0] = 7
    np.testing.assert_array_equal(kept[0], [-1, -2])


def test_fresh_results_are_not_copied() -> None:
    """They have the address that the observer has seen."""
    addresses: list[int] = []

    class Address(sr.Observer):
        def after(self, op: Any, results: Sequence[Any]) -> None:
            addresses.append(results[0].ctypes.data)

    program = function(
        "tensor<2x3xf32>",
        "%0 = stablehlo.negate %x : tensor<6xf32>",
        "%1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>",
        "return %1 : tensor<2x3xf32>",
        inputs="%x: tensor<6xf32>",
    )
    (result,) = program.run(np.ones(6, np.float32), observer=Address())
    assert addresses == [result.ctypes.data] * 2


GATHER = """
func.func @main(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
    : (tensor<2xf32>) -> tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<2xf32>
}
"""


def test_processes_may_share_a_read_only_result() -> None:
    x, y = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    (first, own), (second, other) = sr.load(GATHER).run_replicas([[x], [y]])
    np.testing.assert_array_equal(first, [1, 2, 3, 4])
    np.testing.assert_array_equal(second, [1, 2, 3, 4])
    if np.shares_memory(first, second):
        assert not first.flags.writeable and not second.flags.writeable
    own[0] = other[0] = 7
    np.testing.assert_array_equal([x, y], [[1, 2], [3, 4]])


def test_processes_may_share_an_input() -> None:
    x = np.array([1, 2], np.float32)
    (_, first), (_, second) = sr.load(GATHER).run_replicas([[x], [x]])
    assert not np.shares_memory(first, x) and not np.shares_memory(second, x)


@pytest.mark.parametrize("x", (np.arange(6, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(3, 2)))
@pytest.mark.parametrize(
    "op", ("stablehlo.reshape %x", "stablehlo.slice %x [0:LAST]", "stablehlo.optimization_barrier %x")
)
def test_results_share_no_memory_with_inputs(op: str, x: np.ndarray) -> None:
    """Inputs may themselves be views."""
    t = f"tensor<{'x'.join(map(str, x.shape))}xf32>"
    types = t if "barrier" in op else f"({t}) -> {t}"
    op = op.replace("LAST", ", 0:".join(map(str, x.shape)))
    program = sr.parse(f"func.func @main(%x: {t}) -> {t} {{\n  %0 = {op} : {types}\n  return %0 : {t}\n}}\n")
    (result,) = program.run(x)
    assert np.array_equal(result, x) and not np.shares_memory(result, x)
