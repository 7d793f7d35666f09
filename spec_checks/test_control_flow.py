"""Compare control flow with its oracles: random programs of nested if, case and while on 64-bit integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.semantics import control_flow as oracles

T = "tensor<i64>"


Text = Callable[[list[str], str], str]
Compute = Callable[[list[Any]], Any]


@dataclass
class Fragment:
    """A part of a program: its text, given the names of the values in scope and of its result, and its value.

    The value is computed by the oracles.
    """

    text: Text
    value: Compute


def constant(number: int) -> np.ndarray:
    return np.array(number, np.int64)


@st.composite
def arithmetic(draw: st.DrawFn, scope: int) -> Fragment:
    """Draw an `add`, `subtract` or `multiply` of two values in scope."""
    op, function = draw(st.sampled_from([("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply)]))
    a, b = draw(st.integers(0, scope - 1)), draw(st.integers(0, scope - 1))
    return Fragment(
        lambda names, out: f"{out} = stablehlo.{op} {names[a]}, {names[b]} : {T}\n",
        lambda values: np.asarray(function(values[a], values[b])),
    )


@st.composite
def barrier(draw: st.DrawFn, scope: int) -> Fragment:
    a = draw(st.integers(0, scope - 1))
    return Fragment(
        lambda names, out: f"{out} = stablehlo.optimization_barrier {names[a]} : {T}\n",
        lambda values: oracles.optimization_barrier((values[a],))[0],
    )


@st.composite
def block(draw: st.DrawFn, scope: int, depth: int) -> tuple[Text, Compute]:
    """Draw a few fragments that may use the results of those before them, and return any value in scope."""
    fragments = []
    for _ in range(draw(st.integers(0, 3))):
        fragments.append(draw(fragment(scope + len(fragments), depth)))
    returned = draw(st.integers(0, scope + len(fragments) - 1))

    def text(names: list[str], prefix: str) -> str:
        names, lines = list(names), ""
        for i, f in enumerate(fragments):
            out = f"{prefix}_{i}"
            lines += f.text(names, out)
            names.append(out)
        return f"{lines}stablehlo.return {names[returned]} : {T}\n"

    def value(values: list[Any]) -> Any:
        values = list(values)
        for f in fragments:
            values.append(f.value(values))
        return values[returned]

    return text, value


@st.composite
def if_(draw: st.DrawFn, scope: int, depth: int) -> Fragment:
    a, b = draw(st.integers(0, scope - 1)), draw(st.integers(0, scope - 1))
    (true_text, true_value), (false_text, false_value) = draw(block(scope, depth)), draw(block(scope, depth))
    return Fragment(
        lambda names, out: (
            f"{out}p = stablehlo.compare LT, {names[a]}, {names[b]} : ({T}, {T}) -> tensor<i1>\n"
            f'{out} = "stablehlo.if"({out}p)'
            f" ({{\n{true_text(names, out + 't')}}}, {{\n{false_text(names, out + 'f')}}})"
            f" : (tensor<i1>) -> {T}\n"
        ),
        lambda values: oracles.if_(
            np.asarray(values[a] < values[b]), lambda: (true_value(values),), lambda: (false_value(values),)
        )[0],
    )


@st.composite
def case(draw: st.DrawFn, scope: int, depth: int) -> Fragment:
    a = draw(st.integers(0, scope - 1))
    branches = draw(st.lists(block(scope, depth), min_size=1, max_size=3))

    def text(names: list[str], out: str) -> str:
        regions = ", ".join("{\n" + t(names, f"{out}c{i}") + "}" for i, (t, _) in enumerate(branches))
        index = f"{out}i = stablehlo.convert {names[a]} : ({T}) -> tensor<i32>\n"
        return f'{index}{out} = "stablehlo.case"({out}i) ({regions}) : (tensor<i32>) -> {T}\n'

    def value(values: list[Any]) -> Any:
        functions = [lambda v=v: (v(values),) for _, v in branches]
        return oracles.case(values[a].astype(np.int32), functions)[0]

    return Fragment(text, value)


@st.composite
def loop(draw: st.DrawFn, scope: int, depth: int) -> Fragment:
    """Draw a loop of `turns` iterations, whose state is a counter and a value that the body updates."""
    a, turns = draw(st.integers(0, scope - 1)), draw(st.integers(0, 3))
    body_text, body_value = draw(block(scope + 2, depth))

    def text(names: list[str], out: str) -> str:
        body = body_text([*names, f"{out}i", f"{out}x"], out + "b")
        *lines, last = body.strip().split("\n")
        returned = last.split()[1]
        return (
            f"{out}zero = stablehlo.constant dense<0> : {T}\n{out}one = stablehlo.constant dense<1> : {T}\n"
            f"{out}n = stablehlo.constant dense<{turns}> : {T}\n"
            f"{out}r:2 = stablehlo.while({out}i = {out}zero, {out}x = {names[a]}) : {T}, {T}\ncond {{\n"
            f"{out}p = stablehlo.compare LT, {out}i, {out}n : ({T}, {T}) -> tensor<i1>\n"
            f"stablehlo.return {out}p : tensor<i1>\n}} do {{\n"
            + "".join(f"{line}\n" for line in lines)
            + f"{out}j = stablehlo.add {out}i, {out}one : {T}\nstablehlo.return {out}j, {returned} : {T}, {T}\n}}\n"
            f"{out} = stablehlo.add {out}r#1, {out}zero : {T}\n"
        )

    def value(values: list[Any]) -> Any:
        operand = (constant(0), values[a])
        cond = lambda i, x: (np.asarray(i < turns),)  # noqa: E731
        step = lambda i, x: (np.asarray(i + 1), body_value([*values, i, x]))  # noqa: E731
        return oracles.while_(operand, cond, step)[1]

    return Fragment(text, value)


def fragment(scope: int, depth: int) -> st.SearchStrategy[Fragment]:
    simple = st.one_of(arithmetic(scope), barrier(scope))
    return st.one_of(simple, if_(scope, depth - 1), case(scope, depth - 1), loop(scope, depth - 1)) if depth else simple


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_nested_control_flow(data: st.DataObject) -> None:
    text, value = data.draw(block(3, 3))
    arguments = [constant(data.draw(st.integers(-4, 4))) for _ in range(3)]
    names = ["%a", "%b", "%c"]
    head, _, last = text(names, "%v").rpartition("stablehlo.return")
    program = f"func.func @main(%a: {T}, %b: {T}, %c: {T}) -> {T} {{\n{head}func.return{last}}}\n"
    (actual,) = sr.load(program).run(*arguments)
    with np.errstate(all="ignore"):
        expected = value(list(arguments))
    assert actual == expected, f"{program}\non {[int(a) for a in arguments]}: actual {actual}, expected {expected}"
