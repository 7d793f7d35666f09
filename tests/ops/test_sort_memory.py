"""What a sort declares as temporaries is what it allocates beside its results, or little more."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.examples import FACTOR
from stablehlo_ref.diagnostics import LimitError
from stablehlo_ref.execute import guard
from tests.ops.test_matrix_memory import excess

SORT = """func.func @main({parameters}) -> ({types}) {{
  %r:{count} = "stablehlo.sort"({operands}) <{{dimension = {dimension} : i64, is_stable = true}}> ({{
  ^bb0({arguments}):
    {compare}
  }}) : ({types}) -> ({types})
  return {results} : {types}
}}"""
LESS = """%c = stablehlo.compare {}, %l0, %r0 : (tensor<{}>, tensor<{}>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>"""
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}


def program(elements: list[str], direction: str, dimension: int) -> str:
    types = [f"tensor<512x1024x{e}>" for e in elements]
    return SORT.format(
        parameters=", ".join(f"%a{i}: {t}" for i, t in enumerate(types)),
        types=", ".join(types),
        count=len(types),
        operands=", ".join(f"%a{i}" for i in range(len(types))),
        dimension=dimension,
        arguments=", ".join(f"%l{i}: tensor<{e}>, %r{i}: tensor<{e}>" for i, e in enumerate(elements)),
        compare=LESS.format(direction, elements[0], elements[0]),
        results=", ".join(f"%r#{i}" for i in range(len(types))),
    )


@pytest.mark.parametrize("dimension", [0, 1])
@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("elements", [["f16"], ["f32"], ["f64"], ["i8"], ["f32", "i32"], ["f64", "i32"], ["i8", "i32"]])
def test_temporaries_of_sorts(
    elements: list[str], direction: str, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared: list[int] = []
    monkeypatch.setattr(guard, "reserve", lambda values, temporaries=0: declared.append(temporaries))
    random = np.random.default_rng(0)
    arrays = [random.integers(-100, 100, (512, 1024)).astype(DTYPES[e]) for e in elements]
    sort = sr.load(program(elements, direction, dimension)).plan()
    sort.run(*arrays)
    results = sum(x.nbytes for x in arrays)
    copies = results if dimension == 0 else 0  # of results, which the caller gets row by row
    tracemalloc.start()
    try:
        sort.run(*arrays)
        allocated = tracemalloc.get_traced_memory()[1] - results
    finally:
        tracemalloc.stop()
    assert allocated - copies <= declared[-1] <= allocated + 4 * arrays[0].size + (1 << 22)


@pytest.mark.many_examples
@pytest.mark.parametrize("shape", [(700_000,), (1024, 2048), *([(1 << 20,)] if FACTOR else [])])
def test_merging_needs_few_bytes_an_element(shape: tuple[int, ...]) -> None:
    t = f"tensor<{'x'.join(map(str, shape))}xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
  %r = "stablehlo.sort"(%x) <{{dimension = {len(shape) - 1} : i64}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %d = stablehlo.subtract %a, %b : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %c = stablehlo.compare LT, %d, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) : ({t}) -> {t}
  return %r : {t}
}}"""
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)
    assert excess(text, x) <= 0
    declared = 28 * min(max(x.size, 1 << 20), 1 << 20) + 8 * (1 << 19)
    with pytest.raises(LimitError, match="temporaries"):
        sr.load(text).run(x, limits=sr.Limits(max_total_bytes=2 * x.nbytes + (1 << 20)))
    np.testing.assert_array_equal(
        sr.load(text).run(x, limits=sr.Limits(max_total_bytes=2 * x.nbytes + declared))[0], np.sort(x)
    )


def test_copies_of_operands_in_another_order_are_reserved() -> None:
    text, x = program(["f32"], "LT", 1).replace("512x", "2048x"), np.zeros((2048, 1024), np.float32)
    sort, limits = sr.load(text), sr.Limits(max_total_bytes=22_000_000)  # the operand, the result, and 5 MB
    sort.run(x, limits=limits)
    with pytest.raises(LimitError, match="the values of the run exceed the limit"):
        sort.run(x[::-1], limits=limits)
