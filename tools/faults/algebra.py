"""Faults of products, convolutions, factorisations, Fourier transforms and normalisations."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from faults.elementwise import f32
from faults.rules import Array, after, before, changed
from jax import lax

from stablehlo_ref.ir.core import Operation

PRODUCTS = "dot_general dot convolution"


def contracted(op: Operation) -> int:
    """Return the last dimension of the first operand that is summed over."""
    if op.name.endswith("convolution"):
        return int(op.properties["input_feature_dimension"])
    dims = op.properties.get("lhs_contracting_dimensions")
    if dims is None:  # of `dot`
        return len(op.operands[0].type.shape) - 1
    if not dims:
        raise NotImplementedError
    return int(dims[-1])


def dropped(x: Array, axis: int) -> Array:
    return x.at[(*(slice(None),) * axis, -1)].set(0)


@before("last term of a product left out", PRODUCTS)
def _(op: Operation, x: Array, y: Array) -> Any:
    return [dropped(x, contracted(op)), y]


@before("last tile of 8 terms left out", PRODUCTS)
def _(op: Operation, x: Array, y: Array) -> Any:
    axis = contracted(op)
    rest = x.shape[axis] % 8
    if not rest or x.shape[axis] < 8:
        raise NotImplementedError
    return [x.at[(*(slice(None),) * axis, slice(x.shape[axis] - rest, None))].set(0), y]


@before("operand transposed", PRODUCTS)
def _(op: Operation, x: Array, y: Array) -> Any:
    for a in range(y.ndim):
        for b in range(a):
            if y.shape[a] == y.shape[b] > 1:
                return [x, jnp.swapaxes(y, a, b)]
    raise NotImplementedError


@before("batches mixed", "dot_general")
def _(op: Operation, x: Array, y: Array) -> Any:
    dims = op.properties.get("rhs_batching_dimensions") or ()
    if not dims:
        raise NotImplementedError
    return [x, jnp.roll(y, 1, dims[0])]


@after("first row of a product for all", PRODUCTS)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    if not r.ndim or len(r) < 2:
        raise NotImplementedError
    return jnp.broadcast_to(r[:1], r.shape)


@after("last column not written", PRODUCTS)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return r.at[..., -1].set(0)


@after("accumulated in bf16", PRODUCTS, strict=True)
def _(op: Operation, r: Array, *xs: Array) -> Array:
    f32(r)
    return lax.reduce_precision(r, 8, 7)


@before("factors of bf16", PRODUCTS, strict=True)
def _(op: Operation, x: Array, y: Array) -> Any:
    f32(x, y)
    return [lax.reduce_precision(x, 8, 7), lax.reduce_precision(y, 8, 7)]


@before("factors of tf32", PRODUCTS, strict=True)
def _(op: Operation, x: Array, y: Array) -> Any:
    f32(x, y)
    return [lax.reduce_precision(x, 8, 10), lax.reduce_precision(y, 8, 10)]


@before("integers saturate in products", "dot_general convolution", inputs="integers")
def _(op: Operation, x: Array, y: Array) -> Any:
    if not jnp.issubdtype(x.dtype, jnp.integer):
        raise NotImplementedError
    return [jnp.clip(x, -2, 2), y]


def spatial(op: Operation) -> Any:
    return tuple(op.properties["kernel_spatial_dimensions"])


@before("kernel flipped", "convolution")
def _(op: Operation, x: Array, y: Array) -> Any:
    return [x, jnp.flip(y, spatial(op))]


@before("groups mixed", "convolution")
def _(op: Operation, x: Array, y: Array) -> Any:
    groups = op.properties["feature_group_count"]
    axis = op.properties["kernel_output_feature_dimension"]
    return [x, jnp.roll(y, max(y.shape[axis] // groups, 1) if groups > 1 else 1, axis)]


@before("last tap of the kernel left out", "convolution")
def _(op: Operation, x: Array, y: Array) -> Any:
    if not spatial(op):
        raise NotImplementedError
    return [x, dropped(y, spatial(op)[-1])]


@changed("padding of a convolution off by one", "convolution")
def _(op: Operation) -> Any:
    padding = tuple(op.properties.get("padding") or ((0, 0),) * len(spatial(op)))
    if not padding:
        return None
    return {"padding": ((padding[0][0] - 1, padding[0][1] + 1), *padding[1:])}


@changed("dilation ignored", "convolution")
def _(op: Operation) -> Any:
    for name in ("rhs_dilation", "lhs_dilation"):
        dilation = tuple(op.properties.get(name) or ())
        if any(d > 1 for d in dilation):
            padding = tuple(op.properties.get("padding") or ((0, 0),) * len(dilation))
            source = op.operands[1 if name == "rhs_dilation" else 0].type.shape
            dims = spatial(op) if name == "rhs_dilation" else op.properties["input_spatial_dimensions"]
            lost = [(source[i] - 1) * (d - 1) for i, d in zip(dims, dilation)]
            sign = -1 if name == "rhs_dilation" else 1
            new = tuple((low, high + sign * n) for (low, high), n in zip(padding, lost))
            return {name: (1,) * len(dilation), "padding": new}
    return None


@changed("stride of a convolution ignored", "convolution")
def _(op: Operation) -> Any:
    strides = tuple(op.properties.get("window_strides") or ())
    if all(s == 1 for s in strides):
        return None
    padding = tuple(op.properties.get("padding") or ((0, 0),) * len(strides))
    out = [op.results[0].type.shape[d] for d in op.properties["output_spatial_dimensions"]]
    new = tuple((low, high - (n - 1) * (s - 1)) for (low, high), n, s in zip(padding, out, strides))
    return {"window_strides": (1,) * len(strides), "padding": new}


@after("transform not normalised", "fft")
def _(op: Operation, r: Array, x: Array) -> Array:
    return r * 2 if op.properties["fft_type"].name.startswith("I") else jnp.conj(r)


@after("last frequency lost", "fft")
def _(op: Operation, r: Array, x: Array) -> Array:
    return r.at[..., -1].set(0)


@before("last sample lost", "fft")
def _(op: Operation, x: Array) -> Any:
    return [x.at[..., -1].set(0)]


@after("factor transposed", "cholesky")
def _(op: Operation, r: Array, x: Array) -> Array:
    return jnp.swapaxes(r, -1, -2)


@before("last row not factored", "cholesky")
def _(op: Operation, x: Array) -> Any:
    return [x.at[..., -1, -1].multiply(1.5)]


@changed("unit diagonal", "triangular_solve")
def _(op: Operation) -> Any:
    return {"unit_diagonal": not op.properties["unit_diagonal"]}


@changed("other triangle", "triangular_solve")
def _(op: Operation) -> Any:
    return {"lower": not op.properties["lower"]}


@before("last row not solved for", "triangular_solve")
def _(op: Operation, a: Array, b: Array) -> Any:
    return [a, b.at[..., -1, :].set(0)]


NORMS = "batch_norm_inference batch_norm_training batch_norm_grad"


@changed("epsilon ignored", NORMS)
def _(op: Operation) -> Any:
    return {"epsilon": op.properties["epsilon"] + 1.0}


@before("scale and offset swapped", "batch_norm_inference batch_norm_training")
def _(op: Operation, x: Array, scale: Array, offset: Array, *rest: Array) -> Any:
    return [x, offset, scale, *rest]


@before("statistics without the last element", NORMS)
def _(op: Operation, x: Array, *rest: Array) -> Any:
    return [x.at[-1].set(0), *rest]


@after("variance unbiased", "batch_norm_training batch_norm_grad")
def _(op: Operation, r: Array, *xs: Array) -> Array:
    return r * 1.1
