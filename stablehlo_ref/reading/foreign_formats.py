"""Recognise files in other formats, and say how to get StableHLO from them."""

from __future__ import annotations

import re
from collections.abc import Sequence

HEAD = 4096  # bytes or characters that identify a format

FROM_HLO = "convert it with XLA's `hlo-translate --hlo-to-mlir`"
FROM_TORCH = "give the exported program to `stablehlo_ref.from_torch`"
FROM_TENSORFLOW = "export its functions with `experimental_get_compiler_ir(...)(stage='stablehlo')`"
FROM_ONNX = "import it with torch-mlir or onnx-mlir, or export the model from its framework"
FROM_PYTHON = "run it, and save the text of the program that it makes"
PYTHON = "Python source"

# Formats of text: a pattern at its start, after blanks, what it is, and how to get StableHLO from it.
_TEXTS = (
    (r"HloModule\b|ENTRY\b|%[\w.\-]+ (?:=|\()[^\n]*-> [^\n]*\{", "HLO text", FROM_HLO),
    (r"ML(?:\xef|\ufffd|\udcef)R", "MLIR bytecode decoded as text", "read the file in binary mode and pass the bytes"),
    (r"\{ lambda ?[;:]", "a jaxpr", "lower the function with `jax.jit(f).lower(...).as_text()`"),
    (r"graph\((?:%|\))|graph\(\):", "TorchScript or torch.fx text", FROM_TORCH),
    (r"opcode +name +target", "a table of torch.fx", FROM_TORCH),
    (r"; ModuleID|source_filename = |target (?:datalayout|triple) = ", "LLVM IR", ""),
    (r"#!|\"{3}|(?:async +)?def +\w+\(|class +\w+[(:]|if __name__ ==", PYTHON, FROM_PYTHON),
    (
        r"(?:import|from) +[\w.]+(?: +(?:import|as)\b|,|[ \t\r]*(?:\n|$))|@[\w.]+\s*\n(?:def|class)\b",
        PYTHON,
        FROM_PYTHON,
    ),
    (r"(?i:<!doctype html|<html\b|<head\b)", "HTML", "download the file itself, not the page that shows it"),
    (r"<\?xml|<svg\b", "XML", ""),
    (r"\{\s*\"|\{\s*\}\s*$|\[\s*[\[{\"\d\]]", "JSON", ""),
    (r"ir_version:|opset_import \{", "ONNX in text format", FROM_ONNX),
    (r"node \{|saved_model_schema_version:", "a TensorFlow graph in text format", FROM_TENSORFLOW),
    (r"```|#+ \w[^=\n]*\n", "Markdown", "take out what is not the program"),
    (r"version https://git-lfs", "a pointer of Git LFS", "fetch the file with `git lfs pull`"),
)
_PATTERNS = [(re.compile(rf"\s*(?:{pattern})"), what, advice) for pattern, what, advice in _TEXTS]
_match_comments = re.compile(r"(?:\s|(?:#|//)[^\n]*\n)*").match

# Formats of bytes, by how they start.
_MAGIC = (
    (rb"\x08[\x03-\x20][\x12\x1a\x22\x2a\x32\x3a\x42]", "an ONNX model", FROM_ONNX),
    (rb"\x08\x01\x12", "a TensorFlow SavedModel", FROM_TENSORFLOW),
    (rb"\n[\x00-\xff]{1,5}?\n[\x01-\x7f][\w/:.\-]*\x12", "a TensorFlow GraphDef", FROM_TENSORFLOW),
    (rb"\n[\x01-\x7f][\w.\-]+\x12", "a serialized HloModuleProto", FROM_HLO),
    (rb"[\x00-\xff]{4}TFL3", "a TensorFlow Lite model", "export the model from its framework again"),
    (rb"\x89HDF\r\n", "an HDF5 file", "export the model from its framework again"),
    (rb"\x93NUMPY", "a NumPy array", "give arrays with `--input NAME=FILE`"),
    (rb"\x80[\x02-\x05]", "a pickle of Python", "load it in Python and export the model"),
    (rb"[\x00-\xff]{8}\{\"", "a safetensors file", "give weights with `--weights FILE` or `Program.bind`"),
    (rb"PK\x03\x04", "a ZIP archive", "give its path, if it is an exported program of PyTorch"),
    (rb"GGUF", "a GGUF file", ""),
    (rb"BC\xc0\xde", "LLVM bitcode", ""),
    (rb"\x7fELF|MZ|\xcf\xfa\xed\xfe", "an executable or a library", ""),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "a picture", ""),
    (rb"%PDF", "a PDF document", ""),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it in UTF-8"),
    (rb"BZh|\xfd7zXZ\x00|7z\xbc\xaf", "a file in a compressed format that is not read here", "decompress it"),
)
_MAGIC_PATTERNS = [(re.compile(pattern), what, advice) for pattern, what, advice in _MAGIC]


def foreign_text(text: str) -> str | None:
    """Return the message for a text in another format than MLIR; None if it is not recognised."""
    head = text[:HEAD]
    comments = _match_comments(head)
    start = comments.end() if comments else 0
    for pattern, what, advice in _PATTERNS:
        if pattern.match(head) or (what == PYTHON and pattern.match(head, start)):
            return _message(what, advice)
    return None


def foreign_bytes(head: bytes) -> str | None:
    """Return the message for a file that starts with `head` and is neither text nor bytecode; None if unrecognised."""
    for pattern, what, advice in _MAGIC_PATTERNS:
        if pattern.match(head[:HEAD]):
            return _message(what, advice)
    return None


def foreign_archive(names: Sequence[str]) -> str | None:
    """Return the message for a ZIP archive of these files; None for an exported program of PyTorch."""
    parts = [name.split("/") for name in names]
    if names and all(name.endswith(".npy") for name in names):
        return _message("an .npz file of arrays", "give inputs with `--inputs FILE`, weights with `--weights FILE`")
    if any(part[1:2] == ["code"] for part in parts):
        return _message("a TorchScript archive", FROM_TORCH)
    if any(part[1:] == ["data.pkl"] for part in parts):
        return _message("a file of `torch.save`", f"if it has weights, give them with `--weights FILE`; {FROM_TORCH}")
    if any(part[-1].endswith((".pt2", ".json", ".pt")) for part in parts):
        return None
    return _message("a ZIP archive", "give the program in it")


def _message(what: str, advice: str) -> str:
    return f"this is {what}, not StableHLO" + (f"; {advice}" if advice else "")
