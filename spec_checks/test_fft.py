"""Compare fft with its oracle: all types, one to three dimensions, odd lengths, sizes of 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_checks import bounds_of_results as bounds
from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.running_error import within
from spec_checks.strategies import shapes
from stablehlo_ref.ops import fft
from stablehlo_ref.ops.fft import FftType, last_of_rfft
from stablehlo_ref.semantics import fft as oracle

Array = np.ndarray[Any, np.dtype[Any]]
Arguments = tuple[Array, FftType, tuple[int, ...], tuple[int, ...], np.dtype[Any]]

MANY = examples(everyday=30, all=100)
PARTS = st.sampled_from([np.dtype(np.float32), np.dtype(np.float64)])


@st.composite
def arguments(draw: st.DrawFn) -> Arguments:
    """Draw the operand, fft_type, fft_length, and shape and dtype of the result."""
    part, fft_type = draw(PARTS), draw(st.sampled_from(FftType))
    lengths = draw(shapes(max_rank=3, max_size=4, min_rank=1))
    if draw(st.booleans()):
        lengths = (*lengths[:-1], draw(st.integers(5, 20)))
    sizes = (*draw(shapes(max_rank=1, max_size=2)), *lengths)
    half = (*sizes[:-1], last_of_rfft(sizes[-1]))
    given, wanted = {FftType.RFFT: (sizes, half), FftType.IRFFT: (half, sizes)}.get(fft_type, (sizes, sizes))
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    operand = random.normal(size=given) * 2.0 ** random.integers(-20, 20, given)
    if fft_type is not FftType.RFFT:
        operand = operand + 1j * random.normal(size=given)
    cplx = np.dtype(np.complex64 if part == np.float32 else np.complex128)
    dtype = part if fft_type is FftType.IRFFT else cplx
    return operand.astype(part if fft_type is FftType.RFFT else cplx), fft_type, lengths, wanted, dtype


@pytest.mark.parametrize("block", [1, 6, fft.BLOCK])
@MANY
@given(drawn=arguments())
def test_fft(block: int, drawn: Arguments) -> None:
    operand, fft_type, fft_length, shape, dtype = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fft, "BLOCK", block)
        actual = evaluate("fft", operand, fft_type=fft_type, fft_length=fft_length)
    expected = oracle.fft(operand, fft_type.name, fft_length, result=(shape, dtype))
    bound = bounds.fft_bound(operand, fft_type.name, fft_length, result=(shape, dtype))
    assert (actual.shape, actual.dtype) == (shape, dtype)
    assert np.all(within(actual, expected, bound)), f"{drawn}\n  got {actual!r}\n  not {expected!r}"


@MANY
@given(drawn=arguments())
def test_f32_results_are_rounded_once(drawn: Arguments) -> None:
    """Results in f32 are those of f64 arithmetic, rounded."""
    operand, fft_type, fft_length, shape, dtype = drawn
    if dtype not in (np.float32, np.complex64):
        return
    actual = evaluate("fft", operand, fft_type=fft_type, fft_length=fft_length)
    expected = oracle.fft(operand, fft_type.name, fft_length, result=(shape, dtype))
    bound = bounds.fft_bound(operand, fft_type.name, fft_length, result=(shape, dtype), arithmetic=np.dtype(np.float64))
    assert np.all(within(actual, expected, bound)), f"{drawn}\n  got {actual!r}\n  not {expected!r}"
