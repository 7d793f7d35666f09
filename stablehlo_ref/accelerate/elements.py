"""What ops do to one element, as instructions of LLVM and as expressions of Python: a table of both.

Ops with instructions are those that IEEE 754 and integer arithmetic determine to the last bit. In an expression, `{0}`
is the first operand and `{k}` the kernel of the op, which computes the cases that the expression leaves out, such as
comparisons of zeros. Operands are numpy scalars, so numpy computes `a + b` as its ufuncs do, in a tenth of the
time of a call. `{zero}`, `{one}` and `{minus_one}` are scalars of their type, `{to_one}` is one of the result's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.accelerate.ir import NotCompiled, dtype_of, is_plain, is_scalar
from stablehlo_ref.accelerate.machine.assembly import NARROW, Assembly, Kind, Register, computed, literal
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS, function
from stablehlo_ref.ir.arrays import DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics import elementary, floats, integers
from stablehlo_ref.numerics.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64
from stablehlo_ref.numerics.kernels import same_kernel
from stablehlo_ref.ops.comparison import Compare, ComparisonType, Select
from stablehlo_ref.ops.control_flow import OptimizationBarrier
from stablehlo_ref.ops.conversion import BitcastConvert, Convert
from stablehlo_ref.ops.data_movement import BroadcastInDim, Reshape
from stablehlo_ref.ops.elementwise import on_element

_EXTREMA = {"i": ("smax", "smin"), "u": ("umax", "umin"), "f": ("maximum", "minimum")}

Form = Callable[..., Register | None]  # of the code, the op, and registers of operands; None without instructions
Expression = Callable[[Operation, DType, Sequence[Any]], str | None]  # of the dtype of operands, and those known


class Element(NamedTuple):
    """What an op does to one element."""

    instructions: Form | None
    expression: str | Expression | None = None


# --- LLVM -----------------------------------------------------------------------------------------------------------


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
    what, types = on_element(op), [dtype_of(t) for t in (*op.operand_types, *op.result_types)]
    if not set(NARROW).isdisjoint(types) and (what not in _ROUNDED or (what is Select and FLOAT16 in types)):
        return None
    if what in FUNCTIONS:
        return function(code, what, operands[0]) if operands[0].kind.dtype == FLOAT32 else None
    element = ELEMENTS.get(what)
    result = element.instructions(code, op, *operands) if element and element.instructions else None
    return code.rounded(result, types[-1]) if result and types[-1] in NARROW and what is not Select else result


def has_code(op: Operation) -> bool:
    """Return whether an op is elementwise and has instructions for its types."""
    types = (*op.operand_types, *op.result_types)
    if op.regions or not all(is_plain(t) or is_narrow(t) for t in types):
        return False
    operands = [Register("%x", Kind(computed(dtype_of(v)), 4)) for v in op.operands]
    if operands and on_element(op) in FUNCTIONS:
        return dtype_of(op.operands[0]) == FLOAT32
    try:
        elementwise(Assembly(), op, operands)
    except NotCompiled:
        return False
    return True


def is_narrow(type: Type) -> bool:
    """Return whether elements of a static tensor type are floats of 16 bits that are f32 in registers."""
    return isinstance(type, TensorType) and type.is_static and dtype_of(type) in NARROW


def _binary(instruction: str) -> Form:
    return lambda code, op, x, y: code.binary(instruction, x, y)


def _intrinsic(name: str, extra: str = "") -> Form:
    return lambda code, op, x: code.intrinsic(name, x, extra=extra)


def _extremum(number: int) -> Form:
    return lambda code, op, x, y: code.intrinsic(_EXTREMA[x.kind.dtype.kind][number], x, y)


def _division(is_quotient: bool) -> Form:
    def rule(code: Assembly, op: Operation, x: Register, y: Register) -> Register:
        """Divide by 1 in place of 0 and of -1, whose quotient may overflow, and select the results for these."""
        zero = code.compare("eq", y, literal(y.kind, 0))
        ones = literal(x.kind, ~x.kind.dtype.type(0))  # -1, or the largest unsigned number
        minus_one = zero if x.kind.dtype.kind == "u" else code.compare("eq", y, ones)
        divisor = code.select(code.binary("or", zero, minus_one), literal(y.kind, 1), y)
        instruction = f"{x.kind.dtype.kind.replace('i', 's')}{'div' if is_quotient else 'rem'}"
        by_zero, by_minus_one = (ones, _negate(code, op, x)) if is_quotient else (x, literal(x.kind, 0))
        result = code.select(minus_one, by_minus_one, code.binary(instruction, x, divisor))
        return code.select(zero, by_zero, result)

    return rule


def _rsqrt(code: Assembly, op: Operation, x: Register) -> Register | None:
    """Divide in f64, whose result rounds to f32 correctly, as that of the kernel."""
    if x.kind.dtype != FLOAT32:
        return None
    root = code.intrinsic("sqrt", code.cast("fpext", x, FLOAT64))
    return code.cast("fptrunc", code.binary("fdiv", literal(root.kind, 1.0), root), FLOAT32)


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


def _sign(code: Assembly, op: Operation, x: Register) -> Register:
    """Return zeros and NaNs of floats as they are."""
    above, below = ("ogt", "olt") if x.kind.dtype.kind == "f" else ("sgt", "slt")
    zero = literal(x.kind, 0)
    rest = code.select(code.compare(below, x, zero), literal(x.kind, -1), x if above == "ogt" else zero)
    return code.select(code.compare(above, x, zero), literal(x.kind, 1), rest)


def _is_finite(code: Assembly, op: Operation, x: Register) -> Register:
    return code.compare("olt", code.intrinsic("fabs", x), literal(x.kind, np.inf))


def _compare(code: Assembly, op: Operation, x: Register, y: Register) -> Register | None:
    direction, kind = op.properties["comparison_direction"].name.lower(), x.kind.dtype.kind
    if kind == "f":
        is_total = op.properties.get("compare_type") == ComparisonType.TOTALORDER
        return None if is_total else code.compare("une" if direction == "ne" else f"o{direction}", x, y)
    order = "" if direction in ("eq", "ne") else "s" if kind == "i" else "u"
    return code.compare(order + direction, x, y)


def _clamp(code: Assembly, op: Operation, low: Register, x: Register, high: Register) -> Register:
    low, high = (bound if bound.kind == x.kind else code.splat(bound, x.kind.count) for bound in (low, high))
    if x.kind.dtype == BOOL:
        return code.binary("and", code.binary("or", x, low), high)
    largest, smallest = _EXTREMA[x.kind.dtype.kind]
    return code.intrinsic(smallest, code.intrinsic(largest, x, low), high)


def _convert(code: Assembly, op: Operation, x: Register) -> Register | None:
    """Convert as the kernel: integers wrap, floats saturate (NaN becomes 0), others round to nearest even."""
    source, target = x.kind.dtype, dtype_of(op.results[0])
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
    target = computed(dtype_of(op.results[0]))
    if target.itemsize != x.kind.dtype.itemsize or BOOL in (target, x.kind.dtype):
        return None
    if "f" not in (target.kind, x.kind.dtype.kind) or target == x.kind.dtype:
        return Register(x.name, x.kind.of(target))
    return code.cast("bitcast", x, target)


# --- Python ---------------------------------------------------------------------------------------------------------


def expression(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of an op on scalars, of which some are `known`; None if there is none."""
    if len(op.results) != 1 or not op.operands or not all(map(is_scalar, (*op.operand_types, *op.result_types))):
        return None
    element = ELEMENTS.get(on_element(op))
    found = element and element.expression
    return found(op, dtype_of(op.operands[0]), known) if callable(found) else found or None


