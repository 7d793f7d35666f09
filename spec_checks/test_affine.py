"""Compare MLIR's affine dialect with its oracles, on random affine maps."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.semantics import affine as oracle

Expression = tuple[str, Callable[[dict[str, int]], int]]

OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "floordiv": lambda x, y: math.floor(Fraction(x, y)),
    "ceildiv": lambda x, y: math.ceil(Fraction(x, y)),
    "mod": lambda x, y: x - y * math.floor(Fraction(x, y)),
}
NAMES = ("d0", "d1", "s0")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Expression:
    """Draw the text of an expression, and what it computes."""
    if not depth or draw(st.booleans()):
        if draw(st.booleans()):
            name = draw(st.sampled_from(NAMES))
            return name, lambda values: values[name]
        number = draw(st.integers(0, 9))
        return str(number), lambda values: number
    op = draw(st.sampled_from(list(OPERATORS)))
    (left, x), apply = draw(expressions(depth - 1)), OPERATORS[op]
    if op in ("+", "-"):
        right, y = draw(expressions(depth - 1))
        return f"({left} {op} ({right}))", lambda values: apply(x(values), y(values))
    factor = draw(st.integers(1, 9))
    return f"({left}) {op} {factor}", lambda values: apply(x(values), factor)


@settings(max_examples=100, deadline=None)
@given(results=st.lists(expressions(), min_size=1, max_size=3), operands=st.tuples(*[st.integers(-50, 50)] * 3))
def test_maps(results: list[Expression], operands: tuple[int, ...]) -> None:
    def compute(*arguments: int) -> tuple[int, ...]:
        return tuple(function(dict(zip(NAMES, arguments))) for _, function in results)

    for op, expected in (("min", oracle.min_), ("max", oracle.max_), ("apply", oracle.apply)):
        texts = [text for text, _ in results]
        if op == "apply":
            results, texts = results[:1], texts[:1]
        map = f"affine_map<(d0, d1)[s0] -> ({', '.join(texts)})>"
        program = sr.load(f"""
        func.func @main(%a: index, %b: index, %c: index) -> index {{
          %r = affine.{op} {map}(%a, %b)[%c]
          return %r : index
        }}""")
        assert int(program.run(*as_indices(operands))[0]) == expected(compute, operands), map


def as_indices(numbers: tuple[int, ...]) -> list[np.int64]:
    return [np.int64(number) for number in numbers]
