"""Files that are not StableHLO are named."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main

TEXTS = {
    "MLïR\x01StableHLO_v1.0.0\n": "MLIR bytecode decoded as text",
    "ML\ufffdR\rStableHLO_v1.15.0\0\x01\n": "MLIR bytecode decoded as text",
    "{ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }\n": "a jaxpr",
    "graph():\n    %x : [num_users=1] = placeholder[target=x]\n": "TorchScript or torch.fx text",
    "; ModuleID = 'm'\ndefine i32 @f() {\n": "LLVM IR",
    "#!/usr/bin/env python3\nprint(1)\n": "Python source",
    "# Copyright\n\nimport jax.numpy as jnp\n\ndef f(x):\n  return x\n": "Python source",
    "from jax import export\n": "Python source",
    "import jax\n\n\ndef f(x):\n": "Python source",
    "import jax, numpy\n": "Python source",
    "def f(x):\n  return x\n": "Python source",
    "<!DOCTYPE html>\n<html>\n": "HTML",
    '<?xml version="1.0"?>\n': "XML",
    '{"version": 1,\n "ops": []}\n': "JSON",
    "[[1, 2], [3, 4]]\n": "JSON",
    'ir_version: 8\nproducer_name: "x"\n': "ONNX in text format",
    "node {\n  name: 'x'\n}\n": "a TensorFlow graph in text format",
    "```mlir\nmodule {}\n```\n": "Markdown",
}
DATA = {
    b"\x08\x08\x12\x07pytorch\x1a\x052.1.0:\xb0\x01\n": "an ONNX model",
    b"\x08\x01\x12\x9e\x03\n\x8a\x02": "a TensorFlow SavedModel",
    b"\n\x2b\n\x01x\x12\x0bPlaceholder*\x0b\n\x05dtype\x12\x02\x30\x01\0": "a TensorFlow GraphDef",
    b"\n\x05jit_f\x12\x04main\x1a\xff\0": "a serialized HloModuleProto",
    b"\x1c\0\0\0TFL3\0\0": "a TensorFlow Lite model",
    b"\x93NUMPY\x01\0v\0{": "a NumPy array",
    b"\x80\x05\x95\0\0": "a pickle of Python",
    b"\xff\xfem\0o\0d\0": "text in UTF-16",
    b"\x7fELF\x02\x01\x01\0": "an executable or a library",
}


ARCHIVES = {
    "x.npy": "an .npz file of arrays",
    "w/data.pkl": "a file of `torch.save`",
    "m/code/m.py": "a TorchScript archive",
    "notes.txt": "a ZIP archive",
}


def message(source: object) -> str:
    with pytest.raises(sr.MalformedError) as raised:
        sr.load(source)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.location is not None
    return diagnostic.message


@pytest.mark.parametrize(("text", "what"), TEXTS.items(), ids=TEXTS.values())
def test_names_formats_of_text(text: str, what: str) -> None:
    assert message(text).startswith(f"this is {what}, not StableHLO")


@pytest.mark.parametrize(("data", "what"), DATA.items(), ids=DATA.values())
def test_names_formats_of_bytes(data: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "model.pb"
    path.write_bytes(data)
    assert message(path).startswith(f"this is {what}, not StableHLO")
    assert message(data).startswith(f"this is {what}, not StableHLO")


@pytest.mark.parametrize(
    "text", ["func.func @f() {", "module {\n", "%0 = foo", "@f", "{", "// comment\n\nfoo", "#a = [", "\n\n"]
)
def test_mlir_with_errors_is_not_taken_for_something_else(text: str) -> None:
    try:
        sr.parse(text)
    except sr.MalformedError as error:
        assert "this is" not in error.diagnostics[0].message


def test_says_how_to_convert_hlo() -> None:
    assert "; give its text, as `as_hlo_text(" in message(b"\n\x05jit_f\x12\x04main\x1a\xff\0")


@pytest.mark.parametrize(("member", "what"), ARCHIVES.items(), ids=ARCHIVES.values())
def test_names_archives(member: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr(member, b"\0")
    assert message(path).startswith(f"this is {what}, not StableHLO")
    assert main([str(path)]) == 1
    assert f"model.zip:1:1: error: this is {what}" in capsys.readouterr().err
