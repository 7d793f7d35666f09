"""Inlining functions of many dialects returns the expected lines and results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inlined_programs import PROGRAMS, Program

from stablehlo_ref.text import inline_function


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_inlines(program: Program):
    inlined = inline_function(program.text, [operand for operand, _ in program.operands])
    assert inlined.lines == program.lines
    assert inlined.results == [result for result, _ in program.results]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_inlines_again_what_was_inlined(program: Program):
    """The lines are a function's body as well, and inlining that one under the same names changes nothing."""
    operands = [f"%arg{i}" for i in range(len(program.operands))]
    first = inline_function(program.text, operands)
    arguments = ", ".join(f"{name}: {type_}" for name, (_, type_) in zip(operands, program.operands))
    types = ", ".join(type_ for _, type_ in program.results)
    returned = f"return {', '.join(first.results)} : {types}" if types else "return"
    text = "\n".join([f"func.func @again({arguments}) {{", *first.lines, returned, "}"])
    again = inline_function(text, operands)
    assert again.lines == first.lines
    assert again.results == first.results


def test_example_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs/how-to/inline-functions.md").read_text(encoding="utf-8")
    text, lines = re.findall(r"```mlir\n(.*?)```", page, re.DOTALL)
    inlined = inline_function(text, ["%x", "%bias"], prefix="t", block_prefix="blk_arg")
    assert inlined.lines == lines.splitlines()
    assert inlined.results == ["%t1#0", "%t1#1"]


MATMUL = """module {
  func.func @aten_op(%arg0: tensor<64xf32>, %arg1: tensor<32x64xf32>,
                      %arg2: tensor<64x128xf32>) -> tensor<32x128xf32> {
    %0 = linalg.matmul ins(%arg1, %arg2 : ...) outs(...) -> tensor<32x128xf32>
    %1 = linalg.generic {...} ins(%0, %arg0 : ...) outs(...) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %2 = arith.addf %in, %in_0 : f32
        linalg.yield %2 : f32
    } -> tensor<32x128xf32>
    return %1 : tensor<32x128xf32>
  }
}
"""


def test_text_with_parts_left_out():
    inlined = inline_function(MATMUL, ["%bias", "%input", "%weight"], prefix="t", block_prefix="blk_arg")
    assert inlined.results == ["%t1"]
    assert [line.strip() for line in inlined.lines] == [
        "%t0 = linalg.matmul ins(%input, %weight : ...) outs(...) -> tensor<32x128xf32>",
        "%t1 = linalg.generic {...} ins(%t0, %bias : ...) outs(...) {",
        "^bb0(%blk_arg0: f32, %blk_arg1: f32, %blk_arg2: f32):",
        "%t2 = arith.addf %blk_arg0, %blk_arg1 : f32",
        "linalg.yield %t2 : f32",
        "} -> tensor<32x128xf32>",
    ]
