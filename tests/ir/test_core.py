"""What an op says of its operands."""

from __future__ import annotations

import stablehlo_ref as sr


def test_names_of_operands() -> None:
    program = sr.parse("""func.func @main(%x: tensor<f32>, %0: tensor<f32>) -> tensor<f32> {
      %sum = stablehlo.add %x, %0 : tensor<f32>
      return %sum : tensor<f32>
    }""")
    add, end = program.module.regions[0].block.operations[0].regions[0].block.operations
    assert (add.operand_names(), end.operand_names()) == (["x", "0"], ["sum"])
