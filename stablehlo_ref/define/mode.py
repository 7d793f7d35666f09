"""How exact the results of a run are: the options `reproducible` and `exact_sums`.

The mode is a property of a plan: the roles of ops take it as `mode`, regions have it as `mode`, and a kernel that is
cached has it in its key.
"""

from __future__ import annotations

from typing import NamedTuple


class Mode(NamedTuple):
    """Which results are rounded from exact ones, so that no order of operations and no library can change them."""

    reproducible: bool = False  # sums of products and elementary functions
    exact_sums: bool = False  # sums


DEFAULT = Mode()
