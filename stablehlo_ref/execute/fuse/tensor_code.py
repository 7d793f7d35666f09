"""How ops on small tensors are computed by Python expressions, without a call of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stablehlo_ref.execute.fuse.scalar_code import is_scalar, scalar_code
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype


def code_of(op: Operation, known: Sequence[Any]) -> str | None:
    """Return the expression of an op, or statements; None if it has none, and its kernel is called.

    `known` are the values of the operands that are constant scalars, and None for others.
    """
    return _element(op) or scalar_code(op, known)


def scalar_type(type: Type) -> Any:
    """Return the class of numpy's scalars of a type."""
    assert isinstance(type, TensorType)
    return numpy_dtype(type.element_type).type


def _element(op: Operation) -> str | None:
    """Return the expression of a reshape of a tensor with one element to a scalar."""
    if op.name != "stablehlo.reshape" or not is_scalar(op.results[0].type):
        return None
    operand = op.operands[0].type
    if not isinstance(operand, TensorType) or not operand.is_static or not operand.shape:
        return None
    return f"{{0}}[{', '.join('0' * len(operand.shape))}]"
