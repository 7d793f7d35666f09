"""Headers of `.npy` and `.npz` files are checked before anything is unpacked."""

from __future__ import annotations

import struct
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.arrays.files import read_array, read_members, read_npz
from stablehlo_ref.ir.types import Type

FOUR = sr.load("func.func @main(%x: tensor<4xf32>) { return }").inputs[0].type


def header(shape: str, descr: str = "'<f4'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def test_reads_what_numpy_writes(tmp_path: Path) -> None:
    array = np.arange(4, dtype=np.float32)
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", x=array, y=array[::-1])
    data = (tmp_path / "a.npy").read_bytes()
    assert read_array(BytesIO(data), len(data), FOUR).tolist() == array.tolist()
    assert {name: x.tolist() for name, x in read_npz(tmp_path / "a.npz").items()} == {
        "x": [0, 1, 2, 3],
        "y": [3, 2, 1, 0],
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header("(1000000000000,)"), "its header says 4000000000000 bytes of elements, but it has 0"),
        (header("(4,)") + bytes(12), "its header says 16 bytes of elements, but it has 12"),
        (header("(5,)") + bytes(20), r"expected shape \(4,\) for tensor<4xf32>, got \(5,\)"),
        (header("(4,)", "'<f8'") + bytes(32), "expected dtype float32 for tensor<4xf32>, got float64"),
        (header("(4,)", "'|O'") + bytes(32), "Python objects"),
        (b"PK\x03\x04", "magic string"),
        (b"", "magic string"),
        (b"\x93NUMPY\x09\x00", "version"),
    ],
)
def test_rejects_by_the_header(content: bytes, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stablehlo_ref.arrays.files.LARGE", 0)
    with pytest.raises(ValueError, match=message):
        read_array(BytesIO(content), len(content), FOUR)


def test_members_of_an_archive_are_checked_by_name(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(4, np.float32), y=np.zeros(10**6, np.float32))

    def type_of(name: str) -> Type | None:
        return FOUR if name == "y" else None

    with (tmp_path / "a.npz").open("rb") as file, pytest.raises(ValueError, match=r"member y: expected shape \(4,\)"):
        read_members(file, type_of)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(sr.EvaluationError, match=r"cannot read .*No such file"):
        read_npz(tmp_path / "missing.npz")
