"""Python functions that a run calls: options rejected before the run, observers and outfeeds, masked arrays."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.arrays.host_values import read_only

X = np.array([1, 2], np.float32)
TEXT = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "test.scaled" %x { decomposition = @scaled } : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @test.target(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @scaled(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
NEGATE = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.negate %x : tensor<2xf32>\n" \
         "  return %0 : tensor<2xf32>\n}\n"  # fmt: skip
HANDLERS = {"test.target": lambda call, x: [x]}

# --- options that nothing in the program can use --------------------------------------------------------------------


def test_rejects_an_override_without_a_composite_before_the_run() -> None:
    ran: list[int] = []
    program = sr.load(TEXT)
    handlers = {"test.target": lambda call, x: ran.append(1)}
    with pytest.raises(ValueError, match=r"^overrides has 'test\.scale', .*; its composites are 'test\.scaled'$"):
        program.run(X, custom_calls=handlers, overrides={"test.scale": lambda x: x})
    assert not ran


def test_rejects_a_handler_without_a_target_before_the_run() -> None:
    program = sr.load(TEXT)
    with pytest.raises(ValueError, match=r"^custom_calls has 'test\.scaled', which is not in the program; its targets"):
        program.run(X, custom_calls={**HANDLERS, "test.scaled": lambda call, x: [x]})


def test_rejects_options_of_a_program_without_composites_or_custom_calls() -> None:
    with pytest.raises(ValueError, match="it has no composites"):
        sr.load(NEGATE).run(X, overrides={"test.scaled": lambda x: x})
    with pytest.raises(ValueError, match="it has no targets of custom_call"):
        sr.load(NEGATE).run(X, custom_calls=HANDLERS)


def test_options_of_a_grid_are_checked_too() -> None:
    with pytest.raises(ValueError, match="overrides has 'a'"):
        sr.load(TEXT).run_replicas([[X]], custom_calls=HANDLERS, overrides={"a": lambda x: x})


@pytest.mark.parametrize("option", ["custom_calls", "overrides"])
def test_functions_must_be_callable(option: str) -> None:
    with pytest.raises(TypeError, match=rf"^{option}\['test\.scaled'\] must be a function, got 5$"):
        sr.load(TEXT).run(X, **{option: {"test.scaled": 5}})  # type: ignore[arg-type]


def test_functions_of_functions_that_are_not_called_may_be_given() -> None:
    program = sr.load(NEGATE + TEXT.replace("@main", "@other"))
    (result,) = program.run(X, custom_calls=HANDLERS, overrides={"test.scaled": lambda x: x})
    np.testing.assert_array_equal(result, -X)


# --- inputs ---------------------------------------------------------------------------------------------------------


def test_rejects_masked_arrays() -> None:
    masked = np.ma.masked_array(X, [True, False])
    with pytest.raises(sr.EvaluationError, match=r"argument 'x': expected an array .*, got a masked array") as caught:
        sr.load(NEGATE).run(masked)
    assert "numpy.ma.filled" in caught.value.diagnostics[0].message
    np.testing.assert_array_equal(sr.load(NEGATE).run(np.ma.filled(masked, 5))[0], np.array([-5, -2]))


def test_rejects_masked_arrays_in_tuples() -> None:
    text = (
        "func.func @main(%x: tuple<tensor<2xf32>>) -> tuple<tensor<2xf32>> {\n  return %x : tuple<tensor<2xf32>>\n}\n"
    )
    with pytest.raises(sr.EvaluationError, match="got a masked array"):
        sr.load(text).run((np.ma.masked_array(X),))


@pytest.mark.parametrize(("shape", "reason"), [("4", "expected shape"), ("?", "out of memory")])
def test_rejects_views_that_are_too_large_to_be_converted(shape: str, reason: str) -> None:
    program = sr.load(NEGATE.replace("2x", f"{shape}x"))
    with pytest.raises(sr.EvaluationError, match=reason):
        program.run(np.broadcast_to(np.float16(1), 1 << 48))


@pytest.mark.parametrize("value", [[np.ma.masked, 2.0], np.ma.masked, [np.ma.masked_array(3.0, True), 2.0]])
def test_rejects_masked_elements_in_lists(value: object) -> None:
    with warnings.catch_warnings(), pytest.raises(sr.EvaluationError, match="got a masked array"):
        warnings.simplefilter("error")
        sr.load(NEGATE).run(value)


def test_rejects_masked_arrays_from_a_handler() -> None:
    program = sr.load(TEXT)
    with pytest.raises(sr.EvaluationError, match=r"value #0: expected an array .*, got a masked array"):
        program.run(X, custom_calls={"test.target": lambda call, x: [np.ma.masked_array(x)]})


# --- observers ------------------------------------------------------------------------------------------------------


class Writer(sr.Observer):
    """Tries to write to all values."""

    def __init__(self) -> None:
        self.rejected = 0

    def _write(self, values: Sequence[Any]) -> None:
        for value in values:
            for array in value if isinstance(value, tuple) else (value,):
                with pytest.raises((ValueError, TypeError)):
                    array[...] = 7
                if isinstance(array, np.ndarray):
                    with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                        array.flags.writeable = True
                self.rejected += 1

    def before(self, op: Any, operands: Sequence[Any]) -> None:
        self._write(operands)

    def after(self, op: Any, results: Sequence[Any]) -> None:
        self._write(results)


def test_observers_cannot_write_to_values() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>, %s: tensor<f32>) -> (tensor<2xf32>, tensor<f32>) {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      %1 = stablehlo.negate %s : tensor<f32>
      %2 = stablehlo.tuple %0, %1 : tuple<tensor<2xf32>, tensor<f32>>
      %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<2xf32>, tensor<f32>>) -> tensor<2xf32>
      return %3, %1 : tensor<2xf32>, tensor<f32>
    }
    """
    writer, x = Writer(), X.copy()
    first, second = sr.load(text).run(x, np.float32(3), observer=writer)
    np.testing.assert_array_equal(first, [2, 4])
    assert second == -3 and writer.rejected == 3 + 2 + 4 + 3
    np.testing.assert_array_equal(x, X)
    assert first.flags.writeable and x.flags.writeable


