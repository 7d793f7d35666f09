"""Values as text: the readable form, in upstream's layout, and the dense form, which is MLIR."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.numerics.dtypes import is_narrow_float, kind
from stablehlo_ref.numerics.narrow import widen

MOST_EMPTY = 1 << 16  # brackets around nothing; there may be more than anybody could print


def value_text(type: Type, value: Any) -> str:
    """A value as `tensor<2xi8> { [1, 2] }` over several lines; tokens and tuples by their structure."""
    if value is None:
        return "token"
    if isinstance(value, tuple):
        elements = getattr(type, "elements", ())
        return "tuple (\n" + "".join(f"{value_text(t, v)}\n" for t, v in zip(elements, value)) + ")"
    array = np.asarray(value)
    type = _type_of(array, type)
    if array.ndim == 0:
        return f"{type} {{{element_text(array[()])}}}"
    if not array.size and prod(n or 1 for n in array.shape) > MOST_EMPTY:
        return f"{type} {{...}}"
    return f"{type} {{\n" + "\n".join(_lines(array, 1)) + "\n}"


def dense_text(type: Type, value: Any) -> str:
    """A value as `dense<[1, 2]> : tensor<2xi8>`; a splat where all elements are the same."""
    if value is None or isinstance(value, tuple):
        return value_text(type, value)
    array = np.asarray(value)
    return f"dense<{_dense_body(array)}> : {_type_of(array, type)}"


def _type_of(array: np.ndarray, declared: Type) -> Type:
    """The type with the sizes that the array turned out to have."""
    is_exact = not isinstance(declared, TensorType) or declared.shape == array.shape
    return declared if is_exact else tensor_type(array.shape, declared.element_type)  # type: ignore[attr-defined]


def _dense_body(array: np.ndarray) -> str:
    if array.size == 0:
        return ""
    bits = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, -1)
    if bool((bits == bits[0]).all()):
        return element_text(array.reshape(-1)[0], dense=True)
    return _nested(array)


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return element_text(array[()], dense=True)
    return f"[{', '.join(_nested(row) for row in array)}]"


def _lines(array: np.ndarray, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if array.ndim == 1 or len(array) == 0:
        yield f"{indent}[{', '.join(map(element_text, array))}]"
        return
    yield f"{indent}["
    for i, row in enumerate(array):
        *lines, last = _lines(row, depth + 1)
        yield from lines
        yield last + ("," if i + 1 < len(array) else "")
    yield f"{indent}]"


def element_text(x: Any, dense: bool = False) -> str:
    """One element: `true`, `-3`, `1.500000e+00`, `[re, im]` (in dense form `(re,im)`); NaN and infinities in words,
    in dense form as their bits."""
    dtype = np.asarray(x).dtype
    match kind(dtype):
        case "boolean":
            return "true" if x else "false"
        case "integer":
            return str(int(x))
        case "complex":
            parts = element_text(x.real, dense), element_text(x.imag, dense)
            return f"({parts[0]},{parts[1]})" if dense else f"[{parts[0]}, {parts[1]}]"
    wide = widen(np.asarray(x)) if is_narrow_float(dtype) else x
    if dense and not np.isfinite(wide):
        return f"0x{int(np.asarray(x).view(f'u{dtype.itemsize}')):0{2 * dtype.itemsize}X}"
    if np.isnan(wide):
        return "nan"
    if np.isinf(wide):
        return "inf" if wide > 0 else "-inf"
    return _shortest(wide)


def _shortest(wide: Any) -> str:
    """Six digits where they give the number back, else as many as are needed."""
    text = f"{float(wide):.6e}"
    dtype = np.asarray(wide).dtype
    if dtype.type(text) == wide:
        return text
    return np.format_float_scientific(wide, unique=True, exp_digits=2, min_digits=6)
