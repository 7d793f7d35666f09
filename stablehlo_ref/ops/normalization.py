"""Batch normalization: inference, training and its gradient, in the steps of the spec's decompositions.

Values per element are computed in f32, or f64 for f64, and rounded once to the element type. Sums and values per
feature are computed in f64. See `semantics.normalization`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import sums_over
from stablehlo_ref.define.attribute_codecs import Int, Real32
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import ALGORITHM
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out, type_of
from stablehlo_ref.define.spec import (
    baseline_element_type,
    baseline_type,
    compatible,
    dim,
    element_type,
    rank,
    same,
    shape,
    size,
)
from stablehlo_ref.define.type_constraints import feature_vector, float_tensor, per_tensor_quantized
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType, tensor_type
from stablehlo_ref.limits.budget import reserve
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64, numpy_dtype
from stablehlo_ref.numerics.layout import default_buffers
from stablehlo_ref.numerics.narrow_floats import narrow

BLOCK = 1 << 16  # elements processed at a time, so that they stay in the cache from step to step
LONG = 1 << 6  # contiguous elements of one feature from which on they form rows
LONGEST = 1 << 14  # elements of a row at most: sums of more are not accurate enough in f32
WIDTH = 1 << 10  # elements of a row of several features at most; inner loops over few elements are slow


class BatchNormInference(Op, op="batch_norm_inference", nans="computed", facts=ALGORITHM):
    """Normalize `operand` by the `mean` and `variance` of each feature."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    scale = In(feature_vector)  # I2
    offset = In(feature_vector)  # I3
    mean = In(feature_vector)  # I4
    variance = In(feature_vector)  # I5
    epsilon = Attr(Real32)  # I6
    feature_index = Attr(Int)  # I7
    result = Out(float_tensor | per_tensor_quantized)

    infer = type_of("operand")

    @staticmethod
    def constraints(
        C: Checker,
        operand: TensorType,
        scale: TensorType,
        offset: TensorType,
        mean: TensorType,
        variance: TensorType,
        feature_index: Int,
        result: TensorType,
    ) -> None:
        C(1, 0 <= feature_index < rank(operand))
        C(2, same(map(baseline_element_type, (operand, scale, offset, mean, variance, result))))
        C(3, size(scale) == dim(operand, feature_index))
        C(4, size(offset) == size(scale) == dim(operand, feature_index))
        C(5, size(mean) == size(scale) == dim(operand, feature_index))
        C(6, size(variance) == size(scale) == dim(operand, feature_index))
        C(7, compatible(baseline_type(operand), baseline_type(result)))

    @staticmethod
    def plan(mode: Mode, operand: TensorType, epsilon: Real32, feature_index: Int) -> Run:
        """Plan `scale * (operand - mean) / sqrt(variance + epsilon) + offset`, values per feature broadcast."""
        rows = FeatureRows(operand, feature_index, mode)
        normalize = normalizer(rows, epsilon)
        return lambda operand, *features: normalize(rows.elements(operand), *features)


class BatchNormTraining(Op, op="batch_norm_training", row_major=True, nans="computed", facts=ALGORITHM):
    """Normalize `operand` by the mean and variance of each feature, and return these too."""

    operand = In(float_tensor | per_tensor_quantized)  # I1
    scale = In(feature_vector)  # I2
    offset = In(feature_vector)  # I3
    epsilon = Attr(Real32)  # I4
    feature_index = Attr(Int)  # I5
    output = Out(float_tensor | per_tensor_quantized)
    batch_mean = Out(feature_vector)
    batch_var = Out(feature_vector)

    @staticmethod
    def infer(operand: TensorType, feature_index: Int) -> Sequence[TensorType]:
        features = tensor_type((dim(operand, feature_index),), element_type(operand))
        return operand, features, features

    @staticmethod
    def constraints(
        C: Checker,
        operand: TensorType,
        scale: TensorType,
        offset: TensorType,
        feature_index: Int,
        output: TensorType,
        batch_mean: TensorType,
        batch_var: TensorType,
    ) -> None:
        C(1, 0 <= feature_index < rank(operand))
        C(2, same(map(baseline_element_type, (operand, scale, offset, batch_mean, batch_var, output))))
        C(3, size(scale) == dim(operand, feature_index))
        C(4, size(offset) == size(scale) == dim(operand, feature_index))
        C(5, size(batch_mean) == size(scale) == dim(operand, feature_index))
        C(6, size(batch_var) == size(scale) == dim(operand, feature_index))
        C(7, compatible(baseline_type(output), baseline_type(operand)))

    @staticmethod
    def plan(mode: Mode, operand: TensorType, epsilon: Real32, feature_index: Int) -> Run:
        """Plan `batch_norm_inference` with the mean and variance (the mean squared difference) of each feature."""
        rows = FeatureRows(operand, feature_index, mode)
        normalize = normalizer(rows, epsilon)

        def run(operand: Array, scale: Array, offset: Array) -> tuple[Array, ...]:
            x = rows.elements(operand)
            (total,) = rows.sums(lambda block: (x(block),), 1)
            mean = total / rows.count
            mean_bcast = rows.bcast(mean)
            (squares,) = rows.sums(lambda block: (np.square(x(block) - mean_bcast[block]),), 1)
            variance = squares / rows.count
            output = normalize(x, scale, offset, mean, variance)
            return output, rows.round_once(mean), rows.round_once(variance)

        return run


