"""Results do not depend on the memory layout of operands."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks import strategies
from spec_checks.evaluate import evaluate, type_of
from spec_checks.examples import examples
from spec_checks.layouts import LAYOUTS
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.define.definition import REGISTRY, resolve
from stablehlo_ref.execute.plan import FramePlanner
from stablehlo_ref.ir.core import Operation

PROGRAMS = Path(__file__).parents[1] / "tests" / "interpret"
FILES = sorted(PROGRAMS.rglob("*.mlir"))
DTYPES = {
    "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "complex<f32>": np.complex64,
    "complex<f64>": np.complex128, "i32": np.int32, "i8": np.int8,
}  # fmt: skip
FLOATS = ("f32", "f64", "bf16", "complex<f32>", "complex<f64>")


def bits(results: Any) -> Any:
    """Return the bytes of results, which may be tuples, in row-major order."""
    return [*map(bits, results)] if isinstance(results, tuple | list) else np.asarray(results).tobytes()


def relaid(layout: Any, values: Sequence[Any]) -> list[Any]:
    return [layout(x) if isinstance(x, np.ndarray) and x.ndim else x for x in values]


# --- every op, on the operands of its tests -------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_kernels_of_the_tests(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = FramePlanner.kernel

    def kernel(self: FramePlanner, op: Operation, *bodies: Any) -> Kernel:
        planned, definition = plan(self, op, *bodies), resolve(op)
        if definition is None or definition.traits.effects:
            return planned

        def run(*arrays: Any) -> Any:
            expected = planned.run(*arrays)
            for name, layout in LAYOUTS.items():
                assert bits(planned.run(*relaid(layout, arrays))) == bits(expected), f"{op.name}: {name}"
            return expected

        return Kernel(run)

    monkeypatch.setattr(FramePlanner, "kernel", kernel)
    for part in path.read_text("utf-8").split("// -----"):
        program = sr.parse(part).verify()
        if program.functions:
            program.run()


# --- elementwise ops, on as many elements as their vectorized loops need --------------------------------------------

ELEMENTWISE = [
    name
    for name, d in sorted(REGISTRY.items())
    if {"plan", "infer"} <= d.roles.keys() and d.traits.elementwise and d.dialect != "complex"  # which is of scalars
]


def numbers(dtype: np.dtype[Any], shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return random numbers around 0, or around 50 for integers."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape) == 1
    if dtype in strategies.INTEGERS:
        return rng.integers(0, 2 if strategies.width(dtype) < 8 else 100, shape).astype(dtype)
    x = 2 * rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype.kind == "c" else x).astype(dtype)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_ops(name: str) -> None:
    rng = np.random.default_rng(0)
    for dtype in map(np.dtype, (np.bool_, np.int32, np.float16, np.float32, np.float64, np.complex64, np.complex128)):
        operands = [numbers(dtype, (33, 65), rng) for _ in REGISTRY[name].operands]
        if name.endswith("select"):
            operands[0] = numbers(np.dtype(bool), (33, 65), rng)
        attributes = {"exponent_bits": 5, "mantissa_bits": 7} if name.endswith("reduce_precision") else {}
        try:
            expected = bits(evaluate(name, *operands, **attributes))
        except (sr.StablehloError, KeyError):  # not for this type, or not without attributes
            continue
        for layout in LAYOUTS.values():
            for position in range(len(operands)):
                moved = [layout(x) if i == position else x for i, x in enumerate(operands)]
                assert bits(evaluate(name, *moved, **attributes)) == expected, (dtype, layout)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_any_number_of_elements(name: str) -> None:
    """Vectorized loops treat the last elements, and single ones, in another way."""
    rng = np.random.default_rng(1)
    for dtype in map(np.dtype, (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128)):
        operands = [numbers(dtype, (33,), rng) for _ in REGISTRY[name].operands]
        try:
            whole = np.asarray(evaluate(name, *operands))
        except (sr.StablehloError, KeyError, TypeError):  # not for this type, or not without attributes
            continue
        for count in (1, 2, 3, 5, 7, 15, 16, 17, 31):
            part = [x[33 - count :] for x in operands]
            assert bits(evaluate(name, *part)) == bits(whole[33 - count :]), (dtype, count)
        assert bits(evaluate(name, *[x[5] for x in operands])) == bits(whole[5]), dtype


# --- sums, on as many elements as the loops of BLAS and numpy need --------------------------------------------------


def shape_and_type(text: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the dtype of `2x3xf32`."""
    *sizes, element = text.split("x", text.split("complex")[0].count("x"))
    return tuple(map(int, sizes)), np.dtype(DTYPES[element])


