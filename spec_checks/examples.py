"""How many examples the slowest properties draw: some in everyday runs, all in `.ci/run`, and more on request."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

FACTOR = float(os.environ.get("STABLEHLO_REF_EXAMPLES", "0"))


def examples(everyday: int, all: int, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Have a property draw `everyday` examples, or `all` times the factor STABLEHLO_REF_EXAMPLES if that is set.

    `pytest -m many_examples` selects these properties; `options` are more settings of hypothesis.
    """
    drawn = settings(**{"max_examples": round(all * FACTOR) or everyday, "deadline": None, **options})

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        return pytest.mark.many_examples(drawn(test))

    return decorate
