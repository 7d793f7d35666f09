"""Ops that take a slice out of a tensor, as a view, or put one into it: slice, dynamic_slice, dynamic_update_slice."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from stablehlo_ref.define import Attr, In, Ins, Op, Out
from stablehlo_ref.kinds import Dims, integer_scalar, per_tensor_quantized, tensor
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.spec import dim, element_type, make_tensor_type, rank, same, shape, size

Array = Any  # numpy arrays and scalars
Run = Callable[..., Array]

OWN_BYTES = 1 << 12  # a slice of no more bytes is copied, so that it does not keep a large operand from being reused


class Slice(Op, op="slice"):
    """Every `strides`-th element of `operand` from `start_indices` up to, not including, `limit_indices`."""

    on_storage = True
    operand = In(tensor | per_tensor_quantized)  # I1
    start_indices = Attr(Dims)  # I2
    limit_indices = Attr(Dims)  # I3
    strides = Attr(Dims)  # I4
    result = Out(tensor | per_tensor_quantized)

    syntax = "operands custom(slice_ranges) attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, start_indices: Any, limit_indices: Any, strides: Any) -> Any:
        sizes = [-((start - limit) // step) for start, limit, step in zip(start_indices, limit_indices, strides)]
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def constraints(
        C: Any, infer: Any, operand: Any, start_indices: Any, limit_indices: Any, strides: Any, result: Any
    ) -> None:
        C(1, element_type(operand) == element_type(result))
        C(2, size(start_indices) == size(limit_indices) == size(strides) == rank(operand))
        C(3, all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, shape(operand))))
        C(4, all(0 < step for step in strides))
        C(5, shape(result) == shape(infer()))

    @staticmethod
    def lift(operand: Any, start_indices: Any, limit_indices: Any, strides: Any) -> Any:
        return {
            "start_indices": (0, *start_indices),
            "limit_indices": (dim(operand, 0), *limit_indices),
            "strides": (1, *strides),
        }

    @staticmethod
    def plan(start_indices: Any, limit_indices: Any, strides: Any) -> Run:
        index = tuple(map(slice, start_indices, limit_indices, strides))
        return lambda operand: operand[index]


class DynamicSlice(Op, op="dynamic_slice"):
    """The slice of `operand` of `slice_sizes` that starts at `start_indices`, moved so that it lies within."""

    on_storage = True
    operand = In(tensor | per_tensor_quantized)  # I1
    start_indices = Ins(integer_scalar)  # I2
    slice_sizes = Attr(Dims)  # I3
    result = Out(tensor | per_tensor_quantized)

    syntax = "custom(operands_and_commas) sizes = $slice_sizes attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, slice_sizes: Any) -> Any:
        return make_tensor_type(slice_sizes, element_type(operand))

    @staticmethod
    def constraints(C: Any, operand: Any, start_indices: Any, slice_sizes: Any, result: Any) -> None:
        C(1, element_type(operand) == element_type(result))
        C(2, size(start_indices) == size(slice_sizes) == rank(operand))
        C(3, same(start_indices))
        C(4, all(0 <= n <= whole for n, whole in zip(slice_sizes, shape(operand))))
        C(5, shape(result) == slice_sizes)

    @staticmethod
    def plan(operand: Any, slice_sizes: Any) -> Run:
        locate = locator(shape(operand), slice_sizes)
        if prod(slice_sizes) * numpy_dtype(element_type(operand)).itemsize <= OWN_BYTES:
            return lambda operand, start_indices: operand[locate(start_indices)].copy()
        return lambda operand, start_indices: operand[locate(start_indices)]


class DynamicUpdateSlice(Op, op="dynamic_update_slice"):
    """`operand` with `update` in place of the slice that starts at `start_indices`, moved so that it lies within."""

    on_storage = True
    operand = In(tensor | per_tensor_quantized)  # I1
    update = In(tensor | per_tensor_quantized)  # I2
    start_indices = Ins(integer_scalar)  # I3
    result = Out(tensor | per_tensor_quantized)

    syntax = "operands attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, update: Any, start_indices: Any, result: Any) -> None:
        C(1, shape(operand) == shape(result) and element_type(operand) == element_type(result))
        C(2, element_type(update) == element_type(operand))
        C(3, rank(update) == rank(operand))
        C(4, size(start_indices) == rank(operand))
        C(5, same(start_indices))
        C(6, all(0 <= n <= whole for n, whole in zip(shape(update), shape(operand))))

    @staticmethod
    def plan(operand: Any, update: Any) -> Run:
        if shape(operand) == shape(update):
            return lambda operand, update, start_indices: update
        locate = locator(shape(operand), shape(update))

        def in_place(operand: Array, update: Array, start_indices: tuple[Array, ...]) -> Array:
            operand[locate(start_indices)] = update
            return operand

        def run(operand: Array, update: Array, start_indices: tuple[Array, ...]) -> Array:
            return in_place(operand.copy(), update, start_indices)

        run.in_place = in_place  # type: ignore[attr-defined]
        return run


def locator(sizes: tuple[int, ...], slice_sizes: tuple[int, ...]) -> Callable[[tuple[Array, ...]], tuple[slice, ...]]:
    """From start indices to the slices at `clamp(0, start_indices, sizes - slice_sizes)`."""
    extents = tuple((whole - n, n) for whole, n in zip(sizes, slice_sizes))

    def locate(start_indices: tuple[Array, ...]) -> tuple[slice, ...]:
        index = []
        for start, (last, n) in zip(start_indices, extents):
            first = int(start)
            first = 0 if first < 0 else first if first < last else last
            index.append(slice(first, first + n))
        return tuple(index)

    return locate
