"""Compare random bits with published test vectors of the generators and with an oracle; check the moments of `rng`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.evaluate import evaluate, type_of
from spec_checks.strategies import BOOLEANS, FLOATS, INTEGERS, arrays, dtypes, shapes, width
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.ops import random
from stablehlo_ref.ops.random import RngAlgorithm, RngDistribution
from stablehlo_ref.semantics import random as oracle

ONES = 2**32 - 1
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)


def test_published_test_vectors() -> None:
    """Test vectors of the Random123 library."""
    assert oracle.threefry2x32((0, 0), (0, 0)) == (0x6B200159, 0x99BA4EFE)
    assert oracle.threefry2x32((ONES, ONES), (ONES, ONES)) == (0x1CB996FC, 0xBB002BE7)
    assert oracle.threefry2x32(PI[:2], PI[2:4]) == (0xC4923A9C, 0x483DF7A0)
    assert oracle.philox4x32((0,) * 4, (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert oracle.philox4x32((ONES,) * 4, (ONES, ONES)) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    assert oracle.philox4x32(PI[:4], PI[4:]) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


near_wrapping = st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**32 - 2, 2**64 - 2])


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_rng_bit_generator(data: st.DataObject) -> None:
    algorithm = data.draw(st.sampled_from(["THREE_FRY", "PHILOX", "DEFAULT"]))
    size = 2 if algorithm == "THREE_FRY" else data.draw(st.sampled_from([2, 3]))
    state = np.array(data.draw(st.lists(near_wrapping, min_size=size, max_size=size)), np.uint64)
    dtype, shape = data.draw(dtypes(INTEGERS, FLOATS)), data.draw(shapes(max_size=5))
    types = type_of(state), tensor_type(shape, element_type_of(dtype))
    actual_state, actual = evaluate("rng_bit_generator", state, result=types, rng_algorithm=RngAlgorithm[algorithm])
    bits = np.dtype(f"u{dtype.itemsize}")
    state_type = state.shape, state.dtype
    expected_state, expected = oracle.rng_bit_generator(state, algorithm, results=(state_type, (shape, dtype)))
    np.testing.assert_array_equal(actual_state, expected_state)
    np.testing.assert_array_equal(actual.view(bits), expected.view(bits))


def test_blocks_of_counters() -> None:
    """Several blocks of counters, with an overflow of the counter's low word between them."""
    state = np.array([3, 2**64 - 9000], np.uint64)
    for algorithm in ("THREE_FRY", "PHILOX"):
        types = type_of(state), tensor_type((40_000,), element_type_of(np.dtype("u4")))
        after, actual = evaluate("rng_bit_generator", state, result=types, rng_algorithm=RngAlgorithm[algorithm])
        results = ((2,), state.dtype), ((40_000,), np.dtype("u4"))
        expected_after, expected = oracle.rng_bit_generator(state, algorithm, results=results)
        np.testing.assert_array_equal(after, expected_after)
        np.testing.assert_array_equal(actual, expected)


# --- rng ------------------------------------------------------------------------------------------------------------


def draw(a: Any, b: Any, distribution: str, dtype: Any, count: int = 20_000) -> np.ndarray:
    low, high = (np.array(x).astype(dtype) for x in (a, b))
    result = tensor_type((count,), element_type_of(low.dtype))
    shape = np.array([count], np.int64)
    return evaluate("rng", low, high, shape, result=result, rng_distribution=RngDistribution[distribution])


DRAWS = """
func.func @main(%a: tensor<{0}>, %b: tensor<{0}>, %n: tensor<{2}xi64>) -> (tensor<{1}>, tensor<{1}>) {{
  %0 = stablehlo.rng %a, %b, %n, distribution = {3} : (tensor<{0}>, tensor<{0}>, tensor<{2}xi64>) -> tensor<{1}>
  %1 = stablehlo.rng %a, %b, %n, distribution = {3} : (tensor<{0}>, tensor<{0}>, tensor<{2}xi64>) -> tensor<{1}>
  return %0, %1 : tensor<{1}>, tensor<{1}>
}}
"""


def draws(a: np.ndarray, b: np.ndarray, shape: tuple[int, ...], distribution: str, seed: int) -> list[np.ndarray]:
    """Return what the two ops of a program draw."""
    element = element_type_of(a.dtype)
    sizes = "".join(f"{n}x" for n in shape)
    program = sr.load(DRAWS.format(element, f"{sizes}{element}", len(shape), distribution))
    return list(program.run(a, b, np.array(shape, np.int64), rng_seed=seed))


seeds = st.integers(0, 2**64 - 1)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=shapes(), seed=seeds)
def test_integers_follow_from_the_random_words(data: st.DataObject, shape: tuple[int, ...], seed: int) -> None:
    dtype = data.draw(dtypes(BOOLEANS, INTEGERS))
    a, b = (data.draw(arrays(dtype, ())) for _ in range(2))
    for n, numbers in enumerate(draws(a, b, shape, "UNIFORM", seed)):
        expected = oracle.random_numbers(int(a), int(b), shape, "UNIFORM", seed=seed, draws=n)
        assert numbers.dtype == dtype and (numbers.astype(object) == expected).all(), (a, b, numbers, expected)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=shapes(), seed=seeds)
