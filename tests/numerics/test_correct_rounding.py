"""What `rounded_to_f32` expects of the functions that it rounds."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stablehlo_ref.numerics import correct_rounding, elementary, special_functions
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.libm import IS_WIDE

MODULES = ("elementary", "special")
X = np.concatenate([np.linspace(0.1, 0.9, 3000), [0.0, 1.0, 20.0, np.inf, np.nan]])  # more than "small" anywhere


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> list[ArrayKernel]:
    """Return the functions that are rounded, by running the modules that register them once more."""
    found: list[ArrayKernel] = []

    def record(function: ArrayKernel, *rest: Any) -> ArrayKernel:
        found.append(function)
        return rounded_to_f32(function, *rest)

    rounded_to_f32 = correct_rounding.rounded_to_f32
    for module in (correct_rounding, elementary):
        monkeypatch.setattr(module, "rounded_to_f32", record)
    for name in MODULES:
        runpy.run_path(str(Path(correct_rounding.__file__).with_name(f"{name}.py")))
    return found


def applied(function: ArrayKernel, x: Any) -> Any:
    """Apply a function of one operand or two."""
    with np.errstate(all="ignore"):
        try:
            return function(x)
        except TypeError:
            return function(x, x)


def test_functions_return_new_arrays(functions: list[ArrayKernel]) -> None:
    assert len(functions) > 20
    for function in functions:
        for x in (X, X[:3]):
            assert not np.shares_memory(applied(function, x), x), function


def test_results_in_long_double_are_computed_again_if_in_doubt() -> None:
    tie, error = np.longdouble(1.0 + 2.0**-24), np.longdouble(2.0**-57)
    results = tie * (1 + np.array([0, 0.5, -0.5, 4, -4]) * error)
    kernel = correct_rounding.rounded_to_f32(lambda x: np.array(results), lambda x: np.full_like(x, 7.0), error)
    assert kernel(np.zeros(5)).tolist() == [7, 7, 7, 1 + 2.0**-23, 1] if IS_WIDE else [7] * 5


@pytest.mark.parametrize("function", (special_functions.zeta, special_functions.polygamma))
def test_functions_of_long_double_return_long_double(function: ArrayKernel) -> None:
    s, q = np.array([0, 2, 3, 300], np.longdouble), np.array([1.5, 2.5, np.inf, 1.5], np.longdouble)
    result = applied(lambda x: function(x, q), s)
    assert result.dtype == np.longdouble
    assert not IS_WIDE or (result != result.astype(np.float64)).any()


@pytest.mark.skipif(not IS_WIDE, reason="long double is not wider than f64")
def test_f64_in_doubt_is_computed_in_multiple_precision() -> None:
    """Where the ends of the interval of error round to different numbers, overflow and vanish included."""
    tie, error = np.longdouble(1.0 + 2.0**-52) + np.longdouble(2.0**-53), np.longdouble(2.0**-60)
    largest, smallest = np.longdouble(np.finfo(np.float64).max), np.longdouble(2.0**-1074)
    results = [tie, tie * (1 + error / 2), tie * (1 + 4 * error), tie * (1 - 4 * error),
               largest * (np.longdouble(1) + 2.0**-54), largest * 2, smallest / 2, smallest / 3, 0.0, -0.0,
               np.inf]  # fmt: skip
    function = np.array(results, np.longdouble)
    kernel = correct_rounding.rounded_to_f64(lambda x: function[: x.size].copy(), lambda x: x * 0 + 7)
    with np.errstate(all="ignore"):
        actual = kernel(np.ones(len(results)))
    expected = np.array([7, 7, 1 + 2.0**-51, 1 + 2.0**-52, 7, np.inf, 7, 0.0, 0.0, -0.0, np.inf])
    np.testing.assert_array_equal(actual.view(np.int64), expected.view(np.int64))


@pytest.mark.parametrize("name", ("tanh", "exponential", "sine", "log"))
@pytest.mark.parametrize("value", (0.5, -0.0, np.nan, np.inf, 1e-40))
def test_functions_of_scalars_arrays_of_rank_0_and_vectors_agree(name: str, value: float) -> None:
    kernel = getattr(elementary, name)(np.dtype(np.float32))
    with np.errstate(all="ignore"):
        results = [kernel(x) for x in (np.float32(value), np.array(value, np.float32), np.array([value], np.float32))]
    assert len({np.asarray(result).tobytes() for result in results}) == 1
