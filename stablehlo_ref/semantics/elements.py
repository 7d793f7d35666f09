"""Functions of elements, and of the numbers that they are, applied to each element of tensors."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from stablehlo_ref.semantics import complexes, ieee
from stablehlo_ref.semantics.notation import (
    Array,
    DType,
    UndefinedError,
    index_space,
    is_boolean,
    is_complex,
    is_float,
    is_integer,
)
from stablehlo_ref.semantics.rounding import correctly_rounded, element, enough_bits, number

BOOLEAN = np.dtype(np.bool_)

Bullet = Callable[..., Any]


def each_element(function: Bullet, *operands: Array, element_type: DType) -> Array:
    """`result[result_index] = function(operands...[result_index])`, with a function of elements."""
    result = np.empty(operands[0].shape, element_type)
    for index in index_space(result.shape):
        result[index] = function(*(operand[index] for operand in operands))
    return result


def each_number(
    *operands: Array,
    boolean: Bullet | None = None,
    integer: Bullet | None = None,
    floating: Bullet | None = None,
    complex: Bullet | None = None,
    result: DType | None = None,
) -> Array:
    """Apply the function of numbers for the operands' kind, and round once to the element type `result`."""
    operand_type = operands[0].dtype
    result_type = result or operand_type
    bullet = {"b": boolean, "i": integer, "f": floating, "c": complex}[kind(operand_type)]
    if bullet is None:
        raise UndefinedError(f"the spec has no such op on {operand_type}")

    def evaluate(*elements: Any) -> Any:
        numbers = [number(x) for x in elements]
        if is_float(operand_type) and is_float(result_type):
            return correctly_rounded(result_type, bullet, *numbers)
        if is_complex(operand_type):
            with mpmath.workprec(enough_bits(operand_type)):
                return element(result_type, bullet(*numbers))
        return element(result_type, bullet(*numbers))

    return each_element(evaluate, *operands, element_type=result_type)


def kind(element_type: DType) -> str:
    if is_boolean(element_type):
        return "b"
    if is_integer(element_type):
        return "i"
    return "f" if is_float(element_type) else "c"


def arithmetic_of(element_type: DType) -> Any:
    """Return the module of exact arithmetic on elements of a type: `ieee` for real, `complexes` for complex numbers."""
    return complexes if is_complex(element_type) else ieee
