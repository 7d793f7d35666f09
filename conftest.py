"""Settings of all tests, which save time."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from hypothesis import settings

# A property must hold however loaded the machine is. In CI hypothesis draws the same examples in each run.
settings.register_profile("any-speed", settings.default, deadline=None)
settings.load_profile("any-speed")

# The accelerator may be deleted, and its tests are then not collected.
collect_ignore = [] if find_spec("stablehlo_ref.accelerate") else ["tests/accelerate", "spec_checks/accelerate"]

# A fault of the compiler is an error in tests, and not a loop or chain that goes on without machine code.
os.environ.setdefault("STABLEHLO_REF_JIT", "strict")

# A worker of pytest-xdist and the processes that it starts have their share of the processors. Threads of BLAS that are
# more than these wait for each other by turning, which takes the time of other workers.
if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))

# Tests start some hundred processes. Each would compile the interpreter's modules anew (a second) where the environment
# keeps Python from writing bytecode, as images of containers do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from looking at the collected tests, some million objects, again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
