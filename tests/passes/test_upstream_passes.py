"""Upstream's tests of passes, where the shared suites are present: each part of a file, with the output it expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.passes.run_lines import RunLine, failure, run_lines
from tests.shared import UPSTREAM, needs_upstream

PATHS = sorted([*(UPSTREAM / "transforms").glob("*.mlir"), *(UPSTREAM / "chlo").glob("*.mlir")])
LINES = [line for path in PATHS for line in run_lines(path)]
UNCHANGED = "the interpreter's results would change: "
# Parts whose expected output is not ours, with the reason.
DIFFERENT: dict[str, dict[int, str]] = {
    "stablehlo_aggressive_simplification": {
        0: UNCHANGED + "x + 0.0 is not x where x is -0.0",
        25: UNCHANGED + "a reduction over no dimension has the initial value in it",
        28: "wrong: the result that is kept is computed from one that is dropped",
        72: UNCHANGED + "x + 0.0 is not x where x is -0.0",
        82: "the dictionary of shape.const_shape is printed in another place",
    },
    "stablehlo_aggressive_folder": {
        0: "reverse is folded",
        3: "reverse is folded",
        4: "reverse is folded",
        9: "nothing of a case with a constant index stays",
        10: "nothing of a case with a constant index stays",
        13: UNCHANGED + "comparisons of i32 are signed, whatever compare_type says",
        31: "-0.0 is converted to 0",
    },
    "stablehlo_target_independent_optimization": {2: "a loop that does not run is removed with its effects"},
}


@needs_upstream
@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.path.stem}-{line.number}")
def test_output_is_that_of_upstream(line: RunLine, tmp_path: Path) -> None:
    different = DIFFERENT.get(line.path.stem, {})
    chunks = [(i, text) for i, text in enumerate(line.chunks()) if text.strip()]
    failures = {i: found for i, text in chunks if (found := failure(line, text, tmp_path)) is not None}
    assert {i: found for i, found in failures.items() if i not in different} == {}
    assert set(different) == set(failures)
