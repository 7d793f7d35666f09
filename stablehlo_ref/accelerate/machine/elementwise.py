"""Elementwise ops as instructions: those that IEEE 754 and integer arithmetic determine to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import NARROW, Assembly, Kind, NotCompiled, Register, computed, literal
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS, function
from stablehlo_ref.accelerate.machine.tensors import is_plain
from stablehlo_ref.accelerate.python.expressions import dtype_of
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics import elementary, floats, integers
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.comparison import Compare, ComparisonType, Select
from stablehlo_ref.ops.conversion import BitcastConvert, Convert
from stablehlo_ref.ops.elementwise import on_element

_EXTREMA = {"i": ("smax", "smin"), "u": ("umax", "umin"), "f": ("maximum", "minimum")}

Form = Callable[..., Register | None]  # of the code, the op, and registers of operands; None without instructions


def elementwise(code: Assembly, op: Operation, operands: Sequence[Register], is_canonical: bool = False) -> Register:
    """Append the instructions of an elementwise op, and if need be those that make NaNs of its result canonical.

    Raises
    ------
    NotCompiled
        If there are none: IEEE 754 or integer arithmetic do not determine the op's result.
    """
    result = _instructions(code, op, operands) if operands and len(op.results) == 1 else None
    if result is None:
        raise NotCompiled(op.name)
    return code.canonical(result) if is_canonical and result.kind.dtype.kind == "f" else result


def _instructions(code: Assembly, op: Operation, operands: Sequence[Register]) -> Register | None:
    what, narrow = on_element(op), {dtype_of(t) for t in (*op.operand_types, *op.result_types)}.intersection(NARROW)
    if narrow and (what not in _ROUNDED or (what is Select and FLOAT16 in narrow)):
        return None
    if what in FUNCTIONS:
        return function(code, what, operands[0]) if operands[0].kind.dtype == FLOAT32 else None
    form, dtype = _FORMS.get(what), dtype_of(op.results[0].type)
    result = form(code, op, *operands) if form else None
    return code.rounded(result, dtype) if result and dtype in NARROW and what is not Select else result


def has_code(op: Operation) -> bool:
    """Return whether an op is elementwise and has instructions for its types."""
    types = (*op.operand_types, *op.result_types)
    if op.regions or not all(isinstance(t, TensorType) and (is_plain(t) or is_narrow(t)) for t in types):
        return False
    operands = [Register("%x", replace(kind_of(value.type), count=4)) for value in op.operands]
    if operands and on_element(op) in FUNCTIONS:
        return dtype_of(op.operands[0].type) == FLOAT32
    try:
        elementwise(Assembly(), op, operands)
    except NotCompiled:
        return False
    return True


def _binary(instruction: str) -> Form:
    return lambda code, op, x, y: code.binary(instruction, x, y)


def _intrinsic(name: str) -> Form:
    return lambda code, op, x: code.intrinsic(name, x)


def _extremum(number: int) -> Form:
    return lambda code, op, x, y: code.intrinsic(_EXTREMA[x.kind.dtype.kind][number], x, y)


def _divide(code: Assembly, op: Operation, x: Register, y: Register) -> Register:
    """Return -1 for a divisor of 0, and the negated dividend for one of -1, which may overflow."""
    if x.kind.dtype.kind == "u":
        quotient = code.binary("udiv", x, _instead(code, y, zero := _is(code, y, 0)))
        return code.select(zero, literal(x.kind, np.iinfo(x.kind.dtype).max), quotient)
    zero, minus_one = _is(code, y, 0), _is(code, y, -1)
    quotient = code.binary("sdiv", x, _instead(code, y, code.binary("or", zero, minus_one)))
    quotient = code.select(minus_one, _negate(code, op, x), quotient)
    return code.select(zero, literal(x.kind, -1), quotient)


def _remainder(code: Assembly, op: Operation, x: Register, y: Register) -> Register:
    """Return the dividend for a divisor of 0, and 0 for one of -1."""
    zero = _is(code, y, 0)
    if x.kind.dtype.kind == "u":
        return code.select(zero, x, code.binary("urem", x, _instead(code, y, zero)))
    minus_one = _is(code, y, -1)
    rest = code.binary("srem", x, _instead(code, y, code.binary("or", zero, minus_one)))
    return code.select(zero, x, code.select(minus_one, literal(x.kind, 0), rest))


def _is(code: Assembly, x: Register, value: int) -> Register:
    return code.compare("oeq" if x.kind.dtype.kind == "f" else "eq", x, literal(x.kind, value))


def _instead(code: Assembly, x: Register, condition: Register) -> Register:
    return code.select(condition, literal(x.kind, 1), x)


def _rsqrt(code: Assembly, op: Operation, x: Register) -> Register | None:
    """Divide in f64, whose result rounds to f32 correctly, as that of the kernel."""
    if x.kind.dtype != FLOAT32:
        return None
    root = code.intrinsic("sqrt", code.cast("fpext", x, FLOAT64))
    return code.cast("fptrunc", code.binary("fdiv", literal(root.kind, 1.0), root), FLOAT32)


def _square(code: Assembly, op: Operation, x: Register) -> Register:
    return code.binary("fmul", x, x)


def _shift(instruction: str) -> Callable[[Assembly, Operation, Register, Register], Register]:
    def rule(code: Assembly, op: Operation, x: Register, y: Register) -> Register:
        """Shift out all bits if the amount, an unsigned number, is the width or more."""
        width = 8 * x.kind.dtype.itemsize
        fits = code.compare("ult", y, literal(y.kind, width))
        if instruction == "ashr":
            return code.binary(instruction, x, code.select(fits, y, literal(y.kind, width - 1)))
        shifted = code.binary(instruction, x, code.select(fits, y, literal(y.kind, 0)))
        return code.select(fits, shifted, literal(x.kind, 0))

    return rule


def _negate(code: Assembly, op: Operation, x: Register) -> Register:
    if x.kind.dtype.kind == "f":
        return code.let(f"fneg {x.kind} {x}", x.kind)
    return code.binary("sub", literal(x.kind, 0), x)


def _not(code: Assembly, op: Operation, x: Register) -> Register:
    return code.binary("xor", x, literal(x.kind, ~x.kind.dtype.type(0)))


def _abs(code: Assembly, op: Operation, x: Register) -> Register:
    return code.select(code.compare("slt", x, literal(x.kind, 0)), _negate(code, op, x), x)


def _sign(code: Assembly, op: Operation, x: Register) -> Register:
    """Return zeros and NaNs of floats as they are."""
    above, below = ("ogt", "olt") if x.kind.dtype.kind == "f" else ("sgt", "slt")
    zero = literal(x.kind, 0)
    rest = code.select(code.compare(below, x, zero), literal(x.kind, -1), x if above == "ogt" else zero)
    return code.select(code.compare(above, x, zero), literal(x.kind, 1), rest)


def _count_leading_zeros(code: Assembly, op: Operation, x: Register) -> Register:
    return code.intrinsic("ctlz", x, extra="i1 false")


def _is_finite(code: Assembly, op: Operation, x: Register) -> Register:
    return code.compare("olt", code.intrinsic("fabs", x), literal(x.kind, np.inf))


def _compare(code: Assembly, op: Operation, x: Register, y: Register) -> Register | None:
    direction, kind = op.properties["comparison_direction"].name.lower(), x.kind.dtype.kind
    if kind == "f":
        is_total = op.properties.get("compare_type") == ComparisonType.TOTALORDER
        return None if is_total else code.compare("une" if direction == "ne" else f"o{direction}", x, y)
    order = "" if direction in ("eq", "ne") else "s" if kind == "i" else "u"
    return code.compare(order + direction, x, y)


def _select(code: Assembly, op: Operation, condition: Register, x: Register, y: Register) -> Register:
    return code.select(condition, x, y)


def _clamp(code: Assembly, op: Operation, low: Register, x: Register, high: Register) -> Register:
    low, high = (bound if bound.kind == x.kind else code.splat(bound, x.kind.count) for bound in (low, high))
    if x.kind.dtype == BOOL:
        return code.binary("and", code.binary("or", x, low), high)
    largest, smallest = _EXTREMA[x.kind.dtype.kind]
    return code.intrinsic(smallest, code.intrinsic(largest, x, low), high)


def _convert(code: Assembly, op: Operation, x: Register) -> Register | None:
    """Convert as the kernel: integers wrap, floats saturate (NaN becomes 0), others round to nearest even."""
    type = op.results[0].type
    assert isinstance(type, TensorType)
    source, target = x.kind.dtype, numpy_dtype(type.element_type)
    if target in NARROW:
        if source.kind != "b" and source != FLOAT32 and (source.kind == "f" or source.itemsize > 2):
            return None  # would round twice
        target = FLOAT32
    if source == target:
        return x
    if target == BOOL:
        return code.compare("une" if source.kind == "f" else "ne", x, literal(x.kind, 0))
    if source.kind == "f" and target.kind == "f":
        return code.cast("fpext" if target == FLOAT64 else "fptrunc", x, target)
    if source.kind == "f":
        return code.intrinsic(f"fpto{'s' if target.kind == 'i' else 'u'}i.sat", x, result=x.kind.of(target))
    if target.kind == "f":
        return code.cast("sitofp" if source.kind == "i" else "uitofp", x, target)
    if source != BOOL and source.itemsize == target.itemsize:
        return Register(x.name, x.kind.of(target))
    narrows = source != BOOL and source.itemsize > target.itemsize
    return code.cast("trunc" if narrows else "sext" if source.kind == "i" else "zext", x, target)


def _bitcast_convert(code: Assembly, op: Operation, x: Register) -> Register | None:
    """Return the same bits as another type of the same size."""
    target = kind_of(op.results[0].type).dtype
    if target.itemsize != x.kind.dtype.itemsize or BOOL in (target, x.kind.dtype):
        return None
    if "f" not in (target.kind, x.kind.dtype.kind) or target == x.kind.dtype:
        return Register(x.name, x.kind.of(target))
    return code.cast("bitcast", x, target)


_FORMS: Mapping[object, Form] = {  # by what `on_element` returns
    same_kernel(np.logical_and): _binary("and"),
    same_kernel(np.logical_or): _binary("or"),
    same_kernel(np.not_equal): _binary("xor"),
    same_kernel(np.logical_not): _not,
    integers.bitwise_and: _binary("and"),
    integers.bitwise_or: _binary("or"),
    integers.bitwise_xor: _binary("xor"),
    integers.bitwise_not: _not,
    integers.add: _binary("add"),
    integers.subtract: _binary("sub"),
    integers.multiply: _binary("mul"),
    integers.negate: _negate,
    integers.divide: _divide,
    integers.remainder: _remainder,
    integers.maximum: _extremum(0),
    integers.minimum: _extremum(1),
    integers.clamp: _clamp,
    integers.abs: _abs,
    integers.sign: _sign,
    integers.shift_left: _shift("shl"),
    integers.shift_right_logical: _shift("lshr"),
    integers.shift_right_arithmetic: _shift("ashr"),
    integers.count_leading_zeros: _count_leading_zeros,
    integers.popcnt: _intrinsic("ctpop"),
    floats.add: _binary("fadd"),
    floats.subtract: _binary("fsub"),
    floats.multiply: _binary("fmul"),
    floats.negate: _negate,
    floats.divide: _binary("fdiv"),
    floats.maximum: _extremum(0),
    floats.minimum: _extremum(1),
    floats.clamp: _clamp,
    floats.abs: _intrinsic("fabs"),
    floats.sign: _sign,
    floats.sqrt: _intrinsic("sqrt"),
    floats.floor: _intrinsic("floor"),
    floats.ceil: _intrinsic("ceil"),
    floats.round_nearest_even: _intrinsic("roundeven"),
    floats.is_finite: _is_finite,
    elementary.rsqrt: _rsqrt,
    floats.square: _square,
    Compare: _compare,
    Select: _select,
    Convert: _convert,
    BitcastConvert: _bitcast_convert,
}


_ROUNDED = {  # ops on narrow floats that are those on f32, rounded
    floats.add, floats.subtract, floats.multiply, floats.negate, floats.divide, floats.maximum, floats.minimum,
    floats.clamp, floats.abs, floats.sign, floats.sqrt, floats.floor, floats.ceil, floats.round_nearest_even,
    floats.is_finite, Compare, Select, Convert,
}  # fmt: skip


def is_narrow(type: Type) -> bool:
    """Return whether elements of a static tensor type are floats of 16 bits that are f32 in registers."""
    return isinstance(type, TensorType) and type.is_static and numpy_dtype(type.element_type) in NARROW


def kind_of(type: Type) -> Kind:
    """Return the kind of a tensor type."""
    assert isinstance(type, TensorType)
    return Kind(computed(numpy_dtype(type.element_type)), type.size)
