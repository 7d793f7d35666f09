"""Damaged files, files without end and pipes without a writer are errors that name the file, within the limits."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import pickle
import socket
import struct
import subprocess
import sys
import time
import warnings
import zipfile
from mmap import mmap
from pathlib import Path
from random import Random
from typing import IO, Any

import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.fuzz import files
from stablehlo_ref.arrays.files import map_array
from stablehlo_ref.cli.console import Chunk, for_each_part
from stablehlo_ref.cli.main import main
from stablehlo_ref.cli.run import parser
from stablehlo_ref.limits.budget import current, deadline_of
from stablehlo_ref.limits.files import PIECE

PROGRAM = files.PROGRAM
SHORT = sr.Limits(max_seconds=0.2)


def npy(header: str, elements: bytes = bytes(16)) -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + elements


def with_shape(shape: str) -> str:
    return f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"


def npz(data: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.npy", data)
    return file.getvalue()


def damaged(archive: bytes, *offsets: int) -> bytes:
    found = bytearray(archive)
    for offset in offsets:
        found[archive.find(b"a.npy") + 5 + offset] ^= 0xFF
    return bytes(found)


VALID = npy(with_shape("(4,)"))
DAMAGED = {
    "empty": (b"", "EOF"),
    "garbage": (b"x", "EOF"),
    "pickle": (pickle.dumps(list(range(9))), "magic string"),
    "truncated": (VALID[:-1], "its header says 16 bytes of elements, but it has 15"),
    "open brace": (npy("{"), "its header is not a dictionary"),
    "deep": (npy("-" * 5000 + "1"), "its header is not a dictionary"),
    "large": (npy(with_shape("(99999999999999999999999, 0)"), b""), "its header has the invalid shape"),
    "negative": (npy(with_shape("(-4, -1)")), "its header has the invalid shape"),
    "boolean": (npy(with_shape("(True,)"), bytes(4)), "its header has the invalid shape"),
    "other keys": (npy("{'a': 1}"), "its header is not a dictionary of 'descr'"),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("form", ["folder", "npz", "bundle", "command"])
def test_damaged_arrays(name: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, message = DAMAGED[name]
    file = tmp_path / ("a.npz" if form == "npz" else "w.a.npy")
    file.write_bytes(npz(data) if form == "npz" else data)
    if form == "command":
        (tmp_path / "p.mlir").write_text(PROGRAM)
        assert main([str(tmp_path / "p.mlir"), "--input", f"a={file}"]) == 2
        assert str(file) in (error := capsys.readouterr().err) and "internal error" not in error
        return
    with pytest.raises(sr.StablehloError, match=message) as caught:
        if form == "bundle":
            bundle(tmp_path / "bundle", "a", data).run()
        else:
            sr.load(PROGRAM).bind(file if form == "npz" else tmp_path)
    assert str(tmp_path) in str(caught.value)


def bundle(folder: Path, name: str, data: bytes = VALID) -> sr.Program:
    for part in ("functions", "data"):
        (folder / part).mkdir(parents=True)
    meta = {"input_locations": [{"type_": "parameter", "name": name}]}
    (folder / "functions" / "forward.meta").write_text(json.dumps(meta))
    (folder / "functions" / "forward.mlir").write_text(PROGRAM)
    (folder / "data" / "a").write_bytes(data)
    return sr.load(folder)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (damaged(npz(VALID), 0), "member a: Error -3 while decompressing"),
        (damaged(npz(VALID * 40, zipfile.ZIP_LZMA), 12, 20), "member a: "),
        (npz(VALID * 40, zipfile.ZIP_LZMA)[:-60], "not a zip file"),
    ],
)
def test_damaged_archives(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(sr.EvaluationError, match=f"a.npz: .*{message}"):
        sr.load(PROGRAM).bind(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a" * 5000, "\ud800", "a\0"])
def test_names_in_a_bundle_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(sr.MalformedError, match="no name of a file"):
        bundle(tmp_path, name)


def test_a_number_of_many_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    assert main([str(tmp_path / "p.mlir"), "--input", f"a={'1' * 100_000}"]) == 2
    assert "input 'a': expected a number" in capsys.readouterr().err


@pytest.mark.parametrize("kind", files.SEEDS)
def test_changed_files_are_results_or_errors(kind: str) -> None:
    if kind in ("zst", "safetensors"):
        pytest.importorskip({"zst": "zstandard"}.get(kind, kind))
    for number in range(60):
        files.check(kind, files.draw(Random(number), kind))


def test_arrays_as_numpy_writes_them(tmp_path: Path) -> None:
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3), np.array(3), np.zeros((0, 3)), np.arange(6).reshape(2, 3).T]
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"{number}.npy", array)
    np.savez(tmp_path / "all.npz", *arrays)
    from stablehlo_ref.arrays.files import map_array, read_npz

    for number, array in enumerate(arrays):
        for found in (map_array(tmp_path / f"{number}.npy"), read_npz(tmp_path / "all.npz")[f"arr_{number}"]):
            np.testing.assert_array_equal(found, array, strict=True)


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["gz", "zst"])
def test_a_compressed_program_needs_the_memory_of_its_text(form: str) -> None:
    """The process has no memory for a buffer of the size of the limit."""
    module = "gzip" if form == "gz" else pytest.importorskip("zstandard").__name__
    script = f"""
