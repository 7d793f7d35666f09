"""Targets that JAX emits for ops whose result shape is an operand, where StableHLO's op has a static shape."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from stablehlo_ref.define.bound import call_role
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.spec import element_type, make_tensor_type
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import EnumAttribute
from stablehlo_ref.ir.types import Type, tensor_type
from stablehlo_ref.ops.data_movement import Pad
from stablehlo_ref.ops.extensibility import CustomCall
from stablehlo_ref.ops.random import RngAlgorithm, RngBitGenerator
from stablehlo_ref.targets.configuration import computation, malformed, register
from stablehlo_ref.targets.xla import approx_top_k, top_k


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
