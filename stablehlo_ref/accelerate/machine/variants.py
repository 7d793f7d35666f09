"""Variants of the code of a chain: one for each set of operands that are broadcast along rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from stablehlo_ref.accelerate.machine.assembly import NotCompiled
from stablehlo_ref.accelerate.machine.compiler import Compiled, reason_of
from stablehlo_ref.budget import check_time

MAX_VARIANTS = 4
MAX_BOUND = 64  # forms of operands, by shapes and strides, that are known

Bound = TypeVar("Bound")


class Variants(Generic[Bound]):
    """The variants that have been needed, and what has been bound to operands of some form: a variant and a frame.

    `source` writes a variant, for operands of which some are broadcast along rows; `report` is told of it.
    """

    def __init__(self, source: Callable[[tuple[bool, ...]], str], report: Callable[[str, str], None]) -> None:
        self._source, self._report = source, report
        self._codes: dict[tuple[bool, ...], Compiled] = {}
        self._bound: dict[object, Bound | None] = {}

    def bound(self, form: object, bind: Callable[[], Bound], otherwise: str) -> Bound | None:
        """Return what `bind` returns for a form of operands; None if it raises an error, which is reported."""
        try:
            return self._bound[form]
        except KeyError:  # or another thread has cleared it
            check_time()
        found = None
        try:
            found = bind()
        except Exception as error:
            self._report(f"{otherwise}: {reason_of(error)}", "")
        if len(self._bound) >= MAX_BOUND:
            self._bound.clear()
        self._bound[form] = found
        return found

    def code(self, spread: tuple[bool, ...]) -> Compiled:
        """Return the code for operands of which some are broadcast; NotCompiled if there are too many variants."""
        if spread not in self._codes:
            if len(self._codes) >= MAX_VARIANTS:
                raise NotCompiled("too many variants")
            self._codes[spread] = Compiled(self._source(spread))
            self._report("as machine code", self._codes[spread].text)
        return self._codes[spread]
