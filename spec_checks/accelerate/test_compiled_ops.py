"""Compare single ops in loops of machine code with their kernels, bit by bit; needs the extra `jit`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.accelerate.test_generated_loops import LOOPS, check
from spec_checks.strategies import arrays, shapes
from stablehlo_ref.accelerate import policy
from stablehlo_ref.accelerate.machine import compiler, tensors
from stablehlo_ref.numerics.dtypes import element_type_of

pytestmark = pytest.mark.skipif(not compiler.is_available(), reason="no llvmlite (the extra jit), or no jit")

DTYPES = [np.dtype(name) for name in ("bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")]
COMBINED = ("add", "multiply", "maximum", "minimum", "subtract")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((policy, "HOT", 2), (policy, "SECONDS", -1.0)):
        monkeypatch.setattr(module, name, value)


def text_of(type: tuple[Sequence[int], np.dtype[Any]]) -> str:
    shape, dtype = type
    return f"tensor<{'x'.join([*map(str, shape), str(element_type_of(dtype))])}>"


def check_in_loop(data: st.DataObject, op: str, operands: list[np.ndarray], results: list[Any]) -> None:
    """Compare loops of an op, whose operands are `%a0`, `%a1` ... and whose results have types."""
    # Elements of tensors in registers; 0 for the number that is allowed.
    most = data.draw(st.sampled_from([0, 0, 1, 3]))
    types = [text_of((x.shape, x.dtype)) for x in operands]
    outs = [text_of(type) for type in results]
    arguments = ", ".join(f"%a{n}: {type}" for n, type in enumerate(types))
    state = ", ".join(["tensor<i32>", *types, *outs])
    initial = ", ".join(["%s = %start", *(f"%b{n} = %a{n}" for n in range(len(types)))])
    initial += "".join(f", %c{n} = %z{n}" for n in range(len(outs)))
    zero = {"b": "false", "f": "0.0"}
    zeros = "\n".join(
        f"%z{n} = stablehlo.constant dense<{zero.get(dtype.kind, 0)}> : {text_of((shape, dtype))}"
        for n, (shape, dtype) in enumerate(results)
    )
    body = op
    for n in range(len(types)):
        body = body.replace(f"%a{n}", f"%b{n}")
    made = [f"%r#{n}" for n in range(len(outs))] if len(outs) > 1 else ["%r"]
    kept = ", ".join(f"%b{n}" for n in range(len(types)))
    program = sr.parse(f"""
      func.func @main({arguments}) -> ({", ".join(outs)}) {{
        %start = stablehlo.constant dense<0> : tensor<i32>
        {zeros}
        %all:{len(types) + len(outs) + 1} = stablehlo.while({initial}) : {state}
        cond {{
          %turns = stablehlo.constant dense<4> : tensor<i32>
          %more = stablehlo.compare LT, %s, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        }} do {{
          {body}
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.add %s, %one : tensor<i32>
          stablehlo.return %next, {kept}, {", ".join(made)} : {state}
        }}
        return {", ".join(f"%all#{1 + len(types) + n}" for n in range(len(outs)))} : {", ".join(outs)}
      }}""")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tensors, "SMALL", most or tensors.SMALL)
        check(program, operands)


def numbers_text(numbers: dict[str, Any]) -> str:
    return ", ".join(f"{k} = {list(v) if isinstance(v, tuple) else v}" for k, v in numbers.items())


@LOOPS
@given(st.data())
def test_reduce(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES[1:]))
    shape = data.draw(shapes(max_rank=3, max_size=7) | st.tuples(st.integers(1, 64)))
    assume(prod(shape) <= 64)
    x, init = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ()))
    dimensions = data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True)) if shape else []
    result = tuple(n for d, n in enumerate(shape) if d not in dimensions)
    types, scalar = [text_of((s, dtype)) for s in (shape, (), result)], text_of(((), dtype))
    name = data.draw(st.sampled_from(COMBINED))
    op = f"""%r = "stablehlo.reduce"(%a0, %a1) <{{dimensions = array<i64{":" if dimensions else ""}
      {", ".join(map(str, dimensions))}>}}> ({{
    ^bb0(%x: {scalar}, %y: {scalar}):
      %z = stablehlo.{name} %x, %y : {scalar}
      stablehlo.return %z : {scalar}
    }}) : ({types[0]}, {types[1]}) -> {types[2]}"""
    check_in_loop(data, op, [x, init], [(result, dtype)])


@LOOPS
@given(st.data())
def test_pad(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = data.draw(shapes(max_rank=3, max_size=4))
    x, value = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, ()))
    padding = [[data.draw(st.integers(low, 2)) for _ in shape] for low in (-1, -1, 0)]
    sizes = [n + low + high + max(0, n - 1) * inner for n, low, high, inner in zip(shape, *padding)]
    assume(all(n >= 0 for n in sizes))
    low, high, inner = padding
    types = [text_of((s, dtype)) for s in (shape, (), sizes)]
    numbers = f"low = {low}, high = {high}, interior = {inner}"
    op = f"%r = stablehlo.pad %a0, %a1, {numbers} : ({types[0]}, {types[1]}) -> {types[2]}"
    check_in_loop(data, op, [x, value], [(tuple(sizes), dtype)])


@LOOPS
@given(st.data())
def test_broadcast_in_dim(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES[1:]))
    sizes = data.draw(shapes(max_rank=3, max_size=5))
    dims = data.draw(st.permutations(range(len(sizes))))[: data.draw(st.integers(0, len(sizes)))]
    shape = tuple(data.draw(st.sampled_from([1, sizes[d], sizes[d]])) for d in dims)
    x, y = data.draw(arrays(dtype, shape)), data.draw(arrays(dtype, sizes))
    of, to = text_of((shape, dtype)), text_of((sizes, dtype))
    op = f"""%b = stablehlo.broadcast_in_dim %a0, dims = {list(dims)} : ({of}) -> {to}
      %r = stablehlo.maximum %b, %a1 : {to}"""
    check_in_loop(data, op, [x, y], [(sizes, dtype)])


@LOOPS
@given(st.data())
def test_bitcast_convert(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES[1:]))
    other = data.draw(st.sampled_from([d for d in DTYPES[1:] if d.itemsize == dtype.itemsize]))
    x = data.draw(arrays(dtype, (5,)))
    op = f"%r = stablehlo.bitcast_convert %a0 : ({text_of(((5,), dtype))}) -> {text_of(((5,), other))}"
    check_in_loop(data, op, [x], [((5,), other)])


@LOOPS
@given(st.data())
def test_ops_on_transposed_tensors(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    sizes = [data.draw(st.integers(1, 5)), data.draw(st.integers(1, 40)), data.draw(st.integers(1, 3))]
    order = data.draw(st.permutations(range(3)))
    shape = [sizes[d] for d in order]
    x, y = data.draw(arrays(dtype, tuple(sizes))), data.draw(arrays(dtype, tuple(shape)))
    types = [text_of((s, dtype)) for s in (sizes, shape)]
    op = f"""%t = stablehlo.transpose %a0, dims = {list(order)} : ({types[0]}) -> {types[1]}
      %r = stablehlo.maximum %t, %a1 : {types[1]}"""
    check_in_loop(data, op, [x, y], [(tuple(shape), dtype)])
