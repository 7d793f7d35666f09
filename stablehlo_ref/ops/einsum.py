"""Products that `dot_general` took the place of, and Einstein's notation for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.kinds import String, quantized_tensor, tensor
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.layout import opaque
from stablehlo_ref.ops.dot_general import DotGeneral, PrecisionConfig
from stablehlo_ref.spec import (
    compatible,
    dim,
    element_type,
    is_complex,
    is_unique,
    make_tensor_type,
    rank,
    shape,
    size,
)

Array = Any
Run = Callable[..., Array]
Pair = tuple[Sequence[int], Sequence[int]]  # dimensions of both sides


def contraction(lhs: Any, rhs: Any, batching: Pair, contracting: Pair, result: Any, constants: Any) -> Run:
    """A `dot_general` without an algorithm."""
    numbers = {
        "lhs_batching_dimensions": tuple(batching[0]), "rhs_batching_dimensions": tuple(batching[1]),
        "lhs_contracting_dimensions": tuple(contracting[0]), "rhs_contracting_dimensions": tuple(contracting[1]),
    }  # fmt: skip
    values = DotGeneral.group(numbers, (lhs, rhs), [result], []) | {"constants": constants}
    return DotGeneral.call("plan", values)  # type: ignore[no-any-return]


class Dot(Op, op="dot"):
    """A product of vectors or matrices; `dot_general` took its place."""

    lhs = In(tensor | quantized_tensor)
    rhs = In(tensor | quantized_tensor)
    precision_config = Attr(PrecisionConfig, default=())
    result = Out(tensor | quantized_tensor)

    syntax = "operands custom(precision) attr-dict : functional_type"

    @staticmethod
    def infer(lhs: Any, rhs: Any) -> Any:
        return make_tensor_type(shape(lhs)[:-1] + shape(rhs)[1:], element_type(lhs))

    @staticmethod
    def constraints(C: Any, infer: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, 1 <= rank(lhs) <= 2 and 1 <= rank(rhs) <= 2)
        C(2, dim(lhs, rank(lhs) - 1) == dim(rhs, 0))
        C(3, shape(result) == shape(infer()))
        C(4, is_complex(lhs) == is_complex(rhs) == is_complex(result))

    @staticmethod
    def plan(lhs: Any, rhs: Any, result: Any, constants: Any) -> Run:
        return contraction(lhs, rhs, ((), ()), ([rank(lhs) - 1], [0]), result, constants)


class Einsum(Op, op="einsum"):
    """A sum of products by Einstein's notation; `dot_general` took its place."""

    lhs = In(tensor)
    rhs = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"

    @staticmethod
    def infer(lhs: Any, rhs: Any, einsum_config: str) -> Any:
        *names, kept = split_config(einsum_config)
        sizes = {name: n for part, x in zip(names, (lhs, rhs)) for name, n in zip(part, shape(x))}
        return make_tensor_type([sizes[name] for name in kept], element_type(lhs))

    @staticmethod
    def constraints(C: Any, infer: Any, lhs: Any, rhs: Any, einsum_config: str, result: Any) -> None:
        C(1, re.fullmatch(r"\w*,\w*->\w*", einsum_config))
        lhs_names, rhs_names, kept = split_config(einsum_config)
        C(2, size(lhs_names) == rank(lhs) and size(rhs_names) == rank(rhs))
        C(3, is_unique([*kept]) and set(kept) <= {*lhs_names, *rhs_names})
        C(4, same_sizes(lhs_names + rhs_names, shape(lhs) + shape(rhs)))
        C(5, shape(result) == shape(infer()))
        C(6, is_complex(lhs) == is_complex(rhs) == is_complex(result))

    @staticmethod
    def plan(lhs: Any, rhs: Any, einsum_config: str, result: Any, constants: Any) -> Run:
        lhs_names, rhs_names, kept = split_config(einsum_config)
        reduce_lhs, lhs_names, lhs = summed(lhs, lhs_names, keep=rhs_names + kept)
        reduce_rhs, rhs_names, rhs = summed(rhs, rhs_names, keep=lhs_names + kept)
        batching = [name for name in lhs_names if name in rhs_names and name in kept]
        contracting = [name for name in lhs_names if name in rhs_names and name not in kept]
        others = [name for name in lhs_names + rhs_names if name not in batching + contracting]
        order = [(batching + others).index(name) for name in kept]
        dot_type = tensor_type(tuple(dim(result, kept.index(name)) for name in batching + others), element_type(result))
        pairs = [(places(names, lhs_names), places(names, rhs_names)) for names in (batching, contracting)]
        product = contraction(lhs, rhs, pairs[0], pairs[1], dot_type, {})
        return lambda lhs, rhs: product(reduce_lhs(lhs), reduce_rhs(rhs)).transpose(order)


