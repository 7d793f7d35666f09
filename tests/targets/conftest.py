"""Fixtures of the tests of custom_call targets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from routines import OPTIONS


@pytest.fixture
def precision(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run custom_calls with the value of the option `exact_lapack` that is the fixture's parameter."""
    OPTIONS["exact"] = request.param
    yield
    OPTIONS["exact"] = False
