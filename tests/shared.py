"""Where the shared suites are: `STABLEHLO_REF_SHARED`, or `../shared` beside the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("STABLEHLO_REF_SHARED", Path(__file__).parents[2] / "shared"))
UPSTREAM = SHARED / "upstream"

needs_upstream = pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"there are no upstream test programs at {UPSTREAM}")
