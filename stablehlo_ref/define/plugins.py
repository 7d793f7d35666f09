"""Packages that ship op classes of their dialects or handlers of custom calls, found by their entry points.

An entry point of the group `stablehlo_ref.dialects` has the name of a dialect, and its value is the module whose import
defines the op classes. One of `stablehlo_ref.custom_calls` has the name of a target, and its value is the handler. Both
are looked up, and the package imported, when a program first has such an op or call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DIALECTS = "stablehlo_ref.dialects"
CUSTOM_CALLS = "stablehlo_ref.custom_calls"


class PluginError(Exception):
    """An installed package that cannot be loaded."""


@cache
def load_dialect(dialect: str) -> None:
    """Import the modules that define the ops of a dialect, if a package has them; PluginError if that fails."""
    for point in _entry_points(DIALECTS, dialect):
        _load(point, f"ops of dialect '{dialect}'")


@cache
def find_handler(target: str) -> Callable[..., Any] | None:
    """Return the handler of custom calls of a target that a package ships, or None; PluginError if loading fails."""
    for point in _entry_points(CUSTOM_CALLS, target):
        handler = _load(point, f"the handler of custom_call @{target}")
        if not callable(handler):
            raise PluginError(f"the entry point of custom_call @{target} is {handler!r}, which is not callable")
        found: Callable[..., Any] = handler
        return found
    return None


def _entry_points(group: str, name: str) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    return entry_points(group=group, name=name)


def _load(point: EntryPoint, what: str) -> Any:
    package = point.dist.name if point.dist else point.module
    try:
        return point.load()
    except Exception as error:  # it is others' code
        raise PluginError(f"the package '{package}' with {what} cannot be loaded: {error!r}") from error
