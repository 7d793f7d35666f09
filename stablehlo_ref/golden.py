"""Golden functions: what each op of StableHLO and CHLO computes, as a function of arrays.

>>> from stablehlo_ref import golden
>>> golden.add(np.float32([1, 2]), [0.5, 0.25])
array([1.5 , 2.25], dtype=float32)
>>> golden.dot_general(lhs, rhs, lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])
>>> golden.reduce([x], [np.float32(0)], dimensions=[0], body="add")
>>> golden.reshape(x, result="tensor<4x2xf32>")
>>> golden.op('"stablehlo.add"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>', x, y)

There is one function for each op that computes tensors; golden.pyi, which is generated, has their types. Names that are
keywords of Python end with an underscore, as `and_`. An op of both dialects is that of StableHLO.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stablehlo_ref.testing.golden import definitions, function_of, op

__all__ = ["op"]  # and an op's function for each name of `dir(golden)`

_made: dict[str, Callable[..., Any]] = {}  # apart from the names of this module, such as those of built-in functions


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _made:
        if name not in definitions():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        _made[name] = function_of(definitions()[name], name)
    return _made[name]


def __dir__() -> list[str]:
    return sorted((*__all__, *definitions()))
