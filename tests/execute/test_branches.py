"""Functions of several blocks: limits, memory, text, and processes that communicate."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax.printer import print_operation

COUNT = """
func.func @main(%n: i64, %x: tensor<?xf32>) -> (i64, tensor<?xf32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  cf.br ^head(%zero, %x : i64, tensor<?xf32>)
^head(%i: i64, %y: tensor<?xf32>):
  %p = arith.cmpi slt, %i, %n : i64
  cf.cond_br %p, ^body, ^exit
^body:
  %j = arith.addi %i, %one : i64
  %z = stablehlo.add %y, %y : tensor<?xf32>
  cf.br ^head(%j, %z : i64, tensor<?xf32>)
^exit:
  return %i, %y : i64, tensor<?xf32>
}
"""


def run(count: int, **options: Any) -> tuple[Any, ...]:
    return sr.load(COUNT).run(np.int64(count), np.ones(3, np.float32), **options)


def test_runs_many_iterations_without_recursion() -> None:
    count, values = run(5000)
    assert count == 5000 and values.tolist() == [np.inf] * 3
    assert [x.tolist() for x in run(3)] == [3, [8.0] * 3]


def test_limits_end_a_loop() -> None:
    with pytest.raises(sr.EvaluationError, match="more loop iterations and calls than the limit of 100") as caught:
        run(1 << 62, limits=sr.Limits(max_steps=100))
    location = caught.value.diagnostics[0].location
    assert location is not None and location.line == 12
    with pytest.raises(sr.EvaluationError, match=r"longer than the limit of 0\.1 seconds"):
        run(1 << 62, limits=sr.Limits(max_seconds=0.1))


class Alive(sr.Observer):
    """Counts the results of additions that are alive when another addition starts."""

    def __init__(self) -> None:
        self.results: list[weakref.ref[Any]] = []
        self.most = 0

    def before(self, op: Operation, operands: Sequence[Any]) -> None:
        if op.name == "stablehlo.add":
            self.most = max(self.most, sum(r() is not None for r in self.results))

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        if op.name == "stablehlo.add":
            self.results.append(weakref.ref(owner(results[0])))


def owner(array: Any) -> np.ndarray:
    """Return the array that has the memory of a view."""
    while not isinstance(array, np.ndarray) or array.base is not None:
        array = array.obj if isinstance(array, memoryview) else array.base
    return array


def test_values_are_released_after_their_last_use() -> None:
    alive = Alive()
    run(10, observer=alive)
    assert alive.most == 1  # the one that is the operand


@pytest.mark.parametrize("generic", [False, True])
def test_prints_and_reads_back(generic: bool) -> None:
    program = sr.load(COUNT)
    text = print_operation(program.module, generic)
    assert str(sr.load(text)) == str(program)


def test_lines_that_repeat_keep_their_successors() -> None:
    text = """
    func.func @main(%c: i1) {
      cf.cond_br %c, ^a, ^b
    ^a:
      cf.br ^c
    ^b:
      cf.br ^c
    ^c:
      return
    }
    """
    blocks = sr.load(text).module.regions[0].block.operations[0].regions[0].blocks
    assert [[*block.operations[-1].successors] for block in blocks] == [["a", "b"], ["c"], ["c"], []]


def test_processes_communicate_in_loops() -> None:
    program = sr.load("""
    func.func @main(%n: i64, %x: tensor<i32>) -> tensor<i32> {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      cf.br ^head(%zero, %x : i64, tensor<i32>)
    ^head(%i: i64, %y: tensor<i32>):
      %p = arith.cmpi slt, %i, %n : i64
      %j = arith.addi %i, %one : i64
      cf.cond_br %p, ^body, ^exit
    ^body:
      %z = "stablehlo.all_reduce"(%y) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
      cf.br ^head(%j, %z : i64, tensor<i32>)
    ^exit:
      return %y : tensor<i32>
    }
    """)
    arguments = [(np.int64(3), np.int32(1)), (np.int64(3), np.int32(2))]
    assert [int(result) for (result,) in program.run_replicas(arguments)] == [12, 12]


def test_unreachable_blocks_may_use_any_value() -> None:
    program = sr.load("""
    func.func @main(%c: i1) -> i64 {
      %one = arith.constant 1 : i64
      return %one : i64
    ^never:
      %x = arith.addi %y, %y : i64
      cf.br ^never2
    ^never2:
      %y = arith.addi %x, %x : i64
      cf.cond_br %c, ^never, ^never2
    }
    """)
    assert program.run(np.True_)[0] == 1


def test_thousands_of_blocks() -> None:
    blocks = "\n".join(
        f"^b{i}(%x{i}: i64):\n%y{i} = arith.addi %x{i}, %one : i64\ncf.br ^b{i + 1}(%y{i} : i64)" for i in range(3000)
    )
    program = sr.load(f"""
    func.func @main() -> i64 {{
      %one = arith.constant 1 : i64
      cf.br ^b0(%one : i64)
    {blocks}
    ^b3000(%x: i64):
      return %x : i64
    }}
    """)
    assert program.run()[0] == 3001
