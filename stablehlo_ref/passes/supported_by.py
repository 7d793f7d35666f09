"""Which ops of a program a consumer lacks, by the list of those that it supports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache

from stablehlo_ref.diagnostics import Diagnostic
from stablehlo_ref.ir.core import Operation


def parse_supported(text: str) -> tuple[str, ...]:
    """Return the names in a list of ops, one a line; `*` stands for anything, `#` starts a comment."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(line for line in lines if line)


def unsupported_ops(module: Operation, supported: Iterable[str]) -> list[Diagnostic]:
    """Return an error for each op name in a module that is not supported, at the first place where it occurs.

    The module and its functions count as supported, as does what ends a block.
    """
    patterns = (*supported, "builtin.module", "func.func", "func.return", "stablehlo.return")

    @cache
    def is_supported(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    found: dict[str, list[Operation]] = defaultdict(list)
    for op in module.walk():
        if not is_supported(op.name):
            found[op.name].append(op)
    return [Diagnostic(_message(name, len(ops)), ops[0].location) for name, ops in found.items()]


def _message(name: str, count: int) -> str:
    times = "once" if count == 1 else f"{count} times"
    return f"'{name}' is not among the supported ops; the program has it {times}"
