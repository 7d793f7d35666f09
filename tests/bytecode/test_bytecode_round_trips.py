"""Programs that are written and read again are the same, in every version of the format and as artifacts."""

from __future__ import annotations

from pathlib import Path

import pytest
from bytecode_programs import INTERPRET, SMALL, programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.bytecode.reader import read
from stablehlo_ref.bytecode.vhlo.artifact import serialize
from stablehlo_ref.bytecode.vhlo.versions import RELEASES
from stablehlo_ref.bytecode.writer import write
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.core import Operation
from tests.compare import difference
from tests.passes.programs import programs as generated
from tests.shared import UPSTREAM, needs_upstream

TARGETS = [str(release.version) for release in RELEASES]


def reread(module: Operation, version: int) -> Operation:
    data = write(module, version=version)
    assert data == write(module, version=version), "writing is not deterministic"
    again = read(data, "again.mlirbc", allow_unregistered_dialect=True)
    assert write(again, version=version) == data
    return again


@pytest.mark.parametrize("version", range(7))
def test_locations_resources_and_attributes_come_back(version: int) -> None:
    module = sr.parse(SMALL).module
    assert difference(module, reread(module, version), locations=True) is None


@pytest.mark.parametrize("path", INTERPRET[::2], ids=lambda path: path.stem)
def test_lit_tests_come_back(path: Path) -> None:
    """Each program in the newest version of the format and in one other."""
    for number, program in enumerate(programs(path)):
        if any("stablehlo.mesh" in op.attributes for op in program.module.walk()):
            continue  # a mesh of an op that MLIR does not know
        for version in (6, number % 6):
            assert difference(program.module, reread(program.module, version)) is None


@pytest.mark.parametrize("path", INTERPRET[::4], ids=lambda path: path.stem)
def test_lit_tests_come_back_from_artifacts(path: Path) -> None:
    """What an artifact makes of a program is not changed by writing it again; its checks are not part of it."""
    for number, program in enumerate(programs(path)):
        for target in (TARGETS[-1], TARGETS[number % len(TARGETS)]):
            try:
                data = serialize(program.module, target)
            except UnsupportedError:
                continue
            again = sr.load(data).module
            assert serialize(again, target) == data
            assert difference(again, sr.load(serialize(again, target)).module) is None


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(generated(), st.integers(0, 6), st.sampled_from(TARGETS))
def test_generated_programs_come_back(text: str, version: int, target: str) -> None:
    module = sr.parse(text).verify().module
    assert difference(module, reread(module, version)) is None
    try:
        data = serialize(module, target)
    except UnsupportedError:  # ops of CHLO
        return
    assert difference(module, sr.load(data).module) is None


@needs_upstream
def test_programs_of_upstream_come_back() -> None:
    for path in sorted((UPSTREAM / "testdata").glob("*.mlir"))[::150]:
        module = sr.load(path).module
        assert difference(module, reread(module, 6)) is None


@needs_upstream
@pytest.mark.parametrize("path", sorted((UPSTREAM / "vhlo").glob("*.mlir.bc"))[::8], ids=lambda path: path.name)
def test_official_artifacts_are_written_byte_for_byte(path: Path) -> None:
    if "future" in path.name:
        pytest.skip("an artifact with an op that does not exist")
    target = path.name.split(".")[-3].replace("_", ".")
    module = sr.load(path).module
    assert serialize(module, target) == path.read_bytes()
