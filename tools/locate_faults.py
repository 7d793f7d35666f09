"""Measure how many faults `diff` locates, and whether it raises false alarms.

    python tools/locate_faults.py PROGRAM.mlir ... [--count 20] [--clean jax --backend-python PYTHON]

Each program runs with random inputs in a backend with one fault in the ops of a name and type, drawn at random; the op
that `diff` names first must be one of them. With `fused-` faults, it must be in a group of at most 5 ops. Faults that
do not change any output do not count. `--clean` runs the programs in a backend that is taken to be right instead.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stablehlo_ref.cli.random_inputs import random_inputs
from stablehlo_ref.debug import Diff, Session, diff
from stablehlo_ref.debug.cut import CONSTANTS, Flat
from stablehlo_ref.ir.types import FloatType, TensorType
from stablehlo_ref.loading import load
from stablehlo_ref.program import Program

GROUP = 5  # ops
ALWAYS_WRONG = ("dropped", "stale", "shifted", "wrong-dimension", "swapped", "scaled")
IF_STRICT = (("tf32", "dot_general"), ("bf16", "dot_general"), ("tf32", "convolution"), ("bf16", "convolution"))


def faults(program: Program, count: int, seed: int) -> list[tuple[str, str]]:
    """Return descriptions of faulty backends and the contracts to judge them by."""
    draw = random.Random(seed)
    ops = [op for op in Flat(program).ops if op.name not in (*CONSTANTS, "stablehlo.while")]
    places = sorted({(op.name, str(op.results[0].type)) for op in ops if op.results and _is_real(op.results[0].type)})
    binary = {op.name for op in ops if len(op.operands) == 2 and len(set(op.operand_types)) == 1}
    found = []
    for name, type in draw.sample(places, min(count, len(places))):
        known = [
            f for f in ALWAYS_WRONG if f != "swapped" or name in binary & {"stablehlo.subtract", "stablehlo.divide"}
        ]
        strict = [f for f, op in IF_STRICT if name == f"stablehlo.{op}"]
        fault = draw.choice(known + strict)
        fused = "fused-" if draw.random() < 0.25 and fault in ALWAYS_WRONG else ""
        found.append((f"faulty:{fused}{fault}:{name}:{type}", "strict" if fault in strict else "xla-cpu"))
    return found


def _is_real(type: object) -> bool:
    return isinstance(type, TensorType) and isinstance(type.element_type, FloatType) and bool(type.shape)


def outcome(found: Diff, backend: str) -> str:
    """Return "located", "no effect", or what went wrong."""
    _, _, name, type = backend.split(":", 3)
    if found.same:
        return "no effect"
    if found.failure:
        return f"failed: {found.failure}"
    if found.suspects:
        op = found.suspects[0].op
        return "located" if (op.name, str(op.results[0].type)) == (name, type) else f"named {op.name}"
    if found.group is not None:
        inside = any((op.name, str(op.results[0].type)) == (name, type) for op in found.group.ops)
        return "located" if inside and len(found.group.ops) <= GROUP else f"group of {len(found.group.ops)}"
    return "missed"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    counts: Counter[tuple[str, str]] = Counter()
    for path in options.programs:
        program = load(path)
        drawn = random_inputs(program.inputs, options.seed, {}, program.limits)
        inputs = [drawn[parameter.name] for parameter in program.inputs]
        tried = [(options.clean, options.contract)] if options.clean else faults(program, options.count, options.seed)
        for backend, contract in tried:
            started = time.perf_counter()
            with Session(backend, python=options.backend_python, seconds=options.seconds) as session:
                found = diff(program, inputs, session, contract)
            if options.clean:
                result = "false alarm" if found.is_wrong or found.suspicions else "clean"
            else:
                result = outcome(found, backend)
            kind = "fused" if ":fused-" in backend else "clean" if options.clean else "unfused"
            counts[kind, result.split(":")[0]] += 1
            seconds = time.perf_counter() - started
            print(f"{path.name}: {backend}: {result} ({found.compilations} compilations, {seconds:.0f} s)", flush=True)
            if result == "false alarm":
                print(found)
    for (kind, result), count in sorted(counts.items()):
        print(f"{kind}: {count} {result}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="PROGRAM", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=20, help="faults for each program")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clean", metavar="BACKEND", help="a backend in which nothing should be wrong")
    parser.add_argument("--contract", default="xla-cpu", help="of --clean")
    parser.add_argument("--backend-python", default="")
    parser.add_argument("--seconds", type=float, default=300)
    return parser


if __name__ == "__main__":
    sys.exit(main())