def test_floats_follow_from_the_random_words(data: st.DataObject, shape: tuple[int, ...], seed: int) -> None:
    """Numbers are computed in f64 with three roundings, or those of log, sqrt and cos, and rounded once; none is b."""
    distribution = data.draw(st.sampled_from(["UNIFORM", "NORMAL"]))
    dtype = data.draw(st.sampled_from([d for d in FLOATS if d.itemsize > 1]))
    bounds = st.floats(-100, 100, width=16)
    a, b = (np.array(x).astype(dtype) for x in (data.draw(bounds), data.draw(bounds)))
    low, high = float(a), float(b)
    for n, numbers in enumerate(draws(a, b, shape, distribution, seed)):
        exact = oracle.random_numbers(low, high, shape, distribution, seed=seed, draws=n)
        for x, y in zip(numbers.flat, map(float, exact.flat)):
            slack = 16 * 2.0**-53 * (max(abs(low), abs(high)) + abs(y)) + float(np.spacing(np.abs(x)))
            assert abs(float(x) - y) <= slack, (a, b, x, y)
        if distribution == "UNIFORM" and low < high:
            assert ((numbers >= a) & (numbers < b)).all()


@pytest.mark.parametrize("count", (1, 2, 5, 6, 7, 12, 13, 20))
@pytest.mark.parametrize("distribution", ("UNIFORM", "NORMAL"))
def test_numbers_do_not_depend_on_the_block_size(
    distribution: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = np.float64(-1), np.float64(2)
    at_once = draws(a, b, (count,), distribution, 5)
    monkeypatch.setattr(random, "BLOCK", 3)
    assert all(map(np.array_equal, draws(a, b, (count,), distribution, 5), at_once))


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if width(d) >= 4], ids=lambda d: d.name)
def test_uniform_integers(dtype: np.dtype[Any]) -> None:
    numbers = draw(1, 6, "UNIFORM", dtype).astype(np.int64)
    values, counts = np.unique(numbers, return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5]
    assert abs(counts - 4000).max() < 5 * np.sqrt(4000)


def test_uniform_integers_of_the_widest_intervals() -> None:
    extremes = np.iinfo(np.int64)
    numbers = draw(extremes.min, extremes.max, "UNIFORM", np.int64)
    assert abs((numbers < 0).mean() - 0.5) < 0.02
    assert draw(0, 2**64 - 1, "UNIFORM", np.uint64).max() > np.uint64(2**63)


@pytest.mark.parametrize("dtype", [d for d in FLOATS if width(d) >= 8 and "e8m0" not in d.name], ids=lambda d: d.name)
def test_uniform_floats(dtype: np.dtype[Any]) -> None:
    numbers = draw(1, 2, "UNIFORM", dtype).astype(np.float64)
    assert numbers.min() >= 1
    assert numbers.max() < 2
    spacing = 1 if width(dtype) == 8 else 0  # in narrow types, numbers that would be rounded to b are the last number
    assert abs(numbers.mean() - 1.5) < 0.02 + 0.05 * spacing


def test_uniform_floats_of_the_widest_interval() -> None:
    most = np.finfo(np.float64).max
    numbers = draw(-most, most, "UNIFORM", np.float64)
    assert np.isfinite(numbers).all()
    assert abs((numbers < 0).mean() - 0.5) < 0.02


def test_empty_interval_returns_its_lower_bound() -> None:
    assert (draw(2, 2, "UNIFORM", np.float32) == 2).all()
    assert (draw(2, 1, "UNIFORM", np.int32) == 2).all()
    assert not draw(False, True, "UNIFORM", bool).any()


@pytest.mark.parametrize("count", [20_000, 20_001])
def test_normal(count: int) -> None:
    numbers = draw(10, 2, "NORMAL", np.float32, count).astype(np.float64)
    standard = (numbers - 10) / 2
    assert abs(standard.mean()) < 5 / np.sqrt(count)
    assert abs(standard.var() - 1) < 5 * np.sqrt(2 / count)
    assert abs((standard**3).mean()) < 5 * np.sqrt(15 / count)
    assert abs((standard**4).mean() - 3) < 5 * np.sqrt(96 / count)


def test_runs_draw_the_same_numbers_and_ops_of_a_run_different_ones() -> None:
    draw = "stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f64>, tensor<f64>, tensor<1xi64>)"
    program = sr.load(f"""
    func.func @main() -> (tensor<4xf64>, tensor<4xf64>) {{
      %a = stablehlo.constant dense<0.0> : tensor<f64>
      %b = stablehlo.constant dense<1.0> : tensor<f64>
      %n = stablehlo.constant dense<4> : tensor<1xi64>
      %0 = {draw} -> tensor<4xf64>
      %1 = {draw} -> tensor<4xf64>
      return %0, %1 : tensor<4xf64>, tensor<4xf64>
    }}
    """)
    first, second = program.run()
    assert not (first == second).any()
    for again, before in zip(program.run(), (first, second)):
        np.testing.assert_array_equal(again, before)
