"""Observers are told of ops as they run, and of blocks as they start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.ir.core import Block

CAPTURING = """
func.func @main(%x: tensor<2xi32>, %n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2 = func.call @next(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }
  %3 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %4 = stablehlo.maximum %a, %b : tensor<i32>
    %5 = stablehlo.minimum %4, %n : tensor<i32>
    stablehlo.return %5 : tensor<i32>
  }) : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  return %0, %3 : tensor<i32>, tensor<i32>
}
func.func private @next(%v: tensor<i32>, %unused: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %v, %c : tensor<i32>
  return %0 : tensor<i32>
}"""


class Blocks(sr.Observer):
    sees_every_op = True

    def __init__(self) -> None:
        self.seen: list[tuple[list[str], list[Any]]] = []

    def enters(self, block: Block, arguments: Sequence[Any]) -> None:
        self.seen.append(([value.name for value in block.arguments], [np.asarray(x).tolist() for x in arguments]))


@pytest.mark.parametrize("semantics", [False, True])
def test_observers_are_told_of_each_block_and_its_arguments(semantics: bool) -> None:
    blocks = Blocks()
    sr.parse(CAPTURING).run(np.array([3, 7], np.int32), np.int32(2), observer=blocks, semantics=semantics)
    assert blocks.seen[:6] == [
        (["x", "n"], [[3, 7], 2]), (["i"], [0]), (["i"], [0]), (["v", "unused"], [0, 2]), (["i"], [1]), (["i"], [1]),
    ]  # fmt: skip
    assert all(len(names) == len(arguments) for names, arguments in blocks.seen)  # without captured values
    assert any(names == ["a", "b"] for names, _ in blocks.seen)


def test_traces_of_processes_have_all_inputs() -> None:
    text = "func.func @main(%x: tensor<i32>, %unused: tensor<i32>) -> tensor<i32> {\n return %x : tensor<i32>\n}"
    trace = sr.parse(text).trace_parallel([[1, 2], [3, 4]], num_replicas=2, num_partitions=1)
    assert {process: int(x) for process, x in trace["%unused"].items()} == {(0, 0): 2, (1, 0): 4}
