"""What a large dot product or decomposition allocates beside its result is at most what it declares."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.execute import guard

STACK = (
    "func.func @main(%a: {a}, %b: {a}) -> {r} {{\n"
    " %r = stablehlo.dot_general %a, %b, {n} : ({a}, {a}) -> {r}\n return %r : {r}\n}}"
)
BATCH = "batching_dims = [0] x [0], contracting_dims = [2] x [1]"


@pytest.mark.parametrize(
    ("shape", "element", "result"),
    [((32, 128, 128), "i8", "i32"), ((16, 128, 128), "i32", "i32"), ((640, 700), "i32", "i32")],
)
def test_integer_products(shape: tuple[int, ...], element: str, result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declared: list[int] = [0]
    monkeypatch.setattr(guard, "reserve", lambda values, temporaries=0: declared.append(temporaries))
    sizes = "x".join(map(str, shape))
    contracting = BATCH if len(shape) == 3 else "contracting_dims = [1] x [1]"
    out = sizes if len(shape) == 3 else f"{shape[0]}x{shape[0]}"
    dot = sr.load(STACK.format(a=f"tensor<{sizes}x{element}>", r=f"tensor<{out}x{result}>", n=contracting)).plan()
    info = np.iinfo(element.replace("i", "int"))
    a, b = np.random.default_rng(0).integers(info.min, info.max, (2, *shape), dtype=info.dtype)
    wide = a.astype(np.int64), b.astype(np.int64)
    expected = wide[0] @ (wide[1] if len(shape) == 3 else wide[1].T)
    tracemalloc.start()
    try:
        product = dot.run(a, b)[0]
        allocated = tracemalloc.get_traced_memory()[1] - product.nbytes
    finally:
        tracemalloc.stop()
    assert np.array_equal(product, expected.astype(result.replace("i", "int")))
    assert allocated <= declared[-1] + (1 << 18)
