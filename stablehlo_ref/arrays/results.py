"""Compare arrays elementwise, and write results of a run to files, or compare them with expected ones.

The conditions and the messages are those of the check ops. Large arrays are compared block by block to limit the memory
for intermediate results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TypeAlias
from zipfile import ZipFile

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.arrays.files import read_arrays
from stablehlo_ref.arrays.host_values import as_numpy_loads, as_numpy_saves
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.diagnostics import ArgumentValueError, Diagnostic, EvaluationError
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.signature import Parameter, shortened
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow
from stablehlo_ref.numerics.ulp import ulp_distance
from stablehlo_ref.suggestions import did_you_mean

# --- agreement of arrays ----------------------------------------------------------------------------------------------


Agreement: TypeAlias = Callable[..., Array]  # from actual and expected arrays to booleans

FARTHEST = np.uint64(2**64 - 1)
SHOWN = 5  # mismatches listed individually
BLOCK = 1 << 16  # elements compared at a time

_EDGES = np.array([1, 2, 4, 16, 256, 65536], np.uint64)  # of the histogram, in ULPs


def blockwise(agree: Agreement) -> Agreement:
    """Apply `agree`, which compares two arrays of one shape elementwise, to large arrays block by block."""

    @wraps(agree)
    def run(actual: Array, expected: Array, *limits: float) -> Array:
        if actual.size <= BLOCK:
            return agree(actual, expected, *limits)
        x, y, out = actual.reshape(-1), expected.reshape(-1), np.empty(actual.size, np.bool_)
        for start in within_time(range(0, out.size, BLOCK)):
            block = slice(start, start + BLOCK)
            out[block] = agree(x[block], y[block], *limits)
        return out.reshape(actual.shape)

    return run


# --- which elements agree -------------------------------------------------------------------------------------------


@blockwise
def equal(actual: Array, expected: Array) -> Array:
    """Return which elements are equal; -0 equals +0, and any NaN equals any NaN."""
    agree = np.asarray(actual == expected)
    if kind(actual.dtype) in ("floating", "complex"):
        agree = agree | ((actual != actual) & (expected != expected))
    return agree


@blockwise
def almost_equal(actual: Array, expected: Array, tolerance: float) -> Array:
    """Return which elements differ by at most `tolerance`, in both parts of complex numbers; NaN equals NaN."""
    return _by_parts(lambda x, y: equal(x, y) | (np.abs(x - y) <= tolerance), actual, expected)


@blockwise
def close(actual: Array, expected: Array, low: int, high: int) -> Array:
    """Return which elements are at least `low` and at most `high` ULPs apart.

    An infinity or NaN is 2^64 - 1 ULPs from anything it does not equal.
    """

    def parts(x: Array, y: Array) -> Array:
        finite = np.isfinite(x) & np.isfinite(y)
        distance = np.where(finite, ulp_distance(x, y), np.where(equal(x, y), np.uint64(0), FARTHEST))
        return (np.uint64(low) <= distance) & (distance <= np.uint64(high))

    if kind(actual.dtype) == "complex":
        return parts(actual.real, expected.real) & parts(actual.imag, expected.imag)
    return parts(actual, expected)


def within(actual: Array, expected: Array, ulp: int | None = None, rtol: float = 0.0, atol: float = 0.0) -> Array:
    """Return which elements are equal, within `ulp` ULPs, or within `atol + rtol * |expected|`.

    -0 equals +0 and any NaN any NaN. Without bounds elements must be equal, and so must integers and booleans.
    """
    agree = np.asarray(equal(actual, expected))
    if kind(actual.dtype) not in ("floating", "complex"):
        return agree
    if ulp is not None:
        distance = ulp_distance(np.atleast_1d(actual), np.atleast_1d(expected)).reshape(actual.shape)
        agree = agree | (distance <= np.uint64(ulp))
    if rtol or atol:
        agree = agree | np.asarray(_in_tolerance(actual, expected, rtol, atol))
    return np.asarray(agree)


@blockwise
def _in_tolerance(actual: Array, expected: Array, rtol: float, atol: float) -> Array:
    with np.errstate(all="ignore"):
        x, y = widen_if_narrow(actual), widen_if_narrow(expected)
        return np.asarray(np.abs(x - y) <= atol + rtol * np.abs(y))


def _by_parts(agree: Agreement, actual: Array, expected: Array) -> Array:
    if kind(actual.dtype) == "complex":
        return np.asarray(agree(actual.real, expected.real) & agree(actual.imag, expected.imag))
    return np.asarray(agree(widen_if_narrow(actual), widen_if_narrow(expected)))


# --- how mismatches differ ------------------------------------------------------------------------------------------


def report(actual: Array, expected: Array, agree: Array) -> tuple[str, list[str]]:
    """Return a sentence with the number of mismatches, and lines with the worst, the first few, and a ULP histogram."""
    count = agree.size - int(np.count_nonzero(agree))
    is_float = kind(actual.dtype) in ("floating", "complex")
    worst, histogram = _worst_and_histogram(actual, expected, agree) if is_float else (-1, "")
    others = islice((i for i in chain.from_iterable(_mismatches(agree)) if i != worst), SHOWN)
    shown = [_line("worst: ", worst, actual, expected)] if is_float else []
    shown += [_line("", i, actual, expected) for i in others]
    if count > len(shown):
        shown.append(f"... and {count - len(shown)} more")
    if is_float:
        shown.append(f"ULPs apart: {histogram}")
    return f"{count} of {agree.size} elements differ", shown


def _mismatches(agree: Array) -> Iterator[Array]:
    """Yield the flat indices of mismatches, block by block."""
    flat = agree.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield start + np.flatnonzero(~flat[start : start + BLOCK])


def _worst_and_histogram(actual: Array, expected: Array, agree: Array) -> tuple[int, str]:
    """Return the flat index of the first mismatch with the largest distance, and a histogram of distances."""
    x, y, counts = actual.reshape(-1), expected.reshape(-1), np.zeros(_EDGES.size + 1, np.intp)
    worst, farthest = 0, -1
    for found in _mismatches(agree):
        distances = ulp_distance(x[found], y[found])
        counts += np.bincount(np.searchsorted(_EDGES, distances, "right"), minlength=counts.size)
        if found.size and int(distances.max()) > farthest:
            worst, farthest = int(found[distances.argmax()]), int(distances.max())
    return worst, _histogram(counts)


def _line(prefix: str, flat_index: int, actual: Array, expected: Array) -> str:
    index = tuple(map(int, np.unravel_index(flat_index, actual.shape)))
    apart = ""
    if kind(actual.dtype) in ("floating", "complex"):
        apart = f" ({int(ulp_distance(np.atleast_1d(actual[index]), np.atleast_1d(expected[index]))[0])} ULP)"
    return f"{prefix}at {list(index)}: actual {actual[index]}, expected {expected[index]}{apart}"


def _histogram(counts: Array) -> str:
    """Format counts as `1: 20, 2-3: 4, >=65536: 1`; the first count is that of distance 0."""
    names = [
        *(f"{low}" if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(map(int, _EDGES))),
        f">={_EDGES[-1]}",
        "0",
    ]
    return ", ".join(f"{name}: {count}" for name, count in zip(names, np.roll(counts, -1)) if count)


# --- results of a run -------------------------------------------------------------------------------------------------


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
