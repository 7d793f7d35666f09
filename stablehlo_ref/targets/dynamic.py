"""Ops that StableHLO has for known shapes only, as JAX calls them where a shape is an operand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from stablehlo_ref.ir.types import Type, tensor_type
from stablehlo_ref.ops.data_movement import Pad
from stablehlo_ref.ops.extensibility import CustomCall, register_custom_call
from stablehlo_ref.ops.random import RngAlgorithm, RngBitGenerator
from stablehlo_ref.spec import element_type, make_tensor_type
from stablehlo_ref.targets.xla import approx_top_k, top_k

Array = Any


def dynamic_rng_bit_generator(call: CustomCall, state: Array, sizes: Array) -> Sequence[Array]:
    """`rng_bit_generator` of a shape that is an operand."""
    output = make_tensor_type(sizes.tolist(), element_type(call.result_types[1]))
    run = RngBitGenerator.plan(RngAlgorithm[call.attributes["rng_algorithm"].value], output)
    return run(state)  # type: ignore[no-any-return]


def dynamic_reduce_window(call: CustomCall, *operands: Array) -> Sequence[Array]:
    """`reduce_window` with window, strides, dilations and padding as operands."""
    *arrays, window, strides, base_dilations, window_dilations, padding = operands
    inputs, inits = arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :]
    types = call.operand_types
    padded = [pad(x, init, t, base_dilations, padding) for x, init, t in zip(inputs, inits, types)]
    counts = (np.array(padded[0].shape) - (window - 1) * window_dilations - 1) // strides + 1
    sizes = [max(0, count) for count in counts.tolist()]
    results = [np.broadcast_to(init, sizes) for init in inits]
    for place in product(*map(range, window.tolist())):
        starts = (np.array(place, int) * window_dilations).tolist()
        box = tuple(slice(a, a + max(0, n - 1) * s + 1, s) for a, n, s in zip(starts, sizes, strides.tolist()))
        results = call.computations[0].each(*results, *[x[box] for x in padded]) if min(sizes, default=1) else results
    return results


def pad(x: Array, value: Array, type: Type, dilations: Array, padding: Array) -> Array:
    """An array with padding around and between its elements."""
    low, high = padding.T.tolist()
    interior = [d - 1 for d in dilations.tolist()]
    operand = tensor_type(x.shape, element_type(type))
    members = {
        "operand": operand, "padding_value": tensor_type((), element_type(type)), "edge_padding_low": tuple(low),
        "edge_padding_high": tuple(high), "interior_padding": tuple(interior),
    }  # fmt: skip
    result = Pad.call("infer", members)
    return Pad.call("plan", members | {"result": result})(x, value)


register_custom_call("stablehlo.dynamic_approx_top_k", approx_top_k)
register_custom_call("stablehlo.dynamic_top_k", top_k)
register_custom_call("stablehlo.dynamic_rng_bit_generator", dynamic_rng_bit_generator)
register_custom_call("stablehlo.dynamic_reduce_window", dynamic_reduce_window)
