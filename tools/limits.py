"""Measure whether limits hold: the overshoot of a limit of time, and the peak memory under a limit of memory.

    python tools/limits.py time      20 long straight-line programs under 0.5 s
    python tools/limits.py memory    20 hostile programs under 2 GB, each in a process of its own

Names choose some of them. Print a row for each, and exit with 1 if a program ran more than 0.25 s over its time or took
more than 2.2 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import stablehlo_ref as sr
from stablehlo_ref.reading.inputs import random_inputs

SECONDS, OVERSHOOT = 0.5, 0.25
RESIDENT = 2.2e9  # bytes


def chain(op: str, of: str, count: int = 200) -> str:
    """Return a program of `count` ops, each on the result of the one before; `{x}` is the operand, `{t}` its type."""
    lines = [f"%{i + 1} = " + op.replace("{x}", f"%{i}").replace("{t}", of) for i in range(count)]
    return f"func.func @main(%0: {of}) -> {of} {{\n" + "\n".join(lines) + f"\nreturn %{count} : {of}\n}}"


def region(op: str, attributes: str, element: str, body: str, types: str, operands: str = "{x}") -> str:
    """Return an op with a region of two scalars, in generic form; `body` defines %c of the type `out`."""
    scalar = f"tensor<{element}>"
    out = "tensor<i1>" if "compare" in body else scalar
    arguments = f"^bb0(%a: {scalar}, %b: {scalar}):"
    return (
        f'"stablehlo.{op}"({operands}) <{{{attributes}}}> ({{\n{arguments}\n  %c = {body}\n'
        f'  "stablehlo.return"(%c) : ({out}) -> ()\n}}) : {types}'
    )


LESS = "stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>"
ODD = "stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>"
ADD = "stablehlo.add %a, %b : tensor<f32>"
FFT = "stablehlo.fft {{x}}, type = FFT, length = [{n}] : ({{t}}) -> {{t}}"
V = "tensor<10000000xf32>"
M = "tensor<3000x3000x{0}>"


def dot(element: str, n: int = 3000) -> str:
    """Return a chain of square matrix products."""
    of = f"tensor<{n}x{n}x{element}>"
    return chain("stablehlo.dot_general {x}, {x}, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}", of)


def cumulative(n: int) -> str:
    """Return a chain of cumulative sums."""
    of = f"tensor<{n}xf32>"
    sizes = f"window_dimensions = array<i64: {n}>, padding = dense<[[{n - 1}, 0]]> : tensor<1x2xi64>"
    return chain(region("reduce_window", sizes, "f32", ADD, "({t}, tensor<f32>) -> {t}", "{x}, %zero"), of).replace(
        "{\n%1", "{\n%zero = stablehlo.constant dense<0.0> : tensor<f32>\n%1", 1
    )


def convolution(count: int = 200) -> str:
    """Return a chain of convolutions with a kernel of ones."""
    of, kernel = "tensor<8x200x200x32xf32>", "tensor<3x3x32x32xf32>"
    op = (
        "stablehlo.convolution({x}, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1],"
        " [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : ({t}, " + kernel + ") -> {t}"
    )
    return chain(op, of, count).replace("{\n%1", f"{{\n%k = stablehlo.constant dense<1.0> : {kernel}\n%1", 1)


def indexed(op: str, n: int = 10_000_000) -> str:
    """Return a chain of gathers, or of scatters that add, of single elements at random places."""
    of, indices = f"tensor<{n}xf32>", f"tensor<{n}x1xi32>"
    if op == "gather":
        numbers = "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
        text = f'"stablehlo.gather"({{x}}, %i) <{{dimension_numbers = {numbers}, slice_sizes = array<i64: 1>}}>'
        made = chain(f"{text} : ({of}, {indices}) -> {of}", of)
    else:
        numbers = (
            "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims ="
            " [0], index_vector_dim = 1>"
        )
        made = chain(region("scatter", numbers, "f32", ADD, f"({of}, {indices}, {of}) -> {of}", "{x}, %i, {x}"), of)
    return made.replace(f"(%0: {of})", f"(%0: {of}, %i: {indices})", 1)


SORT = region("sort", "dimension = 0 : i64", "f32", LESS, "({t}) -> {t}")
ODD_SORT = SORT.replace(LESS, ODD).replace("%c =", "%s = stablehlo.add %a, %a : tensor<f32>\n  %c =")

TIME = {
    "add": chain("stablehlo.add {x}, {x} : {t}", V, 2000),
    "sine": chain("stablehlo.sine {x} : {t}", V),
    "tan of f64": chain("stablehlo.tan {x} : {t}", V.replace("f32", "f64")),
    "power of bf16": chain("stablehlo.power {x}, {x} : {t}", V.replace("f32", "bf16")),
    "lgamma": chain("chlo.lgamma {x} : {t} -> {t}", V),
    "integer power": chain("stablehlo.power {x}, {x} : {t}", V.replace("f32", "i64")),
    "dot of f32": dot("f32"),
    "dot of i64": dot("i64"),
    "dot of bf16": dot("bf16"),
    "convolution": convolution(),
    "sort": chain(SORT, V),
    "sort by a merge": chain(ODD_SORT, "tensor<1000000xf32>"),
    "cumulative sum": cumulative(10_000_000),
    "gather": indexed("gather"),
    "scatter": indexed("scatter"),
    "fft": chain(FFT.format(n="3000, 1000"), "tensor<3000x1000xcomplex<f32>>"),
    "cholesky": chain("stablehlo.cholesky {x} : {t}", M.format("f32")),
    "select": chain("stablehlo.select %m, {x}, {x} : tensor<10000000xi1>, {t}", V, 2000).replace(
        f"(%0: {V})", f"(%0: {V}, %m: tensor<10000000xi1>)", 1
    ),
    "100,000 small ops": chain("stablehlo.add {x}, {x} : {t}", "tensor<8xf32>", 100_000),
    "reverse and add": chain("stablehlo.add {x}, %0 : {t}", M.format("f64"), 2000),
}  # fmt: skip


def measure_time(only: list[str]) -> bool:
    """Run the programs of `TIME`, print the overshoot of each, and return whether all were stopped in time."""
    good = True
    for name in only or TIME:
        program = sr.load(TIME[name])
        inputs = random_inputs(program.inputs)
        start, outcome = perf_counter(), "finished"
        try:
            program.run(**inputs, limits=sr.Limits(max_seconds=SECONDS))
        except sr.EvaluationError as error:
            outcome = error.diagnostics[0].message.partition(" takes")[0]
        over = max(0.0, perf_counter() - start - SECONDS)
        good = good and over <= OVERSHOOT
        print(f"{name:20} {over:6.2f} s over   {outcome}", flush=True)
    return good


# --- memory ---------------------------------------------------------------------------------------------------------

G = "tensor<100000000xf32>"  # 400 MB


def many(op: str, count: int = 40, of: str = G, setup: str = "") -> str:
    """Return a program that computes `count` values of a type from `%s`, a scalar, and then uses all of them."""
    lines = [setup, f"%0 = stablehlo.iota dim = 0 : {of}"]
    lines += [f"%v{i} = " + op.replace("{i}", str(i)).replace("{t}", of) for i in range(count)]
    lines += [
        f"%u{i} = stablehlo.add %v{i}, %u{i - 1} : {of}" if i else f"%u0 = stablehlo.add %v0, %0 : {of}"
        for i in range(count)
    ]
    return f"func.func @main() -> {of} {{\n" + "\n".join(lines) + f"\nreturn %u{count - 1} : {of}\n}}"


def one(op: str, operand: str, result: str, init: str = "") -> str:
    """Return a program of one op on an iota; `{x}` is its operand."""
    return (
        f"func.func @main() -> {result} {{\n{init}\n%0 = stablehlo.iota dim = 0 : {operand}\n"
        f"%1 = {op.replace('{x}', '%0').replace('{t}', operand)}\nreturn %1 : {result}\n}}"
    )


def results(count: int, of: str = G) -> str:
    """Return a program whose results are `count` copies of a splat."""
    values, types = ", ".join(["%0"] * count), ", ".join([of] * count)
    return (
        f"func.func @main() -> ({types}) {{\n%0 = stablehlo.constant dense<1.0> : {of}\nreturn {values} : {types}\n}}"
    )


def loop(of: str = G) -> str:
    """Return a loop that carries eight values and makes new ones."""
    carried = ", ".join(f"%a{i} = %0" for i in range(8))
    types, names = ", ".join([of] * 8), ", ".join(f"%n{i}" for i in range(8))
    body = "\n".join(f"%n{i} = stablehlo.negate %a{i} : {of}" for i in range(8))
    return f"""func.func @main() -> {of} {{
%0 = stablehlo.iota dim = 0 : {of}
%t = stablehlo.constant dense<true> : tensor<i1>
%r:8 = stablehlo.while({carried}) : {types}
cond {{ stablehlo.return %t : tensor<i1> }} do {{
{body}
stablehlo.return {names} : {types} }}
return %r#0 : {of}
}}"""


def recursion(of: str = G) -> str:
    """Return a function that calls itself with a new value and keeps its own."""
    return f"""func.func @main() -> {of} {{
%0 = stablehlo.iota dim = 0 : {of}
%1 = func.call @f(%0) : ({of}) -> {of}
return %1 : {of}
}}
func.func private @f(%a: {of}) -> {of} {{
%0 = stablehlo.add %a, %a : {of}
%1 = func.call @f(%0) : ({of}) -> {of}
%2 = stablehlo.add %0, %1 : {of}
return %2 : {of}
}}"""


def argument(of: str) -> str:
    """Return a program with an argument of a type."""
    return f"func.func @main(%0: {of}) -> {of} {{\n%1 = stablehlo.add %0, %0 : {of}\nreturn %1 : {of}\n}}"


Q, H = "tensor<250000000xf32>", "tensor<400000000xf32>"  # 1 GB, 1.6 GB
SQUARE = "tensor<10000x10000x{0}>"
DOT = "stablehlo.dot_general {x}, {x}, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}"
SORTED = region("sort", "dimension = 0 : i64", "f32", LESS, "({t}) -> {t}")
ZERO = "%z = stablehlo.constant dense<0.0> : tensor<f32>"
CUMULATIVE_SIZES = "window_dimensions = array<i64: 250000000>, padding = dense<[[249999999, 0]]> : tensor<1x2xi64>"
CUMULATIVE = region("reduce_window", CUMULATIVE_SIZES, "f32", ADD, f"({Q}, tensor<f32>) -> {Q}", "{x}, %z")
QQ = "tensor<500000000xf32>"
C = "tensor<100000000xcomplex<f32>>"

MEMORY = {
    "many values": many("stablehlo.abs %0 : {t}"),
    "many sums": many("stablehlo.add %0, %0 : {t}"),
    "three of 1 GB": many("stablehlo.negate %0 : {t}", 3, Q),
    "many small": many("stablehlo.negate %0 : {t}", 6000, "tensor<100000xf32>"),
    "many smaller": many("stablehlo.negate %0 : {t}", 8000, "tensor<75000xf32>"),
    "copies of a splat": results(40),
    "loop": loop(),
    "recursion": recursion(),
    "sort": one(SORTED, Q, Q),
    "cumulative sum": one(CUMULATIVE, Q, Q, ZERO),
    "dot of bf16": one(DOT, SQUARE.format("bf16"), SQUARE.format("bf16")),
    "dot of i64": one(DOT, "tensor<6000x6000xi64>", "tensor<6000x6000xi64>"),
    "dot of i8": one(DOT, "tensor<20000x20000xi8>", "tensor<20000x20000xi8>"),
    "cholesky": one("stablehlo.cholesky {x} : {t}", SQUARE.format("f32"), SQUARE.format("f32")),
    "fft": one(FFT.format(n=100_000_000), C, C),
    "convert": one(f"stablehlo.convert {{x}} : ({Q}) -> {Q.replace('f32', 'f64')}", Q, Q.replace("f32", "f64")),
    "concatenate": one(f"stablehlo.concatenate {{x}}, {{x}}, dim = 0 : ({Q}, {Q}) -> {QQ}", Q, QQ),
    "transposed copy": one("stablehlo.transpose {x}, dims = [1, 0] : ({t}) -> {t}", *["tensor<16000x16000xf32>"] * 2),
    "random inputs": argument(H),
    "huge random input": argument("tensor<1000000000000xf32>"),
}  # fmt: skip


def measure_memory(only: list[str]) -> bool:
    """Run the programs of `MEMORY`, print the peak memory of each, and return whether all stayed within it."""
    good = True
    with TemporaryDirectory() as folder:
        for name in only or MEMORY:
            file = Path(folder) / "program.mlir"
            file.write_text(MEMORY[name])
            peak, outcome = peak_memory(file)
            good = good and peak < RESIDENT
            print(f"{name:20} {peak / 1e9:5.2f} GB   {outcome}", flush=True)
    return good


def peak_memory(program: Path) -> tuple[int, str]:
    """Run a program in a process of its own; return the bytes that it had at most, and its message."""
    output = program.with_suffix(".npz")
    options = ["--random-inputs=0", "--max-total-bytes=2GB", "--max-seconds=100", f"--output={output}"]
    with program.with_suffix(".txt").open("w+") as messages:
        process = subprocess.Popen([sys.executable, "-m", "stablehlo_ref", str(program), *options], stderr=messages)
        _, _, usage = os.wait4(process.pid, 0)
        messages.seek(0)
        message = messages.readline().partition("error: ")[2].strip() or "finished"
    output.unlink(missing_ok=True)
    return usage.ru_maxrss * 1024, message


def main() -> int:
    """Run what the command line asks for; return the exit code."""
    match sys.argv[1:]:
        case ["time", *names]:
            return not measure_time(names)
        case ["memory", *names]:
            return not measure_memory(names)
    print(__doc__)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