def _of_kind(kind: str, code: str) -> Expression:
    """Return the expression of an op for dtypes of one of these kinds, except f16."""
    return lambda op, dtype, known: code if dtype.kind in kind and dtype != FLOAT16 else None


def _quotient(operator: str) -> Expression:
    """Return the expression of an integer quotient or remainder, which Python rounds otherwise below zero."""

    def found(op: Operation, dtype: DType, known: Sequence[Any]) -> str:
        test = "{0} >= {zero}" if known[1] is not None and known[1] > 0 else "{1} > {zero} <= {0}"
        return f"{{0}} {operator} {{1}} if {test} else {{k}}({{0}}, {{1}})"

    return found


def _compared(op: Operation, dtype: DType, known: Sequence[Any]) -> str | None:
    direction = op.properties["comparison_direction"].value
    if dtype == BOOL:  # numpy's own comparisons take longer than a call of a ufunc
        return {"!=": "{0} ^ {1}", "==": "{1} if {0} else {zero} if {1} else {one}"}.get(direction)
    is_total = op.properties.get("compare_type") == ComparisonType.TOTALORDER and dtype.kind == "f"
    return None if is_total else f"{{0}} {direction} {{1}}"


def _converted(op: Operation, dtype: DType, known: Sequence[Any]) -> str | None:
    target = dtype_of(op.results[0])
    if dtype == target:
        return "{0}"
    if dtype == BOOL:
        return "{to_one} if {0} else {to_zero}"
    if target == BOOL:
        return "{0} != {zero}"
    # A float of 64 bits has all numbers of 32, so the product rounds once.
    return "{to_one} * float({0})" if dtype.itemsize <= 4 and target in (FLOAT32, FLOAT64) else None


