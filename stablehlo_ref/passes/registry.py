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
    """Register a function as a pass."""

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

_TOKEN = re.compile(r"\s*([\w.\-]+|[(),{}]|=(?:\[[^\]]*\]|\{[^}]*\}|[^\s,(){}]*))")


def parse_pipeline(text: str, passes: Mapping[str, Pass]) -> list[BoundPass]:
    """Return the passes of `name{option=value ...}, anchor(name, ...)` in order; MalformedError for bad syntax.

    In MLIR an anchor such as `func.func` is the op that the passes in parentheses run on; here all run on the module.
    """
    tokens = _tokens(text)
    found: list[BoundPass] = []
    depth, position = 0, 0
    while position < len(tokens):
        token = tokens[position]
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        position += 1
        if token == ")":
            depth -= 1
        elif token == ",":
            continue
        elif following == "(":
            depth, position = depth + 1, position + 1
        else:
            options: dict[str, str] = {}
            if following == "{":
                position = _options(tokens, position + 1, options)
            found.append(lookup(token, passes).bind(options))
        if depth < 0:
            break
    if depth:
        raise MalformedError(f"unbalanced parentheses in the pipeline '{text}'")
    return found


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if not match:
            raise MalformedError(f"unexpected '{text[position:].strip()[:20]}' in the pipeline '{text}'")
        tokens.append(match[1])
        position = match.end()
    return tokens


def _options(tokens: list[str], position: int, options: dict[str, str]) -> int:
    """Read `name=value ... }` into `options`; return the position after it."""
    while position < len(tokens) and tokens[position] != "}":
        name = tokens[position]
        value = tokens[position + 1] if position + 1 < len(tokens) else ""
        has_value = value.startswith("=")
        options[name] = value[1:] if has_value else "true"
        position += 2 if has_value else 1
    if position >= len(tokens):
        raise MalformedError("expected '}' after the options of a pass")
    return position + 1


def lookup(name: str, passes: Mapping[str, Pass]) -> Pass:
    """Return the pass of a name; MalformedError, with a suggestion, for an unknown name."""
    if name not in passes:
        raise MalformedError(f"unknown pass '{name}'{did_you_mean(name, passes)}")
    return passes[name]