class BatchNormGrad(Op, op="batch_norm_grad", row_major=True, nans="computed", facts=ALGORITHM):
    """Compute the gradients of the operands of `batch_norm_training` from that of its output."""

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
    def infer(operand: TensorType, scale: TensorType) -> Sequence[TensorType]:
        return operand, scale, scale

    @staticmethod
    def constraints(
        C: Checker,
        operand: TensorType,
        scale: TensorType,
        mean: TensorType,
        variance: TensorType,
        grad_output: TensorType,
        feature_index: Int,
        grad_operand: TensorType,
        grad_scale: TensorType,
        grad_offset: TensorType,
    ) -> None:
        C(1, 0 <= feature_index < rank(operand))
        C(2, same(map(baseline_element_type, (
            operand, scale, mean, variance, grad_output, grad_operand, grad_scale, grad_offset,
        ))))  # fmt: skip
        C(3, same(map(shape, (operand, grad_output, grad_operand))))
        C(4, same(map(shape, (scale, mean, variance, grad_scale, grad_offset))))
        C(5, size(scale) == dim(operand, feature_index))

    @staticmethod
    def plan(mode: Mode, operand: TensorType, epsilon: Real32, feature_index: Int) -> Run:
        """Plan the gradients; `i2`, `i3` and `i5` are those of the spec's decomposition.

        grad_offset  = sum of grad_output over each feature
        grad_scale   = sum of grad_output * (operand - mean) / stddev, where stddev = sqrt(variance + epsilon)
        grad_operand = scale / stddev / n * (n * grad_output - i2 - i5), where n is the number of elements of a
                       feature, i2 = grad_offset, i3 = sum of grad_output * (operand - mean) and
                       i5 = i3 * (operand - mean) / (variance + epsilon)
        """
        rows = FeatureRows(operand, feature_index, mode)
        epsilon, n = rows.constant(epsilon), rows.count

        def run(operand: Array, scale: Array, mean: Array, variance: Array, grad_output: Array) -> tuple[Array, ...]:
            x, dy, scale, variance = rows.elements(operand), rows.elements(grad_output), wide(scale), wide(variance)
            stddev = np.sqrt(variance + epsilon)
            mean_bcast, stddev_bcast = rows.bcast(mean), rows.bcast(stddev)

            def terms(block: slice) -> tuple[Array, ...]:
                centered = x(block) - mean_bcast[block]
                normalized = centered / stddev_bcast[block]
                centered *= dy(block)
                normalized *= dy(block)
                return normalized, dy(block), centered

            grad_scale, grad_offset, i3 = rows.sums(terms, 3)
            i2_bcast, i3_bcast = rows.bcast(grad_offset), rows.bcast(i3)
            divisor, factor = rows.bcast(variance + epsilon), rows.bcast(scale / stddev / n)

            def gradient(block: slice, y: Array) -> None:
                np.multiply(dy(block), n, out=y)
                y -= i2_bcast[block]
                i5 = x(block) - mean_bcast[block]
                i5 *= i3_bcast[block]
                i5 /= divisor[block]
                y -= i5
                y *= factor[block]

            return rows.collect(gradient), rows.round_once(grad_scale), rows.round_once(grad_offset)

        return run


# --- computation ----------------------------------------------------------------------------------------------------

Elements: TypeAlias = Callable[[slice], Array]  # from a block of rows to its elements in the wide type


def wide(x: Array) -> Array:
    """Return an array in f64."""
    return x.astype(FLOAT64)


