"""Batch normalization: inference, training and its gradient, by the steps of the spec's decompositions.

What there is one of for each element is computed in f32, or f64 for f64, and rounded once to the element type; sums,
and what there is one of for each feature, in f64.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.kinds import Int, Real32, feature_vector, float_tensor, per_tensor_quantized
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.narrow import narrow
from stablehlo_ref.spec import (
    baseline_element_type,
    baseline_type,
    compatible,
    dim,
    element_type,
    rank,
    same,
    shape,
    size,
    tensor_type,
)

Array = Any
Run = Callable[..., Any]

BLOCK = 1 << 16  # elements worked on at a time, so that they stay in the cache from step to step
LONG = 1 << 6  # elements of one feature side by side that make a row
LONGEST = 1 << 14  # elements of a row: of more, sums are not exact enough in f32
WIDTH = 1 << 10  # elements of a row of several features, at most; inner loops over few are slow


class BatchNormInference(Op, op="batch_norm_inference"):
    """`operand` normalized by the given `mean` and `variance` of each feature."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    scale = In(feature_vector)  # I2
    offset = In(feature_vector)  # I3
    mean = In(feature_vector)  # I4
    variance = In(feature_vector)  # I5
    epsilon = Attr(Real32)  # I6
    feature_index = Attr(Int)  # I7
    result = Out(float_tensor | per_tensor_quantized)

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(
        C: Any, operand: Any, scale: Any, offset: Any, mean: Any, variance: Any, feature_index: int, result: Any
    ) -> None:
        C(1, 0 <= feature_index < rank(operand))
        C(2, same(map(baseline_element_type, (operand, scale, offset, mean, variance, result))))
        C(3, size(scale) == dim(operand, feature_index))
        C(4, size(offset) == dim(operand, feature_index))
        C(5, size(mean) == dim(operand, feature_index))
        C(6, size(variance) == dim(operand, feature_index))
        C(7, compatible(baseline_type(operand), baseline_type(result)))

    @staticmethod
    def plan(operand: Any, epsilon: float, feature_index: int) -> Run:
        sheet = Sheet(operand, feature_index)
        normalize = normalizer(sheet, epsilon)

        def run(operand: Array, scale: Array, offset: Array, mean: Array, variance: Array) -> Array:
            return normalize(sheet.elements(operand), scale, offset, mean, variance)

        return run


