"""Targets that XLA expands or implements itself, on CPUs, GPUs and TPUs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.spec import dim, element_type, make_tensor_type
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import EnumAttribute
from stablehlo_ref.ir.types import Type, tensor_type
from stablehlo_ref.numerics import factorizations
from stablehlo_ref.numerics.counter_based_rng import threefry_keys, threefry_rounds
from stablehlo_ref.numerics.factorizations import adjoint, solve_tridiagonal
from stablehlo_ref.numerics.top_k import descending_keys, top_k_indices
from stablehlo_ref.ops.data_movement import Pad
from stablehlo_ref.ops.extensibility import CustomCall
from stablehlo_ref.ops.random import RngAlgorithm, RngBitGenerator
from stablehlo_ref.targets.configuration import (
    boolean,
    computation,
    configuration,
    integer,
    malformed,
    register,
    scalar,
    with_entries,
)
from stablehlo_ref.targets.exact_lapack import ExactLapack, JobLetter
from stablehlo_ref.targets.lapack import (
    OPEN,
    Table,
    eigenvectors,
    empty,
    exactly,
    geqp3,
    geqrf,
    getrf,
    orgqr,
    ormqr,
    potrf,
    singular_values,
    syevd,
    sytrd,
)
from stablehlo_ref.targets.mhlo import mhlo_attributes

# --- top k ----------------------------------------------------------------------------------------------------------


def approx_top_k(call: CustomCall, operand: Array, indices: Array, *rest: Array) -> Sequence[Array]:
    """Return the elements that the comparator orders first along `reduction_dim`, exactly, and their `indices`."""
    axis = integer(call, "reduction_dim", -operand.ndim, operand.ndim - 1) % operand.ndim
    samples = operand.dtype.type(0), operand.dtype.type(1)
    (ascending,) = computation(call)(*samples, *[indices.dtype.type(0)] * 2)
    keys = descending_keys(operand.dtype)(operand)
    order = np.argsort(~keys if ascending else keys, axis, "stable")
    order = order.take(range(dim(call.result_types[0], axis)), axis)
    return np.take_along_axis(operand, order, axis), np.take_along_axis(indices, order, axis)


def partial_reduce(call: CustomCall, operand: Array, indices: Array, *rest: Array) -> Sequence[Array]:
    """Return as many of the elements as the result has, those that the comparator orders first, in order.

    On TPUs these are the elements that come first within each of as many groups, whatever the groups are.
    """
    if isinstance(call.backend_config, str):
        call = with_entries(call, from_json(call))
    return approx_top_k(call, operand, indices, *rest)


def from_json(call: CustomCall) -> Mapping[str, object]:
    """Return the entries of a configuration in JSON."""
    try:
        entries = json.loads(str(call.backend_config))
    except ValueError as error:
        raise malformed(call, f"expected a dictionary in JSON as backend_config: {error}") from None
    if not isinstance(entries, dict):
        raise malformed(call, f"expected a dictionary in JSON as backend_config, got {call.backend_config!r}")
    return entries


def top_k(call: CustomCall, operand: Array, k: Array | None = None) -> Sequence[Array]:
    """Return the `k` largest elements along the last dimension, or the smallest, and their indices.

    `k` is an operand for dynamic shapes, an entry of the configuration, or else the size of the result.
    """
    call = with_entries(call, {**mhlo_attributes(call), **configuration(call)})
    size = operand.shape[-1]
    count = dim(call.result_types[0], operand.ndim - 1) if k is None else scalar(call, "k", k)
    count = integer(with_entries(call, {"k": count, **configuration(call)}), "k", 0, size)
    if boolean(call, "largest", default=True):
        order = top_k_indices(operand.dtype)(operand, count)
    else:
        order = np.argsort(~descending_keys(operand.dtype)(operand), -1, "stable")[..., :count]
    return np.take_along_axis(operand, order, -1), order.astype(np.int32)


# --- random numbers -------------------------------------------------------------------------------------------------


def threefry2x32(call: CustomCall, k0: Array, k1: Array, x: Array, y: Array, *length: Array) -> Sequence[Array]:
    """Return Threefry-2x32 blocks, each with its own key; `length` repeats the number of blocks for dynamic shapes."""
    x, y = x.copy(), y.copy()
    threefry_rounds(threefry_keys(k0, k1), x, y, np.empty_like(x))
    return x, y


# --- linear algebra -------------------------------------------------------------------------------------------------


def eigh(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvectors and eigenvalues of Hermitian matrices; the configuration is "lower,sorted,...,..."."""
    lower = str(call.backend_config).split(",")[0] or "1"
    if lower not in ("0", "1"):
        raise malformed(call, f"expected backend_config to start with 0 or 1, got {call.backend_config!r}")
    return lapack.syevd(a, lower == "1", with_vectors=True)[:2]


