"""Shardy's ops: on whole tensors a sharding changes no value, so that all but `manual_computation` return operands."""

from collections.abc import Callable, Sequence

import numpy as np

from stablehlo_ref.semantics.notation import Array, Arrays, Dims, TensorType, index_space

Mesh = dict[str, int]  # sizes of axes, major first
AtDevice = dict[int, Arrays]
Sharding = tuple[tuple[str, ...], ...]  # the axes that split each dimension, major first


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
    places: dict[int, dict[str, int]] = {}
    for position, device in zip(index_space(tuple(mesh.values())), device_ids, strict=True):
        places[device] = {name: i for name, i in zip(mesh, position) if name in manual_axes}
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


def take(x: Array, positions: tuple[list[Dims], Dims]) -> Array:
    """Return the elements at some indices, as an array of some shape."""
    indices, shape = positions
    return np.array([x[index] for index in indices], x.dtype).reshape(shape)


def where(shape: Dims, sharding: Sharding, coordinates: dict[str, int], mesh: Mesh) -> tuple[list[Dims], Dims]:
    """Return the indices of a device's part, in order, and the shape of the part."""
    starts, sizes = [], []
    for size, names in zip(shape, sharding):
        number, count = 0, 1
        for name in names:
            if name in coordinates:
                number, count = number * mesh[name] + coordinates[name], count * mesh[name]
        starts.append(number * (size // count))
        sizes.append(size // count)
    inside = [tuple(s + i for s, i in zip(starts, index)) for index in index_space(tuple(sizes))]
    return inside, tuple(sizes)