_EXTREMUM = "{0} if {0} %s {1} else {1} if {1} %s {0} else {0} if {0} == {1} and {0} else {k}({0}, {1})"

# By what `on_element` returns, a factory of kernels or the class of the op: `floats.add` is the key to LLVM's `fadd`.
ELEMENTS: Mapping[object, Element] = {
    same_kernel(np.logical_and): Element(_binary("and"), "{0} & {1}"),
    same_kernel(np.logical_or): Element(_binary("or"), "{0} | {1}"),
    same_kernel(np.not_equal): Element(_binary("xor"), "{0} ^ {1}"),
    same_kernel(np.logical_not): Element(_not, "{zero} if {0} else {one}"),
    integers.bitwise_and: Element(_binary("and"), "{0} & {1}"),
    integers.bitwise_or: Element(_binary("or"), "{0} | {1}"),
    integers.bitwise_xor: Element(_binary("xor"), "{0} ^ {1}"),
    integers.bitwise_not: Element(_not, "~{0}"),
    integers.add: Element(_binary("add"), "{0} + {1}"),
    integers.subtract: Element(_binary("sub"), "{0} - {1}"),
    integers.multiply: Element(_binary("mul"), "{0} * {1}"),
    integers.negate: Element(_negate, "-{0}"),
    integers.divide: Element(_division(is_quotient=True), _quotient("//")),
    integers.remainder: Element(_division(is_quotient=False), _quotient("%")),
    integers.maximum: Element(_extremum(0), "{0} if {0} > {1} else {1}"),
    integers.minimum: Element(_extremum(1), "{0} if {0} < {1} else {1}"),
    integers.clamp: Element(_clamp, _of_kind("iu", "{1} if {0} <= {1} <= {2} else {k}({0}, {1}, {2})")),
    integers.abs: Element(_intrinsic("abs", "i1 false"), "abs({0})"),
    integers.sign: Element(_sign, "{one} if {0} > {zero} else {minus_one} if {0} < {zero} else {zero}"),
    integers.shift_left: Element(_shift("shl"), "{0} << {1}"),
    integers.shift_right_logical: Element(_shift("lshr"), _of_kind("u", "{0} >> {1}")),
    integers.shift_right_arithmetic: Element(_shift("ashr"), _of_kind("i", "{0} >> {1}")),
    integers.count_leading_zeros: Element(_intrinsic("ctlz", "i1 false")),
    integers.popcnt: Element(_intrinsic("ctpop")),
    floats.add: Element(_binary("fadd"), "{0} + {1}"),
    floats.subtract: Element(_binary("fsub"), "{0} - {1}"),
    floats.multiply: Element(_binary("fmul"), "{0} * {1}"),
    floats.negate: Element(_negate, "-{0}"),
    floats.divide: Element(_binary("fdiv"), _of_kind("f", "{0} / {1}")),
    floats.maximum: Element(_extremum(0), _EXTREMUM % (">", ">")),
    floats.minimum: Element(_extremum(1), _EXTREMUM % ("<", "<")),
    floats.clamp: Element(_clamp, "{1} if {0} < {1} < {2} else {k}({0}, {1}, {2})"),
    floats.abs: Element(_intrinsic("fabs"), "abs({0})"),
    floats.sign: Element(_sign),
    # Of f32, the square root is rounded twice, which is the same as once.
    floats.sqrt: Element(_intrinsic("sqrt"), _of_kind("f", "{one} * sqrt({0}) if {0} > {zero} else {k}({0})")),
    floats.floor: Element(_intrinsic("floor")),
    floats.ceil: Element(_intrinsic("ceil")),
    floats.round_nearest_even: Element(_intrinsic("roundeven")),
    floats.is_finite: Element(_is_finite),
    elementary.rsqrt: Element(_rsqrt),
    floats.square: Element(lambda code, op, x: code.binary("fmul", x, x)),
    Compare: Element(_compare, _compared),
    Select: Element(lambda code, op, condition, x, y: code.select(condition, x, y), "{1} if {0} else {2}"),
    Convert: Element(_convert, _converted),
    BitcastConvert: Element(_bitcast_convert),
    BroadcastInDim: Element(None, "{0}"),
    OptimizationBarrier: Element(None, "{0}"),
    Reshape: Element(None, "{0}"),
}

_ROUNDED = {  # ops on narrow floats that are those on f32, rounded
    floats.add, floats.subtract, floats.multiply, floats.negate, floats.divide, floats.maximum, floats.minimum,
    floats.clamp, floats.abs, floats.sign, floats.sqrt, floats.floor, floats.ceil, floats.round_nearest_even,
    floats.is_finite, Compare, Select, Convert,
}  # fmt: skip
