"""The functions whose blocks a source consists of, and the names of their values in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import FramePlanner


class Frame:
    """The values of one function in the source: `planner` knows their slots, `slots` is the name of their list."""

    def __init__(self, planner: FramePlanner, number: int) -> None:
        self.planner = planner
        self.slots = f"s{number}"
        self._prefix = f"v{number}_" if number else "v"

    def name(self, slot: int) -> str:
        return f"{self._prefix}{slot}"
