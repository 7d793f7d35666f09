"""Measure the peak memory of hostile programs under a limit of 2 GB, each in a process of its own.

    python tools/limits.py            all programs
    python tools/limits.py sort       those of these names

Print a row for each, and exit with 1 if a program took more than 2.2 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

RESIDENT = 2.2e9  # bytes


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
ADD = "stablehlo.add %a, %b : tensor<f32>"
FFT = "stablehlo.fft {{x}}, type = FFT, length = [{n}] : ({{t}}) -> {{t}}"
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

INDICES = "tensor<250000000x1xi32>"
INDEX = f"%i = stablehlo.iota dim = 0 : {INDICES}"
GATHER = (
    "dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
    "slice_sizes = array<i64: 1>"
)
SCATTER = (
    "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1>"
)
TRIANGULAR = "left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
IMAGES, POOLED = "tensor<16x1024x1024x8xf32>", "tensor<16x512x512x8xf32>"  # 537 and 134 MB
POOL_SIZES = "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>"
SELECT_AND_SCATTER = f"""func.func @main(%0: {IMAGES}) -> {IMAGES} {{
%s = stablehlo.constant dense<1.0> : {POOLED}
{ZERO}
%1 = "stablehlo.select_and_scatter"(%0, %s, %z) <{{{POOL_SIZES}}}> ({{
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %c = {LESS}
  stablehlo.return %c : tensor<i1>
}}, {{
^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %c = {ADD}
  stablehlo.return %c : tensor<f32>
}}) : ({IMAGES}, {POOLED}, tensor<f32>) -> {IMAGES}
return %1 : {IMAGES}
}}"""

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
    "triangular_solve": one(
        f'"stablehlo.triangular_solve"({{x}}, {{x}}) <{{{TRIANGULAR}}}> : ({{t}}, {{t}}) -> {{t}}',
        *["tensor<200x1000x1000xf32>"] * 2,
    ),
    "gather": one(f'"stablehlo.gather"({{x}}, %i) <{{{GATHER}}}> : ({Q}, {INDICES}) -> {Q}', Q, Q, INDEX),
    "scatter": one(
        region("scatter", SCATTER, "f32", ADD, f"({Q}, {INDICES}, {Q}) -> {Q}", "{x}, %i, {x}"), Q, Q, INDEX
    ),
    "select_and_scatter": SELECT_AND_SCATTER,
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


if __name__ == "__main__":
    raise SystemExit(not measure_memory(sys.argv[1:]))