class BatchNormTraining(Op, op="batch_norm_training"):
    """`operand` normalized by the mean and the variance of each feature, which are results too."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    scale = In(feature_vector)  # I2
    offset = In(feature_vector)  # I3
    epsilon = Attr(Real32)  # I4
    feature_index = Attr(Int)  # I5
    output = Out(float_tensor | per_tensor_quantized)
    batch_mean = Out(feature_vector)
    batch_var = Out(feature_vector)

    @staticmethod
    def infer(operand: Any, feature_index: int) -> Any:
        features = tensor_type((dim(operand, feature_index),), element_type(operand))
        return operand, features, features

    @staticmethod
    def constraints(
        C: Any, operand: Any, scale: Any, offset: Any, feature_index: int, output: Any, batch_mean: Any, batch_var: Any
    ) -> None:
        C(1, 0 <= feature_index < rank(operand))
        C(2, same(map(baseline_element_type, (operand, scale, offset, batch_mean, batch_var, output))))
        C(3, size(scale) == dim(operand, feature_index))
        C(4, size(offset) == dim(operand, feature_index))
        C(5, size(batch_mean) == dim(operand, feature_index))
        C(6, size(batch_var) == dim(operand, feature_index))
        C(7, compatible(baseline_type(output), baseline_type(operand)))

    @staticmethod
    def plan(operand: Any, epsilon: float, feature_index: int) -> Run:
        sheet = Sheet(operand, feature_index)
        normalize = normalizer(sheet, epsilon)

        def run(operand: Array, scale: Array, offset: Array) -> tuple[Array, ...]:
            x = sheet.elements(operand)
            (total,) = sheet.sums(lambda block: (x(block),), 1)
            mean = total / sheet.count
            mean_bcast = sheet.bcast(mean)
            (squares,) = sheet.sums(lambda block: (np.square(x(block) - mean_bcast[block]),), 1)
            variance = squares / sheet.count
            output = normalize(x, scale, offset, mean, variance)
            return output, sheet.round_once(mean), sheet.round_once(variance)

        return run


class BatchNormGrad(Op, op="batch_norm_grad"):
    """The gradients of three operands of `batch_norm_training` by that of its output."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    scale = In(feature_vector)  # I2
    mean = In(feature_vector)  # I3
    variance = In(feature_vector)  # I4
    grad_output = In(float_tensor | per_tensor_quantized)  # I5
    epsilon = Attr(Real32)  # I6
    feature_index = Attr(Int)  # I7
    grad_operand = Out(float_tensor | per_tensor_quantized)
    grad_scale = Out(feature_vector)
    grad_offset = Out(feature_vector)

    @staticmethod
    def infer(operand: Any, scale: Any) -> Any:
        return operand, scale, scale

    @staticmethod
    def constraints(
        C: Any, operand: Any, scale: Any, mean: Any, variance: Any, grad_output: Any, feature_index: int,
        grad_operand: Any, grad_scale: Any, grad_offset: Any,
    ) -> None:  # fmt: skip
        C(1, 0 <= feature_index < rank(operand))
        C(2, same(map(baseline_element_type, (
            operand, scale, mean, variance, grad_output, grad_operand, grad_scale, grad_offset,
        ))))  # fmt: skip
        C(3, same(map(shape, (operand, grad_output, grad_operand))))
        C(4, same(map(shape, (scale, mean, variance, grad_scale, grad_offset))))
        C(5, size(scale) == dim(operand, feature_index))

    @staticmethod
    def plan(operand: Any, epsilon: float, feature_index: int) -> Run:
        sheet = Sheet(operand, feature_index)
        epsilon, n = sheet.constant(epsilon), sheet.count

        def run(operand: Array, scale: Array, mean: Array, variance: Array, grad_output: Array) -> tuple[Array, ...]:
            x, dy, scale, variance = sheet.elements(operand), sheet.elements(grad_output), wide(scale), wide(variance)
            stddev = np.sqrt(variance + epsilon)
            mean_bcast, stddev_bcast = sheet.bcast(mean), sheet.bcast(stddev)

            def terms(block: slice) -> tuple[Array, ...]:
                centered = x(block) - mean_bcast[block]
                normalized = centered / stddev_bcast[block]
                centered *= dy(block)
                normalized *= dy(block)
                return normalized, dy(block), centered

            grad_scale, grad_offset, i3 = sheet.sums(terms, 3)
            i2_bcast, i3_bcast = sheet.bcast(grad_offset), sheet.bcast(i3)
            divisor, factor = sheet.bcast(variance + epsilon), sheet.bcast(scale / stddev / n)

            def gradient(block: slice, y: Array) -> None:
                np.multiply(dy(block), n, out=y)
                y -= i2_bcast[block]
                i5 = x(block) - mean_bcast[block]
                i5 *= i3_bcast[block]
                i5 /= divisor[block]
                y -= i5
                y *= factor[block]

            return sheet.collect(gradient), sheet.round_once(grad_scale), sheet.round_once(grad_offset)

        return run


# --- computation ----------------------------------------------------------------------------------------------------

Elements = Callable[[slice], Array]  # from a block of rows to its elements in the wide type


def wide(x: Array) -> Array:
    return x.astype(FLOAT64)


