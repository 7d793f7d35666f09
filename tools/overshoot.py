"""Measure by how much work of all kinds overshoots a limit of time, in seconds of the processor.

    python tools/overshoot.py               all kinds
    python tools/overshoot.py load sort     those whose names contain one of the words

Each kind would take long and has 0.3 s. Print a row for each: the overshoot, negative if the work ended before, and
how it ended. Exit with 1 if any overshoots by more than 0.25 s.
"""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[threads] = "1"  # two would count twice

import numpy as np  # noqa: E402
from overshoot_programs import ADD, BINARY, RUNS, SMALL, UNARY, chain  # noqa: E402

import stablehlo_ref as sr  # noqa: E402
from stablehlo_ref.bytecode.writer import write  # noqa: E402
from stablehlo_ref.cli.main import main as command  # noqa: E402
from stablehlo_ref.limits.budget import Budget, Deadline, in_force  # noqa: E402
from stablehlo_ref.passes.catalog import PASSES  # noqa: E402
from stablehlo_ref.reading.inputs import random_inputs  # noqa: E402

SECONDS, OVERSHOOT = 0.3, 0.25
OPS = 60_000

Kind = tuple[str, Callable[[], object]]  # a name, and the work


# --- kinds of work --------------------------------------------------------------------------------------------------


def constant(elements: str, of: str) -> str:
    """Return a program of a constant."""
    return f"func.func @main() -> {of} {{\n%0 = stablehlo.constant dense<{elements}> : {of}\nreturn %0 : {of}\n}}\n"


def listed(element: str, count: int, of: str) -> str:
    """Return a program of a constant that repeats an element."""
    return constant(f"[{', '.join([element] * count)}]", f"tensor<{count}x{of}>")


