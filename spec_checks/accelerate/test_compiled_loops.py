"""Compare loops in machine code with the plans that they come from, bit by bit; needs the extra `jit`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.accelerate import random_loops
from spec_checks.accelerate.test_generated_loops import LOOPS, check, drawn_inputs, outcome, zeros
from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine import compiler, tensors

pytestmark = pytest.mark.skipif(not compiler.is_available(), reason="no llvmlite (the extra jit), or no jit")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "HOT", 2)
    monkeypatch.setattr(policy, "SECONDS", -1.0)


def compiled(program: sr.Program) -> bool:
    """Return whether a loop of a program runs as machine code."""
    return any(title.endswith(", as machine code") for plan in program.plans.values() for title, _ in plan.generated)


@LOOPS
@given(random_loops.programs(may_compile=True), st.data())
def test_loops(drawn: tuple[str, list[str]], data: st.DataObject) -> None:
    text, types = drawn
    program, inputs = sr.parse(text), drawn_inputs(types, data)
    expected = check(program, inputs)
    assert compiled(program), [t for plan in program.plans.values() for t, _ in plan.generated]
    assert outcome(program, inputs, jit=False) == expected


@pytest.fixture
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let vectors of four elements be in the frame, and some of them longer than the vectors of the processor."""
    monkeypatch.setattr(tensors, "SMALL", 3)
    monkeypatch.setattr(tensors, "VECTOR", 16)


@pytest.mark.usefixtures("_in_memory")
@LOOPS
@given(random_loops.programs(may_compile=True), st.data())
def test_loops_on_tensors_in_memory(drawn: tuple[str, list[str]], data: st.DataObject) -> None:
    text, types = drawn
    check(sr.parse(text), drawn_inputs(types, data))


@LOOPS
@given(random_loops.programs(may_compile=True), st.integers(1, 60))
def test_limits_of_steps(drawn: tuple[str, list[str]], steps: int) -> None:
    text, types = drawn
    check(sr.parse(text), zeros(types), limits=sr.Limits(max_steps=steps))


SIZES = st.integers(1, 9) | st.sampled_from([16, 33, 64, 100])


@LOOPS
@given(SIZES, SIZES, SIZES, st.integers(0, 3), st.permutations([0, 1]), st.permutations([0, 1]), st.data())
def test_products(
    rows: int, terms: int, columns: int, stack: int, left: list[int], right: list[int], data: st.DataObject
) -> None:
    """Multiply matrices or vectors, transposed or not, or stacks of them."""
    element = data.draw(st.sampled_from(["f32", "f64"]))
    first = data.draw(st.sampled_from([[rows, terms], [terms]]))
    second = data.draw(st.sampled_from([[terms, columns], [terms]]))
    lhs = [first[n] for n in left] if len(first) == 2 else first
    rhs = [second[n] for n in right] if len(second) == 2 else second
    a, b = ((left.index(1) if len(first) == 2 else 0), (right.index(0) if len(second) == 2 else 0))
    result, batch = [*first[:-1], *second[1:]], ""
    if stack:
        lhs, rhs, result, a, b = [stack, *lhs], [stack, *rhs], [stack, *result], a + 1, b + 1
        batch = "batching_dims = [0] x [0], "
    types = [f"tensor<{'x'.join(map(str, [*shape, element]))}>" for shape in (lhs, rhs, result)]
    product = f"stablehlo.dot_general %x, %b, {batch}contracting_dims = [{a}] x [{b}]"
    program = sr.parse(f"""
      func.func @main(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]} {{
        %start = stablehlo.constant dense<0> : tensor<i32>
        %r:3 = stablehlo.while(%i = %start, %x = %a, %y = %c) : tensor<i32>, {types[0]}, {types[2]}
        cond {{
          %turns = stablehlo.constant dense<4> : tensor<i32>
          %more = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        }} do {{
          %z = {product} : ({types[0]}, {types[1]}) -> {types[2]}
          %s = stablehlo.subtract %z, %y : {types[2]}
          %n = stablehlo.negate %x : {types[0]}
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %next, %n, %s : tensor<i32>, {types[0]}, {types[2]}
        }}
        return %r#2 : {types[2]}
      }}""")
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    inputs = [generator.standard_normal(x.shape).astype(x.dtype) for x in program.inputs]
    for x in inputs[:2]:
        for special in data.draw(st.lists(st.sampled_from([np.nan, np.inf, -0.0, 0.0, 1e-40]), max_size=3)):
            x.reshape(-1)[data.draw(st.integers(0, x.size - 1))] = special
    check(program, inputs)
    assert compiled(program), [t for plan in program.plans.values() for t, _ in plan.generated]
