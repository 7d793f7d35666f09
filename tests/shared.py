"""Where tests find the shared suites and MLIR.

`STABLEHLO_REF_SHARED` is the folder of the shared suites; by default `../shared` beside the project.
`STABLEHLO_REF_MLIR_PYTHON` is a Python with jax, whose MLIR is an oracle; by default the one that runs the tests.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("STABLEHLO_REF_SHARED", Path(__file__).parents[2] / "shared"))
UPSTREAM = SHARED / "upstream"
MLIR_PYTHON = os.environ.get("STABLEHLO_REF_MLIR_PYTHON") or (sys.executable if find_spec("jax") else "")

needs_upstream = pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"upstream's test programs are not at {UPSTREAM}")
needs_mlir = pytest.mark.skipif(
    not MLIR_PYTHON, reason="jax is not installed, and STABLEHLO_REF_MLIR_PYTHON does not name a Python that has it"
)


@cache
def ask_mlir(script: str) -> Callable[[object], Any]:
    """Return a function that sends a script in `tests` a line of JSON, and returns the line that it answers.

    A Python with jax runs the script until the tests end: to import jax for each question would take a second.
    """
    command = [MLIR_PYTHON, str(Path(__file__).parent / script)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    atexit.register(process.communicate)  # closes its input, at which it ends

    def ask(question: object) -> Any:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    return ask
