"""Write the results of a run to files, and compare them with expected ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.agreement import report, within
from stablehlo_ref.arrays.files import read_arrays
from stablehlo_ref.arrays.host_values import as_numpy_loads, as_numpy_saves
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.diagnostics import ArgumentValueError, Diagnostic, EvaluationError
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.signature import Parameter, shortened
from stablehlo_ref.suggestions import did_you_mean


@checks_arguments
def save_results(path: str | os.PathLike[str], outputs: Sequence[Parameter], results: Sequence[RuntimeValue]) -> None:
    """Write results to an `.npz` file, or `.npy` or `.safetensors` by the name of the file.

    Names are those of `named_arrays`. ArgumentValueError unless there is one array for an `.npy` file; EvaluationError
    if the file cannot be written.
    """
    path, arrays = Path(path), named_arrays(outputs, results)
    if path.suffix == ".npy" and len(arrays) != 1:
        raise ArgumentValueError(f"cannot write {str(path)!r}: an .npy file has one array, got {len(arrays)}; use .npz")
    try:
        match path.suffix:
            case ".npy":
                with path.open("wb") as file:
                    np.lib.format.write_array(file, as_numpy_saves(arrays.popitem()[1]), allow_pickle=False)
            case ".safetensors":
                path.write_bytes(_safetensors(arrays))
            case _:
                _save_npz(path, arrays)
    except OSError as error:
        raise EvaluationError(f"cannot write {path}: {error.strerror}") from None
    except ValueError as error:  # such as a null character in the path
        raise ArgumentValueError(f"cannot write {str(path)!r}: {error}") from None


def named_arrays(parameters: Sequence[Parameter], values: Sequence[RuntimeValue]) -> dict[str, Array]:
    """Return results by name, with the number of the result appended to duplicate names.

    Element i of a tuple is `name.i`. Tokens are left out.
    """
    names = [p.name for p in parameters]
    keys = [n if names.count(n) == 1 else f"{n}_{i}" for i, n in enumerate(names)]
    return dict(chain.from_iterable(map(_leaves, keys, values)))


def _leaves(name: str, value: RuntimeValue) -> Iterator[tuple[str, Array]]:
    if isinstance(value, tuple):
        yield from chain.from_iterable(_leaves(f"{name}.{i}", element) for i, element in enumerate(value))
    elif value is not None:
        yield name, np.asarray(value)


def _save_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    with ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, as_numpy_saves(array), allow_pickle=False)


def _safetensors(arrays: Mapping[str, Array]) -> bytes:
    """Return the contents of a safetensors file; element types that the format lacks become their bits."""
    package = require("safetensors.numpy")
    known = {
        name: array for name, array in arrays.items() if array.dtype.isbuiltin == 1 or array.dtype.name == "bfloat16"
    }
    try:
        data: bytes = package.save({name: known.get(name, as_numpy_saves(array)) for name, array in arrays.items()})
    except Exception as error:  # of the package's own kind, for complex128
        raise EvaluationError(f"cannot write safetensors: {error}") from None
    return data


def compare_results(
    outputs: Sequence[Parameter],
    results: Sequence[RuntimeValue],
    expected: Mapping[str, Array] | Array,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    ulp: int | None = None,
) -> list[Diagnostic]:
    """Return an error for each result that differs from the expected array of its name.

    One array is that of the only result, whatever its name; names `arr_0`, `arr_1`, ... are results by position.
    ArgumentValueError if the names of arrays are not those of results.
    """
    named = named_arrays(outputs, results)
    by_name = _by_result(list(named), expected)
    if by_name.keys() != named.keys():
        raise ArgumentValueError(_other_names(list(named), list(by_name)))
    tolerance = ulp, rtol, atol
    return [d for name, actual in named.items() for d in _difference(name, actual, by_name[name], tolerance)]


def _other_names(results: Sequence[str], arrays: Sequence[str]) -> str:
    """Return how the names of arrays and results differ."""
    unknown = [name for name in arrays if name not in results]
    missing = [name for name in results if name not in arrays]
    wrong = [f"no array is called '{missing[0]}'"] if missing else []
    wrong += [f"no result is called '{unknown[0]}'{did_you_mean(unknown[0], missing)}"] if unknown else []
    there = f"its arrays are {shortened(arrays)}; the results are {shortened(results)}"
    return f"{', and '.join(wrong)}\n  {there}"


def _difference(
    name: str, actual: Array, expected: Array, tolerance: tuple[int | None, float, float]
) -> Iterator[Diagnostic]:
    expected = as_numpy_loads(expected, actual.dtype)
    for what, x, y in (("dtype", actual.dtype, expected.dtype), ("shape", actual.shape, expected.shape)):
        if x != y:
            yield Diagnostic(f"result '{name}' has the {what} {x}, expected {y}")
            return
    agree = within(actual, expected, *tolerance)
    if not agree.all():
        message, notes = report(actual, expected, agree)
        yield Diagnostic(f"result '{name}' is not as expected: {message}", notes=tuple(notes))


def read_expected(path: Path) -> Mapping[str, Array] | Array:
    """Return the arrays of a file by name, or the only one; ArgumentValueError if it has none."""
    arrays = read_arrays(path)
    if isinstance(arrays, bytes):
        raise ArgumentValueError("expected an .npy, .npz or safetensors file")
    return arrays


def _by_result(names: Sequence[str], arrays: Mapping[str, Array] | Array) -> dict[str, Array]:
    """Return expected arrays by the names of results; `arr_0`, `arr_1`, ... are results by position."""
    if isinstance(arrays, np.ndarray):
        arrays = {"arr_0": arrays}
    if len(names) == len(arrays) == 1:
        return dict(zip(names, arrays.values()))
    positional = {f"arr_{i}": name for i, name in enumerate(names)}
    return {name if name in names else positional.get(name, name): array for name, array in arrays.items()}
