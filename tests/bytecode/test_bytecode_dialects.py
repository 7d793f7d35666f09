"""Bytecode of programs with ops of MLIR's dialects: written and read back as the same module."""

from __future__ import annotations

from pathlib import Path

import pytest

import stablehlo_ref as sr
from stablehlo_ref.bytecode.properties import encode_sparse
from stablehlo_ref.bytecode.writer import write
from stablehlo_ref.diagnostics import split_text
from tests.compare import difference

FOLDER = Path(__file__).parents[1] / "interpret"
FILES = ("affine", "cf", "complex_dialect", "math", "memref", "mpmd", "scf", "sdy", "sdy_collectives", "tensor", "ub")


@pytest.mark.parametrize("name", FILES)
def test_reads_what_it_writes(name: str) -> None:
    for _, part in split_text((FOLDER / f"{name}.mlir").read_text("utf-8")):
        module = sr.parse(part).module
        assert difference(module, sr.load(write(module)).module) is None


@pytest.mark.parametrize(
    "sizes, expected",
    [
        ((0, 0, 0), [0]),
        ((1, 0, 2), [3 << 1, 1, 0, 2]),  # as they are: most are not zero
        ((0, 5, 0), [1 << 1 | 1, 1, 5 << 1 | 1]),  # one entry, one bit for its index
        ((1, 0, 0, 3, 0), [2 << 1 | 1, 2, 1 << 2 | 0, 3 << 2 | 3]),
    ],
)
def test_sizes_of_segments(sizes: tuple[int, ...], expected: list[int]) -> None:
    """MLIR's `writeSparseArray`; numbers below 128 are one byte `2 * n + 1`."""
    assert list(encode_sparse(sizes)) == [2 * n + 1 for n in expected]


def test_artifacts_refuse_tensors_on_meshes() -> None:
    type = '!mpmd.mesh_tensor<"m", tensor<2xf32>>'
    program = sr.parse(f"func.func @main(%a: {type}) -> {type} {{\n  return %a : {type}\n}}")
    with pytest.raises(sr.UnsupportedError, match="portable artifacts have no type"):
        program.serialize()
