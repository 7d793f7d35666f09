"""Small functions take the place of their calls in plans; what can be observed stays the same."""

import numpy as np
import pytest

import stablehlo_ref as sr

VECTOR = "tensor<4xf32>"
TEXT = f"""
func.func private @relu(%a: {VECTOR}) -> {VECTOR} {{
  %zero = stablehlo.constant dense<0.0> : {VECTOR}
  %0 = stablehlo.maximum %a, %zero : {VECTOR}
  return %0 : {VECTOR}
}}
func.func private @swapped(%a: {VECTOR}, %b: {VECTOR}) -> ({VECTOR}, {VECTOR}) {{
  %0 = func.call @relu(%a) : ({VECTOR}) -> {VECTOR}
  %1 = stablehlo.add %0, %b : {VECTOR}
  return %b, %1 : {VECTOR}, {VECTOR}
}}
func.func private @again(%a: {VECTOR}, %n: tensor<i32>) -> {VECTOR} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %done = stablehlo.compare LE, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = "stablehlo.if"(%done) ({{
    stablehlo.return %a : {VECTOR}
  }}, {{
    %m = stablehlo.subtract %n, %one : tensor<i32>
    %1 = func.call @again(%a, %m) : ({VECTOR}, tensor<i32>) -> {VECTOR}
    %2 = stablehlo.add %1, %a : {VECTOR}
    stablehlo.return %2 : {VECTOR}
  }}) : (tensor<i1>) -> {VECTOR}
  return %0 : {VECTOR}
}}
func.func @main(%a: {VECTOR}, %n: tensor<i32>) -> {VECTOR} {{
  %0 = func.call @relu(%a) : ({VECTOR}) -> {VECTOR}
  %1:2 = func.call @swapped(%0, %a) : ({VECTOR}, {VECTOR}) -> ({VECTOR}, {VECTOR})
  %2:2 = func.call @swapped(%1#0, %1#1) : ({VECTOR}, {VECTOR}) -> ({VECTOR}, {VECTOR})
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %3:2 = stablehlo.while(%i = %zero, %x = %2#1) : tensor<i32>, {VECTOR} cond {{
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    %4:2 = func.call @swapped(%x, %2#0) : ({VECTOR}, {VECTOR}) -> ({VECTOR}, {VECTOR})
    stablehlo.return %j, %4#1 : tensor<i32>, {VECTOR}
  }}
  %5 = func.call @again(%3#1, %n) : ({VECTOR}, tensor<i32>) -> {VECTOR}
  return %5 : {VECTOR}
}}
"""


class SeesEveryOp(sr.Observer):
    sees_every_op = True


def outcome(program: sr.Program, **options: object) -> object:
    try:
        (result,) = program.run(np.float32([1, -2, 3, -4]), np.int32(3), **options)
    except sr.StablehloError as error:
        return str(error)
    return result.tolist()


def test_results() -> None:
    program = sr.parse(TEXT)
    # relu(a) = r, swapped(r, a) = a, r + a; swapped(a, r + a) = r + a, s with s = r + (r + a); then three times
    # x -> relu(x) + (r + a), and four times the sum.
    a, r = np.float32([1, -2, 3, -4]), np.float32([1, 0, 3, 0])
    x = r + (r + a)
    for _ in range(3):
        x = np.maximum(x, 0) + (r + a)
    assert outcome(program) == outcome(program, fast=False) == (4 * x).tolist()


def test_only_calls_of_recursive_functions_are_left() -> None:
    program = sr.parse(TEXT).plan()
    (plan,) = program.plans.values()
    assert [op.properties["callee"] for op in plan.block.ops if op.name == "func.call"] == ["again"]
    assert sum(op.name == "func.call" for op in program.module.walk()) == 7  # the program is as it was


@pytest.mark.parametrize(("calls", "inlined"), [(1, True), (2, False)])
def test_a_large_function_that_is_called_once_takes_the_place_of_its_call(calls: int, inlined: bool) -> None:
    signature = f"(%a: {VECTOR}) -> {VECTOR}"
    sums = "\n".join(f"%{i + 1} = stablehlo.add %{i}, %a : {VECTOR}" for i in range(100))
    ops = f"%0 = stablehlo.negate %a : {VECTOR}\n{sums}\nreturn %100 : {VECTOR}"
    text = f"func.func private @sums{signature} {{\n{ops}\n}}"
    call = f"func.call @sums(%{{}}) : ({VECTOR}) -> {VECTOR}"
    lines = ["%1 = " + call.format("a"), "%2 = " + call.format("1")][:calls]
    body = "\n".join(lines)
    program = sr.parse(f"{text}\nfunc.func @main{signature} {{\n{body}\nreturn %{calls} : {VECTOR}\n}}").plan()
    (plan,) = program.plans.values()
    assert ("func.call" not in [op.name for op in plan.block.ops]) == inlined
    a = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(program.run(a)[0], a * 99**calls)


def test_copies_do_not_count_as_products() -> None:
    text = """
    func.func private @square(%x: tensor<80x80xf32>) -> tensor<80x80xf32> {
      %0 = stablehlo.dot %x, %x : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
      return %0 : tensor<80x80xf32>
    }
    func.func @main(%x: tensor<80x80xf32>, %y: tensor<200x200xf32>) -> (tensor<80x80xf32>, tensor<200x200xf32>) {
      %0 = func.call @square(%x) : (tensor<80x80xf32>) -> tensor<80x80xf32>
      %1 = func.call @square(%0) : (tensor<80x80xf32>) -> tensor<80x80xf32>
      %2 = stablehlo.dot %y, %y : (tensor<200x200xf32>, tensor<200x200xf32>) -> tensor<200x200xf32>
      return %1, %2 : tensor<80x80xf32>, tensor<200x200xf32>
    }
    """
    program = sr.parse(text).plan(fast=True).plan(fast=False)
    program.run(np.zeros((80, 80), np.float32), np.zeros((200, 200), np.float32), observer=SeesEveryOp())
    assert {plan.product_size for plan in program.plans.values()} == {(80**3 + 200**3) / 2}
    assert len(program.plans) == 3


@pytest.mark.parametrize("depth", range(1, 7))
def test_limits(depth: int) -> None:
    program = sr.parse(TEXT)
    for steps in range(1, 25):
        limits = sr.Limits(max_steps=steps, max_depth=depth)
        assert outcome(program, limits=limits) == outcome(program, limits=limits, fast=False)
