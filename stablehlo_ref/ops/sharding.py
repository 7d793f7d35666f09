"""How tensors are split into equal parts, of which each device has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.spec import element_type, make_tensor_type, shape

Array = Any


@dataclass(frozen=True)
class Tiling:
    """Into how many parts each dimension of a tensor is split, and for each dimension which part each device has.

    Several devices may have the same part. What is said of `count` devices holds of any more, again from the first.
    """

    parts: tuple[int, ...]
    places: tuple[Array, ...]
    count: int

    def part_type(self, whole: Any) -> Any:
        """The type of a device's part of a tensor."""
        sizes = [n // count for n, count in zip(shape(whole), self.parts, strict=True)]
        return make_tensor_type(sizes, element_type(whole))

    def whole_type(self, part: Any) -> Any:
        """The type of the tensor that has parts of this type."""
        sizes = [n * count for n, count in zip(shape(part), self.parts, strict=True)]
        return make_tensor_type(sizes, element_type(part))

    def splits(self, sizes: Sequence[Any]) -> bool:
        """Whether all parts of a tensor of these sizes are equal."""
        return all(n % count == 0 for n, count in zip(sizes, self.parts))

    def split(self, whole: Array, device: int) -> Array:
        """A device's part. EvaluationError where parts would have different sizes."""
        if not self.splits(whole.shape):
            parts = list(self.parts)
            raise EvaluationError(f"a tensor of shape {list(whole.shape)} can't be split into {parts} equal parts")
        return whole[self._box(device, [n // count for n, count in zip(whole.shape, self.parts)])]

    def join(self, parts: Sequence[Array]) -> Array:
        """The whole tensor out of each device's part; of a part that several have, that of the last."""
        if prod(self.parts) == 1:
            return parts[-1]
        sizes = parts[0].shape
        whole = np.empty([n * count for n, count in zip(sizes, self.parts)], parts[0].dtype)
        for device, part in enumerate(parts):
            whole[self._box(device, sizes)] = part
        return whole

    def _box(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where a device's part, of these sizes, is in the whole tensor."""
        numbers = (int(places[device % self.count]) for places in self.places)
        return tuple(slice(number * size, (number + 1) * size) for number, size in zip(numbers, sizes))
