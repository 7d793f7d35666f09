"""Settings of all tests."""

from __future__ import annotations

import os
import sys

# Tests start some hundred processes. Each would compile the interpreter's modules anew (a second) where the environment
# keeps Python from writing bytecode, as images of containers do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
