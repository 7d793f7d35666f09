"""Compare loops in machine code with the plans that they come from, bit by bit; needs the extra `jit`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks import random_loops
from spec_checks.test_generated_loops import LOOPS, check, drawn_inputs, outcome, zeros
from stablehlo_ref.execute.fuse import loops
from stablehlo_ref.execute.fuse.machine import compiler, groups, hot, tensors, timing

pytestmark = pytest.mark.skipif(not compiler.is_available(), reason="no llvmlite (the extra jit), or no jit")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "HOT", 2)
    monkeypatch.setattr(timing, "SECONDS", -1.0)
    monkeypatch.setattr(hot, "SHORT", -1.0)


def compiled(program: sr.Program) -> bool:
    """Return whether a loop of a program runs as machine code."""
    return any(title.endswith(", as machine code") for plan in program.plans.values() for title, _ in plan.generated)


@LOOPS
@given(random_loops.programs(may_compile=True), st.data())
def test_loops(drawn: tuple[str, list[str]], data: st.DataObject) -> None:
    text, types = drawn
    program, inputs = sr.parse(text), drawn_inputs(types, data)
    expected = check(program, inputs)
    assert compiled(program)
    assert outcome(program, inputs, jit=False) == expected


@pytest.fixture
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let vectors of four elements be in memory, and some of them longer than the vectors of the processor."""
    monkeypatch.setattr(tensors, "MAX_ELEMENTS", 3)
    monkeypatch.setattr(groups, "VECTOR", 16)


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
