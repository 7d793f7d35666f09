"""Settings of all tests, which save time."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest

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
