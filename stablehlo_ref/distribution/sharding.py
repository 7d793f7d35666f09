"""How tensors are split into equal parts, one for each device of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from stablehlo_ref.define.spec import Size, element_type, make_tensor_type, shape
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.distribution.axes import Span
from stablehlo_ref.distribution.meshes import MOST_DEVICES, groups_of
from stablehlo_ref.distribution.sdy_attributes import Mesh
from stablehlo_ref.ir.arrays import Array, RuntimeValue
from stablehlo_ref.ir.types import TensorType, Type


def shard_type(whole: Type, counts: Sequence[int]) -> Type:
    """Return the type of a device's shard of a tensor whose dimensions are in so many parts each; of others, the type.

    Shards that are not all of the same size have that of the largest. UnsupportedError if a size is unknown.
    """
    if not isinstance(whole, TensorType) or prod(counts) == 1:
        return whole
    if not whole.is_static:
        raise UnsupportedError(f"{whole} cannot be sharded, as its sizes are unknown")
    sizes = [-(-(n or 0) // count) for n, count in zip(whole.shape, counts, strict=True)]
    made: Type = make_tensor_type(sizes, whole.element_type)
    return made


@dataclass(frozen=True)
class Tiling:
    """The number of parts of each dimension of a tensor, and for each dimension the part number of each device.

    Several devices may have the same part. The devices after the first `count` repeat the parts from the beginning.
    """

    parts: tuple[int, ...]
    part_numbers: tuple[Array, ...]
    count: int

    def part_type(self, whole: TensorType) -> TensorType:
        """Return the type of a device's part of a tensor."""
        sizes = [n // count for n, count in zip(shape(whole), self.parts, strict=True)]
        return make_tensor_type(sizes, element_type(whole))

    def whole_type(self, part: TensorType) -> TensorType:
        """Return the type of the tensor that has parts of this type."""
        sizes = [n * count for n, count in zip(shape(part), self.parts, strict=True)]
        return make_tensor_type(sizes, element_type(part))

    def splits(self, sizes: Sequence[Size]) -> bool:
        """Return whether a tensor of these sizes splits into equal parts."""
        return all(n % count == 0 for n, count in zip(sizes, self.parts))

    def split(self, whole: Array, device: int) -> Array:
        """Return a device's part; EvaluationError if the parts would have different sizes."""
        if not self.splits(whole.shape):
            parts = list(self.parts)
            raise EvaluationError(f"cannot split a tensor of shape {list(whole.shape)} into {parts} equal parts")
        return whole[self._box(device, [n // count for n, count in zip(whole.shape, self.parts)])]

    def shards(self, whole: RuntimeValue, count: int) -> list[RuntimeValue]:
        """Return the parts of `count` devices; all have a value that is no tensor."""
        return [self.split(whole, device) if isinstance(whole, np.ndarray) else whole for device in range(count)]

    def join(self, parts: Sequence[Array]) -> Array:
        """Return the whole tensor, given each device's part; a part that several devices have is that of the last."""
        if prod(self.parts) == 1:
            return parts[-1]
        sizes = parts[0].shape
        whole = np.empty([n * count for n, count in zip(sizes, self.parts)], parts[0].dtype)
        for device, part in enumerate(parts):
            whole[self._box(device, sizes)] = part
        return whole

    def _box(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Return the index of a device's part, which has these sizes, in the whole tensor."""
        numbers = (int(part_number[device % self.count]) for part_number in self.part_numbers)
        return tuple(slice(number * size, (number + 1) * size) for number, size in zip(numbers, sizes))


class Devices:
    """The devices of a mesh by id, and where they are along its axes. UnsupportedError for a mesh that is too large."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.count = mesh.count
        if self.count > MOST_DEVICES:
            raise UnsupportedError(f"a mesh of {self.count} devices; at most {MOST_DEVICES} are supported")
        order = np.argsort(mesh.device_ids) if mesh.axes and mesh.device_ids else np.arange(self.count)
        coordinates = np.unravel_index(order, tuple(mesh.sizes.values())) if mesh.axes else ()
        self._coordinates = dict(zip(mesh.sizes, coordinates))

    def numbers(self, parts: Sequence[Span]) -> Array:
        """Return each device's number along parts of axes, the last of which varies fastest."""
        numbers: Array = np.zeros(self.count, np.int64)
        for part in parts:
            rest = self.mesh.sizes[part.name] // part.high
            numbers = numbers * part.size + self._coordinates[part.name] // rest % part.size
        return numbers

    def groups(self, parts: Sequence[Span]) -> tuple[tuple[int, ...], ...]:
        """Return the groups of devices that differ along parts of axes only, each in the order of their numbers."""
        axes = [(part.name, part.low, part.size) for part in parts]
        return groups_of(self.mesh, axes)
