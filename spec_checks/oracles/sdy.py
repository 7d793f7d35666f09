"""sdy.manual_computation: what each device of a mesh has, does and gives, device by device."""

from collections.abc import Callable, Sequence

import numpy as np

from spec_checks.oracles.notation import Array, Arrays, Dims, index_space

Mesh = dict[str, int]  # the sizes of the axes, the first of which is major
Sharding = tuple[tuple[str, ...], ...]  # for each dimension the axes that it is split over, the first of which is major


def manual_computation(
    tensors: Arrays,
    in_shardings: Sequence[Sharding],
    out_shardings: Sequence[Sharding],
    manual_axes: Sequence[str],
    body: Callable[[int, Arrays], Arrays],
    *,
    mesh: Mesh,
    device_ids: Sequence[int],
    shapes: Sequence[Dims],
) -> Arrays:
    """The results, of these shapes; `body` gets the device and its parts. Parts that devices share are the same."""
    results = tuple(np.empty(shape, tensors[0].dtype) for shape in shapes)
    for place, device in zip(index_space(tuple(mesh.values())), device_ids):
        at = {name: i for name, i in zip(mesh, place) if name in manual_axes}
        parts = tuple(take(x, where(x.shape, sharding, at, mesh)) for x, sharding in zip(tensors, in_shardings))
        for result, part, sharding in zip(results, body(device, parts), out_shardings):
            for index, element in zip(where(result.shape, sharding, at, mesh)[0], part.flat, strict=True):
                result[index] = element
    return results


def take(x: Array, places: tuple[list[Dims], Dims]) -> Array:
    """The elements at some indices, in a shape."""
    indices, shape = places
    return np.array([x[index] for index in indices], x.dtype).reshape(shape)


def where(shape: Dims, sharding: Sharding, at: dict[str, int], mesh: Mesh) -> tuple[list[Dims], Dims]:
    """The indices of a device's part, in order, and the part's shape."""
    starts, sizes = [], []
    for size, names in zip(shape, sharding):
        number, count = 0, 1
        for name in names:
            if name in at:
                number, count = number * mesh[name] + at[name], count * mesh[name]
        starts.append(number * (size // count))
        sizes.append(size // count)
    inside = [tuple(s + i for s, i in zip(starts, index)) for index in index_space(tuple(sizes))]
    return inside, tuple(sizes)
