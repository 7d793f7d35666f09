"""How ops on scalars and small tensors are computed by Python expressions, and lines of the source with these.

A scalar is a numpy scalar, in generated source as in slots: numpy computes `a + b` on two of these as its ufuncs do, in
a tenth of the time of a call. `{0}` stands for the first operand, `{r}` for the result, `{k}` for the kernel of the op,
which computes the cases that an expression leaves out, such as comparisons of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.execute.guard import LARGE, byte_size
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import BooleanType, FloatType, IndexType, IntegerType, TensorType, Type
from stablehlo_ref.numerics import floats, integers
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT32, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.comparison import Compare, ComparisonType, Select
from stablehlo_ref.ops.conversion import Convert
from stablehlo_ref.ops.elementwise import on_element
from stablehlo_ref.ops.slicing import OWN_BYTES

_NUMBERS = {"zero": 0, "one": 1, "minus_one": -1}
_KNOWN: dict[Any, Any] = {}
MOVES = frozenset(  # move elements
    f"stablehlo.{name}" for name in ("slice", "reshape", "broadcast_in_dim", "concatenate", "transpose", "reverse")
)
_SAME = ("stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.optimization_barrier")  # on scalars

Form = Callable[[Operation, DType, Sequence[Any]], str | None]  # of an op, the dtype of operands, and those known


def is_scalar(type: Type) -> bool:
    """Return whether values of a type are scalars of numpy's own types."""
    return isinstance(type, TensorType) and type.shape == () and is_plain(type)


@lru_cache(maxsize=4096)  # often asked for the same types
def is_plain(type: Type) -> bool:
    """Return whether values of a type are tensors of a static shape and of numpy's own types."""
    if not isinstance(type, TensorType) or not type.is_static:
        return False
    element = type.element_type
    if not isinstance(element, BooleanType | FloatType | IntegerType | IndexType):
        return False
    dtype = numpy_dtype(element)
    return dtype.isbuiltin == 1 and dtype.kind in "biuf"


def is_array(type: Type) -> bool:
    """Return whether ufuncs return arrays of a type: they return numpy scalars if its rank is 0."""
    return isinstance(type, TensorType) and type.shape != ()


def may_count(op: Operation) -> bool:
    """Return whether an op in the regions of `op` may count turns or calls."""
    inner = [x for region in op.regions for block in region.blocks for x in block.operations]
    return any(x.regions or x.name in ("func.call", "stablehlo.custom_call", "stablehlo.composite") for x in inner)


def scalar_type(type: Type) -> Any:
    """Return the class of numpy's scalars of a type."""
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type).type


def shape_of(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return tuple(n or 0 for n in value.type.shape)


def dtype_of(type: Type) -> DType:
    """Return the dtype of a tensor type."""
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type)


# --- scalars --------------------------------------------------------------------------------------------------------


