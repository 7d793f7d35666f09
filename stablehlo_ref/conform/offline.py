"""Conformance cases as files, for backends that no process here can call, and verdicts on files of their results.

`export` writes a folder with `index.json`, which docs/how-to/judge-offline.md describes: for each case a program
(`.mlirbc`, a portable artifact), inputs, expected results and bounds (`.npy`). `judge_files` reads results from another
folder: `000012.0.npy` is the first of case 000012, and `000012.txt` says that there are none, and why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from stablehlo_ref._version import __version__
from stablehlo_ref.argument_types import shown
from stablehlo_ref.arrays.files import array_errors, map_array
from stablehlo_ref.conform.bounds import Bounds, is_known
from stablehlo_ref.conform.cases import LIMITS, Case, case
from stablehlo_ref.conform.verdicts import Cell, Record, Recorded, judge
from stablehlo_ref.debug.bounds.ball import overflowed
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.session import Outcome
from stablehlo_ref.diagnostics import EvaluationError, StablehloError, file_errors
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.limits.files import read_text
from stablehlo_ref.numerics.dtypes import element_type_of, numpy_dtype
from stablehlo_ref.reading.parsing import parse

FORMAT = 1
MAX_DIGITS = 18  # of the number of a case
INDEX = "index.json"
FAILURES = ("refused", "died", "timed out", "unstable")  # with which a .txt file may begin

Show = Callable[[int, int], None]


# --- export -----------------------------------------------------------------------------------------------------------


def export(
    folder: Path, names: Sequence[str], contract: str = "strict", target: str = "current",
    show: Show = lambda done, total: None,
) -> tuple[int, int]:  # fmt: skip
    """Write cases to a folder; return how many, and how many of the names are left out.

    These have no program, or one that `target` lacks, or take or return something else than tensors. Programs of
    several ops are left out too, since verdicts on these need intermediate values.
    """
    rules = contract_of(contract)
    entries: list[dict[str, Any]] = []
    with file_errors(folder, f"write {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for number, name in enumerate(names):
            made = None if name.startswith("chain/") else case(name)
            entry = None if made is None else _written(folder, f"{len(entries):06d}", made, rules, target)
            entries += [entry] if entry is not None else []
            show(number + 1, len(names))
        index = {
            "format": FORMAT,
            "stablehlo_ref": __version__,
            "target": target,
            "contract": contract,
            "cases": entries,
        }
        (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    return len(entries), len(names) - len(entries)


def _written(folder: Path, id: str, made: Case, contract: Contract, target: str) -> dict[str, Any] | None:
    """Write the files of a case and return its entry in the index; None if that is not possible."""
    if made.broken:
        (folder / f"{id}.mlir").write_text(made.text, encoding="utf-8")
        return {"id": id, "name": made.name, "program": f"{id}.mlir", "rejected_by": made.broken}
    try:
        program = parse(made.text).verify()
        if len(Flat(program).ops) > 1:
            return None
        program.limits = LIMITS
        is_portable = "chlo." not in made.text  # there is no portable form of other dialects
        artifact = program.serialize(target) if is_portable else made.text.encode()
        expected = [np.asarray(result) for result in program.run(*made.inputs)]
        bounds = Bounds(program, contract)(made.inputs)
        inputs = [_stored(folder, f"{id}.in{i}.npy", np.asarray(x)) for i, x in enumerate(made.inputs)]
        outputs = [_stored(folder, f"{id}.expected{i}.npy", x) for i, x in enumerate(expected)]
    except (StablehloError, TypeError):  # the type of a token or a tuple is no element type
        return None
    for number, (output, bound, result) in enumerate(zip(outputs, bounds, expected)):
        if bound is not None and is_known(bound) and bound.center.dtype.kind in "fc":
            known = overflowed(bound, result.dtype)
            for part, array in (("center", known.center), ("radius", np.broadcast_to(known.radius, result.shape))):
                np.save(folder / f"{id}.{part}{number}.npy", array)
                output[part] = f"{id}.{part}{number}.npy"
    file = f"{id}.{'mlirbc' if is_portable else 'mlir'}"
    (folder / file).write_bytes(artifact)
    return {"id": id, "name": made.name, "program": file, "inputs": inputs, "outputs": outputs}


def _stored(folder: Path, name: str, array: Array) -> dict[str, Any]:
    """Write an array, and return how: types that numpy lacks are written as the bits of their elements."""
    np.save(folder / name, array.view(f"u{array.dtype.itemsize}") if _is_stored_as_bits(array.dtype) else array)
    stored = "bits" if _is_stored_as_bits(array.dtype) else "numbers"
    return {
        "file": name,
        "element_type": str(element_type_of(array.dtype)),
        "shape": list(array.shape),
        "stored": stored,
    }


def _is_stored_as_bits(dtype: DType) -> bool:
    return dtype.type.__module__ != "numpy"


# --- verdicts ---------------------------------------------------------------------------------------------------------


def judge_files(folder: Path, outputs: Path, contract: str | None = None) -> Iterator[Record]:
    """Yield the verdicts on the results in a folder, under the contract of the index unless another is given.

    They are those of a campaign that runs the backend. Cases without files are untested.
    """
    with file_errors(folder / INDEX, f"read {folder / INDEX}"):
        text = read_text(folder / INDEX)
    try:
        index = json.loads(text)
        entries = [(_id(entry["id"]), str(entry["name"])) for entry in index["cases"]]
        rules = contract_of(contract or index["contract"])
        version, format = index["stablehlo_ref"], index["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EvaluationError(f"{folder / INDEX}: not an index of cases: {error}") from None
    if (format, version) != (FORMAT, __version__):
        raise EvaluationError(
            f"{folder / INDEX}: expected cases of stablehlo_ref {__version__}, got those of {version}: names stand for "
            "other programs there"
        )
    for id, name in entries:
        outcome = _outcome(outputs, id, name)
        yield Record(name, Cell.UNTESTED, "no results") if outcome is None else judge(name, Recorded(outcome), rules)


def _id(given: object) -> str:
    """Return the number of a case, the start of names of files; ValueError for anything else."""
    if not (isinstance(given, str) and given.isdecimal() and len(given) <= MAX_DIGITS):
        raise ValueError(f"expected an id such as '000012', got {shown(given)}")
    return given


def _outcome(outputs: Path, id: str, name: str) -> Outcome | None:
    """Return what files say that the backend did with a case."""
    with suppress(FileNotFoundError), file_errors(path := outputs / f"{id}.txt", f"read {path}"):
        kind, _, reason = read_text(path, errors="replace").strip().partition(":")
        return Outcome((), kind, reason.strip()) if kind in FAILURES else Outcome((), "refused", f"{kind}: {reason}")
    made = case(name)
    if made is None:
        return None
    if made.broken:
        return Outcome() if (outputs / f"{id}.0.npy").exists() else None
    dtypes = [numpy_dtype(p.element_type) for p in parse(made.text).verify().entry.outputs]
    results = []
    for number, dtype in enumerate(dtypes):
        path = outputs / f"{id}.{number}.npy"
        if not path.exists():
            return None
        results.append(_loaded(path, dtype))
    return Outcome(tuple(results))


def _loaded(path: Path, dtype: DType) -> Array:
    """Return an array; one of unsigned integers or raw bytes of the size of a type that numpy lacks is its bits."""
    with array_errors(path):
        array = map_array(path)
    is_bits = array.dtype.kind in "uV" and array.dtype.itemsize == dtype.itemsize
    return array.view(dtype) if _is_stored_as_bits(dtype) and is_bits else array
