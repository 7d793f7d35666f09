"""The passes, and pipelines of them: `builtin.module(inline, func.func(cse))`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stablehlo_ref.diagnostics import Diagnostic, MalformedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.suggestions import did_you_mean

Run = TypeVar("Run", bound=Callable[..., Sequence[Diagnostic] | None])
REGISTRY: dict[str, Pass] = {}  # by name


@dataclass(frozen=True)
class PassOption:
    """An option of a pass. `parse` returns the value of its text; ValueError for a bad value."""

    name: str
    parse: Callable[[str], object]
    summary: str


@dataclass(frozen=True)
class Pass:
    """A transformation of a module in place.

    `run` takes the module and the options that are given, as keyword arguments with `_` for `-` in their names. It may
    return warnings and remarks; it raises a StablehloError if it cannot transform the module.
    """

    name: str
    summary: str
    run: Callable[..., Sequence[Diagnostic] | None]
    options: tuple[PassOption, ...] = ()

    def bind(self, text: Mapping[str, str]) -> BoundPass:
        """Return the pass with options given as text; MalformedError for an unknown option or a bad value."""
        known = {option.name: option for option in self.options}
        values: dict[str, object] = {}
        for name, value in text.items():
            if name not in known:
                raise MalformedError(f"pass '{self.name}' has no option '{name}'{did_you_mean(name, known)}")
            try:
                values[name.replace("-", "_")] = known[name].parse(value)
            except ValueError as error:
                raise MalformedError(f"option '{name}' of pass '{self.name}': {error}") from None
        return BoundPass(self, values)


@dataclass(frozen=True)
class BoundPass:
    """A pass with the values of its options; call it with a module."""

    definition: Pass
    options: Mapping[str, object]

    def __call__(self, module: Operation) -> tuple[Diagnostic, ...]:
        """Transform a module; return warnings and remarks."""
        return tuple(self.definition.run(module, **self.options) or ())


def transformation(name: str, summary: str, *options: PassOption) -> Callable[[Run], Run]:
    """Register a function as a pass; ValueError for a name that is taken."""
    if name in REGISTRY:
        raise ValueError(f"there are two passes '{name}'")

    def register(run: Run) -> Run:
        REGISTRY[name] = Pass(name, summary, run, options)
        return run

    return register


def names(text: str) -> tuple[str, ...]:
    """Parse `a,b` or `{a,b}`."""
    return tuple(name.strip() for name in text.removeprefix("{").removesuffix("}").split(",") if name.strip())


def flag(text: str) -> bool:
    """Parse `true`, `false`, `1` or `0`."""
    if text.lower() not in ("true", "false", "1", "0"):
        raise ValueError(f"expected true or false, got {text!r}")
    return text.lower() in ("true", "1")


def count(text: str) -> int:
    """Parse a number that is not negative."""
    if not text.isdecimal():
        raise ValueError(f"expected a number, got {text!r}")
    return int(text)


# --- pipelines ------------------------------------------------------------------------------------------------------

_VALUE = r"\s*=(\[[^\]]*\]|\{[^}]*\}|[^\s,(){}]*)"
_OPTION = re.compile(rf"([\w.\-]+)(?:{_VALUE})?")
_OPTIONS = rf"\s*\{{((?:\s*+[\w.\-]++(?:{_VALUE})?)*+)\s*\}}"
_PART = re.compile(rf"\s*(?:(\))|,|([\w.\-]+)(?:\s*(\()|{_OPTIONS})?)")


def parse_pipeline(text: str, passes: Mapping[str, Pass]) -> list[BoundPass]:
    """Return the passes of `name{option=value ...}, anchor(name, ...)` in order; MalformedError for bad syntax.

    In MLIR an anchor such as `func.func` is the op that the passes in parentheses run on; here all run on the module.
    """
    found: list[BoundPass] = []
    depths, position = [0], 0
    while rest := text[position:].strip():
        part = _PART.match(text, position)
        if part is None:
            if rest[0] == "{" and "}" not in rest:
                raise MalformedError("expected '}' after the options of a pass")
            expected = "; expected options such as '{name=value name={a,b}}'" if rest[0] == "{" else ""
            raise MalformedError(f"unexpected '{rest[:20]}' in the pipeline '{text}'{expected}")
        closing, name, opening, options, _ = part.groups()
        if closing or opening:
            depths.append(depths[-1] + (1 if opening else -1))
        elif name:
            given = {m[1]: "true" if m[2] is None else m[2] for m in _OPTION.finditer(options or "")}
            found.append(lookup(name, passes).bind(given))
        position = part.end()
    if min(depths) < 0 or depths[-1]:
        raise MalformedError(f"unbalanced parentheses in the pipeline '{text}'")
    return found


def lookup(name: str, passes: Mapping[str, Pass]) -> Pass:
    """Return the pass of a name; MalformedError, with a suggestion, for an unknown name."""
    if name not in passes:
        raise MalformedError(f"unknown pass '{name}'{did_you_mean(name, passes)}")
    return passes[name]
