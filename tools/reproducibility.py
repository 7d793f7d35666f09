"""Compare the bits of results on this machine under many settings, and with those of other machines.

    python tools/reproducibility.py                         # all cases and settings, and reproducibility.json
    python tools/reproducibility.py --short                 # some cases and settings, as in CI
    python tools/reproducibility.py --programs FILE ...     # also programs, on random inputs, as those of examples/
    python tools/reproducibility.py --write                 # replace the hashes by those of this machine

A setting is an environment: CPU features of numpy, variants of the C library, kernels of BLAS, threads. Each case runs
with operands in several memory layouts, by default and with `reproducible=True`. Exit with 1 if bits differ where
docs/accuracy.md promises that they do not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from math import prod
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import reproducibility_cases as cases

import stablehlo_ref as sr

EXAMPLES = Path(__file__).parents[1] / "examples"
HASHES = Path(__file__).with_name("reproducibility.json")
PROMISED = ("f16", "bf16", "f32", "complex<f32>")  # element types of elementwise ops that agree everywhere by default
SHORT = 7  # one case in so many in the short form

NO_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR"
NO_FMA = "glibc.cpu.hwcaps=-FMA,-AVX2,-AVX2_Usable,-FMA_Usable,-AVX512F"
CORES = ("SkylakeX", "Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott")
SETTINGS: dict[str, dict[str, str]] = {
    "as it is": {},
    "numpy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": NO_AVX512},
    "numpy without AVX2": {"NPY_DISABLE_CPU_FEATURES": f"{NO_AVX512} X86_V3"},
    "C library without FMA": {"GLIBC_TUNABLES": NO_FMA},
    **{f"BLAS for {core}": {"OPENBLAS_CORETYPE": core} for core in CORES},
    "one thread": {"OPENBLAS_NUM_THREADS": "1"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
    "an old machine": {
        "NPY_DISABLE_CPU_FEATURES": f"{NO_AVX512} X86_V3", "GLIBC_TUNABLES": NO_FMA, "OPENBLAS_CORETYPE": "Prescott",
        "OPENBLAS_NUM_THREADS": "1",
    },
}  # fmt: skip
MODES = {"default": False, "reproducible": True}
Hashes = dict[str, dict[str, str]]  # by case and mode


# --- one setting, in a process of its own ---------------------------------------------------------------------------


def work(short: bool, programs: list[Path]) -> None:
    """Print the hashes of all cases as JSON; a layout whose bits differ, or `many` elements, is part of the hash."""
    found: Hashes = {}
    for number, case in enumerate(cases.cases()):
        if not short or number % SHORT == 0 or cases.has_kernel_for_many(case):
            found[case.name] = {mode: hash_of(case, is_exact) for mode, is_exact in MODES.items()}
    for path in [*sorted(EXAMPLES.glob("*.mlir")), *programs]:
        found[path.stem] = {mode: hash_of_program(path, is_exact) for mode, is_exact in MODES.items()}
    print(json.dumps(found))


def hash_of(case: cases.Case, reproducible: bool) -> str:
    program, arrays = sr.load(case.text), cases.operands(case)
    try:
        results = program.run(*arrays, reproducible=reproducible)
    except sr.UnsupportedError:
        return "unsupported"
    expected = digest(results)
    differing = [
        name
        for name, layout in cases.LAYOUTS.items()
        if digest(program.run(*map(layout, arrays), reproducible=reproducible)) != expected
    ]
    if cases.has_kernel_for_many(case):
        large, many = sr.load(cases.repeated(case)), [np.tile(x, (cases.REPEATS, 1)) for x in (*arrays, *results)]
        actual = large.run(*many[: len(arrays)], reproducible=reproducible)
        differing += [] if digest(actual) == digest(tuple(many[len(arrays) :])) else ["many"]
    return " ".join([expected, *differing])


def hash_of_program(path: Path, reproducible: bool) -> str:
    program = sr.load(path)
    rng = np.random.Generator(np.random.PCG64(0))
    arrays = [drawn(parameter, rng) for parameter in program.inputs]
    in_layouts = [layout(x) if x.ndim else x for x, layout in zip(arrays, cycle(cases.LAYOUTS.values()))]
    try:
        expected, actual = (digest(program.run(*x, reproducible=reproducible)) for x in (arrays, in_layouts))
    except sr.StablehloError as error:
        return type(error).__name__
    return expected if actual == expected else f"{expected} layouts"


def drawn(parameter: Any, rng: np.random.Generator) -> np.ndarray:
    """Return small integers; or multiples of a power of two, as small as weights, and positive if of rank 0 or 1."""
    dtype, shape = np.dtype(parameter.dtype), tuple(n or 3 for n in parameter.shape)
    if dtype.kind in "biu":
        return rng.integers(0, 2, shape).astype(dtype)
    x = cases.real_numbers(rng, shape, dtype, any_bits=False) / np.array(16, dtype)
    return np.abs(x).astype(dtype) if len(shape) < 2 else x / np.array(2 ** (prod(shape[:-1]).bit_length() // 2), dtype)


def digest(results: tuple[Any, ...]) -> str:
    parts = [np.ascontiguousarray(x).tobytes() for x in results]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


# --- all settings ---------------------------------------------------------------------------------------------------


def measure(setting: str, arguments: argparse.Namespace) -> Hashes | None:
    """Run the cases in a new process with the environment of a setting; None if the processor cannot."""
    own = ("OPENBLAS_", "OMP_", "NPY_", "GLIBC_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(own)} | SETTINGS[setting]
    command = [sys.executable, __file__, "--work", *(["--short"] if arguments.short else [])]
    command += ["--programs", *map(str, arguments.programs)] if arguments.programs else []
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode == -signal.SIGILL:
        return None
    done.check_returncode()
    hashes: Hashes = json.loads(done.stdout)
    return hashes


def is_promised(name: str, mode: str) -> bool:
    """Return whether results of a case are the same under all settings."""
    is_elementwise = any(case.name == name and case.is_elementwise for case in cases.cases())
    return mode == "reproducible" or (is_elementwise and name.split("|")[1] in PROMISED)


def differences(expected: Hashes, actual: Hashes) -> Iterator[tuple[str, str]]:
    """Yield the cases and modes whose bits differ, and those that depend on the layout."""
    for name, by_mode in actual.items():
        for mode, value in by_mode.items():
            if value != expected.get(name, {}).get(mode, value) or " " in value:
                yield name, mode


def report(title: str, found: list[tuple[str, str]], count: int) -> int:
    """Print a line for each mode, and return the number of promises that are broken."""
    broken = [(name, mode) for name, mode in found if is_promised(name, mode)]
    counts = Counter(mode for _, mode in found)
    print(f"{title:24s}", *[f"{mode}: {counts[mode]} of {count} differ;" for mode in MODES], flush=True)
    for name, mode in broken:
        print(f"  {name} differs ({mode})")
    return len(broken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--programs", nargs="*", type=Path, default=[])
    parser.add_argument("--settings", nargs="*", choices=SETTINGS, metavar="NAME", help=", ".join(SETTINGS))
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.short, arguments.programs)
        return 0
    first, *others = arguments.settings or (["as it is", "an old machine"] if arguments.short else SETTINGS)
    here = measure(first, arguments)
    if here is None:
        parser.error(f"this processor lacks instructions for {first!r}")
    if arguments.write:
        HASHES.write_text(json.dumps(here, indent=1) + "\n")
    broken = report("committed hashes", list(differences(json.loads(HASHES.read_text()), here)), len(here))
    for setting in others:
        there = measure(setting, arguments)
        if there is None:
            print(f"{setting:24s} needs instructions that this processor lacks")
        else:
            broken += report(setting, list(differences(here, there)), len(here))
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
