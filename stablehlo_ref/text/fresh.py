"""New names that are not in use."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from stablehlo_ref.diagnostics import ArgumentValueError

_match_name = re.compile(r"[%^]?((?:\d+|[A-Za-z_$.\-][\w$.\-]*))(?:[#:]\d+)?", re.ASCII).fullmatch
_match_prefix = re.compile(r"%?((?:\d+|[A-Za-z_$.\-][\w$.\-]*)?)", re.ASCII).fullmatch


def base_name(name: str) -> str:
    """Return the `x` of `%x`, `%x#1`, `%x:2` and `^x`; ArgumentValueError if it is not a name."""
    match = _match_name(name)
    if not match:
        raise ArgumentValueError(f"expected a name such as '%x' or '%x#1', got {name!r}")
    return match[1]


def check_operand(operand: str) -> str:
    """Return an operand, `%x` or `%x#1`; ArgumentValueError if it is something else."""
    if operand[:1] != "%" or ":" in operand or not _match_name(operand):
        raise ArgumentValueError(f"expected an operand such as '%x' or '%x#1', got {operand!r}")
    return operand


def prefix_name(prefix: str) -> str:
    """Return a prefix without `%`; ArgumentValueError if no name can start with it."""
    match = _match_prefix(prefix)
    if not match:
        raise ArgumentValueError(f"expected the start of an SSA name, got {prefix!r}")
    return match[1]


class FreshNames:
    """Names made of a prefix and a number, counted for each prefix, that leave out those in use."""

    def __init__(self, used_names: Collection[str], make: Callable[[str], str] | None = None) -> None:
        """Leave out `used_names`, or have every name made by `make`, a function of the prefix."""
        self.used = set(map(base_name, used_names))
        self.make = make
        self.counts: dict[str, int] = {}

    def __call__(self, prefix: str) -> str:
        """Return a new name without `%`; ArgumentValueError if `make` returned one that is in use or is not a name."""
        name = self.count(prefix) if self.make is None else base_name(self.make(prefix))
        if name in self.used:
            raise ArgumentValueError(f"expected a fresh name, got '%{name}' again")
        self.used.add(name)
        return name

    def count(self, prefix: str) -> str:
        while True:
            number = self.counts.get(prefix, 0)
            self.counts[prefix] = number + 1
            if f"{prefix}{number}" not in self.used:
                return f"{prefix}{number}"


@dataclass(frozen=True)
class Prefixes:
    """What the names of results, of arguments of blocks and regions, and of blocks start with."""

    result: str
    argument: str
    label: str

    @classmethod
    def of(cls, prefix: str, block_prefix: str, label_prefix: str | None) -> Prefixes:
        """Check the prefixes; the default of `label_prefix` is `prefix` followed by `_bb`."""
        result = prefix_name(prefix)
        label = f"{result}_bb" if label_prefix is None else label_prefix.removeprefix("^")
        return cls(result, prefix_name(block_prefix), prefix_name(label))
