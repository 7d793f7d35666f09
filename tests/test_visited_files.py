"""How many files of the package a reader visits who follows one op from its text to its result."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import stablehlo_ref as sr

PACKAGE = str(Path(sr.__file__).parent)

ADD = """
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "inputs", "most"), [(ADD, 2, 40), ("func.func @main() { return }", 0, 30)], ids=["add", "empty"]
)
def test_a_program_visits_few_files(text: str, inputs: int, most: int) -> None:
    arrays, visited = [np.ones(2, np.float32)] * inputs, set[str]()

    def visit(frame: FrameType, event: str, argument: object) -> None:
        visited.add(frame.f_code.co_filename)

    sr.load(text.replace("2x", "3x")).run(*[np.ones(3, np.float32)] * inputs)  # imports what is imported late
    before = sys.getprofile()
    sys.setprofile(visit)
    try:
        sr.load(text).run(*arrays)
    finally:
        sys.setprofile(before)
    found = sorted(name for name in visited if name.startswith(PACKAGE))
    assert 10 < len(found) <= most, "\n".join(found)
