"""What `load` takes: text in one line, paths, open files, bytes; and what it says of other things."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import stablehlo_ref as sr

LINE = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"


def test_takes_text_in_one_line() -> None:
    assert sr.load(LINE).entry.name == "main"
    assert sr.load("module { " + LINE + " }").entry.name == "main"
    assert sr.parse(LINE).entry.name == "main"


def test_takes_paths_files_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "line.mlir"
    path.write_text(LINE)
    for source in (
        path,
        str(path),
        LINE.encode(),
        io.StringIO(LINE),
        io.BytesIO(LINE.encode()),
        memoryview(LINE.encode()),
    ):
        assert sr.load(source).entry.name == "main"
    with path.open() as text, path.open("rb") as data:
        assert sr.load(text).module.location.filename == str(path)
        assert sr.load(data).module.location.filename == str(path)


@pytest.mark.parametrize("text", ["fun.func @main() { return }", "%0 stablehlo.add", "model {}"])
def test_text_that_is_taken_for_a_path(text: str) -> None:
    with pytest.raises(sr.MalformedError, match=r"cannot read the program: .*; sr\.parse takes text"):
        sr.load(text)


def test_a_missing_file_is_only_missing() -> None:
    with pytest.raises(sr.MalformedError) as caught:
        sr.load("missing/model.mlir")
    assert "sr.parse" not in str(caught.value)


@pytest.mark.parametrize("source", [3, None, [LINE], object()])
def test_other_objects(source: object) -> None:
    with pytest.raises(TypeError, match="expected a path, text, bytes, a file, or a program of JAX or PyTorch"):
        sr.load(source)
