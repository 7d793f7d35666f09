"""Every program of upstream's tests, printed in either form, reads back as the same program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.dialects import registered  # noqa: F401
from stablehlo_ref.syntax.compare import difference
from stablehlo_ref.syntax.parser import parse
from stablehlo_ref.syntax.printer import print_operation
from tests.shared import UPSTREAM, needs_upstream

# Other dialects' ops in their pretty forms are no business of this project.
FOREIGN = r"^\s*(?:%[\w:]+ = )?(?:(?:arith|cf|memref|scf|shape|tensor|vhlo)\.|func\.constant)"
has_foreign_op = re.compile(FOREIGN, re.MULTILINE).search
FOLDERS = ("interpret", "math", "testdata", "verify", "chlo", "transforms", "vhlo")
SAMPLED = {"testdata": 20, "vhlo": 8}  # every so many files of the large folders


def chunks(path: Path) -> list[str]:
    text = path.read_text()
    parts = text.split("// -----") if "split-input-file" in text else [text]
    return [part.partition("\n")[2] if index else part for index, part in enumerate(parts)]


def programs(path: Path) -> list[str]:
    return [chunk for chunk in chunks(path) if "expected-error" not in chunk and not has_foreign_op(chunk)]


@needs_upstream
@pytest.mark.parametrize("folder", FOLDERS)
def test_programs_read_back(folder):
    files = sorted((UPSTREAM / folder).rglob("*.mlir"))[:: SAMPLED.get(folder, 1)]
    read = 0
    for path in files:
        for text in programs(path):
            module = parse(Source(text, str(path)), allow_unregistered_dialect=True)
            for generic in (False, True):
                printed = print_operation(module, generic)
                again = parse(Source(printed, f"{path} printed"), allow_unregistered_dialect=True)
                assert difference(module, again) is None
            read += 1
    assert read


@needs_upstream
def test_cut_programs_fail_in_one_way():
    """A program that ends too early is an error with a place, wherever it ends."""
    text = (UPSTREAM / "interpret" / "while.mlir").read_text()
    for end in range(0, len(text), 7):
        try:
            parse(Source(text[:end]))
        except MalformedError as error:
            assert error.diagnostics[0].line
