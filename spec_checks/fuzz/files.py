"""Files with a few changes: arrays, archives, safetensors, bundles, compressed programs; and the judgement of each."""

from __future__ import annotations

import gzip
import io
import json
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import numpy as np

import stablehlo_ref as sr
from spec_checks.fuzz import mutations
from stablehlo_ref.arrays.files import read_arrays
from stablehlo_ref.arrays.interop import require

PROGRAM = """func.func @main(%a: tensor<4xf32> loc("w.a")) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
"""
ARRAY = np.arange(4, dtype=np.float32)
LIMITS = sr.Limits(max_total_bytes=1 << 26, max_seconds=5)


def _npy(array: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = ARRAY) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _npz(random: Random) -> bytes:
    """Return an archive; changes of a member may be ones that its checksum does not show."""
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a.npy", mutations.data(random, _npy()) if random.random() < 0.5 else _npy())
    return file.getvalue()


def _safetensors(random: Random) -> bytes:
    header = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    if random.random() < 0.3:
        header = header[:5] + b"[" * random.randrange(1, 100_000) + header[5:]
    return struct.pack("<Q", len(header)) + header + ARRAY.tobytes()


def _meta(random: Random) -> bytes:
    names = ("a", "a" * 5000, "\ud800", "a\0", "..", "")
    location = {"type_": random.choice(("parameter", "constant")), "name": random.choice(names), "position": 0}
    return json.dumps({"input_locations": [location]}).encode()


SEEDS: Mapping[str, Callable[[Random], bytes]] = {
    "npy": lambda random: _npy(),
    "npz": _npz,
    "safetensors": _safetensors,
    "gz": lambda random: gzip.compress(PROGRAM.encode(), mtime=0),
    "zst": lambda random: bytes(require("zstandard").compress(PROGRAM.encode())),
    "bundle": _meta,
}


def draw(random: Random, kind: str) -> bytes:
    """Return a file of a kind with a few changes; of a bundle, the description of its function."""
    return mutations.data(random, SEEDS[kind](random))


def check(kind: str, data: bytes) -> str:
    """Read a file in each way that there is; return how that ended. Anything but a StablehloError is raised."""
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for read in _readers(kind, data, Path(folder)):
            try:
                read()
                outcomes.append("result")
            except sr.StablehloError as error:
                outcomes.append(type(error).__name__)
    return ", ".join(outcomes)


def _readers(kind: str, data: bytes, folder: Path) -> list[Callable[[], object]]:
    file = folder / f"w.a.{kind}"
    if kind == "bundle":
        for name in ("functions", "data", "constants"):
            (folder / name).mkdir()
        (folder / "functions" / "forward.meta").write_bytes(data)
        (folder / "functions" / "forward.mlir").write_text(PROGRAM)
        for weight in (folder / "data" / "a", folder / "constants" / "0"):
            weight.write_bytes(_npy())
        return [lambda: sr.load(folder, limits=LIMITS).run(limits=LIMITS)]
    file.write_bytes(data)
    if kind in ("gz", "zst"):
        return [lambda: sr.load(file, limits=LIMITS), lambda: sr.load(data, limits=LIMITS)]
    weights = folder if kind == "npy" else file
    return [lambda: sr.load(PROGRAM).bind(weights).run(), lambda: read_arrays(file)]
