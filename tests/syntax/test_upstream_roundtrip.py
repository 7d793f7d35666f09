"""Programs of upstream's tests, printed in pretty and generic form, read back equal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.dialects import register_all  # noqa: F401
from stablehlo_ref.syntax.parser import parse
from stablehlo_ref.syntax.printer import print_operation
from tests.compare import difference
from tests.shared import UPSTREAM, needs_upstream

# Programs with pretty forms of other dialects, some of which the parser does not support.
FOREIGN = r"^\s*(?:%[\w:]+ = )?(?:(?:arith|cf|memref|scf|shape|tensor|vhlo)\.|func\.constant)"
has_foreign_op = re.compile(FOREIGN, re.MULTILINE).search
FOLDERS = ("interpret", "math", "testdata", "verify", "chlo", "transforms", "vhlo")
SAMPLED = {"testdata": 20, "vhlo": 8}  # the step between the files that are tested


def chunks(path: Path) -> list[str]:
    text = path.read_text()
    parts = text.split("// -----") if "split-input-file" in text else [text]
    return [part.partition("\n")[2] if index else part for index, part in enumerate(parts)]


def programs(path: Path) -> list[str]:
    return [chunk for chunk in chunks(path) if "expected-error" not in chunk and not has_foreign_op(chunk)]


@needs_upstream
@pytest.mark.parametrize("folder", FOLDERS)
def test_printed_programs_read_back(folder):
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
def test_truncated_programs_are_malformed_at_a_location():
    """A program that ends too early is malformed, wherever it ends."""
    text = (UPSTREAM / "interpret" / "while.mlir").read_text()
    for end in range(0, len(text), 7):
        try:
            parse(Source(text[:end]))
        except MalformedError as error:
            assert error.diagnostics[0].line