def scalar_code(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of an op on scalars; None if there is none."""
    if len(op.results) != 1 or not op.operands:
        return None
    if op.name in _SAME:
        return "{0}" if all(map(is_scalar, (*op.operand_types, *op.result_types))) else None
    form = _FORMS.get(what := on_element(op))
    if form is None or not all(map(is_scalar, op.operand_types[: 1 if what is Select else None])):
        return None
    if what is Select:
        return _SELECT if op.operands[1].type == op.results[0].type else None
    return form if isinstance(form, str) else form(op, dtype_of(op.operands[0].type), known)


def _divided(operator: str) -> Form:
    """Return the form of an integer quotient or remainder, which Python rounds otherwise below zero."""

    def form(op: Operation, dtype: DType, known: Sequence[Any]) -> str:
        test = "{0} >= {zero}" if known[1] is not None and known[1] > 0 else "{1} > {zero} <= {0}"
        return f"{{0}} {operator} {{1}} if {test} else {{k}}({{0}}, {{1}})"

    return form


def _compare(op: Operation, dtype: DType, known: Sequence[Any]) -> str | None:
    direction = op.properties["comparison_direction"].value
    if dtype == BOOL:
        is_same = known[1] is not None and direction == ("==" if known[1] else "!=")
        return "{0}" if is_same else _BOOLEAN_COMPARE[direction]
    is_total = op.properties.get("compare_type") == ComparisonType.TOTALORDER and dtype.kind == "f"
    return None if is_total else f"{{0}} {direction} {{1}}"


def _of_kind(kind: str, code: str) -> Form:
    """Return the form of an op that has an expression for dtypes of one of these kinds."""
    return lambda op, dtype, known: code if dtype.kind in kind else None


def _wide(code: str) -> Form:
    """Return the form of an op that has an expression for f32 and f64."""
    return lambda op, dtype, known: code if dtype in (FLOAT32, FLOAT64) else None


def _convert(op: Operation, dtype: DType, known: Sequence[Any]) -> str | None:
    target = op.results[0].type
    return _conversion(dtype, dtype_of(target)) if is_scalar(target) else None


def _conversion(source: DType, target: DType) -> str | None:
    """Return the code of a conversion; storing a number in an array converts it."""
    if source == target:
        return "{0}"
    if source == BOOL:
        return "{to_one} if {0} else {to_zero}"
    if target == BOOL:
        return "{0} != {zero}"
    if target.kind in "iu" and not np.can_cast(source, target):
        return None  # wraps or saturates
    if target.kind == "f" and target.itemsize == 2:
        return None  # rounds once, which numpy does not from all types
    if source.itemsize <= 4 and target in (FLOAT32, FLOAT64):
        return "{to_one} * float({0})"  # which is exact; the product is rounded once
    return "{T}[0] = {0}\n{r} = {T}[0]"


_BOOLEAN_COMPARE = {  # numpy's own take longer than a call of a ufunc
    "==": "{1} if {0} else {zero} if {1} else {one}",
    "!=": "{0} ^ {1}",
    "<": "{zero} if {0} else {1}",
    "<=": "{1} if {0} else {one}",
    ">": "{zero} if {1} else {0}",
    ">=": "{0} if {1} else {one}",
}
_SELECT = "{1} if {0} else {2}"
_EXTREMUM = "{0} if {0} %s {1} else {1} if {1} %s {0} else {0} if {0} == {1} and {0} else {k}({0}, {1})"
_SQUARE_ROOT = "{one} * sqrt({0}) if {0} > {zero} else {k}({0})"  # of f32: rounding twice is the same as once, to f64
_FORMS: Mapping[object, str | Form] = {  # by what `on_element` returns
    same_kernel(np.logical_and): "{0} & {1}",
    same_kernel(np.logical_or): "{0} | {1}",
    same_kernel(np.not_equal): "{0} ^ {1}",
    same_kernel(np.logical_not): "{zero} if {0} else {one}",
    integers.bitwise_and: "{0} & {1}",
    integers.bitwise_or: "{0} | {1}",
    integers.bitwise_xor: "{0} ^ {1}",
    integers.bitwise_not: "~{0}",
    integers.add: "{0} + {1}",
    integers.subtract: "{0} - {1}",
    integers.multiply: "{0} * {1}",
    integers.negate: "-{0}",
    integers.divide: _divided("//"),
    integers.remainder: _divided("%"),
    integers.maximum: "{0} if {0} > {1} else {1}",
    integers.minimum: "{0} if {0} < {1} else {1}",
    integers.clamp: _of_kind("iu", "{1} if {0} <= {1} <= {2} else {k}({0}, {1}, {2})"),
    integers.abs: "abs({0})",
    integers.sign: "{one} if {0} > {zero} else {minus_one} if {0} < {zero} else {zero}",
    integers.shift_left: "{0} << {1}",
    integers.shift_right_arithmetic: _of_kind("i", "{0} >> {1}"),
    integers.shift_right_logical: _of_kind("u", "{0} >> {1}"),
    floats.add: "{0} + {1}",
    floats.subtract: "{0} - {1}",
    floats.multiply: "{0} * {1}",
    floats.negate: "-{0}",
    floats.divide: _wide("{0} / {1}"),
    floats.maximum: _EXTREMUM % (">", ">"),
    floats.minimum: _EXTREMUM % ("<", "<"),
    floats.clamp: "{1} if {0} < {1} < {2} else {k}({0}, {1}, {2})",
    floats.abs: "abs({0})",
    floats.sqrt: _wide(_SQUARE_ROOT),
    Compare: _compare,
    Convert: _convert,
    Select: _SELECT,
}


# --- small tensors --------------------------------------------------------------------------------------------------


def code_of(op: Operation, known: Sequence[Any], is_canonical: bool) -> str | None:
    """Return the expression of an op, or statements; None if it has none, and its kernel is called.

    `known` are the values of the operands that are constant scalars, and None for others. If `is_canonical`, the kernel
    computes NaNs, which are the canonical one.
    """
    rule = _RULES.get(op.name)
    is_all_plain = rule is None or all(is_plain(t) for t in (*op.operand_types, *op.result_types))
    code = (rule and is_all_plain and rule(op, known)) or (scalar_code(op, known) if is_all_plain else None)
    if code is None or not is_canonical or not issubclass(scalar_type(op.operands[0].type), np.floating):
        return code
    code = code if "{r}" in code else "{r} = " + code
    operands = ", ".join(f"{{{number}}}" for number, _ in enumerate(op.operands))
    return f"{code}\nif {{r}} != {{r}}: {{r}} = {{k}}({operands})[()]"


def names_in(code: str, op: Operation) -> dict[str, Any]:
    """Return the numbers that code names, as scalars of the type of operands, or with `to_` of the result."""
    types = {"": op.operands[0].type, "to_": op.results[0].type}
    return {
        prefix + name: _KNOWN.setdefault((scalar, value), scalar(value))
        for prefix, type in types.items()
        for name, value in _NUMBERS.items()
        if f"{{{prefix}{name}}}" in code and (scalar := scalar_type(type))
    }


def _reshape(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of a reshape to a scalar."""
    shape = shape_of(op.operands[0])
    return f"{{0}}[{', '.join('0' * len(shape))}]" if shape and not shape_of(op.results[0]) else None


def _slice(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of a slice at fixed indices."""
    bounds = zip(*(op.properties[name] for name in ("start_indices", "limit_indices", "strides")))
    index = [f"{first}:{last}:{step}" if step > 1 else f"{first}:{last}" for first, last, step in bounds]
    whole = [f"0:{size}" for size in shape_of(op.operands[0])]
    while index and index[-1] == whole[len(index) - 1]:
        index.pop()
    return f"{{0}}[{', '.join(index)}]" if index else None


def _dynamic_slice(op: Operation, known: Sequence[Any]) -> str | None:
    """Return a slice at clamped indices, copied if it is small, as the kernel does."""
    sizes = shape_of(op.results[0])
    if not sizes:
        return None
    code, place = located_slice(shape_of(op.operands[0]), sizes, known[1:], 1)
    is_small = prod(sizes) * np.dtype(scalar_type(op.results[0].type)).itemsize <= OWN_BYTES
    return f"{code}{{r}} = {{0}}[{place}]{'.copy()' if is_small else ''}"


def located_slice(
    shape: Sequence[int], sizes: Sequence[int], known: Sequence[Any], first: int
) -> tuple[str, str]:  # fmt: skip
    """Return statements that clamp the start indices of a slice, operands from `first` on, and its index."""
    code, places = "", []
    for axis, (whole, size, start) in enumerate(zip(shape, sizes, known)):
        last, x = whole - size, f"x{axis}"
        if not last:
            places.append(":")
        elif start is not None:
            at = min(max(int(start), 0), last)
            places.append(f"{at}:{at + size}")
        else:
            code += f"{x} = {{index}}({{{first + axis}}})\n"
            code += f"if not 0 <= {x} <= {last}: {x} = 0 if {x} < 0 else {last}\n"
            places.append(f"{x}:{x} + {size}")
    return code, ", ".join(places)


def update_code(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the statements of a dynamic_update_slice into `{r}`, an array that may be overwritten."""
    shape, sizes = shape_of(op.operands[0]), shape_of(op.operands[1])
    if shape == sizes or not all(is_plain(t) for t in op.operand_types):
        return None
    if byte_size(op.results[0].type) >= LARGE:  # the kernel checks the budget before it copies so much
        return None
    code, place = located_slice(shape, sizes, known[2:], 2)
    return f"{code}{{r}}[{place}] = {{1}}"


def scatter_code(op: Operation) -> str | None:
    """Return the statements of a scatter of one update, a scalar or a part along whole dimensions, into `{r}`.

    `{r}` is an array that may be overwritten; operands are the array, the update and the indices one by one.
    """
    if len(op.operands) != 3 or not all(map(is_plain, op.operand_types)):
        return None
    sign = _assignment(op.regions[0].block)
    if sign is None or op.result_types[0] != op.operand_types[0]:  # promoted
        return None
    axes, inserted = op.properties["scatter_dims_to_operand_dims"], op.properties["inserted_window_dims"]
    shape, sizes, update = map(shape_of, op.operands)
    kept = tuple(size for axis, size in enumerate(shape) if axis not in inserted)
    if sizes != (len(inserted) or -1,) or op.properties["index_vector_dim"] or sorted(axes) != sorted(inserted):
        return None
    if update != kept or sorted(op.properties["update_window_dims"]) != list(range(len(update))):
        return None
    if byte_size(op.results[0].type) >= LARGE:
        return None
    places = [f"x{axis}" if axis in axes else ":" for axis in range(len(shape))]
    code = "".join(f"x{axis} = index({{{number}}})\n" for number, axis in enumerate(axes, 2))
    test = " and ".join(f"0 <= x{axis} < {shape[axis]}" for axis in axes)
    return f"{code}if {test}: {{r}}[{', '.join(places)}] {sign} {{1}}"


def _assignment(block: Block) -> str | None:
    """Return the assignment that the body of a scatter of one input stands for, which replaces elements or adds."""
    match block.operations:
        case [terminator] if terminator.operands == block.arguments[1:]:
            return "="
        case [op, terminator] if op.name == "stablehlo.add" and terminator.operands == op.results:
            is_exact = np.dtype(scalar_type(op.results[0].type)).kind in "iu" or scalar_type(op.results[0].type) in (
                np.float32,
                np.float64,
            )
            return "+=" if is_exact and op.operands == block.arguments else None
    return None


_RULES = {
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.reshape": _reshape,
    "stablehlo.slice": _slice,
}
