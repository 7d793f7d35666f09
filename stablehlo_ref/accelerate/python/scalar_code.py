"""How ops on scalars are computed by Python expressions.

A scalar is a numpy scalar, in generated source as in slots: numpy computes `a + b` on two of these as its ufuncs do, in
a tenth of the time of a call. `{0}` stands for the first operand, `{k}` for the kernel of the op, which computes the
cases that an expression leaves out, such as comparisons of zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import BooleanType, FloatType, IndexType, IntegerType, TensorType, Type
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT32, FLOAT64, numpy_dtype
from stablehlo_ref.ops.comparison import ComparisonType

_LOGIC = {"and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}", "not": "~{0}"}
_BOOLEAN_COMPARE = {  # numpy's own take longer than a call of a ufunc
    "==": "{1} if {0} else {zero} if {1} else {one}",
    "!=": "{0} ^ {1}",
    "<": "{zero} if {0} else {1}",
    "<=": "{1} if {0} else {one}",
    ">": "{zero} if {1} else {0}",
    ">=": "{0} if {1} else {one}",
}
_SELECT = {"select": "{1} if {0} else {2}"}
_RING = {"add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "negate": "-{0}"}
_INTEGERS = {
    **_LOGIC,
    **_RING,
    "maximum": "{0} if {0} > {1} else {1}",
    "minimum": "{0} if {0} < {1} else {1}",
    "divide": "{0} // {1} if {1} > {zero} <= {0} else {k}({0}, {1})",
    "remainder": "{0} % {1} if {1} > {zero} <= {0} else {k}({0}, {1})",
    "sign": "{one} if {0} > {zero} else {minus_one} if {0} < {zero} else {zero}",
    "shift_left": "{0} << {1}",
}
_EXTREMUM = "{0} if {0} %s {1} else {1} if {1} %s {0} else {0} if {0} == {1} and {0} else {k}({0}, {1})"
_FLOATS = {
    **_RING,
    "abs": "abs({0})",
    "maximum": _EXTREMUM % (">", ">"),
    "minimum": _EXTREMUM % ("<", "<"),
    "clamp": "{1} if {0} < {1} < {2} else {k}({0}, {1}, {2})",
}
_BOOLEANS = {
    **_LOGIC,
    "not": "{zero} if {0} else {one}",
    "add": "{0} | {1}",
    "multiply": "{0} & {1}",
    "maximum": "{0} | {1}",
    "minimum": "{0} & {1}",
}
_CODE: Mapping[str, Mapping[str, str]] = {  # by kind of numpy's dtypes
    "b": _BOOLEANS,
    "i": {**_INTEGERS, "abs": "abs({0})", "shift_right_arithmetic": "{0} >> {1}"},
    "u": {**_INTEGERS, "shift_right_logical": "{0} >> {1}"},
    "f": _FLOATS,
}
_BY_POSITIVE = {
    "divide": "{0} // {1} if {0} >= {zero} else {k}({0}, {1})",
    "remainder": "{0} % {1} if {0} >= {zero} else {k}({0}, {1})",
}
_SQUARE_ROOT = "{one} * sqrt({0}) if {0} > {zero} else {k}({0})"  # of f32: rounding twice is the same as once, to f64
_CLAMP = "{1} if {0} <= {1} <= {2} else {k}({0}, {1}, {2})"


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


def scalar_code(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of an op of StableHLO on scalars; None if there is none."""
    name = op.name.removeprefix("stablehlo.")
    if name == op.name or len(op.results) != 1 or not op.operands:
        return None
    if name == "select" and is_scalar(op.operands[0].type) and op.operands[1].type == op.results[0].type:
        return _SELECT[name]
    if not all(map(is_scalar, (*op.operand_types, *op.result_types))):
        return None
    return _code(op, name, known)


def _code(op: Operation, name: str, known: Sequence[Any]) -> str | None:
    dtype = _dtype(op.operands[0].type)
    if name == "compare":
        is_total = op.properties.get("compare_type") == ComparisonType.TOTALORDER and dtype.kind == "f"
        if dtype == BOOL:
            direction = op.properties["comparison_direction"].value
            is_same = known[1] is not None and direction == ("==" if known[1] else "!=")
            return "{0}" if is_same else _BOOLEAN_COMPARE[direction]
        return None if is_total else f"{{0}} {op.properties['comparison_direction'].value} {{1}}"
    if name in ("reshape", "broadcast_in_dim", "optimization_barrier"):
        return "{0}"
    if name == "convert":
        return _conversion(dtype, _dtype(op.results[0].type))
    if name in ("divide", "remainder") and dtype.kind in "iu" and known[1] is not None and known[1] > 0:
        return _BY_POSITIVE[name]
    if name == "divide" and dtype.kind == "f" and dtype.itemsize >= 4:
        return "{0} / {1}"
    if name == "sqrt" and dtype in (FLOAT32, FLOAT64):
        return _SQUARE_ROOT
    if name == "clamp" and dtype.kind in "iu":
        return _CLAMP
    return _CODE[dtype.kind].get(name)


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


def _dtype(type: Type) -> DType:
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type)
