"""Tests of memory that is kept for later arrays."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

COUNT_FAULTS = """
import resource
import numpy as np
import stablehlo_ref.numerics.layout

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for run in range(3):
    first = faults()
    for _ in range(100):
        np.ones(1 << 17), np.ones(1 << 17)
print(faults() - first)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is known to adapt")
def test_arrays_that_are_freed_and_made_again_keep_their_memory() -> None:
    output = subprocess.run([sys.executable, "-c", COUNT_FAULTS], capture_output=True, check=True, text=True).stdout
    assert int(output) < 1000  # of 100,000 pages
