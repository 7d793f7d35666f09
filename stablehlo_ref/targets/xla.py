"""Targets that XLA's compilers know by name: what they expand on CPUs, and what JAX emits for TPUs and GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.counter_based import threefry_keys, threefry_rounds
from stablehlo_ref.numerics.top import descending, top_indices
from stablehlo_ref.ops.extensibility import CustomCall, register_custom_call
from stablehlo_ref.spec import dim
from stablehlo_ref.targets.lapack import converged, rounding

Array = Any

# --- the largest elements -------------------------------------------------------------------------------------------


def approx_top_k(call: CustomCall, operand: Array, indices: Array, *rest: Array) -> Sequence[Array]:
    """The elements of a dimension that the comparator puts first, all of them found; and what `indices` has there."""
    axis = call.backend_config["reduction_dim"]
    numbers = operand.dtype.type(0), operand.dtype.type(1)
    (ascending,) = call.computations[0](*numbers, *[indices.dtype.type(0)] * 2)
    keys = descending(operand.dtype)(operand)
    order = np.argsort(~keys if ascending else keys, axis, "stable")
    order = order.take(range(dim(call.result_types[0], axis)), axis)
    return np.take_along_axis(operand, order, axis), np.take_along_axis(indices, order, axis)


def top_k(call: CustomCall, operand: Array, k: Array | None = None) -> Sequence[Array]:
    """The `k` largest elements of the last dimension, or the smallest ones, and their indices."""
    config = {**call.attributes.get("mhlo.attributes", {}), **(call.backend_config or {})}
    count = int(config["k"] if k is None else k)
    if config.get("largest", True):
        order = top_indices(operand.dtype)(operand, count)
    else:
        order = np.argsort(~descending(operand.dtype)(operand), -1, "stable")[..., :count]
    return np.take_along_axis(operand, order, -1), order.astype(np.int32)


# --- random numbers -------------------------------------------------------------------------------------------------


def threefry2x32(call: CustomCall, k0: Array, k1: Array, x: Array, y: Array, *length: Array) -> Sequence[Array]:
    """Blocks of Threefry, each with a key of its own; how many is told again where shapes are unknown."""
    x, y = x.copy(), y.copy()
    threefry_rounds(threefry_keys(k0, k1), x, y, np.empty_like(x))
    return x, y


# --- linear algebra -------------------------------------------------------------------------------------------------


def eigh(call: CustomCall, a: Array) -> Sequence[Array]:
    """The eigenvectors and eigenvalues of Hermitian matrices; the configuration is "lower,sorted,...,..."."""
    lower = str(call.backend_config).split(",")[0] != "0"
    (values, vectors), _ = converged(lambda x: np.linalg.eigh(x, "L" if lower else "U"), a)
    return vectors, values


def lu_decomposition(call: CustomCall, a: Array) -> Sequence[Array]:
    """The factors, packed; which row each was exchanged with, counting from 0; and the order that rows are in then."""
    packed, pivots, _ = factorizations.lu(a)
    return packed, pivots - 1, permutation(pivots - 1, a.shape[-2])


def lu_pivots_to_permutation(call: CustomCall, pivots: Array) -> Sequence[Array]:
    return [permutation(pivots, dim(call.result_types[0], pivots.ndim - 1))]


def permutation(pivots: Array, size: int) -> Array:
    """The order of `size` rows after each, from the first on, was exchanged with that of its pivot, if there is one."""
    order = np.broadcast_to(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], size)).copy()
    for k in range(pivots.shape[-1]):
        factorizations.swap(order[..., np.newaxis], k, np.where(pivots[..., k] < size, pivots[..., k], k))
    return order


def qr(call: CustomCall, a: Array) -> Sequence[Array]:
    return factorizations.qr(a)


def householder_product(call: CustomCall, packed: Array, tau: Array) -> Sequence[Array]:
    return [factorizations.product(packed, tau)]


register_custom_call("ApproxTopK", approx_top_k)
for target in ("TopK", "mhlo.topk"):
    register_custom_call(target, top_k)
for device in ("cu", "hip"):
    register_custom_call(f"{device}_threefry2x32_ffi", threefry2x32)
    register_custom_call(f"{device}_threefry2x32", threefry2x32)
    register_custom_call(f"{device}_lu_pivots_to_permutation", lu_pivots_to_permutation)
register_custom_call("Eigh", rounding(eigh))
register_custom_call("LuDecomposition", rounding(lu_decomposition))
register_custom_call("Qr", rounding(qr))
register_custom_call("ProductOfElementaryHouseholderReflectors", rounding(householder_product))
