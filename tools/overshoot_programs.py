"""Programs that run for long, of all expensive ops, for `overshoot.py`."""

from __future__ import annotations

SMALL = "tensor<4xf32>"


def chain(op: str, of: str = SMALL, count: int = 200, setup: str = "", arguments: str = "") -> str:
    """Return a program of `count` ops, each on the result of the one before.

    In `op`, `{x}` is the operand, `{t}` its type, `{n}` the number of the op, and `{y} =` may be left out.
    """
    op = (op if "{y}" in op else "{y} = " + op).replace("{t}", of)
    lines = [op.replace("{x}", f"%{i}").replace("{y}", f"%{i + 1}").replace("{n}", str(i)) for i in range(count)]
    body = "\n".join([setup, *lines, f"return %{count} : {of}"])
    return f"func.func @main(%0: {of}{arguments}) -> {of} {{\n{body}\n}}\n"


def scalars(*lines: str) -> str:
    """Return a region of two scalars %a and %b that returns %c, which the last line defines."""
    out = "i1" if "compare" in lines[-1] else "f32"
    ops = "\n  ".join([*lines[:-1], f"%c = {lines[-1]}"])
    return (
        f'({{\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  {ops}\n  "stablehlo.return"(%c) : (tensor<{out}>) -> ()\n}})'
    )


def op(name: str, operands: str, attributes: str, body: str, types: str) -> str:
    """Return an op in generic form."""
    return f'"stablehlo.{name}"({operands}) <{{{attributes}}}> {body} : {types}'


TWICE = "%s = stablehlo.add %a, %a : tensor<f32>"
LESS = scalars("stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>")
ODD_LESS = scalars(TWICE, "stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>")
ADD = scalars("stablehlo.add %a, %b : tensor<f32>")
ODD_ADD = scalars(TWICE, "stablehlo.add %s, %b : tensor<f32>")
ZERO = "%zero = stablehlo.constant dense<0.0> : tensor<f32>"
V, M, IMAGES = "tensor<10000000xf32>", "tensor<3000x3000x{0}>", "tensor<16x256x256x16xf32>"
IMAGE_PADDING = "padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>"
UNARY = "stablehlo.{0} {{x}} : {{t}}"
BINARY = "stablehlo.{0} {{x}}, {{x}} : {{t}}"
SORT = "dimension = 0 : i64"
NUMBERS = {
    "gather": "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>",
    "scatter": "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1>",
}
INDICES = "tensor<10000000x1xi32>"
TRIANGULAR = "left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"


def dot(element: str, n: int = 3000) -> str:
    """Return a chain of square matrix products."""
    numbers = "contracting_dims = [1] x [0]"
    return chain(
        f"stablehlo.dot_general {{x}}, {{x}}, {numbers} : ({{t}}, {{t}}) -> {{t}}", f"tensor<{n}x{n}x{element}>"
    )


def window(body: str, sizes: str, of: str) -> str:
    """Return a chain of reductions of windows."""
    return chain(op("reduce_window", "{x}, %zero", sizes, body, "({t}, tensor<f32>) -> {t}"), of, setup=ZERO)


def cumulative(body: str) -> str:
    """Return a chain of cumulative sums."""
    sizes = "window_dimensions = array<i64: 10000000>, padding = dense<[[9999999, 0]]> : tensor<1x2xi64>"
    return window(body, sizes, V)


def pool(body: str) -> str:
    """Return a chain of reductions of windows of 3 times 3 pixels."""
    return window(body, f"window_dimensions = array<i64: 1, 3, 3, 1>, {IMAGE_PADDING}", IMAGES)


def select_and_scatter(select: str) -> str:
    """Return a chain of gradients of pooling."""
    sizes = "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>"
    source = IMAGES.replace("256x256", "128x128")
    bodies = f"{select[:-1]}, {ADD[1:]}"
    made = op("select_and_scatter", "{x}, %source, %zero", sizes, bodies, f"({{t}}, {source}, tensor<f32>) -> {{t}}")
    return chain(made, IMAGES, setup=f"{ZERO}\n%source = stablehlo.constant dense<1.0> : {source}")


def convolution(element: str) -> str:
    """Return a chain of convolutions with a constant kernel."""
    of, kernel = f"tensor<8x200x200x32x{element}>", f"tensor<3x3x32x32x{element}>"
    numbers = "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}"
    groups = "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    one = "1.0" if element[0] in "fb" else "1"
    setup = f"%k = stablehlo.constant dense<{one}> : {kernel}"
    return chain(f"stablehlo.convolution({{x}}, %k) {numbers} {groups} : ({{t}}, {kernel}) -> {{t}}", of, setup=setup)


