"""Updates that write into the memory of an operand that is not used again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.context import Observer
from stablehlo_ref.ir.core import Operation

SLICE = "stablehlo.dynamic_update_slice %y, %u, %i : (tensor<1000xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1000xf32>"
SCATTER = """"stablehlo.scatter"(%y, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}
  : (tensor<1000xf32>, tensor<i32>, tensor<1xf32>) -> tensor<1000xf32>"""


class Addresses(Observer):
    """Collects the addresses of the first elements of %y and of the update."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}

    def after(self, op: Operation, results: Sequence[Any]) -> None:
        if op.name != "func.return":
            self.found[op.name] = np.asarray(results[0]).ctypes.data


def run(update: str, returned: str) -> tuple[Addresses, tuple[Any, ...]]:
    addresses = Addresses()
    program = sr.load(f"""
    func.func @main(%x: tensor<1000xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> (tensor<1000xf32>, tensor<1000xf32>) {{
      %y = stablehlo.add %x, %x : tensor<1000xf32>
      %0 = {update}
      return %0, {returned} : tensor<1000xf32>, tensor<1000xf32>
    }}
    """)
    arguments = np.ones(1000, np.float32), np.full(1, 7, np.float32), np.int32(3)
    return addresses, program.run(*arguments, observer=addresses)


@pytest.mark.parametrize("update", [SLICE, SCATTER], ids=["dynamic_update_slice", "scatter"])
def test_update_reuses_an_operand_that_is_not_used_again(update: str) -> None:
    addresses, (updated, _) = run(update, "%x")
    assert len(addresses.found) == 2 and len(set(addresses.found.values())) == 1
    assert updated[:5].tolist() == [2, 2, 2, 7, 2]


@pytest.mark.parametrize("update", [SLICE, SCATTER], ids=["dynamic_update_slice", "scatter"])
def test_update_copies_an_operand_that_is_used_again(update: str) -> None:
    _, (updated, operand) = run(update, "%y")
    assert updated[:5].tolist() == [2, 2, 2, 7, 2]
    assert operand[:5].tolist() == [2, 2, 2, 2, 2]


def test_an_operand_outlives_a_captured_value_that_dies() -> None:
    program = sr.load("""
    func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      %0 = "stablehlo.map"(%x) ({
      ^bb0(%a: tensor<f32>):
        %1 = stablehlo.add %a, %sum : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>
      %2 = stablehlo.add %x, %x : tensor<3xf32>
      return %0, %2 : tensor<3xf32>, tensor<3xf32>
    }
    """)
    first, second = program.run(np.array([1, 2, 3], np.float32))
    assert first.tolist() == [7, 8, 9] and second.tolist() == [2, 4, 6]
