"""Export single JAX functions for TPUs and GPUs, run them, and compare the results with JAX's on CPUs.

    python tools/exports/jax_platforms.py [--only REGEX] [--save FOLDER]

A program for several platforms takes the index of the platform as its first argument, and is run for each of them. The
exit code is 1 if a result differs. Needs the extras `jax` and `lapack`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial

import jax
import numpy as np
from compare import Case, Sample, main
from jax_functions import samples as on_cpus

# Functions that JAX cannot lower for a platform.
MISSING = {"tpu": r"hessenberg|schur|\.eigvals$", "cuda": "hessenberg|schur", "rocm": "hessenberg|schur"}
PLATFORMS = (("tpu",), ("cuda",), ("rocm",), ("cpu", "tpu", "cuda"))


def case(sample: Sample, platforms: tuple[str, ...], index: int) -> Case:
    exported = sample.make(platforms=platforms)
    first = [np.array(index)] if len(platforms) > 1 else []
    return Case(exported.program, first + exported.arguments, exported.expected, exported.data)


def samples() -> Iterator[Sample]:
    for platforms in PLATFORMS:
        missing = "|".join(MISSING[platform] for platform in platforms if platform in MISSING)
        for sample in on_cpus():
            if re.search(missing, sample.name):
                continue
            for index, platform in enumerate(platforms):
                name = f"{'+'.join(platforms)}.{platform}.{sample.name}"
                yield Sample(name, partial(case, sample, platforms, index))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(samples(), "JAX"))
