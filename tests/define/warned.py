"""Collect the implementation-defined choices that a run warns of, by their anchors in docs/choices.md."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import stablehlo_ref as sr
from stablehlo_ref.numerics.dtypes import numpy_dtype

BINARY = """\
func.func @main(%x: tensor<{t}>, %y: tensor<{t}>) -> tensor<{t}> {{
  %0 = stablehlo.{op} %x, %y : tensor<{t}>
  return %0 : tensor<{t}>
}}
"""
UNARY = """\
func.func @main(%x: tensor<{t}>) -> tensor<{r}> {{
  %0 = stablehlo.{op} %x : {type}
  return %0 : tensor<{r}>
}}"""


def found(text: str, *arrays: Any) -> list[str]:
    """Return the anchors that a run warns of, in order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sr.parse(text + "\n").run(*arrays, on_implementation_defined="warn")
    assert all(w.category is sr.ImplementationDefinedWarning for w in caught)
    return [str(w.message).partition("choices.md#")[2].split()[0] for w in caught]


def binary(op: str, element_type: str, x: Any, y: Any) -> list[str]:
    """Return the anchors that an op on two numbers warns of."""
    (type,) = (p.type for p in sr.parse(f"func.func @f(%x: tensor<{element_type}>) {{ return }}\n").inputs)
    x, y = (np.array([value]).astype(numpy_dtype(type.element_type)) for value in (x, y))
    return found(BINARY.format(op=op, t=f"1x{element_type}"), x, y)


def unary(op: str, operand: str, result: str, values: Any) -> list[str]:
    """Return the anchors that an op warns of, given the types of its operand and result without `tensor<>`."""
    type = f"tensor<{operand}>" if operand == result else f"(tensor<{operand}>) -> tensor<{result}>"
    return found(UNARY.format(op=op, t=operand, r=result, type=type), values)
