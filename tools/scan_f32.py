"""Compute functions of f32 for all 2**32 operands, and print a hash of the results of each.

    python tools/scan_f32.py                            # all functions; takes hours
    python tools/scan_f32.py exponential tanh
    python tools/scan_f32.py --every 256 chlo.lgamma    # one portion in 256, spread evenly over signs and exponents

The hash of a function is that of the hashes of its portions of 2**16 operands, in order, which are numbered from the
bits 0. Results are correctly rounded, so the hash is the same on every machine; docs/accuracy.md has those found.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterable

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


def scan(op: str, portions: Iterable[int]) -> str:
    """Return the hash of the results for portions of operands, whose number is a multiple of BATCH."""
    function, total, numbers = program(op), hashlib.sha256(), list(portions)
    for start in range(0, len(numbers), BATCH):
        first = np.array(numbers[start : start + BATCH], np.uint32)[:, np.newaxis] * np.uint32(PORTION)
        (results,) = function.run((first + np.arange(PORTION, dtype=np.uint32)).view(np.float32))
        for row in results:
            total.update(hashlib.sha256(row.tobytes()).digest())
    return total.hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*", default=OPS.split())
    parser.add_argument("--every", type=int, default=1, help="compute one portion in so many")
    arguments = parser.parse_args()
    for op in arguments.ops:
        start = time.process_time()
        portions = range(arguments.every // 2, (1 << 32) // PORTION, arguments.every)
        found = scan(op, portions)
        share = f"1/{arguments.every} of the operands" if arguments.every > 1 else "all operands"
        print(f"{op:32s} {found}  {share}  {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
