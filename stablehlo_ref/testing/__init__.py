"""Helpers for tests: assertions on arrays, lit-style files in pytest."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stablehlo_ref.testing.assertions import Comparison, assert_close, compare, pearson_correlation, ulp_distance

__all__ = ["Comparison", "assert_close", "compare", "pearson_correlation", "ulp_distance"]


def __getattr__(name: str) -> object:
    """Import a helper when it is first used, as pytest imports the plugin in this package at every start."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.assertions"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
