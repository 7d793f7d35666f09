"""`load` and the command line know bytecode and artifacts by their content, wherever they are."""

from __future__ import annotations

import gzip
import io
import json
import mmap
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bytecode_programs import SMALL

import stablehlo_ref as sr
from stablehlo_ref.bytecode.writer import write
from stablehlo_ref.cli.main import main
from stablehlo_ref.diagnostics import MalformedError
from tests.compare import difference

ADD = """
func.func @main(%w: tensor<2xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %w, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
W, X = np.array([1, 2], np.float32), np.array([10, 20], np.float32)
PROGRAM = sr.parse(ADD)
BYTECODE, ARTIFACT = write(PROGRAM.module), PROGRAM.serialize("1.0.0")
Capture = pytest.CaptureFixture[str]


def assert_adds(program: sr.Program) -> None:
    assert difference(program.module, PROGRAM.module) is None
    (result,) = program.run(W, X)
    assert result.tolist() == [11, 22]


@pytest.mark.parametrize("data", [BYTECODE, ARTIFACT], ids=["bytecode", "artifact"])
@pytest.mark.parametrize(
    "kind", [bytes, bytearray, memoryview, io.BytesIO, lambda data: memoryview(bytearray(data))],
    ids=["bytes", "bytearray", "memoryview", "file", "writable memoryview"],
)  # fmt: skip
def test_loads_bytes_in_any_form(kind: Callable[[bytes], object], data: bytes) -> None:
    assert_adds(sr.load(kind(data)))


def test_loads_a_map_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "add.bin"
    path.write_bytes(ARTIFACT)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    assert_adds(sr.load(mapped))


@pytest.mark.parametrize("name", ["add.mlirbc", "add.mlir", "add.bin", "add"])
def test_content_decides_and_not_the_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for data in (BYTECODE, ARTIFACT, ADD.encode()):
        path.write_bytes(data)
        assert_adds(sr.load(path))
        assert_adds(sr.load(str(path)))


@pytest.mark.parametrize("data", [BYTECODE, ARTIFACT, ADD.encode()], ids=["bytecode", "artifact", "text"])
def test_loads_compressed_files(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "add.mlir.gz"
    path.write_bytes(gzip.compress(data))
    assert_adds(sr.load(path))
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "add.mlir.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(data))
    assert_adds(sr.load(path))


def test_compressed_file_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir.gz"
    path.write_bytes(gzip.compress(BYTECODE)[:-9])
    with pytest.raises(MalformedError, match="cannot decompress the program"):
        sr.load(path)


def flatbuffer(data: bytes) -> bytes:
    """Return a table with a vector of bytes behind its length, as `jax.export.Exported.serialize` stores a module."""
    return b"\x10\0\0\0" + bytes(12) + len(data).to_bytes(4, "little") + data + b"\0" * 7


@pytest.mark.parametrize("data", [BYTECODE, ARTIFACT], ids=["bytecode", "artifact"])
def test_loads_an_export_of_jax(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "add.jax"
    path.write_bytes(flatbuffer(data))
    assert_adds(sr.load(path))
    assert_adds(sr.load(flatbuffer(data)))


def test_binary_file_without_a_program(tmp_path: Path) -> None:
    path = tmp_path / "noise"
    for data in (flatbuffer(b"none here"), flatbuffer(BYTECODE)[: -len(BYTECODE)], b"\0" * 100):
        path.write_bytes(data)
        with pytest.raises(MalformedError, match="neither UTF-8 text nor MLIR bytecode"):
            sr.load(path)


def bundle(folder: Path, data: bytes, suffix: str) -> Path:
    """Write a bundle as torch_xla does: the first input is a weight, the second an argument."""
    locations = [{"type_": "parameter", "name": "w"}, {"type_": "input_arg", "position": 0}]
    for name in ("functions", "data", "constants"):
        (folder / name).mkdir(parents=True)
    (folder / "functions" / "forward.meta").write_text(json.dumps({"input_locations": locations}))
    (folder / "functions" / f"forward.{suffix}").write_bytes(data)
    with (folder / "data" / "w").open("wb") as file:
        np.save(file, W)
    return folder


@pytest.mark.parametrize(("data", "suffix"), [(ARTIFACT, "bytecode"), (BYTECODE, "bytecode"), (ADD.encode(), "mlir")])
def test_loads_a_bundle_with_its_weights(tmp_path: Path, data: bytes, suffix: str) -> None:
    (result,) = sr.load(bundle(tmp_path / "bundle", data, suffix)).run(X)
    assert result.tolist() == [11, 22]


def test_resources_of_a_file_are_mapped_and_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "small.mlirbc"
    path.write_bytes(write(sr.parse(SMALL).module))
    program = sr.load(path)
    arrays = [op.properties["value"] for op in program.module.walk() if op.name == "stablehlo.constant"]
    assert len(arrays) == 3
    for value in arrays:
        array = getattr(value, "array", value)
        assert not array.flags.owndata and not array.flags.writeable


def test_error_names_file_offset_version_and_producer(tmp_path: Path) -> None:
    path = tmp_path / "add.mlirbc"
    path.write_bytes(ARTIFACT.replace(b"add_v1", b"odd_v1"))
    with pytest.raises(sr.UnsupportedError) as raised:
        sr.load(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: byte ")
    assert "unknown op 'vhlo.odd_v1'" in message
    assert "in version 6 of MLIR bytecode, written by 'StableHLO_v1.0.0'" in message


# --- the command line -----------------------------------------------------------------------------------------------


def test_serialize_and_deserialize(tmp_path: Path, capsys: Capture) -> None:
    text, artifact, back = (tmp_path / name for name in ("add.mlir", "add.mlirbc", "back.mlir"))
    text.write_text(ADD)
    assert main(["translate", "--serialize", "--target=1.0.0", str(text), "-o", str(artifact)]) == 0
    assert artifact.read_bytes() == ARTIFACT
    assert main(["translate", "--deserialize", str(artifact), "-o", str(back)]) == 0
    assert_adds(sr.load(back))
    assert main(["opt", str(artifact)]) == 0
    assert capsys.readouterr().out == back.read_text()


def test_serializes_to_standard_output(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    assert main(["translate", "--serialize", "--target=1.0.0", str(path)]) == 0
    out = capfdbinary.readouterr().out
    assert out == ARTIFACT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(out)))
    assert main(["translate", "--deserialize", "-"]) == 0
    assert b"stablehlo.add" in capfdbinary.readouterr().out


def test_opt_emits_bytecode_with_resources(tmp_path: Path) -> None:
    text, output = tmp_path / "small.mlir", tmp_path / "small.mlirbc"
    text.write_text(SMALL)
    assert main(["opt", "--emit-bytecode", str(text), "-o", str(output)]) == 0
    data = output.read_bytes()
    assert data.startswith(b"ML\xefR")
    assert difference(sr.load(data).module, sr.parse(SMALL).module) is None


def test_runs_an_artifact(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "add.mlirbc"
    path.write_bytes(ARTIFACT)
    literals = "[dense<[1.0, 2.0]> : tensor<2xf32>, dense<1.0> : tensor<2xf32>]"
    assert main(["translate", "--interpret", str(path), f"--args={literals}"]) == 0
    assert "[2.000000e+00, 3.000000e+00]" in capsys.readouterr().out


def test_locations_are_left_out_or_printed(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD.replace("tensor<2xf32>\n  return", 'tensor<2xf32> loc("model.py":3:4)\n  return'))
    output = tmp_path / "add.mlirbc"
    assert main(["translate", "--serialize", str(path), "-o", str(output)]) == 0
    assert main(["translate", "--deserialize", "--mlir-print-debuginfo", str(output)]) == 0
    assert '"model.py":3:4' in capsys.readouterr().out
    assert main(["translate", "--serialize", "--strip-debuginfo", str(path), "-o", str(output)]) == 0
    assert b"model.py" not in output.read_bytes()


def test_what_the_target_lacks_is_an_error_with_a_place(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "tan.mlir"
    path.write_text("func.func @main(%x: tensor<f32>) {\n  %0 = stablehlo.tan %x : tensor<f32>\n  return\n}\n")
    assert main(["translate", "--serialize", "--target=1.3.0", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(
        f"{path}:2:8: error: failed to convert VHLO to v1.3.0: op 'stablehlo.tan' needs version 1.4"
    )


@pytest.mark.parametrize("target", ["0.8.0", "77.0.0", "x"])
def test_unknown_target_is_a_usage_error(tmp_path: Path, capsys: Capture, target: str) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["translate", "--serialize", f"--target={target}", str(tmp_path / "any.mlir")])
    assert raised.value.code == 2
    assert "target version" in capsys.readouterr().err


def test_malformed_bytes_are_an_error_of_the_program(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "cut.mlirbc"
    path.write_bytes(BYTECODE[:-3])
    assert main(["translate", "--deserialize", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"{path}: byte ") and "Traceback" not in error