def normalizer(sheet: Sheet, epsilon: float) -> Run:
    """The spec's `batch_norm_inference`."""
    epsilon = sheet.constant(epsilon)

    def run(x: Elements, scale: Array, offset: Array, mean: Array, variance: Array) -> Array:
        stddev = np.sqrt(wide(variance) + epsilon)
        scale, offset, mean, stddev = map(sheet.bcast, (scale, offset, mean, stddev))

        def normalized(block: slice, y: Array) -> None:
            np.subtract(x(block), mean[block], out=y)
            y /= stddev[block]
            y *= scale[block]
            y += offset[block]

        return sheet.collect(normalized)

    return run


def parts_of(length: int) -> int:
    """Into how many equal rows a long one is cut."""
    least = -(-length // LONGEST)
    return next((n for n in range(least, 2 * least) if length % n == 0), 1) if least > 1 else 1


class Sheet:
    """Tensors of a type as matrices, that are worked on in blocks of rows.

    Where the tensor has enough elements of a feature side by side, they are a row, or several; else all rows are alike.
    """

    def __init__(self, operand: Any, feature_index: int) -> None:
        self.sizes = shape(operand)
        self.dtype = numpy_dtype(element_type(operand))
        self.wide = FLOAT64 if self.dtype == FLOAT64 else FLOAT32
        self.round_once = narrow(self.dtype)
        self.features = self.sizes[feature_index]
        self.outer, self.inner = prod(self.sizes[:feature_index]), prod(self.sizes[feature_index + 1 :])
        self.count = self.constant(self.outer * self.inner)  # the spec's `size(operand) / dim(operand, feature_index)`
        self.by_row = self.inner >= LONG
        self.parts = parts_of(self.inner)
        period = self.features * self.inner
        self.repeats = max((t for t in (2, 4, 8, 16, 32) if self.outer % t == 0 and t * period <= WIDTH), default=1)
        self.shape = (self.outer * self.features * self.parts, self.inner // self.parts)
        if not self.by_row:
            self.shape = (self.outer // self.repeats, self.repeats * period)
        rows, columns = self.shape
        step = max(1, BLOCK // max(1, columns))
        self.blocks = [slice(start, min(start + step, rows)) for start in range(0, rows, step)]

    def constant(self, value: float) -> float:
        """The value, rounded to the element type."""
        return float(self.round_once(np.array([value], FLOAT64))[0])

    def elements(self, x: Array) -> Elements:
        matrix, dtype = x.reshape(self.shape), self.wide
        return lambda block: matrix[block].astype(dtype, copy=False)

    def bcast(self, features: Array) -> Array:
        """A value for each feature, as a matrix in the wide type."""
        features = features.astype(self.wide)
        if self.by_row:
            column = np.broadcast_to(features[:, np.newaxis], (self.outer, self.features, self.parts)).reshape(-1, 1)
            return np.broadcast_to(column, self.shape)
        return np.broadcast_to(np.tile(np.repeat(features, self.inner), self.repeats), self.shape)

    def sums(self, terms: Callable[[slice], tuple[Array, ...]], count: int) -> Array:
        """The sums of `count` terms over the elements of each feature: within blocks in the wide type, then in f64."""
        totals = np.zeros((count, self.shape[0 if self.by_row else 1]), FLOAT64)
        for block in self.blocks:
            for total, term in zip(totals, terms(block)):
                if self.by_row:
                    long = term.shape[1] > LONGEST
                    total[block] = term.sum(1, FLOAT64) if long else term @ np.ones(term.shape[1], self.wide)
                else:
                    total += np.ones(len(term), self.wide) @ term
        around = (self.outer, self.parts) if self.by_row else (self.repeats, self.inner)
        return totals.reshape(count, around[0], self.features, around[1]).sum((1, 3))

    def collect(self, fill: Callable[[slice, Array], None]) -> Array:
        """The tensor whose blocks `fill` computes in the wide type, rounded once."""
        out = np.empty(self.shape, self.dtype)
        for block in self.blocks:
            part = out[block]
            if self.wide == self.dtype:
                fill(block, part)
            else:
                result = np.empty(part.shape, self.wide)
                fill(block, result)
                part[...] = self.round_once(result)
        return out.reshape(self.sizes)
