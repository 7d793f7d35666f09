"""Helpers for tests: assertions on arrays and programs, lit-style files in pytest."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stablehlo_ref.conform.equivalent import Equivalence, equivalent
    from stablehlo_ref.testing.assertions import Comparison, assert_close, compare, pearson_correlation, ulp_distance

_DEFINED_IN = {
    "conform.equivalent": ("Equivalence", "equivalent"),
    "testing.assertions": ("Comparison", "assert_close", "compare", "pearson_correlation", "ulp_distance"),
}
_MODULES = {name: module for module, names in _DEFINED_IN.items() for name in names}

__all__ = [
    "Comparison", "Equivalence", "assert_close", "compare", "equivalent", "pearson_correlation", "ulp_distance",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a helper when it is first used, as pytest imports the plugin in this package at every start."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"stablehlo_ref.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
