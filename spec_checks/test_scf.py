"""Compare MLIR's scf dialect with its oracles, on scalars and tensors of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.semantics import scf as oracle

MANY = settings(max_examples=40, deadline=None)
NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)
T = "tensor<i64>"


def run(inputs: str, outputs: str, text: str, *arguments: Any) -> list[int]:
    program = sr.load(f"func.func @main({inputs}) -> ({outputs}) {{\n{text}\n}}\n")
    return [int(result) for result in program.run(*arguments)]


def add(x: Any, y: Any) -> Any:
    return np.add(x, y)


@MANY
@given(p=st.booleans(), x=NUMBERS, y=NUMBERS)
def test_if(p: bool, x: int, y: int) -> None:
    text = f"""%0:2 = scf.if %p -> ({T}, i64) {{
        scf.yield %x, %y : {T}, i64
      }} else {{
        %s = tensor.extract %x[] : {T}
        %t = tensor.from_elements %y : {T}
        scf.yield %t, %s : {T}, i64
      }}
      return %0#0, %0#1 : {T}, i64"""
    actual = run(f"%p: i1, %x: {T}, %y: i64", f"{T}, i64", text, np.bool_(p), np.int64(x), np.int64(y))
    assert actual == list(oracle.if_(p, lambda: (x, y), lambda: (y, x)))


@MANY
@given(cases=st.lists(st.integers(-3, 3), unique=True), arg=st.integers(-3, 3))
def test_index_switch(cases: list[int], arg: int) -> None:
    def region(value: int) -> str:
        return f"{{ %v = arith.constant {value} : i64 scf.yield %v : i64 }}"

    regions = "\n".join(f"case {case} {region(10 * case)}" for case in cases)
    text = f"%0 = scf.index_switch %i -> i64\n{regions}\ndefault {region(7)}\nreturn %0 : i64"
    functions = tuple(lambda case=case: (10 * case,) for case in cases)
    expected = oracle.index_switch(arg, tuple(cases), lambda: (7,), functions)  # type: ignore[arg-type, return-value]
    assert run("%i: index", "i64", text, np.int64(arg)) == list(expected)


@MANY
@given(p=st.booleans(), x=NUMBERS, y=NUMBERS)
def test_execute_region(p: bool, x: int, y: int) -> None:
    """Its blocks are those of an `if`."""
    text = """%0 = scf.execute_region -> i64 {
        cf.cond_br %p, ^a, ^b(%y : i64)
      ^a:
        cf.br ^b(%x : i64)
      ^b(%z: i64):
        scf.yield %z : i64
      }
      return %0 : i64"""
    actual = run("%p: i1, %x: i64, %y: i64", "i64", text, np.bool_(p), np.int64(x), np.int64(y))
    assert actual == list(oracle.execute_region(lambda: oracle.if_(p, lambda: (x,), lambda: (y,))))


@MANY
@given(lower=st.integers(-9, 9), upper=st.integers(-9, 9), step=st.integers(1, 5), a=NUMBERS, b=NUMBERS)
def test_for(lower: int, upper: int, step: int, a: int, b: int) -> None:
    text = f"""%0:2 = scf.for %i = %l to %u step %s iter_args(%x = %a, %y = %b) -> (i64, {T}) : i64 {{
        %n = tensor.extract %y[] : {T}
        %m = arith.addi %x, %i : i64
        %t = tensor.from_elements %m : {T}
        scf.yield %n, %t : i64, {T}
      }}
      return %0#0, %0#1 : i64, {T}"""
    arguments = map(np.int64, (lower, upper, step, a, b))
    actual = run(f"%l: i64, %u: i64, %s: i64, %a: i64, %b: {T}", f"i64, {T}", text, *arguments)
    with np.errstate(all="ignore"):
        inits = np.array(a, np.int64), np.array(b, np.int64)
        expected = oracle.for_(lower, upper, step, inits, lambda i, x, y: (y, add(x, np.int64(i))))
    assert actual == [int(x) for x in expected]


@MANY
@given(start=st.integers(-5, 5), stop=st.integers(-5, 9), x=NUMBERS)
def test_while(start: int, stop: int, x: int) -> None:
    text = f"""%one = arith.constant 1 : i64
      %0:2 = scf.while (%i = %start, %y = %x) : (i64, {T}) -> ({T}, i64) {{
        %c = arith.cmpi slt, %i, %stop : i64
        scf.condition(%c) %y, %i : {T}, i64
      }} do {{
      ^bb0(%y: {T}, %i: i64):
        %j = arith.addi %i, %one : i64
        %z = stablehlo.add %y, %y : {T}
        scf.yield %j, %z : i64, {T}
      }}
      return %0#0, %0#1 : {T}, i64"""
    actual = run(f"%start: i64, %stop: i64, %x: {T}", f"{T}, i64", text, *map(np.int64, (start, stop, x)))
    with np.errstate(all="ignore"):
        inits = np.array(start, np.int64), np.array(x, np.int64)
        expected = oracle.while_(inits, lambda i, y: (i < stop, y, i), lambda y, i: (add(i, 1), add(y, y)))
    assert actual == [int(x) for x in expected]
