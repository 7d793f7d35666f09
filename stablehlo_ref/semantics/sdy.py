"""Shardy's ops: on whole tensors a sharding changes no value, so that all but `manual_computation` return operands.

What collectives do to the shards that devices hold is `on_shards`.
"""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from stablehlo_ref.semantics.notation import Array, Arrays, Dims, TensorType, index_space

Mesh = dict[str, int]  # sizes of axes, major first
AtDevice = dict[int, Arrays]
Axes = Sequence[tuple[str, int, int]]  # parts of axes: name, product of the parts before, size
Sharding = Sequence[Axes]  # that split each dimension, major first


def sharding_constraint(input: Array) -> Array:
    return input


all_gather = all_reduce = all_slice = all_to_all = collective_permute = reduce_scatter = sharding_constraint
data_flow_edge = func_data_flow_edge = propagation_barrier = reshard = sharding_constraint
replicated_to_unreduced = sharded_to_unreduced = sharding_constraint


def sharding_group(input: Array) -> None:
    """Return nothing: the values of a group have the same sharding."""


def constant(value: Array) -> Array:
    return value


def named_computation(operands: Arrays, body: Callable[..., Arrays]) -> Arrays:
    return body(*operands)


def manual_computation(
    tensors: Arrays,
    in_shardings: Sequence[Sharding],
    out_shardings: Sequence[Sharding],
    manual_axes: Sequence[str],
    body: Callable[[AtDevice], AtDevice],
    *,
    mesh: Mesh,
    device_ids: Sequence[int],
    results: Sequence[TensorType],
) -> Arrays:
    """Run `body` on each device of a mesh, on its parts of the operands; it returns the device's parts of the results.

    `body` is a function of all devices at once, as they may communicate. Replicated parts of results are equal.
    """
    outputs = tuple(np.empty(shape, element_type) for shape, element_type in results)
    places = {
        device: {name: i for name, i in at.items() if name in manual_axes}
        for device, at in coordinates(mesh, device_ids).items()
    }
    parts = {
        device: tuple(take(x, where(x.shape, sharding, at, mesh)) for x, sharding in zip(tensors, in_shardings))
        for device, at in places.items()
    }
    for device, returned in body(parts).items():
        for output, part, sharding in zip(outputs, returned, out_shardings):
            indices, _ = where(output.shape, sharding, places[device], mesh)
            for index, element in zip(indices, part.flat, strict=True):
                output[index] = element
    return outputs


def on_shards(
    shards: dict[int, Array],
    before: Sharding,
    after: Sharding,
    reduced: Axes,
    combine: Callable[[Array, Array], Array],
    *,
    shape: Dims,
    mesh: Mesh,
    device_ids: Sequence[int],
) -> dict[int, Array]:
    """Return what devices hold after a collective on the shards of a tensor of some shape.

    Each element of a device's new shard comes from devices that had it before, and that are where the device is along
    axes that play no part in the op; terms of devices that differ along the axes in `reduced` are combined.
    """
    places = coordinates(mesh, device_ids)
    moving = {name for axes in (*before, *after, reduced) for name, _, _ in axes}
    held = {
        device: dict(zip(where(shape, before, at, mesh)[0], shards[device][box(shape, before, at, mesh)].flat))
        for device, at in places.items()
    }
    results = {}
    for device, here in places.items():
        indices, sizes = where(shape, after, here, mesh)
        result = np.empty(sizes, shards[device].dtype)
        near = [d for d, at in places.items() if all(at[name] == here[name] for name in mesh if name not in moving)]
        for position, index in zip(index_space(sizes), indices):
            terms = {number_along(reduced, places[d], mesh): held[d][index] for d in near if index in held[d]}
            first, *others = (terms[number] for number in sorted(terms))
            for term in others:
                first = combine(first, term)
            result[position] = first
        results[device] = result
    return results


def coordinates(mesh: Mesh, device_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return where each device is along the axes of a mesh."""
    positions = zip(device_ids, index_space(tuple(mesh.values())), strict=True)
    return {device: dict(zip(mesh, position)) for device, position in positions}


def number_along(axes: Axes, at: dict[str, int], mesh: Mesh) -> int:
    """Return the number of a device along parts of axes, the last of which varies fastest."""
    number = 0
    for name, before, size in axes:
        if name in at:
            number = number * size + at[name] // (mesh[name] // (before * size)) % size
    return number


def take(x: Array, positions: tuple[list[Dims], Dims]) -> Array:
    """Return the elements at some indices, as an array of some shape."""
    indices, shape = positions
    return np.array([x[index] for index in indices], x.dtype).reshape(shape)


def where(shape: Dims, sharding: Sharding, at: dict[str, int], mesh: Mesh) -> tuple[list[Dims], Dims]:
    """Return the indices of a device's part, in order, and the shape of the part: smaller at the end of the tensor."""
    starts, sizes = [], []
    for size, axes in zip(shape, sharding):
        count = prod(part for name, _, part in axes if name in at)
        start = min(number_along(axes, at, mesh) * -(-size // count), size)
        starts.append(start)
        sizes.append(min(-(-size // count), size - start))
    inside = [tuple(s + i for s, i in zip(starts, index)) for index in index_space(tuple(sizes))]
    return inside, tuple(sizes)


def box(shape: Dims, sharding: Sharding, at: dict[str, int], mesh: Mesh) -> tuple[slice, ...]:
    """Return the place in a device's shard of the elements that the tensor has."""
    return tuple(slice(size) for size in where(shape, sharding, at, mesh)[1])