def test_observers_of_grids_cannot_write_to_values() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>
        : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    """
    writer = Writer()
    ((first,), (second,)) = sr.load(text).run_replicas([[X], [-X]], observer=writer)
    assert writer.rejected == 4
    np.testing.assert_array_equal([first, second], [-X, X])


# --- infeed and outfeed ---------------------------------------------------------------------------------------------

WRITE = """
func.func @main(%x: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.outfeed"(%x, %t) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
"""


class Full(list[Any]):
    def append(self, item: Any) -> None:
        raise OSError("no space left")


def test_outfeed_that_raises_is_the_error_of_the_caller() -> None:
    with pytest.raises(sr.EvaluationError, match="the outfeed raised OSError: no space left") as caught:
        sr.load(WRITE).run_parallel([[X]], outfeed=Full())
    assert caught.value.diagnostics[0].line == 3
    lines = "".join(traceback.format_exception(caught.value))
    assert 'raise OSError("no space left")' in lines and "in append" in lines


def test_outfeed_gets_each_write_with_its_process() -> None:
    written: list[Any] = []
    sr.load(WRITE).run_parallel([[X], [-X]], outfeed=written)
    assert [process for process, _ in written] == [(0, 0), (1, 0)]
    for (_, (value,)), expected in zip(written, (X, -X), strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3)[:, ::2],
        np.zeros((0, 3), np.complex64),
        np.zeros((2, 3), ml_dtypes.bfloat16).T,
        np.array([True, False]),
        np.array([1, -1], ml_dtypes.int4),
        np.float16([1, 2]),
        np.array(3),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_read_only_views_equal_their_arrays(array: np.ndarray) -> None:
    view = read_only(array)
    assert isinstance(view, np.ndarray)
    np.testing.assert_array_equal(view, array, strict=True)
    assert not view.flags.writeable and (view.strides == array.strides or not view.size)
