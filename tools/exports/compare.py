"""Runs what a framework exports and compares with what the framework itself computes.

A sample is one function: `make()` exports it, and gives the program, its arguments and the results that are due. The
scripts beside this one list samples and hand them to `main`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import stablehlo_ref as sr

# How far a result may be from the framework's, relative to the largest number of the result: both round, and sum in
# orders of their own. Integers and booleans are equal.
BOUNDS = {"float64": 1e-11, "complex128": 1e-11, "float32": 2e-5, "complex64": 2e-5, "float16": 2e-3, "bfloat16": 1e-2}


@dataclass(frozen=True)
class Case:
    """An exported program as text, its arguments, and what the framework computes."""

    program: str
    arguments: list[np.ndarray]
    expected: list[np.ndarray]


class NotExported(Exception):
    """The framework does not export this sample."""


@dataclass(frozen=True)
class Sample:
    """A name, the export, and what of its results is determined, where that is not all."""

    name: str
    make: Callable[..., Case]
    determined: Callable[[list[np.ndarray]], list[np.ndarray]] = list


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """What is wrong with a result, nothing if it is right."""
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return f"is {ours.dtype} {ours.shape}, not {theirs.dtype} {theirs.shape}"
    bound = BOUNDS.get(theirs.dtype.name, 0.0)
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64 if bound else theirs.dtype
    x, y = ours.astype(wide), theirs.astype(wide)
    apart = np.where((x == y) | ((x != x) & (y != y)), 0, np.abs(x - y) if bound else 1)
    worst = np.max(apart, initial=0) / (np.max(np.abs(y), initial=1e-30, where=np.isfinite(y)) if bound else 1)
    return "" if worst <= bound else f"is {worst:.1e} off"


def check(sample: Sample, case: Case) -> str:
    """What is wrong with a program's results, nothing if they are right."""
    try:
        results = sr.load(case.program).run(*case.arguments)
    except sr.StablehloError as error:
        return str(error)
    if len(results) != len(case.expected):
        return f"has {len(results)} results, not {len(case.expected)}"
    differences = map(difference, sample.determined(list(results)), sample.determined(case.expected))
    return "; ".join(f"result {i} {text}" for i, text in enumerate(differences) if text)


def main(samples: Iterable[Sample], framework: str) -> int:
    """Checks the samples that the command line picks, prints what is wrong, and gives the exit code."""
    return run(samples, framework, parser(framework).parse_args())


def parser(framework: str) -> argparse.ArgumentParser:
    """The options of all scripts."""
    parser = argparse.ArgumentParser(description=f"runs exports of {framework} and compares with its own results")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="keep the exported programs there")
    return parser


def run(samples: Iterable[Sample], framework: str, options: argparse.Namespace) -> int:
    """`main` with options that have been read."""
    right = wrong = 0
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
        if what := check(sample, case):
            print(f"{sample.name}: {what}", flush=True)
        right, wrong = right + (not what), wrong + bool(what)
    if missing:
        print(f"{len(missing)} samples are not exported: {' '.join(missing)}")
    print(f"{right} of {right + wrong} samples agree with {framework}")
    return bool(wrong)
