"""Run programs that older versions of JAX exported, and compare the results with those that JAX recorded.

    python tools/exports/jax_history.py jax/_src/internal_test_util/export_back_compat_test_data [--only REGEX]
        [--save FOLDER]

The folder is the data of JAX's backward compatibility tests: Python files, which this script executes. Their variables
are dictionaries with a program, inputs and expected results. A program that occurs several times is run once. The exit
code is 1 if a result differs.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from compare import Case, Sample, parser, run

Arrays = list[np.ndarray]


def from_eigenvectors(results: Arrays) -> Arrays:
    """Return the eigenvalues and the matrix that eigenvectors and eigenvalues represent."""
    vectors, values = results
    return [values, (vectors * values[..., np.newaxis, :]) @ adjoint(vectors)]


def from_eigenvalues(results: Arrays) -> Arrays:
    """Return sorted eigenvalues and the matrix; the order of values and the scale of vectors are arbitrary."""
    values, _, right = results
    return [np.sort(values), (right * values[..., np.newaxis, :]) @ np.linalg.pinv(right)]


def from_singular_vectors(results: Arrays) -> Arrays:
    """Return the singular values and the matrix."""
    values, *vectors = sorted(results, key=np.ndim)
    if not vectors:
        return [values]
    left, right = vectors
    return [values, (left[..., : values.shape[-1]] * values[..., np.newaxis, :]) @ right[..., : values.shape[-1], :]]


def from_schur(results: Arrays) -> Arrays:
    """Return the matrix that a Schur form and its vectors represent."""
    form, vectors = results
    return [vectors @ form @ adjoint(vectors)]


def adjoint(a: np.ndarray) -> np.ndarray:
    return np.conjugate(a.swapaxes(-1, -2))


# The unique values of results that are not unique: vectors have any phase, and repeated values have any basis.
DETERMINED: dict[str, Callable[[Arrays], Arrays]] = {
    "eigh": from_eigenvectors, "syev": from_eigenvectors, "eig_": from_eigenvalues, "svd": from_singular_vectors,
    "schur": from_schur,
}  # fmt: skip


def determined(name: str) -> Callable[[Arrays], Arrays]:
    return next((reduce for part, reduce in DETERMINED.items() if part in name.lower()), list)


def test_data(value: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the dictionaries of test data inside lists and other dictionaries."""
    if isinstance(value, dict) and "mlir_module_text" in value:
        yield name, value
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, item in items:
        yield from test_data(item, f"{name}.{key}")


def samples(folder: Path) -> Iterator[Sample]:
    seen = set()
    for path in sorted(folder.rglob("*.py")):
        for variable, value in runpy.run_path(str(path)).items():
            for name, data in test_data(value, f"{path.stem}.{variable}"):
                text = data["mlir_module_text"]
                program = (text.decode() if isinstance(text, bytes) else text) + "\n"
                if program not in seen:
                    seen.add(program)
                    inputs, expected = list(data["inputs"]), list(data["expected_outputs"])
                    case = Case(program, inputs, expected, data.get("mlir_module_serialized", b""))
                    yield Sample(name, lambda case=case: case, determined(name))


def main() -> int:
    options = parser("older versions of JAX")
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    return run(samples(given.folder), "the recorded results of JAX", given)


if __name__ == "__main__":
    sys.exit(main())
