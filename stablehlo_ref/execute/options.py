"""The options of a run: apart from its inputs by name, and checked against the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from stablehlo_ref.define.context import Context, RunOptions
from stablehlo_ref.diagnostics import ArgumentTypeError, ArgumentValueError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.limits import check_type
from stablehlo_ref.suggestions import did_you_mean

OPTIONS = tuple(RunOptions.__annotations__)


def separated(options: RunOptions | None, keywords: Mapping[str, Any]) -> tuple[RunOptions, dict[str, Any]]:
    """Return options and inputs by name: if `options` is given, all keywords are inputs.

    A keyword with the name of an option counts as not given if it is None. ArgumentTypeError for an unknown option.
    """
    given = {name: value for name, value in keywords.items() if value is not None or name not in OPTIONS}
    if options is None:
        chosen = {name: value for name, value in given.items() if name in OPTIONS}
        return cast(RunOptions, chosen), {name: value for name, value in given.items() if name not in OPTIONS}
    check_type("options", options, Mapping, "a RunOptions")
    return known(options), given


def known(options: RunOptions) -> RunOptions:
    """Return options; ArgumentTypeError for one that is unknown."""
    for name in options:
        if name not in OPTIONS:
            hint = did_you_mean(str(name), OPTIONS) or f"; the options are {', '.join(OPTIONS)}"
            raise ArgumentTypeError(f"unknown option {name!r}{hint}")
    return options


def host_functions(module: Operation) -> dict[str, set[str]]:
    """Return the names in a program that each of the options `custom_calls` and `overrides` may refer to."""
    ops = list(module.walk())
    return {
        "custom_calls": {op.properties["call_target_name"] for op in ops if op.name == "stablehlo.custom_call"},
        "overrides": {op.properties["name"] for op in ops if op.name == "stablehlo.composite"},
    }


def check_host_functions(context: Context, names: Callable[[], Mapping[str, set[str]]]) -> None:
    """Raise ArgumentValueError for a handler or override that nothing in the program can call.

    `names` returns the names in the program by option.
    """
    for option, functions in (("custom_calls", context.custom_calls), ("overrides", context.overrides)):
        if not functions:
            continue
        known = names()[option]
        for name in functions:
            if name not in known:
                what = "targets of custom_call" if option == "custom_calls" else "composites"
                there = f"its {what} are {', '.join(map(repr, sorted(known)))}" if known else f"it has no {what}"
                raise ArgumentValueError(f"{option} has {name!r}, which is not in the program; {there}")
