"""MLIR's arith dialect, element by element, following its documentation.

Integers are signless: an op reads their bits as a signed or an unsigned number and returns the low bits of its
result; `i1` is the 1-bit integer. What MLIR calls undefined or poison is as in stablehlo_ref: a quotient by 0 has all
bits set, a remainder by 0 is `lhs`, shifts by the bit width or more shift out all bits, and floats saturate, with NaN
becoming 0.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from stablehlo_ref.semantics import elementwise, ieee
from stablehlo_ref.semantics.elements import BOOLEAN, each_element, each_number
from stablehlo_ref.semantics.notation import Array, DType, is_float, num_bits
from stablehlo_ref.semantics.rounding import bits, from_bits, is_nan, number, round_to

Values = Callable[..., int]


def unsigned(x: Any) -> int:
    return bits(x)


def signed(x: Any) -> int:
    width = num_bits(x.dtype)
    return bits(x) - (1 << width if bits(x) >> width - 1 else 0)


def low_bits(dtype: DType, value: int) -> Any:
    return from_bits(dtype, value % (1 << num_bits(dtype)))


def on_integers(read: Callable[[Any], int], function: Values) -> Callable[[Array, Array], Array]:
    def evaluate(lhs: Array, rhs: Array) -> Array:
        combine = lambda x, y: low_bits(lhs.dtype, function(read(x), read(y)))  # noqa: E731
        return each_element(combine, lhs, rhs, element_type=lhs.dtype)

    return evaluate


# Integers


def quotient(rounding: Callable[[Fraction], int]) -> Values:
    return lambda x, y: rounding(Fraction(x, y)) if y else -1


def remainder(x: int, y: int) -> int:
    return x - y * math.trunc(Fraction(x, y)) if y else x


addi = on_integers(unsigned, operator.add)
subi = on_integers(unsigned, operator.sub)
muli = on_integers(unsigned, operator.mul)
divsi = on_integers(signed, quotient(math.trunc))
divui = on_integers(unsigned, quotient(math.floor))
floordivsi = on_integers(signed, quotient(math.floor))
ceildivsi = on_integers(signed, quotient(math.ceil))
ceildivui = on_integers(unsigned, quotient(math.ceil))
remsi = on_integers(signed, remainder)
remui = on_integers(unsigned, remainder)
andi = on_integers(unsigned, operator.and_)
ori = on_integers(unsigned, operator.or_)
xori = on_integers(unsigned, operator.xor)
maxsi = on_integers(signed, max)
maxui = on_integers(unsigned, max)
minsi = on_integers(signed, min)
minui = on_integers(unsigned, min)
shli = on_integers(unsigned, lambda x, y: x << min(y, 64))
shrui = on_integers(unsigned, lambda x, y: x >> y)


def shrsi(lhs: Array, rhs: Array) -> Array:
    return each_element(lambda x, y: low_bits(lhs.dtype, signed(x) >> unsigned(y)), lhs, rhs, element_type=lhs.dtype)


# Floats

addf, subf, mulf, divf, negf = (
    getattr(elementwise, name) for name in ("add", "subtract", "multiply", "divide", "negate")
)
remf = elementwise.remainder
maximumf, minimumf = elementwise.maximum, elementwise.minimum


def _number_of(choose: Callable[..., Any]) -> Callable[[Array, Array], Array]:
    """Return a function that selects the number of a number and a NaN."""

    def chosen(x: Any, y: Any) -> Any:
        return y if is_nan(x) else x if is_nan(y) else choose(x, y)

    return lambda lhs, rhs: each_number(lhs, rhs, floating=chosen)


maxnumf, minnumf = _number_of(ieee.maximum), _number_of(ieee.minimum)


# Comparison and selection


def cmpi(lhs: Array, rhs: Array, predicate: str) -> Array:
    read, name = (unsigned, predicate) if predicate in ("eq", "ne") else (READINGS[predicate[0]], predicate[1:])
    holds = getattr(operator, name)
    return each_element(lambda x, y: holds(read(x), read(y)), lhs, rhs, element_type=BOOLEAN)


READINGS = {"s": signed, "u": unsigned}


def cmpf(lhs: Array, rhs: Array, predicate: str) -> Array:
    """Compare floats: predicates with `o` are false if an operand is NaN, those with `u` are true."""

    def holds(x: Any, y: Any) -> bool:
        is_unordered = is_nan(x) or is_nan(y)
        if predicate in ("true", "false", "ord", "uno"):
            return {"true": True, "false": False, "ord": not is_unordered, "uno": is_unordered}[predicate]
        return predicate[0] == "u" if is_unordered else bool(getattr(operator, predicate[1:])(x, y))

    return each_number(lhs, rhs, floating=holds, result=BOOLEAN)


select = elementwise.select


# Conversion


def saturated(low: int, x: Any, high: int) -> int:
    return 0 if is_nan(x) else math.trunc(max(low, min(x, high)))


def fptosi(operand: Array, element_type: DType) -> Array:
    most = 1 << num_bits(element_type) - 1
    return each_element(
        lambda x: low_bits(element_type, saturated(-most, number(x), most - 1)), operand, element_type=element_type
    )


def fptoui(operand: Array, element_type: DType) -> Array:
    most = (1 << num_bits(element_type)) - 1
    return each_element(
        lambda x: low_bits(element_type, saturated(0, number(x), most)), operand, element_type=element_type
    )


def _cast(read: Callable[[Any], int]) -> Callable[[Array, DType], Array]:
    """Return an op that converts integers to the low bits of integers, or to floats."""

    def evaluate(operand: Array, element_type: DType) -> Array:
        store = round_to if is_float(element_type) else low_bits
        return each_element(lambda x: store(element_type, read(x)), operand, element_type=element_type)

    return evaluate


extsi = sitofp = index_cast = _cast(signed)
extui = uitofp = index_castui = trunci = _cast(unsigned)


def extf(operand: Array, element_type: DType) -> Array:
    return each_element(lambda x: round_to(element_type, number(x)), operand, element_type=element_type)


truncf = extf


def bitcast(operand: Array, element_type: DType) -> Array:
    return each_element(lambda x: from_bits(element_type, bits(x)), operand, element_type=element_type)


def constant(value: Array) -> Array:
    return value
