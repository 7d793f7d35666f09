"""How tensors are split into equal parts, one for each device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from stablehlo_ref.define.spec import Size, element_type, make_tensor_type, shape
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType


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
