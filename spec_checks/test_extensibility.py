"""Compare composite and custom_call with their oracles: nested composites of ops and of calls of Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.strategies import arrays, same, shapes
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import extensibility as oracle

Array = np.ndarray[Any, np.dtype[Any]]
Step = tuple[str, Any]

OPS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum}
TARGETS = {
    "test.swap": lambda x, y: (y, x),
    "test.negate": lambda x, y: (-x, -y),
    "test.double": lambda x, y: (x + x, y),
}


def steps(depth: int) -> st.SearchStrategy[list[Step]]:
    """Draw steps on two values: an op, a custom call, or a composite of further steps."""
    simple = st.tuples(st.just("op"), st.sampled_from(sorted(OPS))) | st.tuples(
        st.just("call"), st.sampled_from(sorted(TARGETS))
    )
    inner = st.tuples(st.just("composite"), steps(depth - 1)) if depth else st.nothing()
    return st.lists(simple | inner, max_size=3)


def value_of(todo: list[Step], values: tuple[Array, ...]) -> tuple[Array, ...]:
    for kind, what in todo:
        if kind == "op":
            values = (OPS[what](*values), values[0])
        elif kind == "call":
            values = oracle.custom_call(values, TARGETS[what])
        else:
            values = oracle.composite(values, "test.c", {"n": 1}, lambda *args, inner=what: value_of(inner, args))
    return values


class Writer:
    """Writes the decompositions of composites as functions."""

    def __init__(self, type: str) -> None:
        self.type = type
        self.functions: list[str] = []

    def function(self, todo: list[Step], head: str = "") -> str:
        """Write a function and return its name."""
        t, x, y, lines = self.type, "%a", "%b", []
        for i, (kind, what) in enumerate(todo):
            operands = f"{x}, {y}"
            if kind == "op":
                lines.append(f"%r{i} = stablehlo.{what} {operands} : {t}")
                x, y = f"%r{i}", x
                continue
            form = f"stablehlo.custom_call @{what}({operands})" if kind == "call" else self.composite(what, operands)
            lines.append(f"%r{i}:2 = {form} : ({t}, {t}) -> ({t}, {t})")
            x, y = f"%r{i}#0", f"%r{i}#1"
        name = head or f"private @f{len(self.functions)}"
        body = "\n".join([*lines, f"return {x}, {y} : {t}, {t}"])
        self.functions.append(f"func.func {name}(%a: {t}, %b: {t}) -> ({t}, {t}) {{\n{body}\n}}\n")
        return name.split("@")[1]

    def composite(self, todo: list[Step], operands: str) -> str:
        name = self.function(todo)
        attributes = f"{{composite_attributes = {{n = 1 : i64}}, decomposition = @{name}}}"
        return f'stablehlo.composite "test.c" {operands} {attributes}'


@settings(max_examples=80, deadline=None)
@given(data=st.data(), shape=shapes(max_rank=2), todo=steps(3))
def test_nested_composites_and_custom_calls(data: st.DataObject, shape: tuple[int, ...], todo: list[Step]) -> None:
    operands = tuple(data.draw(arrays(np.dtype(np.int32), shape)) for _ in range(2))
    writer = Writer(str(tensor_type(shape, element_type_of(np.dtype(np.int32)))))
    writer.function(todo, "@main")
    text = "".join(writer.functions)
    program = sr.load(text)
    handlers = {name: lambda call, *x, f=f: f(*x) for name, f in TARGETS.items() if f"@{name}(" in text}
    with np.errstate(all="ignore"):
        expected = value_of(todo, operands)
        actual = program.run(*operands, custom_calls=handlers)
    assert all(map(same, actual, expected)), f"{writer.functions}: {actual}, not {expected}"