def normalizer(rows: FeatureRows, epsilon: float) -> Run:
    """Return the function `batch_norm_inference` of elements and values per feature."""
    epsilon = rows.constant(epsilon)

    def run(x: Elements, scale: Array, offset: Array, mean: Array, variance: Array) -> Array:
        stddev = np.sqrt(wide(variance) + epsilon)
        scale, offset, mean, stddev = map(rows.bcast, (scale, offset, mean, stddev))

        def normalized(block: slice, y: Array) -> None:
            np.subtract(x(block), mean[block], out=y)
            y /= stddev[block]
            y *= scale[block]
            y += offset[block]

        return rows.collect(normalized)

    return run


def parts_of(length: int) -> int:
    """Return into how many equal parts a row of this length is cut, so that none is too long."""
    least = -(-length // LONGEST)
    return next((n for n in range(least, 2 * least) if length % n == 0), 1) if least > 1 else 1


class FeatureRows:
    """Tensors of a type as matrices, which are processed in blocks of rows.

    If enough elements of a feature are contiguous, they form one row or several (`by_row`). Else a row
    contains all features, once or several times.
    """

    def __init__(self, operand: TensorType, feature_index: int, mode: Mode) -> None:
        self.sizes = shape(operand)
        self.dtype = numpy_dtype(element_type(operand))
        self.wide = FLOAT64 if self.dtype == FLOAT64 else FLOAT32
        self.round_once = narrow(self.dtype)
        self.features = self.sizes[feature_index]
        self.outer, self.inner = prod(self.sizes[:feature_index]), prod(self.sizes[feature_index + 1 :])
        self.count = self.constant(self.outer * self.inner)  # the spec's `size(operand) / dim(operand, feature_index)`
        self.by_row = self.inner >= LONG
        self.exact = mode.exact_sums
        self.longest = 0 if mode.reproducible else LONGEST  # of a row that BLAS sums
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
        """Return the value rounded to the element type."""
        return float(self.round_once(np.array([value], FLOAT64))[0])

    def elements(self, x: Array) -> Elements:
        """Return a function from blocks to the elements of a tensor in the wide type."""
        matrix, dtype = x.reshape(self.shape), self.wide
        return lambda block: matrix[block].astype(dtype, copy=False)

    def bcast(self, features: Array) -> Array:
        """Broadcast one value per feature to a matrix in the wide type."""
        features = features.astype(self.wide)
        if self.by_row:
            column = np.broadcast_to(features[:, np.newaxis], (self.outer, self.features, self.parts)).reshape(-1, 1)
            return np.broadcast_to(column, self.shape)
        return np.broadcast_to(np.tile(np.repeat(features, self.inner), self.repeats), self.shape)

    def sums(self, terms: Callable[[slice], tuple[Array, ...]], count: int) -> Array:
        """Sum `count` terms over the elements of each feature, within blocks in the wide type, then in f64.

        With the option `exact_sums`, each is the exact sum of the terms in the wide type, rounded once to f64.
        """
        if self.exact:
            return self._exact_sums(terms, count)
        totals = np.zeros((count, self.shape[0 if self.by_row else 1]), FLOAT64)
        for block in self.blocks:
            for total, term in zip(totals, terms(block)):
                if self.by_row:
                    total[block] = self._sums_of_rows(term)
                else:
                    total += np.ones(len(term), self.wide) @ term if self.longest else term.sum(0, FLOAT64)
        outer, inner = (self.outer, self.parts) if self.by_row else (self.repeats, self.inner)
        with default_buffers():
            sums: Array = totals.reshape(count, outer, self.features, inner).sum((1, 3))
        return sums

    def _sums_of_rows(self, term: Array) -> Array:
        length = term.shape[1]
        if length <= self.longest:
            return term @ np.ones(length, self.wide)
        with default_buffers():
            sums: Array = term.sum(1, FLOAT64)
        return sums

    def _exact_sums(self, terms: Callable[[slice], tuple[Array, ...]], count: int) -> Array:
        reserve(0, count * prod(self.shape) * self.wide.itemsize)
        stored = np.empty((count, *self.shape), self.wide)
        for block in self.blocks:
            for store, term in zip(stored, terms(block)):
                store[block] = term
        sizes, zero = (self.outer, self.features, self.inner), np.zeros(())
        sums = sums_over(FLOAT64, sizes, (0, 2))
        return np.array([sums(x.reshape(sizes), zero) for x in stored])

    def collect(self, fill: Callable[[slice, Array], None]) -> Array:
        """Return the tensor whose blocks `fill` computes in the wide type, rounded once."""
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
