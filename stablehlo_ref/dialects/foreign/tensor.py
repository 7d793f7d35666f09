"""MLIR's tensor dialect: sizes, elements and shapes of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Ins, Op, Out
from stablehlo_ref.dialects.foreign.values import DYNAMIC, Array, Run, any_tensor, in_bounds
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.kinds import Dims, Int, Kind, ListOf, anything, integer_vector
from stablehlo_ref.kinds import index as index_value
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype
from stablehlo_ref.spec import (
    UNKNOWN,
    compatible,
    element_type,
    make_tensor_type,
    rank,
    shape,
    size,
    without,
)

static_tensor = Kind("statically shaped tensor", lambda t: isinstance(t, TensorType) and t.is_static)


class Dim(Op, op="dim", dialect="tensor"):
    """The size of dimension `index` of `source`."""

    on_storage = True

    source = In(any_tensor)
    index = In(index_value)
    result = Out(index_value)

    syntax = "operands attr-dict : custom(dim_type)"

    @staticmethod
    def plan() -> Run:
        return lambda source, index: INT64.type(source.shape[in_bounds(index, source.ndim)])


class Rank(Op, op="rank", dialect="tensor"):
    """The number of dimensions of `tensor`."""

    on_storage = True

    tensor = In(any_tensor)
    result = Out(index_value)

    syntax = "operands attr-dict : custom(index_type)"

    @staticmethod
    def plan() -> Run:
        return lambda tensor: INT64.type(tensor.ndim)


class Extract(Op, op="extract", dialect="tensor"):
    """The element of `tensor` at `indices`."""

    on_storage = True

    tensor = In(any_tensor)
    indices = Ins(index_value)
    result = Out(anything)

    syntax = "custom(indexed) attr-dict : custom(extracted_type)"

    @staticmethod
    def infer(tensor: Any) -> Any:
        return element_type(tensor)

    @staticmethod
    def constraints(C: Any, tensor: Any, indices: Any, result: Any) -> None:
        C(1, size(indices) == rank(tensor))
        C(2, result == element_type(tensor))

    @staticmethod
    def plan() -> Run:
        return lambda tensor, indices: np.asarray(tensor)[tuple(map(in_bounds, indices, tensor.shape))]


class Insert(Op, op="insert", dialect="tensor"):
    """`dest` with `scalar` at `indices`."""

    on_storage = True

    scalar = In(anything)
    dest = In(any_tensor)
    indices = Ins(index_value)
    result = Out(any_tensor)

    syntax = "custom(inserted) attr-dict : custom(inserted_type)"

    @staticmethod
    def infer(dest: Any) -> Any:
        return dest

    @staticmethod
    def constraints(C: Any, scalar: Any, dest: Any, indices: Any, result: Any) -> None:
        C(1, size(indices) == rank(dest))
        C(2, scalar == element_type(dest))
        C(3, compatible(dest, result))

    @staticmethod
    def plan() -> Run:
        def run(scalar: Array, dest: Array, indices: tuple[Array, ...]) -> Array:
            result = np.array(dest)
            result[tuple(map(in_bounds, indices, dest.shape))] = scalar
            return result

        return run


class FromElements(Op, op="from_elements", dialect="tensor"):
    """A tensor of `elements`, in row-major order."""

    on_storage = True
    elements = Ins(anything)
    result = Out(static_tensor)

    syntax = "operands attr-dict : custom(elements_type)"

    @staticmethod
    def constraints(C: Any, elements: Any, result: Any) -> None:
        C(1, size(result) == len(elements))
        C(2, all(e == element_type(result) for e in elements))

    @staticmethod
    def plan(result: Any) -> Run:
        sizes, dtype = shape(result), numpy_dtype(element_type(result))
        return lambda elements: np.array(elements, dtype).reshape(sizes)


class Cast(Op, op="cast", dialect="tensor"):
    """`source` as another type, which says more or less of its sizes."""

    on_storage = True

    source = In(any_tensor)
    dest = Out(any_tensor)

    syntax = "operands attr-dict : custom(cast_type)"

    @staticmethod
    def infer(source: Any) -> Any:
        return source

    @staticmethod
    def constraints(C: Any, source: Any, dest: Any) -> None:
        C(1, compatible(source, dest))

    @staticmethod
    def plan() -> Run:
        return lambda source: source


class Empty(Op, op="empty", dialect="tensor"):
    """A tensor of which only the shape is promised: zeros. `dynamic_sizes` are those that the type leaves open."""

    on_storage = True
    shaping = ("dynamic_sizes",)

    dynamic_sizes = Ins(index_value)
    result = Out(any_tensor)

    syntax = "( operands ) attr-dict : custom(sizes_type)"

    @staticmethod
    def infer(result: Any, constants: Any) -> Any:
        return filled(result, result.shape, constants.get("dynamic_sizes"))

    @staticmethod
    def constraints(C: Any, dynamic_sizes: Any, result: Any, constants: Any) -> None:
        C(1, "dynamic_sizes" in constants or size(dynamic_sizes) == result.shape.count(None))

    @staticmethod
    def plan(result: Any) -> Run:
        sizes, dtype = shape(result), numpy_dtype(element_type(result))
        return lambda dynamic_sizes: np.zeros(sizes, dtype)


def filled(result: Any, sizes: Sequence[int | None], unknown: Array | None) -> Any:
    """The type of a result of some sizes, into which unknown ones are put as far as they are known by now."""
    rest = iter(() if unknown is None else unknown.tolist())
    return make_tensor_type([next(rest, UNKNOWN) if n is None else n for n in sizes], element_type(result))


class Splat(Op, op="splat", dialect="tensor"):
    """A tensor of which each element is `input`."""

    on_storage = True
    shaping = ("dynamic_sizes",)

    input = In(anything)
    dynamic_sizes = Ins(index_value)
    result = Out(any_tensor)

    syntax = "custom(indexed) attr-dict : custom(splat_type)"

    @staticmethod
    def infer(result: Any, constants: Any) -> Any:
        return filled(result, result.shape, constants.get("dynamic_sizes"))

    @staticmethod
    def constraints(C: Any, input: Any, dynamic_sizes: Any, result: Any, constants: Any) -> None:
        C(1, "dynamic_sizes" in constants or size(dynamic_sizes) == result.shape.count(None))
        C(2, input == element_type(result))

    @staticmethod
    def plan(result: Any) -> Run:
        return lambda input, dynamic_sizes: np.broadcast_to(input, shape(result))


class Reshape(Op, op="reshape", dialect="tensor"):
    """The elements of `source` in the shape `shape`."""

    on_storage = True
    shaping = ("shape",)

    source = In(any_tensor)
    shape = In(integer_vector)
    result = Out(any_tensor)

    syntax = "custom(called) attr-dict : functional_type"

    @staticmethod
    def infer(source: Any, result: Any, constants: Any) -> Any:
        known = constants.get("shape")
        return result if known is None else make_tensor_type(known.tolist(), element_type(source))

    @staticmethod
    def constraints(C: Any, source: Any, result: Any) -> None:
        C(1, size(source) == size(result))

    @staticmethod
    def plan(result: Any) -> Run:
        return lambda source, sizes: source.reshape(shape(result))


class Regroup(Op, dialect="tensor"):
    """The base of ops that join or split neighbouring dimensions; `reassociation` lists them, as they are apart."""

    on_storage = True

    src = In(any_tensor)
    reassociation = Attr(ListOf(Dims))
    result = Out(any_tensor)


class CollapseShape(Regroup, op="collapse_shape"):
    """Joins neighbouring dimensions."""

    syntax = "custom(first_operand) custom(collapsed) attr-dict : custom(into_type)"

    @staticmethod
    def infer(src: Any, reassociation: Any) -> Any:
        return make_tensor_type([product(src, group) for group in reassociation], element_type(src))

    @staticmethod
    def constraints(C: Any, infer: Any, src: Any, reassociation: Any, result: Any) -> None:
        C(1, all_in_order(reassociation, src))
        C(2, compatible(result, infer()))

    @staticmethod
    def plan(result: Any) -> Run:
        return lambda src: src.reshape(shape(result))


def all_in_order(reassociation: Any, x: Any) -> bool:
    """Whether the groups have all dimensions of `x`, one after another; of no group, whether all its sizes are 1."""
    if not reassociation:
        return all(n == 1 for n in shape(x))
    return [d for group in reassociation for d in group] == list(range(rank(x)))


def product(x: Any, dims: Any) -> Any:
    sizes = [shape(x)[d] for d in dims]
    return UNKNOWN if any(n is UNKNOWN for n in sizes) else int(np.prod(sizes, dtype=int))


class ExpandShape(Regroup, op="expand_shape"):
    """Splits dimensions into neighbouring ones."""

    shaping = ("output_shape",)

    output_shape = Ins(index_value)
    static_output_shape = Attr(Dims, default=())

    syntax = "custom(first_operand) custom(expanded) attr-dict : custom(into_type)"

    @staticmethod
    def infer(static_output_shape: Any, result: Any, constants: Any) -> Any:
        sizes = [None if n == DYNAMIC else n for n in static_output_shape] or result.shape
        return filled(result, sizes, constants.get("output_shape"))

    @staticmethod
    def constraints(
        C: Any, src: Any, reassociation: Any, output_shape: Any, static_output_shape: Any, result: Any
    ) -> None:
        C(1, size(reassociation) == rank(src) and all_in_order(reassociation, result))
        C(2, all(n == product(result, group) for n, group in zip(shape(src), reassociation)))
        C(3, size(static_output_shape) == rank(result) or (static_output_shape == () and result.is_static))
        C(4, size(output_shape) == static_output_shape.count(DYNAMIC))

    @staticmethod
    def plan(result: Any) -> Run:
        return lambda src, output_shape: src.reshape(shape(result))


class Concat(Op, op="concat", dialect="tensor"):
    """`inputs` one after another along `dim`."""

    on_storage = True

    dim = Attr(Int)
    inputs = Ins(any_tensor)
    result = Out(any_tensor)

    syntax = "dim ( $dim ) operands attr-dict : functional_type"

    @staticmethod
    def infer(dim: int, inputs: Any) -> Any:
        sizes = list(shape(inputs[0]))
        sizes[dim] = sum(shape(x)[dim] for x in inputs)
        return make_tensor_type(sizes, element_type(inputs[0]))

    @staticmethod
    def constraints(C: Any, infer: Any, dim: int, inputs: Any, result: Any) -> None:
        C(1, size(inputs) > 0 and 0 <= dim < rank(result) and all(rank(x) == rank(result) for x in inputs))
        C(2, all(element_type(x) == element_type(result) for x in inputs))
        C(3, all(without(shape(x), [dim]) == without(shape(result), [dim]) for x in inputs))
        C(4, compatible(result, infer()))

    @staticmethod
    def plan(dim: int) -> Run:
        return lambda inputs: np.concatenate(inputs, dim)
