"""Measure the peak memory of single ops on large tensors, over that of their operands and results.

    python tools/memory.py                  all ops
    python tools/memory.py sort reduce      those whose names contain one of the words

Each op runs once, then again while `tracemalloc` counts what is allocated, so what a thread keeps for its next op does
not count. Print a row for each, worst first: the ratio, the bytes of operands and results, those allocated beside the
results, and what the op declares as temporaries, in MB.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from typing import Any, NamedTuple

import numpy as np

import stablehlo_ref as sr
from stablehlo_ref.execute import guard
from stablehlo_ref.reading.inputs import random_inputs

GOAL = 1.3


class Row(NamedTuple):
    """The bytes of a run."""

    ratio: float
    operands: int
    results: int
    beside: int
    declared: int
    name: str


def op(text: str, *types: str, to: str) -> str:
    """Return a program of one op: `text` without its types, on arguments %0, %1, ..."""
    parameters = ", ".join(f"%{i}: tensor<{t}>" for i, t in enumerate(types))
    of = ", ".join(f"tensor<{t}>" for t in types)
    results = ", ".join(f"tensor<{t}>" for t in to.split())
    names = [f"%r#{i}" for i in range(len(to.split()))]
    return (
        f"func.func @main({parameters}) -> ({results}) {{\n%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"%r:{len(names)} = {text} : ({of}) -> ({results})\nreturn {', '.join(names)} : {results}\n}}"
    )


def elementwise(name: str, element: str, operands: int = 1) -> str:
    """Return a program of an elementwise op on 16 M elements."""
    arguments = ", ".join(f"%{i}" for i in range(operands))
    return op(f'"stablehlo.{name}"({arguments}) ', *[f"4096x4096x{element}"] * operands, to=f"4096x4096x{element}")


def body(elements: list[str], *lines: str) -> str:
    """Return a region with a pair of scalars for each element type, `%l0`, `%r0`, ..., that returns `%c`."""
    arguments = ", ".join(f"%l{i}: tensor<{e}>, %r{i}: tensor<{e}>" for i, e in enumerate(elements))
    out = "i1" if "compare" in lines[-1] else elements[0]
    code = "\n  ".join([*lines, f'"stablehlo.return"(%c) : (tensor<{out}>) -> ()'])
    return f"({{\n^bb0({arguments}):\n  {code}\n}})"


def combine(name: str, element: str = "f32") -> str:
    """Return a region of one binary op."""
    return body([element], f"%c = stablehlo.{name} %l0, %r0 : tensor<{element}>")


GENERAL = body(
    ["f32"],
    "%a = stablehlo.add %l0, %r0 : tensor<f32>",
    "%b = stablehlo.multiply %l0, %r0 : tensor<f32>",
    "%c = stablehlo.add %a, %b : tensor<f32>",
)


def reduce(region: str, dimensions: str, to: str, element: str = "f32") -> str:
    """Return a reduction of 16 M elements."""
    text = f'"stablehlo.reduce"(%0, %1) <{{dimensions = array<i64: {dimensions}>}}> {region}'
    return op(text, f"4096x4096x{element}", element, to=to + element)


def window(region: str, sizes: str, padding: str, of: str, to: str) -> str:
    """Return a reduction of windows, one size after the other: dimensions, then strides."""
    dimensions, strides = sizes.split("/")
    rank = of.count("x")
    text = (
        f'"stablehlo.reduce_window"(%0, %1) <{{window_dimensions = array<i64: {dimensions}>, window_strides = '
        f"array<i64: {strides}>, padding = dense<{padding}> : tensor<{rank}x2xi64>}}> {region}"
    )
    return op(text, of, "f32", to=to)


def convolution(lhs: str, rhs: str, to: str, window: str = "pad = [[1, 1], [1, 1]]", groups: str = "1, 1") -> str:
    """Return a convolution of images."""
    batch, feature = groups.split(", ")
    text = (
        f"stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{{window}}} "
        f"{{batch_group_count = {batch} : i64, feature_group_count = {feature} : i64}}"
    )
    return op(text, lhs, rhs, to=to)


def dot(lhs: str, rhs: str, to: str) -> str:
    """Return a product of matrices, or of stacks of them."""
    batching = "batching_dims = [0] x [0], contracting_dims = [2] x [1]"
    numbers = batching if lhs.count("x") == 3 else "contracting_dims = [1] x [0]"
    return op(f"stablehlo.dot_general %0, %1, {numbers}", lhs, rhs, to=to)


def sort(elements: list[str], dimension: int = 1, shape: str = "512x8192", keys: int = 1) -> str:
    """Return a sort of 4 M elements, by the first operand, lexicographically by the first two, or without keys (0)."""
    less = [f"%c{i} = stablehlo.compare LT, %l{i}, %r{i} : (tensor<{e}>, tensor<{e}>) -> tensor<i1>"
            for i, e in enumerate(elements[:2])]  # fmt: skip
    e = elements[0]
    equal = [f"%e = stablehlo.compare EQ, %l0, %r0 : (tensor<{e}>, tensor<{e}>) -> tensor<i1>",
             "%c = stablehlo.select %e, %c1, %c0 : tensor<i1>, tensor<i1> // compare"]  # fmt: skip
    difference = ["%d = stablehlo.subtract %l0, %r0 : tensor<f32>",
                  "%c = stablehlo.compare LT, %d, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>"]  # fmt: skip
    lines = [difference, [less[0].replace("%c0", "%c")], [*less, *equal]][keys]
    operands = ", ".join(f"%{i}" for i in range(len(elements)))
    types = [f"{shape}x{e}" for e in elements]
    text = (
        f'"stablehlo.sort"({operands}) <{{dimension = {dimension} : i64, is_stable = true}}> {body(elements, *lines)}'
    )
    return op(text, *types, to=" ".join(types))


def gather(count: int, of: str = "4194304xf32") -> str:
    """Return a gather of single elements."""
    numbers = "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
    text = f'"stablehlo.gather"(%0, %1) <{{dimension_numbers = {numbers}, slice_sizes = array<i64: 1>}}>'
    return op(text, of, f"{count}x1xi32", to=f"{count}xf32")


def scatter(region: str, count: int, of: str = "4194304xf32") -> str:
    """Return a scatter of single elements."""
    numbers = (
        "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = "
        "[0], index_vector_dim = 1>"
    )
    return op(f'"stablehlo.scatter"(%0, %1, %2) <{{{numbers}}}> {region}', of, f"{count}x1xi32", f"{count}xf32", to=of)


F64, ROW = "1024x2048xcomplex<f32>", "2097152xcomplex<f32>"
C128 = "1024x2048xcomplex<f64>"
IMAGES, KERNEL = "32x64x64x32x", "3x3x32x32x"
SELECT_AND_SCATTER = (
    '"stablehlo.select_and_scatter"(%0, %1, %2) <{window_dimensions = array<i64: 1, 2, 2, 1>, '
    "window_strides = array<i64: 1, 2, 2, 1>}> "
    + body(["f32"], "%c = stablehlo.compare GE, %l0, %r0 : (tensor<f32>, tensor<f32>) -> tensor<i1>").removesuffix(")")
    + ", "
    + combine("add").removeprefix("(")
)
TRIANGULAR = (
    '"stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, unit_diagonal = false, '
    "transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>"
)
PROGRAMS = {
    **{f"{name} {e}": elementwise(name, e, 2) for name in ("add", "remainder") for e in ("f32", "bf16", "f16")},
    "multiply bf16": elementwise("multiply", "bf16", 2),
    **{f"{name} {e}": elementwise(name, e) for name in ("tanh", "exponential") for e in ("f32", "bf16", "f16")},
    "add f8E4M3FN": elementwise("add", "f8E4M3FN", 2),
    "reduce add f32": reduce(combine("add"), "1", "4096x"),
    "reduce add bf16, minor": reduce(combine("add", "bf16"), "1", "4096x", "bf16"),
    "reduce add bf16, major": reduce(combine("add", "bf16"), "0", "4096x", "bf16"),
    "reduce add bf16, all": reduce(combine("add", "bf16"), "0, 1", "", "bf16"),
    "reduce add f16, minor": reduce(combine("add", "f16"), "1", "4096x", "f16"),
    "reduce general, minor": reduce(GENERAL, "1", "4096x"),
    "reduce general, all": reduce(GENERAL, "0, 1", ""),
    "convolution f32": convolution(IMAGES + "f32", KERNEL + "f32", IMAGES + "f32"),
    "convolution bf16": convolution(IMAGES + "bf16", KERNEL + "bf16", IMAGES + "bf16"),
    "convolution i8": convolution(IMAGES + "i8", KERNEL + "i8", IMAGES + "i32"),
    "convolution 1x1 bf16": convolution(IMAGES + "bf16", "1x1x32x32xbf16", IMAGES + "bf16", "pad = [[0, 0], [0, 0]]"),
    "convolution, stride 2": convolution(
        IMAGES + "f32", KERNEL + "f32", "32x32x32x32xf32", "stride = [2, 2], pad = [[0, 1], [0, 1]]"
    ),
    "convolution, depthwise": convolution(IMAGES + "f32", "3x3x1x32xf32", IMAGES + "f32", groups="1, 32"),
    "convolution, one image": convolution("1x512x512x32xf32", KERNEL + "f32", "1x512x512x32xf32"),
    "convolution, transposed": convolution(
        "32x32x32x32xf32", KERNEL + "f32", "32x63x63x32xf32", "pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]"
    ),
    **{f"dot {e} to {r}": dot(f"2048x2048x{e}", f"2048x2048x{e}", f"2048x2048x{r}")
       for e, r in (("f32", "f32"), ("bf16", "bf16"), ("bf16", "f32"), ("i8", "i32"), ("i32", "i32"))},
    "dot bf16, batch": dot(*["64x256x256xbf16"] * 2, to="64x256x256xbf16"),
    "dot i32, batch": dot(*["64x256x256xi32"] * 2, to="64x256x256xi32"),
    "sort f32, rows": sort(["f32"]),
    "sort f32, columns": sort(["f32"], 0, "8192x512"),
    "sort f32, one row": sort(["f32"], 0, "4194304"),
    "sort i32, one row": sort(["i32"], 0, "4194304"),
    "argsort, rows": sort(["f32", "i32"]),
    "argsort, one row": sort(["f32", "i32"], 0, "4194304"),
    "sort by 2 keys": sort(["i32", "f32", "f32"], 0, "2097152", 2),
    "sort general, rows": sort(["f32"], keys=0),
    "sort general, one row": sort(["f32"], 0, "1048576", 0),
    "top_k": op('"chlo.top_k"(%0) <{k = 32 : i64}>', "128x32768xf32", to="128x32xf32 128x32xi32"),
    "max pool": window(combine("maximum"), "1, 3, 3, 1/1, 2, 2, 1", "[[0, 0], [0, 1], [0, 1], [0, 0]]",
                       "16x128x128x16xf32", "16x64x64x16xf32"),
    "average pool": window(combine("add"), "1, 3, 3, 1/1, 1, 1, 1", "[[0, 0], [1, 1], [1, 1], [0, 0]]",
                           "16x128x128x16xf32", "16x128x128x16xf32"),
    "reduce_window general": window(GENERAL, "1, 3, 3, 1/1, 1, 1, 1", "[[0, 0], [1, 1], [1, 1], [0, 0]]",
                                    "16x128x128x16xf32", "16x128x128x16xf32"),
    "cumulative sum": window(combine("add"), "1, 4096/1, 1", "[[0, 0], [4095, 0]]", "1024x4096xf32", "1024x4096xf32"),
    "cumulative maximum": window(combine("maximum"), "4194304/1", "[[4194303, 0]]", "4194304xf32", "4194304xf32"),
    "select_and_scatter": op(SELECT_AND_SCATTER, "16x128x128x16xf32", "16x64x64x16xf32", "f32",
                             to="16x128x128x16xf32"),
    "gather": gather(4194304),
    "scatter add": scatter(combine("add"), 2097152),
    "scatter maximum": scatter(combine("maximum"), 2097152),
    "scatter general": scatter(GENERAL, 2097152),
    "cholesky": op("stablehlo.cholesky %0, lower = true", "256x128x128xf32", to="256x128x128xf32"),
    "cholesky, one matrix": op("stablehlo.cholesky %0, lower = true", "2048x2048xf32", to="2048x2048xf32"),
    "cholesky f64, one matrix": op("stablehlo.cholesky %0, lower = true", "2048x2048xf64", to="2048x2048xf64"),
    "cholesky upper, one matrix": op("stablehlo.cholesky %0", "2048x2048xf32", to="2048x2048xf32"),
    "triangular_solve, one matrix": op(TRIANGULAR, *["2048x2048xf32"] * 2, to="2048x2048xf32"),
    "triangular_solve f64, one matrix": op(TRIANGULAR, *["2048x2048xf64"] * 2, to="2048x2048xf64"),
    "triangular_solve": op(TRIANGULAR, *["256x128x128xf32"] * 2, to="256x128x128xf32"),
    "fft": op("stablehlo.fft %0, type = FFT, length = [2048]", C128, to=C128),
    "fft f32": op("stablehlo.fft %0, type = FFT, length = [2048]", F64, to=F64),
    "fft f32, one row": op("stablehlo.fft %0, type = FFT, length = [2097152]", ROW, to=ROW),
    "fft f32, one plane": op("stablehlo.fft %0, type = FFT, length = [1024, 2048]", F64, to=F64),
    "rfft f32, one row": op("stablehlo.fft %0, type = RFFT, length = [2097152]", "2097152xf32",
                            to="1048577xcomplex<f32>"),
    "irfft f32, one row": op("stablehlo.fft %0, type = IRFFT, length = [2097152]", "1048577xcomplex<f32>",
                             to="2097152xf32"),
    "rng_bit_generator": op("stablehlo.rng_bit_generator %0, algorithm = PHILOX", "2xui64", to="2xui64 4194304xui32"),
    "transpose": op("stablehlo.transpose %0, dims = [1, 0]", "4096x4096xf32", to="4096x4096xf32"),
    "quantize": op("stablehlo.uniform_quantize %0", "4096x4096xf32", to="4096x4096x!quant.uniform<i8:f32,0.1:3>"),
}  # fmt: skip


def measure(name: str) -> Row:
    """Run a program twice and return the bytes of the second run."""
    program = sr.load(PROGRAMS[name])
    inputs: dict[str, Any] = random_inputs(program.inputs)
    for key, x in inputs.items():
        if name.startswith(("gather", "scatter")) and x.dtype == np.int32:
            inputs[key] = np.random.default_rng(0).integers(0, 4 << 20, x.shape).astype(np.int32)
        if name.startswith(("cholesky", "triangular")) and x.ndim > 1:
            inputs[key] = (x * 0.01 + np.eye(x.shape[-1]) * 10).astype(x.dtype)
        if "cumulative" in name and not x.ndim:
            inputs[key] = np.float32(0 if "sum" in name else -np.inf)  # the identity, as in programs
    declared = [0]
    reserve, guard.reserve = guard.reserve, lambda values, temporaries=0: declared.append(temporaries)
    try:
        program.run(**inputs, jit=False)
        gc.collect()
        tracemalloc.start()
        outputs = program.run(**inputs, jit=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        guard.reserve = reserve
    operands, results = (sum(x.nbytes for x in values) for values in (inputs.values(), _arrays(outputs)))
    return Row((operands + peak) / (operands + results), operands, results, peak - results, max(declared), name)


def _arrays(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def main() -> int:
    """Measure the ops that the command line names, or all; print a table."""
    words = sys.argv[1:] or [""]
    names = [name for name in PROGRAMS if any(word in name for word in words)]
    rows = sorted(map(measure, names), reverse=True)
    print("ratio  operands  results   beside  declared  op (MB)")
    for row in rows:
        sizes = [f"{n / 1e6:9.1f}" for n in row[1:5]]
        print(f"{row.ratio:5.2f} {' '.join(sizes)}  {row.name}{'' if row.ratio <= GOAL else '  *'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
