"""Run segments of chains in machine code on blocks, which numpy's arrays or views of them hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from stablehlo_ref.execute.fuse.machine.assembly import NotCompiled
from stablehlo_ref.execute.fuse.machine.callbacks import run_code
from stablehlo_ref.execute.fuse.machine.compiler import Compiled, address
from stablehlo_ref.execute.fuse.machine.segments import ADDRESSES, OUTER, Segment, frame_of
from stablehlo_ref.execute.fuse.machine.variants import Variants
from stablehlo_ref.ir.arrays import Array

Instruction = Callable[[list[Any]], None]


class _Bound(NamedTuple):
    """The code for blocks of some shapes and strides, and a frame without addresses."""

    code: Compiled
    frame: Array


class MachineSegment:
    """A segment, compiled for each form of blocks that comes; `loads` and `stores` are indices in a block's values."""

    def __init__(
        self, segment: Segment, loads: Sequence[int], stores: Sequence[int], report: Callable[[str, str], None]
    ) -> None:
        self.segment, self.indices = segment, (*loads, *stores)
        self.dtypes = [*segment.loads.values(), *segment.stores.values()]
        self._variants = Variants[_Bound](segment.source, report)

    def instruction(self, otherwise: Sequence[Instruction]) -> Instruction:
        """Return what computes a block; blocks of other forms are left to other instructions."""
        indices, variants = self.indices, self._variants

        def run(values: list[Any]) -> None:
            arrays = [np.asarray(values[index]) for index in indices]
            form = tuple([(x.shape, x.strides) for x in arrays])
            bound = variants.bound(form, lambda: self._bind(arrays), "a block not as machine code")
            if bound is None:
                for instruction in otherwise:
                    instruction(values)
                return
            frame = bound.frame.copy()
            frame[ADDRESSES] = [address(x) for x in arrays]
            run_code(bound.code, address(frame))

        return run

    def _bind(self, arrays: Sequence[Array]) -> _Bound:
        """Find, or compile, the code for blocks like these; NotCompiled if there is none."""
        if not all(x.flags.aligned for x in arrays) or [x.dtype for x in arrays] != self.dtypes:
            raise NotCompiled("elements of another form")
        count = len(self.segment.loads)
        shape = arrays[-1].shape
        sizes, strides = merged(shape, [_broadcast_strides(x, shape) for x in arrays])
        if not sizes:
            raise NotCompiled("one element")
        spread = tuple(x[-1] == 0 for x in strides[:count])
        steps = [x[-1] for x in strides]
        fits = all(step in (0, x.itemsize) for step, x in zip(steps, arrays)) and all(steps[count:])
        if len(sizes) > OUTER + 1 or not fits or (len(sizes) > 1 and sizes[-1] < self.segment.width):
            raise NotCompiled("short rows, or elements that are apart")
        missing = OUTER + 1 - len(sizes)
        frame = frame_of([*[1] * missing, *sizes], [[*[0] * missing, *x] for x in strides])
        return _Bound(self._variants.code(spread), frame)


def _broadcast_strides(x: Array, shape: Sequence[int]) -> list[int]:
    if x.ndim == 0:
        return [0] * len(shape)
    if x.ndim != len(shape) or any(n not in (1, size) for n, size in zip(x.shape, shape)):
        raise NotCompiled("elements of another form")
    return [0 if n == 1 else stride for n, stride in zip(x.shape, x.strides)]


def merged(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Merge dimensions that lie one after the other in all tensors; return sizes, and the strides of each tensor."""
    sizes: list[int] = []
    columns: list[list[int]] = []
    for n, *column in zip(shape, *strides):
        if n == 1:
            continue
        if sizes and all(outer == inner * n for outer, inner in zip(columns[-1], column)):
            sizes[-1], columns[-1] = sizes[-1] * n, column
        else:
            sizes.append(n)
            columns.append(column)
    return sizes, [list(x) for x in zip(*columns)] if sizes else [[] for _ in strides]