import resource, stablehlo_ref as sr, {module}
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
print(sr.load({module}.compress({PROGRAM.encode()!r})).inputs)"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(a: tensor<4xf32> (w.a),)\n"), done.stderr


def test_a_program_that_unpacks_to_more_than_the_limit(tmp_path: Path) -> None:
    (tmp_path / "p.gz").write_bytes(gzip.compress(b" " * (4 * PIECE)))
    with pytest.raises(sr.EvaluationError, match=r"p.gz:1:1: error: the file has more than the limit of 2.097 MB"):
        sr.load(tmp_path / "p.gz", limits=sr.Limits(max_total_bytes=2 * PIECE))


@pytest.mark.parametrize("name", ["input", "inputs", "weights", "program"])
def test_a_device_without_end(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    (tmp_path / "w.npz").symlink_to("/dev/zero")
    (tmp_path / "w.safetensors").symlink_to("/dev/zero")
    arguments = {
        "input": [str(tmp_path / "p.mlir"), "--input", "a=/dev/zero"],
        "inputs": [str(tmp_path / "p.mlir"), "--inputs", "/dev/zero"],
        "weights": [str(tmp_path / "p.mlir"), "--weights", str(tmp_path / "w.safetensors")],
        "program": [str(tmp_path / "w.npz")],
    }[name]
    start = time.perf_counter()
    assert main([*arguments, "--max-total-bytes", "8MiB", "--max-seconds", "5"]) in (1, 2)
    assert time.perf_counter() - start < 4
    assert ("neither UTF-8" if name == "program" else "more than the limit of 8.389 MB") in capsys.readouterr().err


def test_standard_input_without_end() -> None:
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as yes:
        command = [sys.executable, "-m", "stablehlo_ref", "-", "--max-total-bytes", "8MiB"]
        try:
            done = subprocess.run(command, stdin=yes.stdout, capture_output=True, text=True, check=False, timeout=30)
        finally:
            yes.kill()
    assert done.returncode == 1 and "<stdin>:1:1: error: the file has more than the limit" in done.stderr


def test_standard_input_that_nobody_writes_to() -> None:
    read, write = os.pipe()
    command = [sys.executable, "-m", "stablehlo_ref", "-", "--max-seconds", "0.2"]
    done = subprocess.run(command, stdin=read, capture_output=True, text=True, check=False, timeout=30)
    os.close(read)
    os.close(write)
    assert done.returncode == 1 and "<stdin>:1:1: error: reading the file takes longer" in done.stderr


@pytest.mark.parametrize("form", ["program", "npz", "safetensors", "folder", "bundle"])
def test_a_pipe_that_nobody_writes_to(form: str, tmp_path: Path) -> None:
    name = {"program": "p", "folder": "w.a.npy", "bundle": "functions/forward.meta"}.get(form, f"w.{form}")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    (tmp_path / name).with_name("forward.mlir").write_text(PROGRAM)
    start = time.perf_counter()
    with pytest.raises(sr.EvaluationError, match=r"reading the file takes longer than the limit of 0\.2 s"):
        if form in ("program", "bundle"):
            sr.load(tmp_path if form == "bundle" else tmp_path / name, limits=SHORT)
        else:
            sr.load(PROGRAM, limits=SHORT).bind(tmp_path if form == "folder" else tmp_path / name)
    assert time.perf_counter() - start < 2


def test_pipes_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    with subprocess.Popen(["sh", "-c", f"sleep 0.3; printf '%s' '{PROGRAM}' > {tmp_path / 'p'}"]):
        assert sr.load(tmp_path / "p", limits=sr.Limits(max_seconds=20)).inputs[0].name == "a"


# --- passes -----------------------------------------------------------------------------------------------------------


FUNCTION = """func.func private @f{0}(%x: tensor<f32>) -> tensor<f32> {{
  %0 = call @f{1}(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @f{1}(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}}
"""
ENDS = """func.func private @f30(%x: tensor<f32>) -> tensor<f32> {{
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}}
func.func @main(%x: tensor<f32>) -> tensor<f32> {{
  %0 = call @f{0}(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}
"""


def doubling(functions: int) -> str:
    """Return a program that has 2 ** functions sines once calls are inlined."""
    return "".join(FUNCTION.format(i, i + 1) for i in range(30 - functions, 30)) + ENDS.format(30 - functions)


@pytest.mark.parametrize("command", [False, True])
def test_inlining_ends_at_the_deadline(command: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(doubling(20))
    start = time.perf_counter()
    if command:
        assert main(["opt", str(tmp_path / "p.mlir"), "--inline", "--max-seconds", "1"]) == 1
        assert "transforming the program takes longer than the limit of 1 second" in capsys.readouterr().err
    else:
        with pytest.raises(sr.EvaluationError, match="longer than the limit of 1 second"):
            sr.load(tmp_path / "p.mlir", limits=sr.Limits(max_seconds=1)).transform("inline")
    assert time.perf_counter() - start < 4


def test_inlining_of_too_many_operations() -> None:
    with pytest.raises(sr.EvaluationError, match="longer than the limit of 1,048,576 operations"):
        sr.parse(doubling(30)).transform("inline")
    with pytest.raises(sr.EvaluationError, match="longer than"):
        sr.parse(doubling(21)).transform("inline")
    assert str(sr.parse(doubling(5)).transform("inline")).count("stablehlo.sine") == 32


COMMANDS = (
    "opt", "link", "translate --serialize", "translate --interpret", "exceptions", "equiv p.mlir", "spmd-check",
    "diff --backend self", "reduce --predicate true -o p.mlir", "diff-passes",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_take_limits(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "p")
    (tmp_path / "p.mlir").write_text(PROGRAM)
    words = command.replace("p.mlir", str(tmp_path / "p.mlir")).split()
    assert main([*words, str(tmp_path / "p"), "--max-seconds", "0.2", "--max-total-bytes", "1GB"]) == 1
    assert "reading the file takes longer than the limit of 0.2 seconds" in capsys.readouterr().err


def opened(form: str, end: int) -> IO[Any]:
    """Return the reading end of a pipe or socket as an open file."""
    match form:
        case "socket":
            return socket.fromfd(end, socket.AF_UNIX, socket.SOCK_STREAM).makefile("rb")
        case "unbuffered":
            return open(end, "rb", buffering=0)
        case "text":
            return open(end, encoding="latin-1")
    return open(end, "rb")


@pytest.mark.parametrize("form", ["bytes", "text", "socket"])
def test_open_pipes_and_sockets_are_read_until_the_deadline(form: str) -> None:
    ends = [end.detach() for end in socket.socketpair()] if form == "socket" else list(os.pipe())
    start = time.perf_counter()
    with opened(form, ends[0]) as file, pytest.raises(sr.EvaluationError, match=r"longer than the limit of 0\.2 s"):
        os.write(ends[1], PROGRAM.encode()[:20])
        sr.load(file, limits=SHORT)
    os.close(ends[1])
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize("form", ["bytes", "text", "unbuffered", "socket"])
def test_open_pipes_and_sockets_are_read(form: str) -> None:
    ends = [end.detach() for end in socket.socketpair()] if form == "socket" else list(os.pipe())
    os.write(ends[1], ("// \xe9\n" + PROGRAM).encode("latin-1" if form == "text" else "utf-8"))
    os.close(ends[1])
    with opened(form, ends[0]) as file:
        assert sr.load(file, limits=sr.Limits(max_seconds=20)).inputs[0].name == "a"


def test_text_that_was_decoded_before_is_read() -> None:
    read, write = os.pipe()
    os.write(write, b"first line\n" + PROGRAM.encode())
    os.close(write)
    with open(read, encoding="utf-8") as file:
        assert file.readline() == "first line\n"
        assert sr.load(file, limits=sr.Limits(max_seconds=20)).inputs[0].name == "a"


def test_any_object_is_read_within_limits() -> None:
    class Endless:
        def read(self, size: int) -> bytes:
            return b" " * size

    with pytest.raises(sr.EvaluationError, match="more than the limit of 4 MB"):
        sr.load(Endless(), limits=sr.Limits(max_total_bytes=4_000_000))


def test_objects_that_are_read_as_a_whole() -> None:
    class Whole:
        def read(self) -> str:
            return PROGRAM

    assert sr.load(Whole()).inputs[0].name == "a"


def test_lists_of_supported_ops_are_read_within_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    os.mkfifo(tmp_path / "list")
    options = ["--supported-by", str(tmp_path / "list"), "--max-seconds", "0.2"]
    assert main(["opt", str(tmp_path / "p.mlir"), *options]) == 1
    assert "reading the file takes longer than the limit of 0.2 seconds" in capsys.readouterr().err


def test_reading_and_running_share_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines = []

    def read(name: str) -> bytes:
        deadlines.append(current.get().deadline)
        return PROGRAM.encode()

    def run(part: Chunk) -> None:
        deadlines.append(deadline_of(sr.Limits(max_seconds=100)))

    (tmp_path / "p").touch()
    monkeypatch.setattr("stablehlo_ref.cli.console.read", read)
    options = parser().parse([str(tmp_path / "p"), "--max-seconds", "100"])
    assert for_each_part(options, run) == 0
    assert deadlines[0] is not None and deadlines[0] is deadlines[1]


def test_short_pieces_of_a_terminal_end_it() -> None:
    class Terminal(io.BufferedReader):
        """Returns what was typed before the end of file; to read once more waits for the next line."""

        def __init__(self) -> None:
            super().__init__(io.BytesIO(PROGRAM.encode()))  # type: ignore[arg-type]
            self.reads = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.reads += 1
            return super().read(size)

    terminal = Terminal()
    assert len(sr.load(terminal).inputs) == len(sr.load(PROGRAM).inputs)
    assert terminal.reads == 1


def test_a_file_that_does_not_wait_for_data() -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    with open(read, "rb", buffering=0) as file, pytest.raises(sr.StablehloError, match="text or bytes"):
        sr.load(file)
    os.close(write)


def test_a_regular_file_that_cannot_be_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused(mmap):
        def __new__(cls, *_: object, **__: object) -> Refused:  # type: ignore[misc]
            raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr("stablehlo_ref.reading.loading.mmap", Refused)
    (tmp_path / "p.gz").write_bytes(gzip.compress(PROGRAM.encode()))
    assert len(sr.load(tmp_path / "p.gz").inputs) == len(sr.load(PROGRAM).inputs)


def test_arrays_of_python_2(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(npy(with_shape("(4L,)"), np.arange(4, dtype="f4").tobytes()))
    assert map_array(tmp_path / "a.npy").tolist() == [0, 1, 2, 3]


def test_headers_of_arrays_warn_of_nothing(tmp_path: Path) -> None:
    header = b"{'descr': '<f4\\d', 'fortran_order': False, 'shape': (1,), }\n"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sr.EvaluationError, match="cannot read"):
            sr.load(PROGRAM).bind(tmp_path)
