"""Programs that bytecode tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import split_text

INTERPRET = sorted((Path(__file__).parents[1] / "interpret").rglob("*.mlir"))

SMALL = """
module @small attributes {a.b = [1 : i32, "text", {c = @main}]} {
  func.func public @main(%x: tensor<2xf32> {a.name = "x"}, %n: tensor<i32>) -> (tensor<2xf32> {a.result = true}) {
    %c = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
    %w = stablehlo.constant dense_resource<weights> : tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<2xf32>
      cond {
        %p = stablehlo.compare LT, %i, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %z = stablehlo.multiply %y, %c : tensor<2xf32>
        stablehlo.return %j, %z : tensor<i32>, tensor<2xf32>
      }
    %s = call @twice(%r#1) : (tensor<2xf32>) -> tensor<2xf32>
    %t = stablehlo.add %s, %w : tensor<2xf32> loc("model.py":3:4)
    return %t : tensor<2xf32>
  }
  func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32> loc(fused["f", callsite("g" at "model.py":7:1)])
    return %0 : tensor<2xf32>
  }
}
{-# dialect_resources: { builtin: { weights: "0x100000000000003F0000803F" } } #-}
"""
# The same without resources, which portable artifacts do not have.
SMALL_ARTIFACT = SMALL.replace("dense_resource<weights>", "dense<[0.5, 1.0]>").partition("{-#")[0]


def programs(path: Path) -> Iterator[sr.Program]:
    """Yield the programs of a lit test."""
    for first_line, part in split_text(path.read_text(encoding="utf-8")):
        program = sr.parse(part, filename=str(path), first_line=first_line).verify()
        if program.functions:
            yield program
