"""What a comparison was made of: reports show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.program import Program

if TYPE_CHECKING:
    from stablehlo_ref.debug.judge import Judge


@dataclass
class Evidence:
    """The program, its inputs, and the judge with the backend's values; None if the backend returned none."""

    program: Program
    flat: Flat
    inputs: Sequence[Array]
    judge: Judge | None = None