def texts() -> Iterator[tuple[str, str]]:
    """Yield programs that take long to read, with a name for each."""
    n = 4_000_000
    yield "text", chain(UNARY.format("sine"), count=OPS)
    yield "generic text", chain('"stablehlo.sine"({x}) : ({t}) -> {t}', count=OPS)
    yield "text with locations", chain(UNARY.format("sine") + ' loc("a{n}"("f.py":{n}:3 to :9))', count=OPS)
    yield "floats", listed("1.5", n, "f32")
    yield "long floats", listed("1.23456789012345678901234567890e-30", n // 4, "f32")
    yield "complex numbers", listed("(1.5, 2.0)", n // 2, "complex<f32>")
    yield "integers", listed("15", n, "i32")
    yield "hexadecimal numbers", listed("0x7fc00000", n, "f32")
    yield "hexadecimal elements", constant(f'"0x{"00" * 4 * n}"', f"tensor<{n}xf32>")
    yield "an array", f"module attributes {{a = array<i64: {', '.join(['7'] * n)}>}} {{}}"
    yield "a list", f"module attributes {{a = [{', '.join(['7 : i32'] * (n // 4))}]}} {{}}"
    yield "a dictionary", f"module attributes {{{', '.join(f'a{i} = {i}' for i in range(n // 8))}}} {{}}"
    yield "a long string", 'module attributes {a = "' + r"\n" * (2 * n) + '"} {}'
    yield "comments", "// x\n" * n + "module {}"
    yield "functions", "".join(f"func.func private @f{i}(tensor<{i}xf32>)\n" for i in range(OPS))
    yield "arguments", f"func.func @main({', '.join(f'%a{i}: tensor<f32>' for i in range(3 * OPS))}) {{ return }}\n"
    yield "aliases", "".join(f'#loc{i} = loc("f{i}":1:2)\n' for i in range(3 * OPS)) + "module {}\n"
    yield "a fused location", 'func.func private @f() loc(fused["a":1:2' + ', "a":1:2' * (5 * OPS) + "])\n"
    yield "blocks", "func.func @main() {\n" + "".join(f"cf.br ^b{i}\n^b{i}:\n" for i in range(OPS)) + "return }\n"
    yield "undeclared values", chain("stablehlo.add {x}, %y{n} : {t}", count=OPS)
    yield "invalid ops", chain('%z{n} = "stablehlo.sine"(%0) : ({t}) -> tensor<5xf32>\n{y} = stablehlo.sine {x} : {t}')
    instructions = "".join(f"  p.{i + 1} = f32[4]{{0}} sine(p.{i})\n" for i in range(OPS))
    yield (
        "HLO text",
        (
            f"HloModule m\n\nENTRY main {{\n  p.0 = f32[4]{{0}} parameter(0)\n{instructions}"
            f"  ROOT r = f32[4]{{0}} negate(p.{OPS})\n}}\n"
        ),
    )
    elements = ", ".join(["1.5"] * (n // 4))
    yield "HLO elements", f"HloModule m\n\nENTRY main {{\n  ROOT c = f32[{n // 4}]{{0}} constant({{{elements}}})\n}}\n"


def reading() -> Iterator[Kind]:
    """Yield programs in all formats to load."""
    for name, text in texts():
        yield f"load {name}", partial(sr.load, text)
    located = sr.load(chain(UNARY.format("sine") + ' loc("a{n}"("f.py":{n}:3 to :9))', count=OPS))
    yield "load bytecode", partial(sr.load, write(located.module))
    yield "load an artifact", partial(sr.load, located.serialize())
    yield "load a compressed file", partial(sr.load, gzip.compress(b" " * 10**9 + str(located).encode(), 1))


def on_programs() -> Iterator[Kind]:
    """Yield what is done with a long program."""
    sines, x = chain(UNARY.format("sine"), count=OPS), np.ones(4, np.float32)
    module = sr.load(sines).module

    def again() -> sr.Program:
        return sr.Program(module, verified=True)

    replicas = chain(
        '"stablehlo.all_reduce"({x}) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ' + ADD + " : ({t}) -> {t}",
        count=5000,
    )
    yield "verify", sr.parse(sines).verify
    yield "plan", again().plan
    yield "plan for a debugger", partial(again().plan, fast=False)
    yield "print", partial(str, again())
    yield "write an artifact", again().serialize
    yield "write bytecode", partial(write, module)
    yield "name a value", partial(again().value, "%5")
    yield "trace", partial(again().trace, x)
    yield "link", partial(sr.link, [again(), sr.load(sines.replace("@main", "@other"))])
    yield "run by the semantics", partial(again().run, x, semantics=True)
    yield "run a grid", partial(sr.load(replicas).run_replicas, [[x], [x]])


def transforming() -> Iterator[Kind]:
    """Yield each pass on a program that takes it long, or that it at least walks over."""
    mixed = chain(
        "%a{n} = stablehlo.add {x}, {x} : {t}\n%b{n} = chlo.lgamma %a{n} : {t} -> {t}\n"
        "%c{n} = stablehlo.multiply %b{n}, %0 : {t}\n{y} = stablehlo.tan %c{n} : {t}",
        count=8000,
    )
    program = sr.load(mixed)
    folded = sr.load(chain(BINARY.format("add"), count=20_000, setup="%k = stablehlo.constant dense<1.0> : " + SMALL)
                     .replace(" %0, %0", " %k, %k"))  # fmt: skip
    for name in PASSES:
        of = folded if "fold" in name or name == "sccp" else program
        yield f"pass {name}", partial(of.transform, name)


def reading_arrays(folder: Path) -> Iterator[Kind]:
    """Yield arrays to read from files."""
    count, of = 100_000_000, "tensor<100000000xf32>"
    large = sr.load(f"func.func @main(%a: {of}) -> {of} {{\nreturn %a : {of}\n}}")
    np.savez_compressed(folder / "large.npz", a=np.zeros(count, np.float32))
    yield "bind an archive", partial(large.bind, str(folder / "large.npz"))
    small = {f"a{i}": np.zeros(1, np.float32) for i in range(20_000)}
    np.savez(folder / "small.npz", **small)
    many = sr.load(f"func.func @main({', '.join(f'%{name}: tensor<1xf32>' for name in small)}) {{ return }}")
    yield "bind an archive of many arrays", partial(many.bind, str(folder / "small.npz"))
    entries = {f"a{i}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(200_000)}
    header = json.dumps(entries).encode()
    (folder / "many.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4 * len(entries)))
    yield "bind safetensors of many arrays", partial(many.bind, str(folder / "many.safetensors"))


def commands(folder: Path) -> Iterator[Kind]:
    """Yield commands with a limit of their own, on files."""
    of = "tensor<5000000xf32>"
    programs = {
        "long": chain(UNARY.format("sine"), count=15_000),
        "parts": "func.func @f() { return }\n// -----\n" * 20_000,
        "random": "func.func @main(%a: tensor<300000000xf32>) { return }",
        "input": "func.func @main(%a: tensor<2000000xf32>) { return }",
        "print": f"func.func @main() {{\n%0 = stablehlo.iota dim = 0 : {of}\ninterpreter.print %0 : {of}\nreturn\n}}",
        "other": chain(UNARY.format("sine"), count=15_000).replace("@main", "@other"),
    }
    (folder / "a.txt").write_text(f"[{', '.join(['1.5'] * 2_000_000)}]")
    for name, text in programs.items():
        (folder / f"{name}.mlir").write_text(text)
    arguments = [
        "long --random-inputs=0 --profile", "opt long --cse", "opt parts --split-input-file",
        "translate long --serialize", "exceptions long --random-inputs=0", "link long other",
        "random --random-inputs=0", f"input --input=a=@{folder / 'a.txt'}", "print",
    ]  # fmt: skip
    for line in arguments:
        words = [str(folder / f"{word}.mlir") if word in programs else word for word in line.split()]
        output = ["-o", str(folder / "out")] if words[0] in ("opt", "translate") else []
        yield f"command {line[:40]}", partial(command, [*words, *output, f"--max-seconds={SECONDS}"])


def running() -> Iterator[Kind]:
    """Yield long programs to run."""
    for name, text in RUNS.items():
        program = sr.load(text)
        yield f"run {name}", partial(program.run, **random_inputs(program.inputs, 0, {}, sr.Limits()))


def measured(work: Callable[[], object]) -> tuple[float, str]:
    """Return by how many seconds some work overshoots its limit, and how it ended."""
    gc.collect()
    gc.freeze()  # what is there already does not count
    output, outcome, start = io.StringIO(), "finished", process_time()
    try:
        budget = Budget(Deadline(SECONDS, process_time))
        with redirect_stdout(output), redirect_stderr(output), in_force(budget):
            work()
    except sr.StablehloError as error:
        outcome = str(error).partition("\n")[0]
    return process_time() - start - SECONDS, outcome if outcome != "finished" else output.getvalue()[:80] or outcome


def main(words: Sequence[str]) -> int:
    """Measure the kinds of work that the words choose; return the exit code."""
    count = late = 0
    sr.load("func.func @main() { return }").run()  # imports what all need
    with TemporaryDirectory() as name:
        folder = Path(name)
        for kinds in (reading(), on_programs(), transforming(), reading_arrays(folder), commands(folder), running()):
            for kind, work in kinds:
                if words and not any(word in kind for word in words):
                    continue
                over, outcome = measured(work)
                count, late = count + 1, late + (over > OVERSHOOT)
                print(f"{kind:50} {over:6.2f} s  {'LATE  ' if over > OVERSHOOT else ''}{outcome[-90:]}", flush=True)
    print(f"{count} kinds of work, {late} more than {OVERSHOOT} s over")
    return int(late > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
