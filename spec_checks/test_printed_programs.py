"""MLIR reads what is printed of the programs of upstream to the generic text of the original.

One process of MLIR reads all programs. The large folders are sampled, unless `STABLEHLO_REF_EVERY_PROGRAM` is set: all
programs take minutes. The lit tests are in `tests/syntax/test_mlir_reads_printed.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.shared import UPSTREAM, needs_mlir, needs_upstream
from tests.syntax.test_mlir_reads_printed import Reader, comparable, mlir, printed, programs  # noqa: F401  (a fixture)

MAX_SIZE = 200_000  # bytes of a file; larger ones are constants for the most part
STEPS = {"interpret": 1, "math": 1, "verify": 1, "chlo": 1, "transforms": 1, "vhlo": 10, "testdata": 100}
EVERY = "STABLEHLO_REF_EVERY_PROGRAM" in os.environ


def differences(path: Path, read: Reader) -> list[str]:
    """Return where MLIR does not read the printed programs of a file as it reads the originals.

    If it rejects an original, as it lacks a dialect, the two printed forms are compared.
    """
    found: list[str] = []
    for program in programs(path):
        answers = [read(printed(program.module, generic)) for generic in (True, False)]
        original = read(program.module.location.source.text)
        if "error" not in original:
            answers.append(original)
        elif any("error" in answer for answer in answers):
            continue
        if len({comparable(answer.get("text", "")) for answer in answers}) != 1:
            found.append(f"{program.module.location}: {[answer.get('error', 'differs') for answer in answers]}")
    return found


@needs_mlir
@needs_upstream
@pytest.mark.parametrize("folder", STEPS)
def test_mlir_reads_printed_programs_of_upstream(folder: str, mlir: Reader) -> None:  # noqa: F811
    files = sorted((UPSTREAM / folder).rglob("*.mlir"))[:: 1 if EVERY else STEPS[folder]]
    small = [path for path in files if path.stat().st_size <= MAX_SIZE]
    assert small
    assert [difference for path in small for difference in differences(path, mlir)] == []
