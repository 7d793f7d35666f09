"""Describe values: in upstream's readable layout, as MLIR dense attributes, and by statistics."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from math import isfinite, prod, sqrt
from typing import Any

import numpy as np

from stablehlo_ref.argument_types import check_fields
from stablehlo_ref.ir.arrays import Array, RuntimeValue, is_splat
from stablehlo_ref.ir.types import TensorType, Type, tensor_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.numerics.dtypes import bits_dtype, float_info, kind, part_dtype
from stablehlo_ref.numerics.layout import default_buffers
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
    return f"{type} {{\n{_rows(array, 1, edge)}\n}}"


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
    if is_splat(array):
        return element_text(array.reshape(-1)[0], dense=True)
    return _nested(array)


def _nested(array: Array) -> str:
    if array.ndim == 0:
        return element_text(array[()], dense=True)
    return f"[{', '.join(_nested(row) for row in within_time(array, 'printing'))}]"


def _rows(array: Array, depth: int, edge: int | None) -> str:
    """Return the lines of an array, with the first and last `edge` items of each axis."""
    indent = "  " * depth
    is_cut = edge is not None and len(array) > 2 * edge
    first, rest = (array[:edge], array[-edge:]) if edge is not None and is_cut else (array, array[:0])
    if array.ndim == 1 or len(array) == 0:
        shown = map(element_text, within_time(first, "printing"))
        items = [*shown, *(["..."] if is_cut else []), *map(element_text, rest)]
        return f"{indent}[{', '.join(items)}]"
    rows = [_rows(row, depth + 1, edge) for row in first]
    rows += [f"{indent}  ..."] if is_cut else []
    rows += [_rows(row, depth + 1, edge) for row in rest]
    return f"{indent}[\n" + ",\n".join(rows) + f"\n{indent}]"


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


# --- statistics, and what a trace always has of a value ---------------------------------------------------------------


STATISTICS_BLOCK = 1 << 18  # elements per block, so that no temporary is as large as the array


@dataclass(frozen=True)
class ArrayStatistics:
    """Statistics of the elements that are not NaN, and the number of NaNs; of complex numbers, those of magnitudes.

    They are None without such elements. Integers are exact; the mean is computed in f64.
    """

    smallest: float | int | None
    largest: float | int | None
    mean: float | None
    nans: int

    def __str__(self) -> str:
        if self.smallest is None or self.largest is None or self.mean is None:
            return f"{self.nans} NaN" if self.nans else "empty"
        nans = f", {self.nans} NaN" if self.nans else ""
        return f"min {short(self.smallest)}, max {short(self.largest)}, mean {short(self.mean)}{nans}"


def statistics(array: Array) -> ArrayStatistics:
    """Return the statistics of an array of any element type."""
    flat = np.asarray(array).reshape(-1)
    total, count, low, high = 0.0, 0, [], []
    with default_buffers(all="ignore"):
        for start in range(0, flat.size, STATISTICS_BLOCK):
            numbers = _numbers(flat[start : start + STATISTICS_BLOCK])
            if numbers.size:
                low.append(numbers.min().item())
                high.append(numbers.max().item())
                total += float(numbers.sum(dtype=np.float64))
                count += numbers.size
    nans = flat.size - count
    return ArrayStatistics(min(low, default=None), max(high, default=None), total / count if count else None, nans)


def _numbers(block: Array) -> Array:
    """Return the elements that are numbers, as a dtype of numpy's."""
    match kind(block.dtype):
        case "boolean":
            return block.astype(np.int8)
        case "integer":
            return block if block.dtype.isbuiltin == 1 else block.astype(np.int64)
        case "complex":
            block = np.abs(block)
    wide = widen_if_narrow(block)
    return np.asarray(wide[wide == wide])


def short(number: float) -> str:
    """Return an integer as it is, and another number with six digits."""
    return str(number) if isinstance(number, int) else f"{number:.6g}"


BLOCK = 1 << 16  # elements per block, so that temporaries stay in the cache