class UnaryEinsum(Op, op="unary_einsum"):
    """A sum or transposition by Einstein's notation; `reduce` and `transpose` took its place."""

    operand = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, einsum_config: str) -> Any:
        names, kept = split_config(einsum_config)
        return make_tensor_type([dim(operand, names.index(name)) for name in kept], element_type(operand))

    @staticmethod
    def constraints(C: Any, infer: Any, operand: Any, einsum_config: str, result: Any) -> None:
        C(1, re.fullmatch(r"\w*->\w*", einsum_config))
        names, kept = split_config(einsum_config)
        C(2, size(names) == rank(operand))
        C(3, is_unique([*kept]) and set(kept) <= set(names))
        C(4, same_sizes(names, shape(operand)))
        C(5, compatible(result, infer()))

    @staticmethod
    def plan(operand: Any, einsum_config: str) -> Run:
        names, kept = split_config(einsum_config)
        reduce, names, _ = summed(operand, names, keep=kept)
        order = places(kept, names)
        return lambda operand: reduce(operand).transpose(order)


def split_config(config: str) -> list[str]:
    """The dimensions' names of each operand and of the result."""
    return re.split(",|->", config.replace(" ", ""))


def same_sizes(names: str, sizes: Sequence[int]) -> bool:
    """Whether dimensions of one name have one size."""
    return all(n == sizes[names.index(name)] for name, n in zip(names, sizes))


def places(names: Sequence[str], among: str) -> list[int]:
    return [among.index(name) for name in names]


def summed(x: Any, names: str, keep: str) -> tuple[Run, str, Any]:
    """Takes diagonals where names repeat, and sums over dimensions that nobody needs, as products with ones.

    Returns a function of arrays, the names of the dimensions that are left, and the type of what it returns.
    """
    unique = "".join(dict.fromkeys(names))
    left = "".join(name for name in unique if name in keep)
    element, sizes = element_type(x), [dim(x, names.index(name)) for name in unique]
    result = tensor_type(tuple(sizes[unique.index(name)] for name in left), element)
    if unique == left:
        return (lambda x: diagonals(x, names)), left, result
    gone = [place for place, name in enumerate(unique) if name not in left]
    ones = np.ones([sizes[place] for place in gone]).astype(numpy_dtype(element))
    types = tensor_type(tuple(sizes), element), tensor_type(ones.shape, element)
    product = contraction(*types, ((), ()), (gone, range(len(gone))), result, {"rhs": ones})
    return (lambda x: product(diagonals(x, names), ones)), left, result


def diagonals(x: Array, names: str) -> Array:
    """A view with one dimension for each name; along it all dimensions of that name run together."""
    unique = list(dict.fromkeys(names))
    strides = [sum(s for s, other in zip(x.strides, names) if other == name) for name in unique]
    sizes = [x.shape[names.index(name)] for name in unique]
    return np.lib.stride_tricks.as_strided(opaque(x), sizes, strides, writeable=False).view(x.dtype)