def check(op: str, operands: Sequence[str], results: Sequence[str], positive: Sequence[int] = ()) -> None:
    """Run an op with each operand in each layout, and all of them.

    `op` is the text of an op on %a0, %a1, ... without types. Operands in `positive` are made positive definite, or
    positive.
    """
    rng = np.random.default_rng(1)
    arrays = [numbers(dtype, shape, rng) for shape, dtype in map(shape_and_type, operands)]
    for index in positive:
        x = arrays[index]
        is_matrix = x.ndim > 1 and x.shape[-1] == x.shape[-2]
        arrays[index] = (x / 9 + 10 * np.eye(x.shape[-1])).astype(x.dtype) if is_matrix else np.abs(x)
    types = [f"tensor<{t}>" for t in operands]
    outs = ", ".join(f"tensor<{t}>" for t in results)
    names = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    bound = f"%r:{len(results)}" if len(results) > 1 else "%r"
    program = sr.load(f"""
      func.func @main({", ".join(f"%a{i}: {t}" for i, t in enumerate(types))}) -> ({outs}) {{
        {bound} = {op} : ({", ".join(types)}) -> ({outs})
        return {names} : {outs}
      }}""")
    expected = bits(program.run(*arrays))
    tensors = [i for i, x in enumerate(arrays) if x.ndim]  # scalars have one layout
    for name, layout in LAYOUTS.items():
        for positions in {*((i,) for i in tensors), tuple(tensors)}:
            moved = [relaid(layout, [x])[0] if i in positions else x for i, x in enumerate(arrays)]
            assert bits(program.run(*moved)) == expected, (name, positions)


@pytest.mark.parametrize("element", [*FLOATS, "i32", "i8"])
@pytest.mark.parametrize(
    ("batch", "m", "k", "n"),
    [
        (0, 16, 64, 16),
        (0, 60, 130, 90),
        (0, 1, 300, 70),
        (0, 70, 300, 1),
        (0, 3, 5, 4),
        (0, 8, 8, 8),
        (0, 1, 8, 2),
        (0, 2, 9, 1),
        (3, 17, 40, 21),
    ],
)
@pytest.mark.parametrize("contracting", [(1, 0), (0, 0), (1, 1), (0, 1)])
def test_dot_general(element: str, batch: int, m: int, k: int, n: int, contracting: tuple[int, int]) -> None:
    left, right = contracting
    stack, first = (f"{batch}x", 1) if batch else ("", 0)
    lhs = f"{stack}{m}x{k}x{element}" if left else f"{stack}{k}x{m}x{element}"
    rhs = f"{stack}{n}x{k}x{element}" if right else f"{stack}{k}x{n}x{element}"
    batching = "batching_dims = [0] x [0], " if batch else ""
    dims = f"{batching}contracting_dims = [{left + first}] x [{right + first}]"
    check(f"stablehlo.dot_general %a0, %a1, {dims}", [lhs, rhs], [f"{stack}{m}x{n}x{element}"])


SIZES = st.one_of(st.just(1), st.integers(2, 9), st.integers(1, 40), st.integers(40, 200))