@dataclass
class Digest:
    """Statistics of the elements of an array; those of a complex array are of real and imaginary parts.

    `min`, `max`, `mean` and `rms` are of the finite elements, None without any; `mean` and `rms` are computed in f64.
    `hash` is the first half of SHA-256 of the elements in row-major order as their bytes in memory. `exponents` has
    the number of normal elements `x` with `2**e <= |x| < 2**(e + 1)` by `e`; of floats only.
    """

    dtype: str
    shape: tuple[int, ...]
    min: float | int | None = None
    max: float | int | None = None
    mean: float | None = None
    rms: float | None = None
    nans: int = 0
    infinities: int = 0
    zeros: int = 0
    subnormals: int = 0
    hash: str = ""
    exponents: dict[int, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return dictionaries, lists, numbers and strings; the keys of `exponents` are strings."""
        return {**asdict(self), "shape": list(self.shape), "exponents": {str(e): n for e, n in self.exponents.items()}}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Digest:
        """Return what `to_json` was called on; an error of Python if it is something else."""
        exponents = {int(e): n for e, n in fields["exponents"].items()}
        found = cls(**{**fields, "shape": tuple(fields["shape"]), "exponents": exponents})
        check_fields(found)
        if not all(number is None or isfinite(number) for number in (found.min, found.max, found.mean, found.rms)):
            raise ValueError("expected statistics of finite elements")
        return found

    def __str__(self) -> str:
        numbers = {"min": self.min, "max": self.max, "mean": self.mean, "rms": self.rms}
        shown = [f"{name} {short(number)}" for name, number in numbers.items() if number is not None]
        counts = {
            "NaN": self.nans, "infinite": self.infinities, "zero": self.zeros, "subnormal": self.subnormals,
        }  # fmt: skip
        return ", ".join([*shown, *(f"{count} {name}" for name, count in counts.items() if count)]) or "empty"


def digest(value: Array) -> Digest:
    """Return the digest of an array of any element type, block by block, without temporaries of its size."""
    array = np.asarray(value)
    found = Digest(array.dtype.name, array.shape)
    total, squares, count, hashed = 0.0, 0.0, 0, hashlib.sha256()
    exponents: Counter[int] = Counter()
    with np.errstate(all="ignore"):
        for block in _blocks(array):
            hashed.update(block.data)
            numbers = _finite(block.view(array.dtype), found, exponents)
            if numbers.size:
                low, high = numbers.min().item(), numbers.max().item()
                found.min = low if found.min is None else min(found.min, low)
                found.max = high if found.max is None else max(found.max, high)
                wide = numbers.astype(np.float64, copy=False)
                total += float(wide.sum())
                squares += float(np.square(wide).sum())
                count += numbers.size
    if count:
        found.mean, found.rms = _finite_or_none(total / count), _finite_or_none(sqrt(squares / count))
    found.hash, found.exponents = hashed.hexdigest()[:32], dict(sorted(exponents.items()))
    return found


def _blocks(array: Array) -> Iterator[Array]:
    """Yield the elements in row-major order, as contiguous arrays of numpy's dtypes."""
    bits = array if array.dtype.kind in "biufc" and array.dtype.isbuiltin == 1 else array.view(bits_dtype(array.dtype))
    if bits.flags.c_contiguous:
        flat = bits.reshape(-1)
        for start in range(0, flat.size, BLOCK):
            yield flat[start : start + BLOCK]
    elif bits.size:
        chunks = np.nditer(bits, flags=("external_loop", "buffered"), order="C", buffersize=BLOCK)
        yield from (np.ascontiguousarray(chunk) for chunk in chunks)


def _finite(block: Array, found: Digest, exponents: Counter[int]) -> Array:
    """Return the finite elements of a block, or all integers, and count the others."""
    match kind(block.dtype):
        case "boolean" | "integer":
            numbers = block.astype(np.int64) if block.dtype.isbuiltin != 1 or block.dtype == bool else block
            found.zeros += numbers.size - int(np.count_nonzero(numbers))
            return numbers
        case "complex":
            block = block.view(part_dtype(block.dtype))
    tiny = float(float_info(block.dtype).smallest_normal)
    wide = widen_if_narrow(block)
    size = np.abs(wide)
    finite = size < np.inf
    found.nans += int(np.count_nonzero(wide != wide))
    found.infinities += int(np.count_nonzero(size == np.inf))
    found.zeros += block.size - int(np.count_nonzero(wide))
    found.subnormals += int(np.count_nonzero((size < tiny) & (size > 0)))
    normal = finite & (size >= tiny)
    exponents.update(_exponents(size if normal.all() else size[normal]))
    return wide if finite.all() else wide[finite]


def _exponents(normal: Array) -> dict[int, int]:
    """Return how many positive normal numbers of f32 or f64 have each exponent."""
    if not normal.size:
        return {}
    mantissa, bias = (23, 127) if normal.dtype == np.float32 else (52, 1023)
    fields = (np.ascontiguousarray(normal).view(bits_dtype(normal.dtype)) >> mantissa).astype(np.intp)
    counts = np.bincount(fields)
    return {int(e) - bias: int(counts[e]) for e in np.flatnonzero(counts)}


def _finite_or_none(number: float) -> float | None:
    return number if isfinite(number) else None