def scatter(body: str) -> str:
    """Return a chain of scatters of single elements to random places."""
    numbers = f"scatter_dimension_numbers = {NUMBERS['scatter']}"
    made = op("scatter", "{x}, %i, {x}", numbers, body, f"({{t}}, {INDICES}, {{t}}) -> {{t}}")
    return chain(made, V, arguments=f", %i: {INDICES}")


def reduction(body: str) -> str:
    """Return a chain of reductions of rows, whose results are broadcast."""
    row = "tensor<3000xf32>"
    made = op("reduce", "{x}, %zero", "dimensions = array<i64: 1>", body, f"({{t}}, tensor<f32>) -> {row}")
    back = f"stablehlo.broadcast_in_dim %r{{n}}, dims = [0] : ({row}) -> {{t}}"
    return chain(f"%r{{n}} = {made}\n{{y}} = {back}", M.format("f32"), setup=ZERO)


RUNS = {
    "add": chain(BINARY.format("add"), V, 2000),
    "sine": chain(UNARY.format("sine"), V),
    "tan of f64": chain(UNARY.format("tan"), V.replace("f32", "f64")),
    "power of bf16": chain(BINARY.format("power"), V.replace("f32", "bf16")),
    "remainder of f16": chain(BINARY.format("remainder"), V.replace("f32", "f16")),
    "lgamma": chain("chlo.lgamma {x} : {t} -> {t}", V),
    "integer power": chain(BINARY.format("power"), V.replace("f32", "i64")),
    "sine of complex": chain(UNARY.format("sine"), V.replace("f32", "complex<f32>")),
    "dot of f32": dot("f32"),
    "dot of i64": dot("i64"),
    "dot of bf16": dot("bf16"),
    "convolution": convolution("f32"),
    "convolution of i8": convolution("i8"),
    "sort": chain(op("sort", "{x}", SORT, LESS, "({t}) -> {t}"), V),
    "sort by a merge": chain(op("sort", "{x}", SORT, ODD_LESS, "({t}) -> {t}"), "tensor<1000000xf32>"),
    "reduce": reduction(ADD),
    "reduce by a general function": reduction(ODD_ADD),
    "cumulative sum": cumulative(ADD),
    "pool": pool(ADD),
    "pool by a general function": pool(ODD_ADD),
    "select_and_scatter": select_and_scatter(LESS),
    "gather": chain(
        f'"stablehlo.gather"({{x}}, %i) <{{dimension_numbers = {NUMBERS["gather"]}, slice_sizes = array<i64: 1>}}>'
        f" : ({{t}}, {INDICES}) -> {{t}}",
        V, arguments=f", %i: {INDICES}",
    ),
    "scatter": scatter(ADD),
    "scatter by a general function": scatter(ODD_ADD),
    "fft": chain(
        "stablehlo.fft {x}, type = FFT, length = [3000, 1000] : ({t}) -> {t}", "tensor<3000x1000xcomplex<f32>>"
    ),
    "cholesky": chain("stablehlo.cholesky {x} : {t}", M.format("f32")),
    "many of cholesky": chain("stablehlo.cholesky {x} : {t}", "tensor<100000x8x8xf32>"),
    "triangular_solve": chain(
        f'"stablehlo.triangular_solve"({{x}}, {{x}}) <{{{TRIANGULAR}}}> : ({{t}}, {{t}}) -> {{t}}', M.format("f32")
    ),
    "select": chain("stablehlo.select %m, {x}, {x} : tensor<10000000xi1>, {t}", V, 2000,
                    arguments=", %m: tensor<10000000xi1>"),
    "transpose": chain("stablehlo.transpose {x}, dims = [1, 0] : ({t}) -> {t}\n%z{n} = stablehlo.add %0, %{n} : {t}",
                       M.format("f32")),
    "convert": chain("%h{n} = stablehlo.convert {x} : ({t}) -> tensor<10000000xf8E4M3FN>\n"
                     "{y} = stablehlo.convert %h{n} : (tensor<10000000xf8E4M3FN>) -> {t}", V),
    "random numbers": chain("%s{n}, {y} = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> "
                            "(tensor<2xui64>, {t})", V.replace("f32", "ui32"), arguments=", %s: tensor<2xui64>"),
    "quantize": chain("%q{n} = stablehlo.uniform_quantize {x} : ({t}) -> tensor<10000000x!quant.uniform<i8:f32,0.1>>\n"
                      "{y} = stablehlo.uniform_dequantize %q{n} : (tensor<10000000x!quant.uniform<i8:f32,0.1>>) -> "
                      "{t}", V),
    "top_k": chain("%v{n}, %j{n} = chlo.top_k(%0, k = 8) : {t} -> (tensor<8xf32>, tensor<8xi32>)\n"
                   "{y} = stablehlo.negate %0 : {t}", V),
    "100,000 small ops": chain(BINARY.format("add"), "tensor<8xf32>", 100_000),
}  # fmt: skip
