"""Run programs that a framework exports and compare the results with the framework's own.

A sample is one function: `make()` exports it and returns the program, its arguments and the expected results. The other
scripts in this folder list samples and pass them to `main`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import stablehlo_ref as sr
from stablehlo_ref.debug.backends import save_arrays

# Tolerances by dtype, relative to the largest element of the result: both sides round, and sum in different orders.
# Integers and booleans must be equal.
BOUNDS = {"float64": 1e-11, "complex128": 1e-11, "float32": 2e-5, "complex64": 2e-5, "float16": 2e-3, "bfloat16": 1e-2}


@dataclass(frozen=True)
class Case:
    """An exported program as text, its arguments, the framework's results, and the program as bytecode, if there is."""

    program: str
    arguments: list[np.ndarray]
    expected: list[np.ndarray]
    data: bytes = b""


class NotExported(Exception):
    """The framework cannot export this sample."""


@dataclass(frozen=True)
class Sample:
    """A named sample.

    `make` exports it. `determined` maps results to the values that are unique, if not all are.
    """

    name: str
    make: Callable[..., Case]
    determined: Callable[[list[np.ndarray]], list[np.ndarray]] = list


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Return how a result differs from the expected one, or "" if it agrees."""
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return f"expected {theirs.dtype} {theirs.shape}, got {ours.dtype} {ours.shape}"
    bound = BOUNDS.get(theirs.dtype.name, 0.0)
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64 if bound else theirs.dtype
    x, y = ours.astype(wide), theirs.astype(wide)
    apart = np.where((x == y) | ((x != x) & (y != y)), 0, np.abs(x - y) if bound else 1)
    worst = np.max(apart, initial=0) / (np.max(np.abs(y), initial=1e-30, where=np.isfinite(y)) if bound else 1)
    return "" if worst <= bound else f"has error {worst:.1e}"


def check(sample: Sample, case: Case) -> str:
    """Run a program and return how its results differ from the expected ones, or "" if they agree."""
    try:
        results = sr.load(case.program).run(*case.arguments)
    except sr.StablehloError as error:
        return str(error)
    if len(results) != len(case.expected):
        return f"expected {len(case.expected)} results, got {len(results)}"
    differences = map(difference, sample.determined(list(results)), sample.determined(case.expected))
    found = "; ".join(f"result {i}: {text}" for i, text in enumerate(differences) if text)
    return found or (check_bytes(case, results) if case.data else "")


def check_bytes(case: Case, results: Sequence[np.ndarray]) -> str:
    """Run the same program from bytecode and return whether its results differ from those of the text, "" if not."""
    try:
        again = sr.load(case.data).run(*case.arguments)
    except sr.StablehloError as error:
        return f"from bytecode: {error}"
    same = len(again) == len(results) and all(
        (x.shape, x.dtype) == (y.shape, y.dtype) and x.tobytes() == y.tobytes() for x, y in zip(again, results)
    )
    return "" if same else "from bytecode: other results than from text"


def main(samples: Iterable[Sample], framework: str) -> int:
    """Check the samples that the command line selects, print differences, and return the exit code."""
    return run(samples, framework, parser(framework).parse_args())


def parser(framework: str) -> argparse.ArgumentParser:
    """Return the parser of the options that all scripts have."""
    parser = argparse.ArgumentParser(
        description=f"run programs exported by {framework} and compare results with its own"
    )
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="save the exported programs and their arguments")
    return parser


def run(samples: Iterable[Sample], framework: str, options: argparse.Namespace) -> int:
    """Check samples with parsed options and return the exit code."""
    right = wrong = from_bytes = 0
    missing = []
    for sample in samples:
        if not re.search(options.only, sample.name):
            continue
        try:
            case = sample.make()
        except NotExported:
            missing.append(sample.name)
            continue
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            (options.save / f"{sample.name}.mlir").write_text(case.program, encoding="utf-8")
            save_arrays(options.save / f"{sample.name}.npz", case.arguments)
        if what := check(sample, case):
            print(f"{sample.name}: {what}", flush=True)
        right, wrong = right + (not what), wrong + bool(what)
        from_bytes += bool(case.data) and not what
    if missing:
        print(f"{len(missing)} samples cannot be exported: {' '.join(missing)}")
    print(f"{right} of {right + wrong} samples agree with {framework}, {from_bytes} from bytecode too")
    return bool(wrong)
