"""Measure the bounds of `stablehlo_ref.debug` against MPFR and exact sums.

    python tools/measure_bounds.py [--count 1000000] [--seed 0]

An evaluation is one element of one op on operands drawn at random: half of moderate magnitude, half of any finite bits.
It is a violation if any legal result (the correctly rounded one; for elementary functions, also the number on the other
side of the exact result) would be called wrong, or if the exact result is outside of the bound. Ratios are the bound
divided by the error of the correctly rounded result, of those that are not exact, for operands of moderate magnitude.
Dots count as one evaluation for each output and order of summation: in turn, in a random order, by pairs, in eight
lanes; ratios are of the errors of sums in turn, and of all. The exit code is 1 on a violation.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from math import fsum
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from spec_checks.bound_oracle import ARITHMETIC, DTYPES, OPS, drawn, measured, outside
from spec_checks.test_bounds import ball_of, dot, elementwise
from stablehlo_ref.debug.bounds.ball import Ball

PART = 5000  # elements of one program
LENGTHS = (1, 2, 7, 16, 64, 256, 1000, 4096)
ROWS, COLUMNS = 8, 50  # 400 outputs


def elementwise_ops(count: int, seed: int) -> tuple[int, int]:
    """Print the figures of each op and type; return the numbers of evaluations and violations."""
    draw, evaluations, violations = np.random.default_rng(seed), 0, 0
    each = -(-count // (len(OPS) * len(DTYPES) * PART))
    for op in OPS:
        texts, groups = [], []
        for type, dtype in DTYPES.items():
            ratios, wrong = [], 0
            for _ in range(each):
                arrays = drawn(draw, op, PART, dtype)
                found = measured(op, arrays, ball_of(elementwise(op, len(arrays), PART, type), arrays))
                ratios.append(found.ratios)
                evaluations += found.evaluations
                wrong += found.violations
            violations += wrong
            groups.append(np.concatenate(ratios))
            texts.append(f"{type} {np.median(groups[-1]):.2f}" + (f" ({wrong} VIOLATIONS)" if wrong else ""))
        kind = "arithmetic" if op in ARITHMETIC else "function"
        median = np.median(np.concatenate(groups))
        print(f"{op} ({kind}): median bound / error: {', '.join(texts)}; all {median:.2f}", flush=True)
    return evaluations, violations


def summed(x: np.ndarray, y: np.ndarray, order: str, draw: np.random.Generator) -> np.ndarray:
    """Return a product of matrices in f32, summed in an order."""
    terms = x.astype(np.float32)[:, :, None] * y.astype(np.float32)[None]
    if order == "random":
        terms = terms[:, draw.permutation(terms.shape[1])]
    if order == "pairs":
        while terms.shape[1] > 1:
            terms = np.concatenate([terms[:, 0:-1:2] + terms[:, 1::2], terms[:, -1:][:, : terms.shape[1] % 2]], axis=1)
        return terms[:, 0]
    lanes = 8 if order == "lanes" else 1
    padded = np.concatenate([terms, np.zeros((terms.shape[0], -terms.shape[1] % lanes, terms.shape[2]), np.float32)], 1)
    partial = padded.reshape(terms.shape[0], -1, lanes, terms.shape[2])
    total = np.add.accumulate(partial, axis=1, dtype=np.float32)[:, -1]
    return np.add.accumulate(total, axis=1, dtype=np.float32)[:, -1]


def dots(seed: int) -> tuple[int, int]:
    """Print the figures of dots of each length; return the numbers of evaluations and violations."""
    evaluations = violations = 0
    for n in LENGTHS:
        for type in ("f32", "bf16", "f16"):
            draw = np.random.default_rng(seed + n)
            x, y = (draw.standard_normal(shape).astype(DTYPES[type]) for shape in ((ROWS, n), (n, COLUMNS)))
            ball = ball_of(dot(n, type).replace("x5x", f"x{COLUMNS}x"), [x, y])
            flat = Ball(ball.center.reshape(-1), ball.radius.reshape(-1))
            a, b = x.astype(np.float64), y.astype(np.float64)  # whose products are exact in f64
            true = np.array([[fsum(a[i] * b[:, j]) for j in range(COLUMNS)] for i in range(ROWS)])
            ratios = []
            for order in ("in turn", "random", "pairs", "lanes"):
                found = summed(x, y, order, draw).astype(DTYPES[type])
                evaluations += found.size
                violations += int(np.count_nonzero(outside(found.reshape(-1), flat)))
                errors = np.abs(found.astype(np.float64) - true)
                ratios.append((ball.radius / np.where(errors > 0, errors, np.nan)).reshape(-1))
            in_turn, median = np.nanmedian(ratios[0]), np.nanmedian(np.concatenate(ratios))
            print(f"dot, n = {n}, {type}: median bound / error {in_turn:.2f}, all orders {median:.2f}", flush=True)
    return evaluations, violations


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000, help="elements of elementwise ops")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    of_dots = dots(options.seed)
    of_ops = elementwise_ops(options.count, options.seed)
    print(f"dots: {of_dots[0]} outputs, {of_dots[1]} violations")
    print(f"elementwise ops: {of_ops[0]} elements, {of_ops[1]} violations")
    return 0 if not of_dots[1] and not of_ops[1] else 1


if __name__ == "__main__":
    sys.exit(main())
