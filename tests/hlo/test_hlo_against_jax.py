"""JAX functions read from the HLO text that XLA prints, before and after its passes, give JAX's results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "exports" / "hlo_functions.py"


@pytest.mark.parametrize(
    ("only", "least"),
    [
        (r"^(constants|convert|dot|convolution|transpose|reshape|reduce|pool|scatter|gather|sort)", 60),
        (r"^(while|scan|cond|switch|random|rng|cholesky|tree|identity|unused|fft|irfft|model)", 40),
    ],
)
def test_functions(only: str, least: int) -> None:
    pytest.importorskip("jax")
    command = [sys.executable, str(TOOL), "--only", only]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(r"(\d+) of (\d+) samples agree", done.stdout)
    assert done.returncode == 0 and match, done.stdout + done.stderr[-2000:]
    assert int(match[1]) == int(match[2]) >= least
