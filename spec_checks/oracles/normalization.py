"""Oracles of `batch_norm_inference`, `batch_norm_training` and `batch_norm_grad`: the spec's decompositions, exact.

They follow the spec's Python literally, on arrays of `Number`s: the values are real numbers (in 300 bits), rounded once
to the element type at the end; only the constants are rounded to the element type first, as in the spec. The bounds
hold for a computation that takes the same steps in f32 (f64 for f64) or better, sums in any order, and rounds once at
the end; pass the element type as `arithmetic` for one that rounds each step to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy import add, divide, multiply, sqrt, subtract

from spec_checks.oracles.notation import Array, Arrays, DType
from spec_checks.oracles.rounding import round_to
from spec_checks.oracles.running_error import (
    accumulation_type,
    elementwise,
    numbers,
    reals,
    rounded,
    rounding_bound,
    total,
)


def batch_norm_inference(
    operand: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    feature_index: int,
) -> Array:
    """Normalize `operand` by the given `mean` and `variance` of each feature."""
    return _evaluate(_batch_norm_inference, (operand, scale, offset, mean, variance), epsilon, feature_index)[0]


def batch_norm_training(operand: Array, scale: Array, offset: Array, epsilon: float, feature_index: int) -> Arrays:
    """Return `output`, `batch_mean` and `batch_var`."""
    return _evaluate(_batch_norm_training, (operand, scale, offset), epsilon, feature_index)


def batch_norm_grad(
    operand: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    grad_output: Array,
    epsilon: float,
    feature_index: int,
) -> Arrays:
    """Return `grad_operand`, `grad_scale` and `grad_offset`."""
    return _evaluate(_batch_norm_grad, (operand, scale, mean, variance, grad_output), epsilon, feature_index)


def batch_norm_inference_bound(
    operand: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    feature_index: int,
    *,
    arithmetic: DType | None = None,
) -> Array:
    """Return the error bound of `batch_norm_inference`."""
    inputs = (operand, scale, offset, mean, variance)
    return _evaluate_bound(_batch_norm_inference, inputs, epsilon, feature_index, arithmetic)[0]


def batch_norm_training_bound(
    operand: Array,
    scale: Array,
    offset: Array,
    epsilon: float,
    feature_index: int,
    *,
    arithmetic: DType | None = None,
) -> Arrays:
    """Return the error bounds of `batch_norm_training`."""
    return _evaluate_bound(_batch_norm_training, (operand, scale, offset), epsilon, feature_index, arithmetic)


def batch_norm_grad_bound(
    operand: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    grad_output: Array,
    epsilon: float,
    feature_index: int,
    *,
    arithmetic: DType | None = None,
) -> Arrays:
    """Return the error bounds of `batch_norm_grad`."""
    inputs = (operand, scale, mean, variance, grad_output)
    return _evaluate_bound(_batch_norm_grad, inputs, epsilon, feature_index, arithmetic)


class _Types(NamedTuple):
    element_type: DType
    arithmetic: DType


def _batch_norm_inference(
    types: _Types,
    operand: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    feature_index: int,
) -> Arrays:
    scale_bcast = _broadcast_in_dim(scale, feature_index, operand)
    offset_bcast = _broadcast_in_dim(offset, feature_index, operand)
    mean_bcast = _broadcast_in_dim(mean, feature_index, operand)
    variance_bcast = _broadcast_in_dim(variance, feature_index, operand)
    epsilon_bcast = _constant(epsilon, types)

    centered_operand = subtract(operand, mean_bcast)
    stddev = sqrt(add(variance_bcast, epsilon_bcast))
    normalized_operand = divide(centered_operand, stddev)
    return (add(multiply(scale_bcast, normalized_operand), offset_bcast),)


def _batch_norm_training(
    types: _Types, operand: Array, scale: Array, offset: Array, epsilon: float, feature_index: int
) -> Arrays:
    mean = _compute_mean(operand, feature_index, types)
    variance = _compute_variance(operand, feature_index, types)
    (output,) = _batch_norm_inference(types, operand, scale, offset, mean, variance, epsilon, feature_index)
    return output, mean, variance


def _batch_norm_grad(
    types: _Types,
    operand: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    grad_output: Array,
    epsilon: float,
    feature_index: int,
) -> Arrays:
    scale_bcast = _broadcast_in_dim(scale, feature_index, operand)
    mean_bcast = _broadcast_in_dim(mean, feature_index, operand)
    variance_bcast = _broadcast_in_dim(variance, feature_index, operand)
    epsilon_bcast = _constant(epsilon, types)

    centered_operand = subtract(operand, mean_bcast)
    stddev = sqrt(add(variance_bcast, epsilon_bcast))
    normalized_operand = divide(centered_operand, stddev)

    elements_per_feature = _constant(_elements_per_feature(operand, feature_index), types)
    i1 = multiply(grad_output, elements_per_feature)
    i2 = _broadcast_in_dim(_compute_sum(grad_output, feature_index, types), feature_index, operand)
    i3 = _broadcast_in_dim(
        _compute_sum(multiply(grad_output, centered_operand), feature_index, types), feature_index, operand
    )
    i4 = multiply(i3, centered_operand)
    i5 = divide(i4, add(variance_bcast, epsilon_bcast))
    i6 = subtract(subtract(i1, i2), i5)

    grad_operand = multiply(divide(divide(scale_bcast, stddev), elements_per_feature), i6)
    grad_scale = _compute_sum(multiply(grad_output, normalized_operand), feature_index, types)
    grad_offset = _compute_sum(grad_output, feature_index, types)
    return grad_operand, grad_scale, grad_offset


def _compute_sum(operand: Array, feature_index: int, types: _Types) -> Array:
    features = np.moveaxis(operand, feature_index, 0)
    sums = np.empty(len(features), object)
    for feature in range(len(features)):
        sums[feature] = total(np.asarray(features[feature], object).flat, types.arithmetic)
    return sums


def _compute_mean(operand: Array, feature_index: int, types: _Types) -> Array:
    divisor = _constant(_elements_per_feature(operand, feature_index), types)
    return divide(_compute_sum(operand, feature_index, types), divisor)


def _compute_variance(operand: Array, feature_index: int, types: _Types) -> Array:
    mean = _compute_mean(operand, feature_index, types)
    mean_bcast = _broadcast_in_dim(mean, feature_index, operand)
    centered_operand = subtract(operand, mean_bcast)
    return _compute_mean(multiply(centered_operand, centered_operand), feature_index, types)


def _elements_per_feature(operand: Array, feature_index: int) -> int:
    """`size(operand) / dim(operand, feature_index)`, also if both are 0."""
    return math.prod(size for d, size in enumerate(operand.shape) if d != feature_index)


def _constant(value: float, types: _Types) -> Array:
    return numbers(np.array(round_to(types.element_type, value)), types.arithmetic)


def _broadcast_in_dim(operand: Array, feature_index: int, like: Array) -> Array:
    shape = [like.shape[d] if d == feature_index else 1 for d in range(like.ndim)]
    return np.broadcast_to(operand.reshape(shape), like.shape)


def _decompose(
    decomposition: Callable[..., Arrays],
    inputs: Arrays,
    epsilon: float,
    feature_index: int,
    arithmetic: DType | None,
) -> Arrays:
    types = _Types(inputs[0].dtype, arithmetic or accumulation_type(inputs[0].dtype))
    with reals.workprec(300):
        return decomposition(types, *(numbers(x, types.arithmetic) for x in inputs), float(epsilon), feature_index)


def _evaluate(
    decomposition: Callable[..., Arrays],
    inputs: Arrays,
    epsilon: float,
    feature_index: int,
) -> Arrays:
    dtype = inputs[0].dtype
    outputs = _decompose(decomposition, inputs, epsilon, feature_index, None)
    return tuple(elementwise(lambda x: rounded(x, dtype), output, dtype) for output in outputs)


def _evaluate_bound(
    decomposition: Callable[..., Arrays],
    inputs: Arrays,
    epsilon: float,
    feature_index: int,
    arithmetic: DType | None,
) -> Arrays:
    dtype = inputs[0].dtype
    outputs = _decompose(decomposition, inputs, epsilon, feature_index, arithmetic)
    return tuple(elementwise(lambda x: rounding_bound(x, dtype), output, np.dtype(np.float64)) for output in outputs)
