"""Which elements of arrays are exceptional: NaN or infinite."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.arrays.value_text import element_text
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.dtypes import float_info, is_narrow_float, kind
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow


class Masks(NamedTuple):
    """Where an array is NaN, and where it is infinite. A complex number with a NaN in it is NaN."""

    nan: Array
    inf: Array

    @property
    def any(self) -> Array:
        """Where an array is exceptional."""
        return np.asarray(self.nan | self.inf)


def is_float(array: Any) -> bool:
    """Return whether a value is an array of floating-point or complex numbers."""
    return isinstance(array, np.ndarray | np.generic) and kind(array.dtype) in ("floating", "complex")


def is_real(array: Any) -> bool:
    """Return whether a value is an array of floating-point numbers."""
    return isinstance(array, np.ndarray | np.generic) and kind(array.dtype) == "floating"


def has_exceptions(value: Any) -> bool:
    """Return whether a value, or one in a tuple, has a NaN or an infinity; others than floats have none.

    Two reductions without temporaries: NaN propagates through `max`, and repeated elements of a broadcast are visited
    once.
    """
    if isinstance(value, tuple):
        return any(map(has_exceptions, value))
    if not is_float(value) or not value.size:
        return False
    array = without_repetition(np.asarray(value))
    if array.dtype.kind == "c":
        return not (_is_finite(array.real) and _is_finite(array.imag))
    return not _is_finite(widen_if_narrow(array) if is_narrow_float(array.dtype) else array)


def _is_finite(array: Array) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.isfinite(array.max()) and np.isfinite(array.min()))


def without_repetition(array: Array) -> Array:
    """Return an array with size 1 along axes that repeat one element, as those of a broadcast do."""
    if 0 not in array.strides:
        return array
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]


def masks(array: Any) -> Masks:
    """Return where an array is NaN and infinite; nowhere if it is not one of floats."""
    if not is_float(array):
        nowhere = np.zeros(np.shape(array), bool)
        return Masks(nowhere, nowhere)
    wide = widen_if_narrow(np.asarray(array))
    nan = np.isnan(wide)
    return Masks(np.asarray(nan), np.asarray(np.isinf(wide) & ~nan))


def first_index(mask: Array) -> tuple[int, ...]:
    """Return the index of the first true element, in row-major order."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def element_at(value: Any, index: tuple[int, ...]) -> str:
    """Return an element as text; of a scalar, itself."""
    array = np.asarray(value)
    return element_text(array[index if array.ndim else ()])


def smallest_normal(array: Array) -> float:
    """Return the smallest positive normal number of an array's type."""
    return float(float_info(array.dtype).smallest_normal)
