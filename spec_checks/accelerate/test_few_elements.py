"""Compare slices and gathers of a few elements, which generated source reads one by one, with the plans without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.accelerate.test_generated_loops import LOOPS, check, dtype_of
from spec_checks.strategies import arrays
from stablehlo_ref.accelerate import loops, policy

SLICES = {  # of a table of 5 x 7, at (%a, %b)
    "1x3": "stablehlo.dynamic_slice %table, %a, %b, sizes = [1, 3]",
    "2x2": "stablehlo.dynamic_slice %table, %a, %b, sizes = [2, 2]",
    "4x1": "stablehlo.dynamic_slice %table, %c2, %b, sizes = [4, 1]",
    "2x1": "stablehlo.slice %table [1:5:2, 3:4]",
}
GATHERS = {  # the type of the start indices; the map of dimensions, and the dimension of index vectors
    "1x4": ("1x4x2", "0, 1", 2), "2x1": ("2x2x1", "1, 0", 0), "2": ("2x2", "0, 1", 1), "": ("2", "1, 0", 0),
}  # fmt: skip
LOOP = """
func.func @main(%turns: tensor<i32>, %table: tensor<5x7xT>, %starts: STARTS, %x: tensor<SHAPET>, %a0: tensor<INDEX>)
    -> (tensor<SHAPET>, tensor<SHAPET>, tensor<INDEX>) {
  %c2 = stablehlo.constant dense<2> : tensor<INDEX>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %y = %x, %z = %x, %a = %a0)
      : tensor<i32>, tensor<SHAPET>, tensor<SHAPET>, tensor<INDEX>
    cond {
      %less = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %b = stablehlo.multiply %a, %a : tensor<INDEX>
      %few = READ -> tensor<SHAPET>
      %sum = stablehlo.add %few, %y : tensor<SHAPET>
      %test = stablehlo.compare GT, %few, %z : (tensor<SHAPET>, tensor<SHAPET>) -> tensor<SHAPEi1>
      %chosen = stablehlo.select %test, %few, %sum : tensor<SHAPEi1>, tensor<SHAPET>
      %a1 = stablehlo.add %a, %c2 : tensor<INDEX>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %sum, %chosen, %a1 : tensor<i32>, tensor<SHAPET>, tensor<SHAPET>, tensor<INDEX>
    }
  return %r#1, %r#2, %r#3 : tensor<SHAPET>, tensor<SHAPET>, tensor<INDEX>
}"""
ELEMENTS, INDICES = st.sampled_from(["f32", "f64", "i32", "ui8"]), st.sampled_from(["i8", "i32", "ui64"])


@pytest.fixture(autouse=True)
def _hot_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "HOT", 1)
    monkeypatch.setattr(loops, "is_available", lambda: False)  # so that loops become Python


def compare(read: str, shape: str, starts: str, element: str, index: str, data: st.DataObject) -> None:
    prefix = f"{shape}x" if shape else ""
    text = LOOP.replace("READ", read).replace("STARTS", f"tensor<{starts}x{index}>")
    text = text.replace("SHAPET", f"{prefix}{element}").replace("SHAPE", prefix)
    text = text.replace("INDEX", index).replace("T>", f"{element}>")
    dtype, index_dtype = dtype_of(f"tensor<{element}>"), dtype_of(f"tensor<{index}>")
    sizes = tuple(map(int, shape.split("x"))) if shape else ()
    inputs = [
        np.array(3, np.int32), data.draw(arrays(dtype, (5, 7))),
        data.draw(arrays(index_dtype, tuple(map(int, starts.split("x"))))), data.draw(arrays(dtype, sizes)),
        data.draw(arrays(index_dtype, ())),
    ]  # fmt: skip
    check(sr.parse(text), inputs, runs=3)


@LOOPS
@given(st.sampled_from(sorted(SLICES)), ELEMENTS, INDICES, st.data())
def test_slices_of_few_elements(shape: str, element: str, index: str, data: st.DataObject) -> None:
    operands = "" if "slice %table [" in SLICES[shape] else ", tensor<INDEX>, tensor<INDEX>"
    compare(f"{SLICES[shape]} : (tensor<5x7xT>{operands})", shape, "1", element, index, data)


@LOOPS
@given(st.sampled_from(sorted(GATHERS)), ELEMENTS, INDICES, st.data())
def test_gathers_of_few_elements(shape: str, element: str, index: str, data: st.DataObject) -> None:
    starts, dimensions, vector = GATHERS[shape]
    numbers = f"collapsed_slice_dims = [0, 1], start_index_map = [{dimensions}], index_vector_dim = {vector}"
    read = f"""\"stablehlo.gather\"(%table, %starts) <{{dimension_numbers = #stablehlo.gather<{numbers}>,
        slice_sizes = array<i64: 1, 1>}}> : (tensor<5x7xT>, tensor<{starts}x{index}>)"""
    compare(read, shape, starts, element, index, data)
