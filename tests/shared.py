"""Where tests find the shared suites and MLIR.

`STABLEHLO_REF_SHARED` is the folder of the shared suites; by default `../shared` beside the project.
`STABLEHLO_REF_MLIR_PYTHON` is a Python with jax, whose MLIR is an oracle; by default the one that runs the tests.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("STABLEHLO_REF_SHARED", Path(__file__).parents[2] / "shared"))
UPSTREAM = SHARED / "upstream"
MLIR_PYTHON = os.environ.get("STABLEHLO_REF_MLIR_PYTHON") or (sys.executable if find_spec("jax") else "")

needs_upstream = pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"upstream's test programs are not at {UPSTREAM}")
needs_mlir = pytest.mark.skipif(
    not MLIR_PYTHON, reason="jax is not installed, and STABLEHLO_REF_MLIR_PYTHON does not name a Python that has it"
)
