"""Compute functions of f32 for all 2**32 operands, and print a hash of the results of each.

    python tools/scan_f32.py                            # all functions; takes hours
    python tools/scan_f32.py exponential tanh
    python tools/scan_f32.py --every 256 chlo.lgamma    # one portion in 256, spread evenly over signs and exponents
    python tools/scan_f32.py --core-math FOLDER         # compare each result with CORE-MATH, from its src/binary32

The hash of a function is that of the hashes of its portions of 2**16 operands, in order, which are numbered from the
bits 0. Results are correctly rounded, so the hash is the same on every machine; it is compared with that in
tools/scan_f32.json, if that has one.
CORE-MATH (https://core-math.gitlabpages.inria.fr) has functions in C that are correctly rounded; `cc` compiles them.
The exit code is 1 if a result or a hash differs.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

import stablehlo_ref as sr

PORTION = 1 << 16
BATCH = 16  # portions computed at a time
OPS = (
    "stablehlo.cbrt stablehlo.cosine stablehlo.exponential stablehlo.exponential_minus_one stablehlo.log "
    "stablehlo.log_plus_one stablehlo.logistic stablehlo.rsqrt stablehlo.sine stablehlo.sqrt stablehlo.tan "
    "stablehlo.tanh chlo.acos chlo.acosh chlo.asin chlo.asinh chlo.atan chlo.atanh chlo.bessel_i1e chlo.cosh "
    "chlo.digamma chlo.erf chlo.erf_inv chlo.erfc chlo.lgamma chlo.sinh chlo.square"
)


def program(op: str) -> sr.Program:
    """Return a program that applies an op, of StableHLO unless it names a dialect, to portions of operands."""
    name, t = op if "." in op else f"stablehlo.{op}", f"tensor<{BATCH}x{PORTION}xf32>"
    return sr.load(f'func.func @main(%x: {t}) -> {t} {{ %r = "{name}"(%x) : ({t}) -> {t} return %r : {t} }}')


NAMES = {
    "cosine": "cos",
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "log_plus_one": "log1p",
    "sine": "sin",
}
LOOP = """#include <stddef.h>
float cr_{name}f(float);
void loop(const float *x, float *y, size_t n) {{ for (size_t i = 0; i < n; i++) y[i] = cr_{name}f(x[i]); }}
"""
Oracle = Callable[[np.ndarray], np.ndarray]


def oracle(op: str, sources: Path) -> Oracle | None:
    """Compile the function of CORE-MATH for an op; None if it has none."""
    name = op.split(".")[-1]
    name = NAMES.get(name, name)
    source = sources / name / f"{name}f.c"
    if not source.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        loop, library = Path(folder, "loop.c"), Path(folder, f"{name}.so")
        loop.write_text(LOOP.format(name=name))
        command = ["cc", "-O2", "-march=native", "-ffp-contract=off", "-frounding-math", "-fPIC", "-shared"]
        subprocess.run([*command, "-o", library, loop, source, "-lm"], check=True)
        compiled = ctypes.CDLL(str(library)).loop
    pointer = np.ctypeslib.ndpointer(np.float32, flags="C_CONTIGUOUS")
    compiled.argtypes, compiled.restype = [pointer, pointer, ctypes.c_size_t], None

    def run(x: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        compiled(x, y, x.size)
        return y

    return run


def count_differences(x: np.ndarray, y: np.ndarray) -> int:
    """Return how many results differ in their bits; all NaNs are alike."""
    return int(np.count_nonzero((x.view(np.uint32) != y.view(np.uint32)) & ~(np.isnan(x) & np.isnan(y))))


def scan(op: str, portions: Iterable[int], expected: Oracle | None = None) -> tuple[str, int]:
    """Return the hash of the results for portions of operands, and how many are not as expected."""
    function, total, numbers, wrong = program(op), hashlib.sha256(), list(portions), 0
    for start in range(0, len(numbers), BATCH):
        first = np.array(numbers[start : start + BATCH], np.uint32)[:, np.newaxis] * np.uint32(PORTION)
        x = (first + np.arange(PORTION, dtype=np.uint32)).view(np.float32)
        (results,) = function.run(x)
        wrong += count_differences(results, expected(x)) if expected else 0
        for row in results:
            total.update(hashlib.sha256(row.tobytes()).digest())
    return total.hexdigest()[:16], wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*", default=OPS.split())
    parser.add_argument("--every", type=int, default=1, help="compute one portion in so many")
    parser.add_argument("--core-math", type=Path, metavar="FOLDER", help="the folder src/binary32 of CORE-MATH")
    arguments, wrong = parser.parse_args(), 0
    recorded = json.loads(Path(__file__).with_suffix(".json").read_text()).get(str(arguments.every), {})
    for op in arguments.ops:
        start = time.process_time()
        portions = range(arguments.every // 2, (1 << 32) // PORTION, arguments.every)
        expected = oracle(op, arguments.core_math) if arguments.core_math else None
        found, differing = scan(op, portions, expected)
        share = f"1/{arguments.every} of the operands" if arguments.every > 1 else "all operands"
        compared = f"  {differing} differ from CORE-MATH" if expected else ""
        known = recorded.get(op.rpartition(".")[2], found)
        compared += "" if known == found else f"  differs from {known}"
        wrong += known != found
        print(f"{op:32s} {found}  {share}{compared}  {time.process_time() - start:.0f} s", flush=True)
        wrong += differing
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