@st.composite
def contractions(draw: st.DrawFn) -> tuple[list[str], str, str]:
    """Draw the types of both operands, the dimension numbers, and the type of the result of a dot_general."""
    element = draw(st.sampled_from(FLOATS))
    most = draw(st.sampled_from((1, 1, 2)))  # dimensions of a kind
    sizes = [draw(st.lists(SIZES, max_size=most)) for _ in range(4)]
    while prod(map(prod, sizes)) > 1 << 20:  # multiplications
        largest = max(sizes, key=prod)
        largest[largest.index(max(largest))] //= 3
    batch, rows, terms, columns = sizes
    types, numbers, result = [], [], list(batch)
    for free in (rows, columns):
        dims, first = [*batch, *terms, *free], len(batch) + len(terms)
        order = draw(st.just(range(len(dims))) | st.permutations(range(len(dims))))
        types.append("x".join([*(str(dims[d]) for d in order), element]))
        numbers.append([order.index(d) for d in range(first)])
        result += [dims[d] for d in order if d >= first]
    pairs = [f"{x} x {y}" for x, y in zip(*([n[: len(batch)], n[len(batch) :]] for n in numbers))]
    dimensions = f"batching_dims = {pairs[0]}, contracting_dims = {pairs[1]}"
    return types, dimensions, "x".join([*map(str, result), element])


