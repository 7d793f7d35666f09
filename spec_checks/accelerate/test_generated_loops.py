"""Compare loops as generated Python source with the plans that they come from, bit by bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.accelerate import random_loops
from spec_checks.examples import examples
from spec_checks.strategies import arrays
from stablehlo_ref.accelerate import loops, policy

DTYPES = {"i1": np.dtype(bool), "bf16": np.dtype(ml_dtypes.bfloat16), "i4": np.dtype(ml_dtypes.int4)}


def dtype_of(type: str) -> np.dtype[Any]:
    element = type[7:-1].removeprefix("4x")
    kinds = {"i": "int", "ui": "uint", "f": "float"}
    return DTYPES.get(element) or np.dtype(f"{kinds[element.rstrip('0123456789')]}{element.lstrip('uif')}")


def outcome(program: sr.Program, inputs: list[np.ndarray], **options: Any) -> Any:
    """Return the bytes of the results, or the error."""
    try:
        return [np.asarray(result).tobytes() for result in program.run(*inputs, **options)]
    except sr.StablehloError as error:
        return str(error)


def drawn_inputs(types: list[str], data: st.DataObject, length: int = 4) -> list[np.ndarray]:
    """Draw scalars, and vectors of `length` elements for those of four."""
    return [data.draw(arrays(dtype_of(t), (length,) if t.startswith("tensor<4x") else ())) for t in types]


def zeros(types: list[str]) -> list[np.ndarray]:
    return [np.zeros((4,) if t.startswith("tensor<4x") else (), dtype_of(t)) for t in types]


def check(program: sr.Program, inputs: list[np.ndarray], runs: int = 2, **options: Any) -> Any:
    """Compare runs, which become faster from one to the next, with one without fast paths; return its outcome."""
    expected = outcome(program, inputs, fast=False, **options)
    for _ in range(runs):
        assert outcome(program, inputs, **options) == expected
    return expected


@pytest.fixture(autouse=True)
def _hot_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "HOT", 2)
    monkeypatch.setattr(loops, "is_available", lambda: False)  # so that loops become Python


# Large programs take too long to shrink.
LOOPS = examples(
    everyday=25,
    all=100,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


@LOOPS
@given(random_loops.programs(), st.data())
def test_loops(drawn: tuple[str, list[str]], data: st.DataObject) -> None:
    text, types = drawn
    runs = 3  # the second has a loop that is hot from its start, the third a function that is hot
    check(sr.parse(text), drawn_inputs(types, data), runs)


@LOOPS
@given(random_loops.programs(), st.data())
def test_loops_on_larger_vectors(drawn: tuple[str, list[str]], data: st.DataObject) -> None:
    """Test vectors of too many elements to be scalars in the source."""
    text, types = drawn
    for old, new in (("tensor<4x", "tensor<6x"), ("tensor<3x", "tensor<5x"), ("[1:4]", "[1:6]")):
        text = text.replace(old, new)
    check(sr.parse(text), drawn_inputs(types, data, length=6), runs=3)


@LOOPS
@given(random_loops.programs(), st.integers(1, 60))
def test_limits_of_steps(drawn: tuple[str, list[str]], steps: int) -> None:
    text, types = drawn
    check(sr.parse(text), zeros(types), limits=sr.Limits(max_steps=steps))


@LOOPS
@given(random_loops.programs(), st.integers(1, 60), st.integers(1, 6))
def test_limits_of_depth(drawn: tuple[str, list[str]], steps: int, depth: int) -> None:
    text, types = drawn
    check(sr.parse(text), zeros(types), limits=sr.Limits(max_steps=steps, max_depth=depth))
