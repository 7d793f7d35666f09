"""The smallest setting of a backend with which a program is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.repro import Repro
from stablehlo_ref.debug.session import Session


def workarounds(repro: Repro, session: Session, contract: Contract, most: int) -> Iterator[str]:
    """Yield the settings that make a program right, by their descriptions; those that fail do not count.

    A setting that is a list is cut down by bisection to members that suffice. At most `most` settings are tried.
    """
    left = most
    for name, setting in session.switches().items():
        tried = _Tried(repro, session, contract, left)
        if isinstance(setting, list):
            if chosen := smallest(setting, partial(tried.is_right_with, name)):
                yield f"{name}={','.join(map(str, chosen))}"
        elif tried.is_right(setting):
            yield name
        left = tried.left


class _Tried:
    """Runs a program with settings, `left` of them at most."""

    def __init__(self, repro: Repro, session: Session, contract: Contract, left: int) -> None:
        self.repro, self.session, self.contract, self.left = repro, session, contract, left

    def is_right_with(self, name: str, members: list[Any]) -> bool:
        return self.is_right((name, members))

    def is_right(self, setting: Any) -> bool:
        if self.left <= 0:
            return False
        self.left -= 1
        outcome = self.session.run(self.repro.program.text, list(self.repro.feeds), setting)
        return not outcome.failure and self.repro.is_within(outcome.results, self.contract)


def smallest(members: Sequence[Any], is_right: Callable[[list[Any]], bool]) -> list[Any]:
    """Return a part of `members` that suffices, found by halving; the empty list if not even all do.

    If neither half suffices, members are needed in both: then what is left is returned.
    """
    kept = list(members)
    if not kept or not is_right(kept):
        return []
    while len(kept) > 1:
        middle = len(kept) // 2
        half = next((part for part in (kept[:middle], kept[middle:]) if is_right(part)), None)
        if half is None:
            return kept
        kept = half
    return kept