def placed(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a copy of `x` with axes in any order and direction in memory, apart, at any address."""
    order = rng.permutation(x.ndim) if rng.random() < 0.5 else np.arange(x.ndim)
    shape = [x.shape[axis] for axis in order]
    first_apart = rng.choice((0, x.ndim - 1))
    sizes = [n + int(rng.choice((0, 1, 3, 16))) * (axis >= first_apart) for axis, n in enumerate(shape)]
    buffer = np.zeros(prod(sizes) * x.itemsize + 128, np.uint8)
    start = -buffer.ctypes.data % 64 + int(rng.choice((0, 1, 4, 8, 16, 24, 32, 60)))
    whole = buffer[start : start + prod(sizes) * x.itemsize].view(x.dtype).reshape(sizes)
    view = whole[(..., *map(slice, shape))].transpose(np.argsort(order))
    view = view[(..., *(slice(None, None, int(rng.choice((1, 1, 1, 1, -1)))) for _ in shape))]
    view[...] = x
    return view


@examples(everyday=200, all=2000)
@given(contractions(), st.integers(0, 1 << 32))
def test_any_dot_general(contraction: tuple[list[str], str, str], seed: int) -> None:
    (lhs, rhs), dimensions, result = contraction
    program, rng = dot_general(lhs, rhs, dimensions, result), np.random.default_rng(seed)
    arrays = [np.asarray(numbers(dtype, shape, rng)) for shape, dtype in map(shape_and_type, (lhs, rhs))]
    stretched = int(rng.integers(0, 4))
    if stretched < 2 and arrays[stretched].ndim:  # the same elements along an axis
        x = arrays[stretched]
        arrays[stretched] = np.broadcast_to(x.take([0], int(rng.integers(x.ndim))), x.shape)
    expected = bits(program.run(*(x.copy() for x in arrays)))
    assert bits(program.run(*arrays)) == expected
    for _ in range(4):
        assert bits(program.run(*(placed(x, rng) for x in arrays))) == expected


@examples(everyday=50, all=500)
@given(st.sampled_from(FLOATS), SIZES, SIZES, st.sampled_from((0, 1)), st.integers(0, 1 << 32))
def test_product_with_itself(element: str, rows: int, terms: int, dimension: int, seed: int) -> None:
    shape, rng = (rows, terms) if dimension else (terms, rows), np.random.default_rng(seed)
    x = numbers(np.dtype(DTYPES[element]), shape, rng)
    t = "x".join([*map(str, shape), element])
    program = dot_general(t, t, f"contracting_dims = [{dimension}] x [{dimension}]", f"{rows}x{rows}x{element}")
    expected = bits(program.run(x, x.copy()))
    assert bits(program.run(x, x)) == expected
    moved = placed(x, rng)
    assert bits(program.run(moved, moved)) == expected


def dot_general(lhs: str, rhs: str, numbers: str, result: str) -> sr.Program:
    return sr.load(f"""func.func @main(%a: tensor<{lhs}>, %b: tensor<{rhs}>) -> tensor<{result}> {{
      %r = stablehlo.dot_general %a, %b, {numbers} : (tensor<{lhs}>, tensor<{rhs}>) -> tensor<{result}>
      return %r : tensor<{result}> }}""")


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize(
    ("lhs", "rhs", "result"), [("1000x", "1000x", ""), ("70x300x", "300x", "70x"), ("70x", "70x300x", "300x")]
)
def test_dot(element: str, lhs: str, rhs: str, result: str) -> None:
    check("stablehlo.dot %a0, %a1", [lhs + element, rhs + element], [result + element])


@pytest.mark.parametrize("element", FLOATS)
def test_einsum(element: str) -> None:
    config = "ijk,jlk->il"
    check(f'stablehlo.einsum %a0, %a1, config = "{config}"', [f"9x17x8x{element}", f"17x30x8x{element}"],
          [f"9x30x{element}"])  # fmt: skip
    check('stablehlo.unary_einsum %a0, config = "ijk->j"', [f"9x17x80x{element}"], [f"17x{element}"])


@pytest.mark.parametrize("element", [*FLOATS, "i8"])
@pytest.mark.parametrize(("lhs", "rhs"), [("b01f", "01io"), ("bf01", "oi01"), ("01bf", "01io"), ("f01b", "i01o")])
@pytest.mark.parametrize(
    ("n", "height", "features", "outputs", "window", "groups"),
    [(2, 9, 8, 16, 3, 1), (4, 6, 32, 32, 1, 1), (1, 30, 8, 8, 3, 8), (1, 8, 1, 1, 3, 1)],
)
def test_convolution(
    element: str, lhs: str, rhs: str, n: int, height: int, features: int, outputs: int, window: int, groups: int
) -> None:
    sizes = {"b": n, "f": features, "0": height, "1": height + 1}
    kernel = {"i": features // groups, "o": outputs, "0": window, "1": window}
    result = {"b": n, "f": outputs, "0": height - window + 1, "1": height - window + 2}
    numbers = f"[{', '.join(lhs)}]x[{', '.join(rhs)}]->[{', '.join(lhs)}]"
    counts = f"{{feature_group_count = {groups} : i64, batch_group_count = 1 : i64}}"
    check(
        f"stablehlo.convolution(%a0, %a1) dim_numbers = {numbers}, window = {{}} {counts}",
        ["x".join([*(str(sizes[c]) for c in lhs), element]), "x".join([*(str(kernel[c]) for c in rhs), element])],
        ["x".join([*(str(result[c]) for c in lhs), element])],
    )


@pytest.mark.parametrize("element", ["f32", "f64", "complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("sizes", ["3x5x5x", "3x40x40x", "40x40x"])
def test_triangular_solve(element: str, sizes: str) -> None:
    t = sizes + element
    for left in ("true", "false"):
        for transpose in ("NO_TRANSPOSE", "TRANSPOSE"):
            attributes = f"left_side = {left}, lower = true, unit_diagonal = false"
            op = f"<{{{attributes}, transpose_a = #stablehlo<transpose {transpose}>}}>"
            check(f'"stablehlo.triangular_solve"(%a0, %a1) {op}', [t, t], [t], positive=[0])


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_batch_norm(element: str) -> None:
    x, c = f"30x8x20x{element}", f"8x{element}"
    attributes = "<{epsilon = 0.01 : f32, feature_index = 1 : i64}>"
    check(f'"stablehlo.batch_norm_training"(%a0, %a1, %a2) {attributes}', [x, c, c], [x, c, c])
    check(f'"stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) {attributes}', [x, c, c, c, c], [x], [4])
    check(f'"stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) {attributes}', [x, c, c, c, x], [x, c, c], [3])


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_fft(element: str) -> None:
    x, y = f"3x12x34x{element}", f"3x12x18xcomplex<{element}>"
    check("stablehlo.fft %a0, type = RFFT, length = [12, 34]", [x], [y])
    check("stablehlo.fft %a0, type = IRFFT, length = [12, 34]", [y], [x])
    check("stablehlo.fft %a0, type = FFT, length = [12, 18]", [y], [y])


def body(op: str, element: str) -> str:
    t = f"tensor<{element}>"
    return f"({{ ^bb0(%x: {t}, %y: {t}): %z = stablehlo.{op} %x, %y : {t} stablehlo.return %z : {t} }})"


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", ["add", "multiply", "subtract", "maximum"])
@pytest.mark.parametrize(
    ("operand", "dimensions", "result"),
    [
        ("37x41x43x", "1", "37x43x"), ("37x41x43x", "2", "37x41x"), ("37x41x43x", "0, 2", "41x"),
        ("200x700x5x", "1", "200x5x"), ("2000x100x", "0", "100x"), ("60x70x", "0, 1", ""),
        ("8x8x", "1", "8x"), ("8x8x", "0", "8x"), ("4x", "0", ""), ("3x4x2x5x", "1, 2", "3x5x"), ("7x5x", "1", "7x"),
    ],
)  # fmt: skip
def test_reduce(element: str, op: str, operand: str, dimensions: str, result: str) -> None:
    text = f'"stablehlo.reduce"(%a0, %a1) <{{dimensions = array<i64: {dimensions}>}}> {body(op, element)}'
    check(text, [operand + element, element], [result + element])


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", ["add", "subtract"])
@pytest.mark.parametrize(
    ("window", "padding", "result"),
    [
        ("3, 3", "0", "38x41x"), ("1, 43", "[[0, 0], [42, 0]]", "40x43x"), ("1, 20", "0", "40x24x"),
        ("40, 1", "[[39, 0], [0, 0]]", "40x43x"), ("40, 1", "[[0, 39], [0, 0]]", "40x43x"), ("12, 12", "0", "29x32x"),
    ],
)  # fmt: skip
def test_reduce_window(element: str, op: str, window: str, padding: str, result: str) -> None:
    attributes = f"window_dimensions = array<i64: {window}>, padding = dense<{padding}> : tensor<2x2xi64>"
    text = f'"stablehlo.reduce_window"(%a0, %a1) <{{{attributes}}}> {body(op, element)}'
    check(text, [f"40x43x{element}", element], [result + element])


def test_a_chain_of_ops_is_the_same_op_by_op() -> None:
    """The transposition is a view in a whole program, and an array of its own as the result of one op."""
    transpose = "%t = stablehlo.transpose %a, dims = [1, 0] : (tensor<300x70xf32>) -> tensor<70x300xf32>"
    dot = "%r = stablehlo.dot %t, %b : (tensor<70x300xf32>, tensor<300xf32>) -> tensor<70xf32>"
    whole = sr.load(f"""func.func @main(%a: tensor<300x70xf32>, %b: tensor<300xf32>) -> tensor<70xf32> {{
      {transpose} {dot} return %r : tensor<70xf32> }}""")
    first = sr.load(f"""func.func @main(%a: tensor<300x70xf32>) -> tensor<70x300xf32> {{
      {transpose} return %t : tensor<70x300xf32> }}""")
    second = sr.load(f"""func.func @main(%t: tensor<70x300xf32>, %b: tensor<300xf32>) -> tensor<70xf32> {{
      {dot} return %r : tensor<70xf32> }}""")
    rng = np.random.default_rng(0)
    a, b = numbers(np.dtype(np.float32), (300, 70), rng), numbers(np.dtype(np.float32), (300,), rng)
    assert bits(whole.run(a, b)) == bits(second.run(*first.run(a), b))
    assert type_of(a).shape == (300, 70)
