"""MLIR reads the bytes that are written here to the same generic text, and its bytes are read as the same program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Protocol

import pytest
from bytecode_programs import INTERPRET, SMALL, SMALL_ARTIFACT, programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from stablehlo_ref.bytecode.reader import read
from stablehlo_ref.bytecode.vhlo.artifact import serialize
from stablehlo_ref.bytecode.vhlo.versions import RELEASES
from stablehlo_ref.bytecode.writer import write
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.syntax.printer import print_operation
from tests.compare import difference
from tests.passes.programs import programs as generated
from tests.shared import UPSTREAM, ask_mlir, needs_mlir, needs_upstream

pytestmark = needs_mlir

TARGETS = [str(r.version) for r in RELEASES if r.version <= (1, 13, 0)]  # which jaxlib has

# Ops of dialects that jaxlib does not have, and ops with attributes that its version of StableHLO does not have yet.
NOT_IN_JAXLIB = ("check.", "interpreter.", "ml_program.")
NEWER = ("chlo.top_k", "stablehlo.collective_broadcast", "stablehlo.collective_reduce", "chlo.scan")


# Files with ops whose definitions here need not say what MLIR's do.
DIALECTS = ("arith", "complex_dialect", "math", "scf", "shape", "tensor", "ub")
OTHER_DIALECTS = [path for path in INTERPRET if path.stem in DIALECTS]
BRANCHES = next(path for path in INTERPRET if path.stem == "cf")


class Mlir(Protocol):
    def __call__(self, **request: Any) -> dict[str, Any]: ...


@pytest.fixture(scope="module")
def mlir() -> Mlir:
    """A function that has MLIR answer a request; see mlir_bytes.py."""
    return lambda **request: ask_mlir("bytecode/mlir_bytes.py")(request)  # type: ignore[no-any-return]


def text_of(mlir: Mlir, source: str | bytes, **options: Any) -> str:
    answer = mlir(read=source if isinstance(source, str) else {"bytes": source.hex()}, **options)
    assert "error" not in answer, answer["error"]
    text: str = answer["text"]
    return text


def assert_same_bytecode(mlir: Mlir, module: Operation, text: str, version: int) -> None:
    """Compare in both directions; `text` is the program as MLIR reads it."""
    expected = text_of(mlir, text)
    assert text_of(mlir, write(module, version=version)) == expected
    written = bytes.fromhex(mlir(write=text, version=version)["bytes"])
    again = read(written, "mlir.mlirbc", allow_unregistered_dialect=True)
    assert difference(module, again) is None
    assert text_of(mlir, print_operation(again, generic=True)) == expected


def without_checks(module: Operation) -> bool:
    """Remove what jaxlib does not know; return whether nothing is left of it."""
    for op in list(module.walk()):
        for block in (block for region in op.regions for block in region.blocks):
            block.operations[:] = [o for o in block.operations if o.results or not o.name.startswith("check.")]
    return not any(op.name.startswith(NOT_IN_JAXLIB + NEWER) for op in module.walk())


def unnumbered(text: str) -> str:
    """Return a text without the numbers that newer versions of MLIR append to keys of resources."""
    return re.sub(r"\bweights_\d+", "weights", text)


@pytest.mark.parametrize("version", range(7))
def test_locations_and_resources(mlir: Mlir, version: int) -> None:
    module = sr.parse(SMALL).module
    printed = text_of(mlir, write(module, version=version), fresh=True)
    assert unnumbered(printed) == unnumbered(text_of(mlir, SMALL, fresh=True))
    described = text_of(mlir, SMALL, debug_info=True, fresh=True)
    again = read(bytes.fromhex(mlir(write=SMALL, version=version, fresh=True)["bytes"]), "mlir.mlirbc")
    printed = text_of(mlir, write(again, version=version), debug_info=True, fresh=True)
    assert unnumbered(printed) == unnumbered(described)


@pytest.mark.parametrize("path", sorted({*OTHER_DIALECTS, *INTERPRET[::6]}), ids=lambda path: path.stem)
def test_lit_tests(mlir: Mlir, path: Path) -> None:
    for number, program in enumerate(list(programs(path))[::3]):
        if not without_checks(program.module):
            continue
        text = print_operation(program.module, generic=True)
        if "error" not in mlir(read=text):
            assert_same_bytecode(mlir, program.module, text, (6, 5, number % 5)[number % 3])


@pytest.mark.parametrize("version", range(7))
def test_sizes_of_segments_in_every_version(mlir: Mlir, version: int) -> None:
    """They are attributes, then properties in the order of names, then behind all properties."""
    for program in programs(BRANCHES):
        if without_checks(program.module):
            assert_same_bytecode(mlir, program.module, print_operation(program.module, generic=True), version)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=generated(), version=st.integers(0, 6), target=st.sampled_from(TARGETS))
def test_generated_programs(mlir: Mlir, text: str, version: int, target: str) -> None:
    module = sr.parse(text).verify().module
    assert_same_bytecode(mlir, module, text, version)
    try:
        data = serialize(module, target)
    except UnsupportedError:  # ops of CHLO
        return
    assert text_of(mlir, data) == text_of(mlir, text)


@pytest.mark.parametrize("target", TARGETS[::4])
def test_artifacts_are_the_bytes_that_mlir_writes(mlir: Mlir, target: str) -> None:
    text = SMALL_ARTIFACT
    module = sr.parse(text).module
    official = bytes.fromhex(mlir(serialize=text, target=target)["bytes"])
    assert difference(module, sr.load(official).module) is None
    assert text_of(mlir, serialize(module, target)) == text_of(mlir, official)
    stripped = bytes.fromhex(mlir(serialize=text, target=target, strip=True)["bytes"])
    assert sr.load(stripped).serialize(target) == stripped


@pytest.mark.parametrize("path", INTERPRET[2::9], ids=lambda path: path.stem)
def test_artifacts_of_lit_tests(mlir: Mlir, path: Path) -> None:
    for number, program in enumerate(list(programs(path))[::3]):
        if not without_checks(program.module):
            continue
        target = TARGETS[number % len(TARGETS)]
        try:
            data = serialize(program.module, target)
        except UnsupportedError:
            continue
        text = print_operation(program.module, generic=True)
        official = bytes.fromhex(mlir(serialize=text, target=target, strip=True)["bytes"])
        assert text_of(mlir, data) == text_of(mlir, official)
        assert difference(sr.load(data).module, sr.load(official).module) is None


@needs_upstream
def test_programs_of_upstream(mlir: Mlir) -> None:
    for path in sorted((UPSTREAM / "testdata").glob("*.mlir"))[::300]:
        program = sr.load(path)
        if without_checks(program.module):
            assert_same_bytecode(mlir, program.module, print_operation(program.module, generic=True), 6)
