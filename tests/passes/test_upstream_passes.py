"""Upstream's tests of passes, where the shared suites are present: each part of a file, with the output it expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.passes.run_lines import RunLine, failure, run_lines
from tests.shared import UPSTREAM, needs_upstream

FOLDERS = ("transforms", "chlo", "vhlo")
PATHS = sorted(path for folder in FOLDERS for path in (UPSTREAM / folder).glob("*.mlir"))
LINES = [
    line for path in PATHS for line in run_lines(path) if not any("%" in x or x == ">" for x in line.opt_arguments)
]
UNCHANGED = "the interpreter's results would change: "
# Parts whose expected output is not ours, by file and RUN line, with the reason.
DIFFERENT: dict[str, dict[int, str]] = {
    "chlo_legalize_to_stablehlo_broadcast-0": {
        18: "the verifier refuses it first",
        19: "the verifier refuses it first",
    },
    "legalize_stablehlo_to_vhlo_invalid-0": {0: "the verifier refuses it first"},
    "mesh_axes_replica_group_compatibility-0": {0: UNCHANGED + "axes of all_to_all name devices, lists do not"},
    "shape_legalize_to_stablehlo-0": {
        12: "wrong: the broadcast of 0 and 1 is 0, not their maximum",
        13: "wrong: the broadcast of 0 and 1 is 0, not their maximum",
    },
    "stablehlo_aggressive_folder-0": {
        13: UNCHANGED + "comparisons of i32 are signed, whatever compare_type says",
    },
    "stablehlo_aggressive_simplification-0": {
        0: UNCHANGED + "x + 0.0 is not x where x is -0.0",
        25: UNCHANGED + "a reduction over no dimension has the initial value in it",
        28: "wrong: the result that is kept is computed from one that is dropped",
        72: UNCHANGED + "x + 0.0 is not x where x is -0.0",
    },
    "stablehlo_legalize_quant_to_int-0": {58: "another message"},
    "stablehlo_legalize_quantized_op_to_qdq-0": {23: "a loop whose types differ is printed in generic form"},
    "stablehlo_legalize_to_vhlo_mixed-0": {0: "the verifier refuses it first"},
    "stablehlo_refine_shapes-0": {
        0: "another message",
        61: "a call with no_inline is printed in generic form, which every version of MLIR reads",
    },
}


def name_of(line: RunLine) -> str:
    return f"{line.path.stem}-{line.number}"


def failures(line: RunLine, folder: Path) -> dict[int, str]:
    parts = [(i, text) for i, text in enumerate(line.chunks()) if text.strip()]
    return {i: found for i, text in parts if (found := failure(line, text, folder)) is not None}


def is_tested(line: RunLine) -> bool:
    """Whether a line runs passes; artifacts, which some files of VHLO are about, have tests of their own."""
    is_artifact = line.path.parent.name == "vhlo" and not any("vhlo" in argument for argument in line.opt_arguments)
    return not is_artifact


@needs_upstream
@pytest.mark.parametrize("line", [line for line in LINES if is_tested(line)], ids=name_of)
def test_output_is_that_of_upstream(line: RunLine, tmp_path: Path) -> None:
    found, different = failures(line, tmp_path), DIFFERENT.get(name_of(line), {})
    assert {i: text for i, text in found.items() if i not in different} == {}
    assert set(different) == set(found)
