"""The programs of the campaign, which others wrote or exported, with inputs."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from stablehlo_ref.debug.backends import load_arrays
from stablehlo_ref.debug.cut import FLATTENING
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.program import Program
from stablehlo_ref.reading.inputs import random_inputs
from stablehlo_ref.reading.loading import load

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("STABLEHLO_REF_SHARED", ROOT.parent / "shared"))
MOST_BYTES = 40e6  # that the ops of a program of the benchmarks move
MOST_FLOPS = 100e6
MOST_RUNS = 2000  # of ops
EACH = 3  # of the test data whose names begin alike


@dataclass(frozen=True)
class Case:
    """A program as a file, and what its inputs are drawn from."""

    name: str
    path: Path
    entry: Any = None  # of the benchmarks' manifest

    @cached_property
    def program(self) -> Program:
        """The program, whose entry calls no function and checks nothing, which not all backends can."""
        program = load(self.path).verify().transform(*FLATTENING)
        with Rewriter(program.module) as rewriter:
            for op in program.module.walk():
                if str(op.properties.get("call_target_name")).startswith("check."):
                    rewriter.erase(op)
        return load(str(program)).verify()

    @property
    def ops(self) -> int:
        """The number of ops, with those in regions and without constants."""
        return sum(op.name not in ("stablehlo.constant", "stablehlo.return") for op in self.program.module.walk()) - 3

    def inputs(self, kind: str = "plain") -> list[Any]:
        arrays = [np.asarray(x) for x in self._plain()]
        return [varied(array, kind, np.random.default_rng(index)) for index, array in enumerate(arrays)]

    def _plain(self) -> Sequence[Any]:
        if self.entry is not None:
            sys.path.insert(0, str(SHARED / "bench"))
            from inputs import draw_all  # type: ignore[import-not-found]

            return draw_all(self.entry)  # type: ignore[no-any-return]
        saved = self.path.with_suffix(".npz")
        if saved.exists():
            return load_arrays(saved, list(self.program.inputs))
        drawn = random_inputs(self.program.inputs, limits=self.program.limits)
        return [drawn[parameter.name] for parameter in self.program.inputs]


def varied(x: Any, kind: str, draw: np.random.Generator) -> Any:
    """Return an array that shows faults of a kind: with special values, with ties, of other sizes."""
    is_float = x.dtype.kind == "f" or x.dtype.name.startswith(("bfloat16", "float8"))
    if kind == "special" and is_float:
        info = ml_dtypes.finfo(x.dtype)
        special = np.array([0.0, -0.0, info.tiny, info.max, -info.max, np.inf, -np.inf, np.nan]).astype(x.dtype)
        return np.where(draw.random(x.shape) < 0.1, draw.choice(special, x.shape), x).astype(x.dtype)
    if kind == "zeros" and is_float:
        zeros = draw.choice(np.array([0.0, -0.0]), x.shape)
        return np.where(draw.random(x.shape) < 0.4, zeros, x.astype(np.float64)).astype(x.dtype)
    if kind == "tiny" and is_float:
        return (x.astype(np.float64) * 2.0 * float(ml_dtypes.finfo(x.dtype).tiny)).astype(x.dtype)
    if kind == "halves" and is_float:
        return (x.astype(np.float64) * draw.uniform(0.5, 1.0, x.shape)).astype(x.dtype)
    if kind == "large" and is_float:
        return (x.astype(np.float64) * 60).astype(x.dtype)
    if kind == "ties":
        return (np.round(x.astype(np.float64) * 2) / 2).astype(x.dtype) if is_float else x
    if kind == "integers" and x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        return draw.integers(info.min, info.max, x.shape, x.dtype, endpoint=True)
    if kind == "indices" and x.dtype.kind in "iu":
        return draw.integers(-9 if x.dtype.kind == "i" else 0, 40, x.shape).astype(x.dtype)
    return x


def cases(exports: Path | None) -> Iterator[Case]:
    """Yield the small programs of the benchmarks, those exported, the examples, and some of the test data."""
    manifest = SHARED / "bench" / "manifest.json"
    for entry in json.loads(manifest.read_text())["programs"] if manifest.exists() else ():
        stats = entry["stats"]
        if (
            entry["replicas"] == 1 and stats["bytes_ops"] < MOST_BYTES and stats["flops"] < MOST_FLOPS
            and stats["dyn_ops"] < MOST_RUNS
        ):  # fmt: skip
            yield Case(f"bench/{entry['name']}", SHARED / "bench" / entry["file"], entry)
    if exports is not None:
        for path in sorted(exports.rglob("*.mlir")):
            if not path.stem.endswith((".lowered", ".located", ".symbolic")):  # the same model, exported otherwise
                yield Case(f"exports/{path.parent.name}/{path.stem}", path)
    for path in sorted((ROOT / "examples").glob("*.mlir")):
        yield Case(f"examples/{path.stem}", path)
    seen: Counter[str] = Counter()
    for path in sorted((SHARED / "upstream" / "testdata").glob("*.mlir")):
        seen[name := path.stem.partition("_")[0]] += 1
        if seen[name] % 5 == 1 and seen[name] < 5 * EACH:
            yield Case(f"testdata/{path.stem}", path)


def readable(case: Case, most: int) -> bool:
    """Return whether a program has few ops and can be run: of static tensors, without functions that remain."""
    try:
        return (
            case.ops <= most
            and all(str(p.type).startswith("tensor<") and "?" not in str(p.type) for p in case.program.inputs)
            and all("!" not in str(p.type) and "?" not in str(p.type) for p in case.program.outputs)
        )
    except (StablehloError, ValueError):
        return False
