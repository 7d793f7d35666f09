"""Format values as text: in upstream's readable layout, or as MLIR dense attributes."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, prod

import numpy as np

from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import kind
from stablehlo_ref.numerics.narrow_floats import widen_if_narrow

LARGE, EDGE = 1000, 3  # elements of arrays that are elided, and items kept at each end of an axis: those of numpy
MOST_EMPTY = 1 << 16  # pairs of brackets printed for an array without elements


def value_text(type: Type, value: RuntimeValue, elides: bool = False) -> str:
    """Format a value as `tensor<2xi8> { [1, 2] }` over several lines, and tokens and tuples by their structure.

    If `elides`, `...` stands for all but the first and last elements of each axis of a large array, as in numpy.
    """
    if value is None:
        return "token"
    if isinstance(value, tuple):
        elements = getattr(type, "elements", ())
        return "tuple (\n" + "".join(f"{value_text(t, v, elides)}\n" for t, v in zip(elements, value)) + ")"
    array = np.asarray(value)
    type = _type_of(array, type)
    if array.ndim == 0:
        return f"{type} {{{element_text(array[()])}}}"
    if not array.size and prod(n or 1 for n in array.shape) > MOST_EMPTY:
        return f"{type} {{...}}"
    edge = EDGE if elides and array.size > LARGE else None
    return f"{type} {{\n" + "\n".join(_lines(array, 1, edge)) + "\n}"


def dense_text(type: Type, value: RuntimeValue) -> str:
    """Format a value as `dense<[1, 2]> : tensor<2xi8>`, with a splat if all elements are the same."""
    if value is None or isinstance(value, tuple):
        return value_text(type, value)
    array = np.asarray(value)
    return f"dense<{_dense_body(array)}> : {_type_of(array, type)}"


def type_text(type: Type, value: RuntimeValue) -> str:
    """Return the type of a value, with the sizes that unknown dimensions have."""
    is_array = value is not None and not isinstance(value, tuple)
    return str(_type_of(np.asarray(value), type) if is_array else type)


def _type_of(array: Array, declared: Type) -> Type:
    """Return the declared type with the sizes of the array."""
    if not isinstance(declared, TensorType) or declared.shape == array.shape:
        return declared
    return tensor_type(array.shape, declared.element_type)


def _dense_body(array: Array) -> str:
    if array.size == 0:
        return ""
    bits = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, -1)
    if bool((bits == bits[0]).all()):
        return element_text(array.reshape(-1)[0], dense=True)
    return _nested(array)


def _nested(array: Array) -> str:
    if array.ndim == 0:
        return element_text(array[()], dense=True)
    return f"[{', '.join(_nested(row) for row in within_time(array, 'printing'))}]"


def _lines(array: Array, depth: int, edge: int | None) -> Iterator[str]:
    """Yield the lines of an array, with the first and last `edge` items of each axis."""
    indent = "  " * depth
    is_cut = edge is not None and len(array) > 2 * edge
    first, rest = (array[:edge], array[-edge:]) if edge is not None and is_cut else (array, array[:0])
    if array.ndim == 1 or len(array) == 0:
        shown = map(element_text, within_time(first, "printing"))
        items = [*shown, *(["..."] if is_cut else []), *map(element_text, rest)]
        yield f"{indent}[{', '.join(items)}]"
        return
    yield f"{indent}["
    for i, row in enumerate(first):
        yield from _row(row, depth + 1, edge, is_cut or i + 1 < len(first))
    if is_cut:
        yield f"{indent}  ...,"
    for i, row in enumerate(rest):
        yield from _row(row, depth + 1, edge, i + 1 < len(rest))
    yield f"{indent}]"


def _row(row: Array, depth: int, edge: int | None, has_comma: bool) -> Iterator[str]:
    *lines, last = _lines(row, depth, edge)
    yield from lines
    yield last + ("," if has_comma else "")


def element_text(x: Array, dense: bool = False) -> str:
    """Format one element: `true`, `-3`, `1.500000e+00`, `[re, im]` (in dense form `(re,im)`).

    NaN and infinities are `nan` and `inf`, and their bits in dense form.
    """
    dtype = np.asarray(x).dtype
    match kind(dtype):
        case "boolean":
            return "true" if x else "false"
        case "integer":
            return str(int(x))
        case "complex":
            parts = element_text(x.real, dense), element_text(x.imag, dense)
            return f"({parts[0]},{parts[1]})" if dense else f"[{parts[0]}, {parts[1]}]"
    wide = widen_if_narrow(np.asarray(x))
    if dense and not np.isfinite(wide):
        return f"0x{int(np.asarray(x).view(f'u{dtype.itemsize}')):0{2 * dtype.itemsize}X}"
    if np.isnan(wide):
        return "nan"
    if np.isinf(wide):
        return "inf" if wide > 0 else "-inf"
    return _shortest(wide)


def _shortest(wide: Array) -> str:
    """Format with six digits if they round-trip, else with as many as are needed."""
    to_scalar = np.asarray(wide).dtype.type
    text, scalar = f"{float(wide):.6e}", to_scalar(wide)
    if to_scalar(text) == scalar:
        return text
    return np.format_float_scientific(scalar, unique=True, exp_digits=2, min_digits=6)


def json_number(value: float | None) -> float | str | None:
    """Return a number, or `inf`, `-inf` and `nan`, which JSON does not have, as strings; None as it is."""
    return value if value is None or isfinite(value) else str(value)