def lu_decomposition(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed LU factors, the pivots, counted from 0, and the permutation of rows."""
    packed, pivots, _ = lapack.getrf(a)
    return packed, pivots - 1, permutation(pivots - 1, a.shape[-2])


def lu_pivots_to_permutation(call: CustomCall, pivots: Array) -> Sequence[Array]:
    """Return the permutation of rows that pivots, counted from 0, represent."""
    return [permutation(pivots, dim(call.result_types[0], pivots.ndim - 1))]


def permutation(pivots: Array, size: int) -> Array:
    """Return the order of `size` rows after swapping each row in turn with its pivot; pivots >= `size` are skipped."""
    order = np.broadcast_to(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], size)).copy()
    for k in range(pivots.shape[-1]):
        factorizations.swap(order[..., np.newaxis], k, np.where(pivots[..., k] < size, pivots[..., k], k))
    return order


def qr(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the packed QR factorization and `tau`."""
    return lapack.geqrf(a)


def householder_product(lapack: ExactLapack, call: CustomCall, packed: Array, tau: Array) -> Sequence[Array]:
    """Return the product of reflectors as a matrix."""
    return [lapack.orgqr(packed, tau)]


register("ApproxTopK", approx_top_k)
register("PartialReduce", partial_reduce)
for target in ("TopK", "mhlo.topk"):
    register(target, top_k)
for device in ("cu", "hip"):
    register(f"{device}_threefry2x32_ffi", threefry2x32)
    register(f"{device}_threefry2x32", threefry2x32)
    register(f"{device}_lu_pivots_to_permutation", lu_pivots_to_permutation)
register("Eigh", exactly(eigh, "nn"), is_open=True)
register("LuDecomposition", exactly(lu_decomposition, "mn"))
register("Qr", exactly(qr, "mn"))
register("ProductOfElementaryHouseholderReflectors", exactly(householder_product, "mk t"))


def job(call: CustomCall) -> JobLetter:
    """Return the LAPACK job letter of a singular value decomposition."""
    full_matrices = boolean(call, "full_matrices")
    if not boolean(call, "compute_uv"):
        return "N"
    return "A" if full_matrices else "S"


def gesvd(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition; with `transposed`, right vectors precede left ones."""
    results = singular_values(lapack, call, a, job(call))
    if not boolean(call, "transposed", default=False) or job(call) == "N":
        return results
    a, values, u, v, info = results
    return a, values, v, u, info


def gesvdj(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return the singular value decomposition with right vectors as columns."""
    _, values, u, v, info = singular_values(lapack, call, a, job(call))
    return a, values, u, v if job(call) == "N" else adjoint(v), info


def eig(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvalues, left and right eigenvectors, and `info`."""
    return eigenvectors(lapack, call, a, boolean(call, "left"), boolean(call, "right", default=True))


def geev(lapack: ExactLapack, call: CustomCall, a: Array) -> Sequence[Array]:
    """Return eigenvalues and right eigenvectors; a conjugate pair's columns are the real and imaginary parts."""
    values, _, right, info = lapack.geev(a, False, True)
    if not np.iscomplexobj(a):
        right = np.where(values.imag[..., np.newaxis, :] < 0, -right.imag, right.real)
    return a, values, empty(call, 2), right, info


def syrk(lapack: ExactLapack, call: CustomCall, a: Array, c: Array, alpha: Array, beta: Array) -> Sequence[Array]:
    """Return both triangles of `alpha a a^H + beta c`, or with `transpose` of `alpha a^H a + beta c`."""
    a = adjoint(a) if boolean(call, "transpose") else a
    return [alpha * a @ adjoint(a) + beta * c]


def cholesky_update(lapack: ExactLapack, call: CustomCall, factor: Array, w: Array) -> Sequence[Array]:
    """Return the upper triangular factor of `factor^T factor + w w^T`, by Givens rotations, and the rest of `w`."""
    factor = factor.copy()
    for k, row in enumerate(factor):
        length = np.hypot(row[k], w[k])
        c, s = (row[k] / length, w[k] / length) if length else (1.0, 0.0)
        factor[k], w = c * row + s * w, c * w - s * row
    return factor, w


def gtsv2(
    lapack: ExactLapack, call: CustomCall, lower: Array, diagonal: Array, upper: Array, b: Array
) -> Sequence[Array]:
    """Solve a tridiagonal system."""
    return [solve_tridiagonal(lower, diagonal, upper, b)[3]]


ROUTINES: Table = {
    "potrf": (potrf, "nn"), "getrf": (getrf, "mn"), "geqrf": (geqrf, "mn"), "orgqr": (orgqr, "mk t"),
    "ormqr": (ormqr, "mk t rc"), "syevd": (syevd, "nn"), "sytrd": (sytrd, "nn"), "gesvd": (gesvd, "mn"),
    "gesdd": (gesvd, "mn"), "gesvdj": (gesvdj, "mn"), "gesvdp": (gesvdj, "mn"), "geev": (geev, "nn"),
    "syrk": (syrk, "mn kk - -"),
}  # fmt: skip

for library in ("cusolver", "hipsolver", "rocsolver"):
    for name, (function, dimensions) in ROUTINES.items():
        register(f"{library}_{name}_ffi", exactly(function, dimensions), function in (*OPEN, gesvd, gesvdj, geev))
register("cu_cholesky_update_ffi", exactly(cholesky_update, "nn n"))
for library in ("cuhybrid", "hiphybrid"):
    register(f"{library}_eig_real", exactly(eig, "nn"), is_open=True)
    register(f"{library}_eig_comp", exactly(eig, "nn"), is_open=True)
    register(f"{library}_geqp3", exactly(geqp3, "mn n"))
for library in ("cusparse", "hipsparse"):
    register(f"{library}_gtsv2_ffi", exactly(gtsv2, "p n p nr"))


def dynamic_rng_bit_generator(call: CustomCall, state: Array, sizes: Array) -> Sequence[Array]:
    """Compute `rng_bit_generator` with the result shape `sizes`."""
    output = make_tensor_type(sizes.tolist(), element_type(call.result_types[1]))
    state_type = make_tensor_type(state.shape, element_type(call.operand_types[0]))
    run: Run = RngBitGenerator.plan(state_type, rng_algorithm(call), output)
    results: Sequence[Array] = run(state)
    return results


def rng_algorithm(call: CustomCall) -> RngAlgorithm:
    """Return the attribute `rng_algorithm`."""
    attribute = call.attributes.get("rng_algorithm")
    if not isinstance(attribute, EnumAttribute) or attribute.value not in RngAlgorithm.__members__:
        raise malformed(call, f"expected an rng_algorithm, got {attribute!r}")
    return RngAlgorithm[attribute.value]


def dynamic_reduce_window(call: CustomCall, *operands: Array) -> Sequence[Array]:
    """Compute `reduce_window` with window dimensions, strides, dilations and padding as operands."""
    if len(operands) < 7 or len(operands) % 2 == 0:
        raise malformed(call, f"expected inputs, as many init values, and 5 shapes, got {len(operands)} operands")
    *arrays, window, strides, base_dilations, window_dilations, padding = operands
    reduction, count = computation(call), len(arrays) // 2
    inputs, inits, types = arrays[:count], arrays[count:], call.operand_types
    for t, init in zip(types[:count], types[count:]):
        if init != (scalar := tensor_type((), element_type(t))):
            raise malformed(call, f"expected an init value of type {scalar}, got {init}")
    padded = [pad(x, init, t, base_dilations, padding) for x, init, t in zip(inputs, inits, types)]
    counts = (np.array(padded[0].shape) - (window - 1) * window_dilations - 1) // strides + 1
    sizes = [max(0, count) for count in counts.tolist()]
    results = [np.broadcast_to(init, sizes) for init in inits]
    for offsets in product(*map(range, window.tolist())):
        starts = (np.array(offsets, int) * window_dilations).tolist()
        box = tuple(slice(a, a + max(0, n - 1) * s + 1, s) for a, n, s in zip(starts, sizes, strides.tolist()))
        results = reduction.each(*results, *[x[box] for x in padded]) if min(sizes, default=1) else results
    return results


def pad(x: Array, value: Array, type: Type, dilations: Array, padding: Array) -> Array:
    """Return an array with edge padding, and interior padding where `dilations` exceed 1."""
    low, high = padding.T.tolist()
    interior = [d - 1 for d in dilations.tolist()]
    operand = tensor_type(x.shape, element_type(type))
    members = {
        "operand": operand, "padding_value": tensor_type((), element_type(type)), "edge_padding_low": tuple(low),
        "edge_padding_high": tuple(high), "interior_padding": tuple(interior),
    }  # fmt: skip
    result = call_role(Pad.definition, "infer", members)
    padded: Array = call_role(Pad.definition, "plan", {**members, "result": result})(x, value)
    return padded


register("stablehlo.dynamic_approx_top_k", approx_top_k)
register("stablehlo.dynamic_top_k", top_k)
register("stablehlo.dynamic_rng_bit_generator", dynamic_rng_bit_generator, is_open=True)
register("stablehlo.dynamic_reduce_window", dynamic_reduce_window)
