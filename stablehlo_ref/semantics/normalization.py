"""batch_norm_inference, batch_norm_training and batch_norm_grad: the spec's decompositions into other ops.

The steps are on real numbers (roots in 300 bits), rounded once to the element type at the end; only the constants are
rounded to the element type first, as in the spec.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from stablehlo_ref.semantics import ieee
from stablehlo_ref.semantics.elements import each_element
from stablehlo_ref.semantics.linear_algebra import numbers_of
from stablehlo_ref.semantics.notation import Array, Arrays, DType
from stablehlo_ref.semantics.rounding import number, round_to

PRECISION = 300  # bits


def batch_norm_inference(
    operand: Array, scale: Array, offset: Array, mean: Array, variance: Array, epsilon: float, feature_index: int
) -> Array:
    """Normalize `operand` across all dimensions except `feature_index`, by the given `mean` and `variance`."""
    inputs = operand, scale, offset, mean, variance
    return rounded(lambda steps, inputs: (steps.inference(*inputs),), inputs, epsilon, feature_index)[0]


def batch_norm_training(operand: Array, scale: Array, offset: Array, epsilon: float, feature_index: int) -> Arrays:
    """Compute mean and variance across all dimensions except `feature_index` and normalize `operand` by them.

    Return `output`, `batch_mean` and `batch_var`.
    """
    inputs = operand, scale, offset
    return rounded(lambda steps, inputs: steps.training(*inputs), inputs, epsilon, feature_index)


def batch_norm_grad(
    operand: Array, scale: Array, mean: Array, variance: Array, grad_output: Array, epsilon: float, feature_index: int
) -> Arrays:
    """Compute gradients of the inputs of `batch_norm_training`: `grad_operand`, `grad_scale` and `grad_offset`."""
    inputs = operand, scale, mean, variance, grad_output
    return rounded(lambda steps, inputs: steps.grad(*inputs), inputs, epsilon, feature_index)


def rounded(compute: Callable[[Steps, Arrays], Arrays], inputs: Arrays, epsilon: float, feature_index: int) -> Arrays:
    """Compute with exact numbers, and round the results to the element type of the inputs."""
    element_type = inputs[0].dtype
    with mpmath.workprec(PRECISION):
        numbers = tuple(map(numbers_of, inputs))
        outputs = compute(Steps(ieee, element_type, numbers[0].shape, epsilon, feature_index), numbers)
        return tuple(each_element(lambda x: round_to(element_type, x), y, element_type=element_type) for y in outputs)


def elementwise(function: Callable[..., Any]) -> Callable[..., Array]:
    """Return the function of numbers as one of arrays of numbers, which may also be of rank 0."""
    return lambda *operands: each_element(function, *np.broadcast_arrays(*operands), element_type=np.dtype(object))


class Steps:
    """The steps of the decompositions on arrays of numbers, with an `arithmetic` of such numbers."""

    def __init__(
        self, arithmetic: Any, element_type: DType, shape: tuple[int, ...], epsilon: float, feature_index: int
    ) -> None:
        binary = (arithmetic.addition, arithmetic.subtraction, arithmetic.multiplication, arithmetic.division)
        self.add, self.subtract, self.multiply, self.divide = map(elementwise, binary)
        self.sqrt = elementwise(arithmetic.square_root)
        self.total = arithmetic.total
        self.number = getattr(arithmetic, "number", number)
        self.element_type, self.shape = element_type, shape
        self.epsilon, self.feature_index = epsilon, feature_index

    def inference(self, operand: Array, scale: Array, offset: Array, mean: Array, variance: Array) -> Array:
        scale_bcast = self.broadcast_in_dim(scale)
        offset_bcast = self.broadcast_in_dim(offset)
        mean_bcast = self.broadcast_in_dim(mean)
        variance_bcast = self.broadcast_in_dim(variance)
        epsilon_bcast = self.constant(self.epsilon)

        centered_operand = self.subtract(operand, mean_bcast)
        stddev = self.sqrt(self.add(variance_bcast, epsilon_bcast))
        normalized_operand = self.divide(centered_operand, stddev)
        return self.add(self.multiply(scale_bcast, normalized_operand), offset_bcast)

    def training(self, operand: Array, scale: Array, offset: Array) -> Arrays:
        mean = self.compute_mean(operand)
        variance = self.compute_variance(operand)
        return self.inference(operand, scale, offset, mean, variance), mean, variance

    def grad(self, operand: Array, scale: Array, mean: Array, variance: Array, grad_output: Array) -> Arrays:
        scale_bcast = self.broadcast_in_dim(scale)
        mean_bcast = self.broadcast_in_dim(mean)
        variance_bcast = self.broadcast_in_dim(variance)
        epsilon_bcast = self.constant(self.epsilon)

        # Perform normalization using the provided `mean` and `variance`.
        centered_operand = self.subtract(operand, mean_bcast)
        stddev = self.sqrt(self.add(variance_bcast, epsilon_bcast))
        normalized_operand = self.divide(centered_operand, stddev)

        # Use equations from the batch normalization paper.
        elements_per_feature = self.constant(self.elements_per_feature())
        i1 = self.multiply(grad_output, elements_per_feature)
        i2 = self.broadcast_in_dim(self.compute_sum(grad_output))
        i3 = self.broadcast_in_dim(self.compute_sum(self.multiply(grad_output, centered_operand)))
        i4 = self.multiply(i3, centered_operand)
        i5 = self.divide(i4, self.add(variance_bcast, epsilon_bcast))
        i6 = self.subtract(self.subtract(i1, i2), i5)

        grad_operand = self.multiply(self.divide(self.divide(scale_bcast, stddev), elements_per_feature), i6)
        grad_scale = self.compute_sum(self.multiply(grad_output, normalized_operand))
        grad_offset = self.compute_sum(grad_output)
        return grad_operand, grad_scale, grad_offset

    def compute_sum(self, operand: Array) -> Array:
        """Return the sum for each feature."""
        features = np.moveaxis(operand, self.feature_index, 0)
        sums = np.empty(len(features), object)
        for feature in range(len(features)):
            sums[feature] = self.total(list(features[feature, ...].flat))
        return sums

    def compute_mean(self, operand: Array) -> Array:
        return self.divide(self.compute_sum(operand), self.constant(self.elements_per_feature()))

    def compute_variance(self, operand: Array) -> Array:
        mean_bcast = self.broadcast_in_dim(self.compute_mean(operand))
        centered_operand = self.subtract(operand, mean_bcast)
        return self.compute_mean(self.multiply(centered_operand, centered_operand))

    def elements_per_feature(self) -> int:
        """`size(operand) / dim(operand, feature_index)`, also if both are 0."""
        return math.prod(size for d, size in enumerate(self.shape) if d != self.feature_index)

    def constant(self, value: float) -> Array:
        constant = np.empty((), object)
        constant[()] = self.number(round_to(self.element_type, value))
        return constant

    def broadcast_in_dim(self, operand: Array) -> Array:
        """Broadcast one number for each feature to the shape of `operand`."""
        shape = [size if d == self.feature_index else 1 for d, size in enumerate(self.shape)]
        return np.broadcast_to(operand.reshape(shape), self.shape)
