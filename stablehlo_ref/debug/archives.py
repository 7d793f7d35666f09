"""Arrays in `.npz` files, by position; types that numpy lacks are saved as unsigned integers of their size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stablehlo_ref.arrays.files import read_npz
from stablehlo_ref.arrays.host_values import as_numpy_loads, as_numpy_saves
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import numpy_dtype


def save_arrays(path: Path, arrays: Sequence[Array]) -> None:
    """Write arrays as `arr_0`, `arr_1`, ..."""
    np.savez(path, *(as_numpy_saves(np.asarray(array)) for array in arrays))


def load_arrays(path: Path, parameters: Sequence[Parameter]) -> list[Array]:
    """Return an array for each parameter, by name or as `arr_0`, `arr_1`, ...; EvaluationError if one is missing."""
    arrays, found = read_npz(path), []
    for index, parameter in enumerate(parameters):
        names = (parameter.name, *parameter.names, f"arr_{index}", f"{parameter.name}_{index}")
        name = next((name for name in names if name in arrays), None)
        if name is None:
            raise EvaluationError(f"{path} has no array {parameter.name!r} or 'arr_{index}'")
        found.append(_as_declared(arrays[name], parameter))
    return found


def _as_declared(array: Array, parameter: Parameter) -> Array:
    if not isinstance(parameter.type, TensorType):
        return array
    return as_numpy_loads(array, numpy_dtype(parameter.type.element_type))
