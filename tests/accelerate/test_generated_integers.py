"""Test loops on integers that wrap or count up to the limits of their type."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.accelerate import policy

LOOP = """
func.func @main(%start: tensor<i32>, %bound: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %sum = %zero) : tensor<i32>, tensor<i32>
  cond {
    %go = stablehlo.compare DIRECTION, %i, %bound : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %step = stablehlo.constant dense<STEP> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %i1 = stablehlo.add %i, %step : tensor<i32>
    %product = stablehlo.multiply %sum, %three : tensor<i32>
    %sum1 = stablehlo.add %product, %i1 : tensor<i32>
    stablehlo.return %i1, %sum1 : tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<i32>
}
"""


@pytest.mark.parametrize(
    ("direction", "step", "start", "bound"),
    [
        ("LT", 1, 2**31 - 60, 2**31 - 1),
        ("LT", 1, 5, 5),
        ("LT", 1, 5, -5),
        ("LT", 1, -(2**31), -(2**31) + 300),
        ("LE", 2, 2**31 - 60, 2**31 - 3),
        ("LE", 1, 2**31 - 60, 2**31 - 2),
        ("GT", -1, -(2**31) + 60, -(2**31)),
        ("GE", -3, 100, 0),
        ("NE", 1, 2**31 - 20, -(2**31) + 20),
        ("GT", 1, 2**31 - 20, 0),
        ("LT", -1, -(2**31) + 40, 0),
    ],
)
def test_counters_up_to_the_limits(
    monkeypatch: pytest.MonkeyPatch, direction: str, step: int, start: int, bound: int
) -> None:
    monkeypatch.setattr(policy, "HOT", 2)
    compare = {"LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge, "NE": operator.ne}[direction]
    i, total = start, 0
    while compare(i, bound):
        i = (i + step + 2**31) % 2**32 - 2**31
        total = (total * 3 + i + 2**31) % 2**32 - 2**31
    program = sr.parse(LOOP.replace("DIRECTION", direction).replace("STEP", str(step)))
    for _ in range(2):
        results = program.run(np.int32(start), np.int32(bound), jit=False)
        assert [int(x) for x in results] == [i, total]


CALLS = """
func.func private @same(%x: tensor<i32>, %p: tensor<i1>) -> (tensor<i32>, tensor<i32>, tensor<i1>) {
  %c = stablehlo.constant dense<7> : tensor<i32>
  return %x, %c, %p : tensor<i32>, tensor<i32>, tensor<i1>
}
func.func @main(%n: tensor<i32>, %x: tensor<3xi32>, %p: tensor<i1>) -> (tensor<3xi32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %y = %x, %s = %zero) : tensor<i32>, tensor<3xi32>, tensor<i32>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %1:3 = func.call @same(%i, %p) {no_inline} : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>, tensor<i1>)
    %2 = stablehlo.broadcast_in_dim %1#1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %3 = stablehlo.broadcast_in_dim %1#0, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %4 = stablehlo.select %1#2, %2, %3 : tensor<i1>, tensor<3xi32>
    %5 = stablehlo.power %y, %4 : tensor<3xi32>
    %6 = stablehlo.add %5, %3 : tensor<3xi32>
    %7 = stablehlo.power %1#0, %1#1 : tensor<i32>
    %8 = stablehlo.add %7, %s : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %6, %8 : tensor<i32>, tensor<3xi32>, tensor<i32>
  }
  return %0#1, %0#2 : tensor<3xi32>, tensor<i32>
}
"""


@pytest.mark.parametrize("chosen", [False, True])
def test_calls_return_numbers_and_constants(monkeypatch: pytest.MonkeyPatch, chosen: bool) -> None:
    monkeypatch.setattr(policy, "HOT", 2)
    y, total = [1, 2, 3], 0
    for i in range(9):
        y = [(v ** (7 if chosen else i) + i + 2**31) % 2**32 - 2**31 for v in y]
        total = (total + i**7 + 2**31) % 2**32 - 2**31
    program = sr.parse(CALLS)
    for _ in range(2):
        vector, scalar = program.run(np.int32(9), np.int32([1, 2, 3]), np.bool_(chosen), jit=False)
        assert vector.tolist() == y
        assert int(scalar) == total


GENERATOR = """
func.func @main(%seed: tensor<T>, %x: tensor<4xi32>, %n: tensor<i32>) -> (tensor<T>, tensor<3xT>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %start = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<T>) -> tensor<3xT>
  %0:4 = stablehlo.while(%i = %zero, %s = %seed, %all = %start, %sum = %zero)
    : tensor<i32>, tensor<T>, tensor<3xT>, tensor<i32>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.constant dense<109> : tensor<T>
    %c = stablehlo.constant dense<89> : tensor<T>
    %product = stablehlo.multiply %s, %a : tensor<T>
    %next = stablehlo.add %product, %c : tensor<T>
    %three = stablehlo.broadcast_in_dim %next, dims = [] : (tensor<T>) -> tensor<3xT>
    %all1 = stablehlo.xor %all, %three : tensor<3xT>
    %slice = stablehlo.dynamic_slice %x, %next, sizes = [1] : (tensor<4xi32>, tensor<T>) -> tensor<1xi32>
    %element = stablehlo.reshape %slice : (tensor<1xi32>) -> tensor<i32>
    %sum1 = stablehlo.add %sum, %element : tensor<i32>
    %i1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %i1, %next, %all1, %sum1 : tensor<i32>, tensor<T>, tensor<3xT>, tensor<i32>
  }
  return %0#1, %0#2, %0#3 : tensor<T>, tensor<3xT>, tensor<i32>
}
"""


@pytest.mark.parametrize("type", ["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"])
def test_state_that_wraps_later_is_read_within_its_type(monkeypatch: pytest.MonkeyPatch, type: str) -> None:
    monkeypatch.setattr(policy, "HOT", 2)
    dtype = np.dtype(type.replace("i", "int"))
    low, size = int(np.iinfo(dtype).min), 1 << (8 * dtype.itemsize)
    x = [1, 10, 100, 1000]
    state, every, total = 7, 7, 0
    for _ in range(40):
        state = (state * 109 + 89 - low) % size + low
        every, total = every ^ state, total + x[min(max(state, 0), 3)]
    program = sr.parse(GENERATOR.replace("<T>", f"<{type}>").replace("xT>", f"x{type}>"))
    for _ in range(2):
        results = program.run(dtype.type(7), np.int32(x), np.int32(40), jit=False)
        assert [result.tolist() for result in results] == [state, [every] * 3, total]


CONSTANT = """
func.func @main(%n: tensor<i32>, %x: tensor<ui8>, %chosen: tensor<i1>) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %n, %b = %n) : tensor<i32>, tensor<i32>, tensor<i32>
  cond {
    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %minus = stablehlo.constant dense<-5> : tensor<i32>
    %y = stablehlo.convert %x : (tensor<ui8>) -> tensor<i32>
    %known = stablehlo.minimum %y, %minus : tensor<i32>
    %a1 = "stablehlo.if"(%chosen) ({
      %larger = stablehlo.maximum %a, %known : tensor<i32>
      stablehlo.return %larger : tensor<i32>
    }, {
      %smaller = stablehlo.minimum %a, %known : tensor<i32>
      stablehlo.return %smaller : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    %b1 = stablehlo.maximum %b, %known : tensor<i32>
    %i1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %i1, %a1, %b1 : tensor<i32>, tensor<i32>, tensor<i32>
  }
  return %0#1, %0#2 : tensor<i32>, tensor<i32>
}
"""


@pytest.mark.parametrize("chosen", [False, True])
def test_values_that_ranges_tell_are_read_in_branches_and_after_them(
    monkeypatch: pytest.MonkeyPatch, chosen: bool
) -> None:
    monkeypatch.setattr(policy, "HOT", 2)
    program = sr.parse(CONSTANT)
    for _ in range(2):
        results = program.run(np.int32(9), np.uint8(7), np.bool_(chosen), jit=False)
        assert [int(x) for x in results] == [9 if chosen else -5, 9]
