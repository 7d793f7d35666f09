"""Guards: kernels and steps that check the run's budget before they start.

Only those that take long or need much memory check it themselves. For small ops, one step in many checks it for all,
so that a loop of small ops is not slower.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.padding import boxes
from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import Kernel, Run, Slots, Turns
from stablehlo_ref.diagnostics import EvaluationError, UnsupportedError
from stablehlo_ref.execute.run import Step
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import check_time, has_deadline, reserve, within_time
from stablehlo_ref.numerics.dtypes import numpy_dtype

MAX_RANK = 64  # of numpy's arrays
LARGE = 1 << 20  # bytes of results and temporaries: kernels that need so much reserve them before they start
STEPS = 256  # small steps after which one checks the deadline
WATCHED = 1 << 26  # bytes of small results of a block, after which one of its steps checks the budget
BOX = 1 << 20  # elements: an elementwise kernel computes so many at a time if the time is limited


@lru_cache(maxsize=4096)
def byte_size(type: Type) -> int:
    """Return the bytes of a tensor of a static type; 0 for other types."""
    if not isinstance(type, TensorType) or not type.is_static:
        return 0
    return type.size * numpy_dtype(type.element_type).itemsize


def small_bytes(types: Iterable[Type]) -> int:
    """Return the bytes of tensors whose kernels do not reserve memory; types that numpy cannot represent count as 0."""
    try:
        return sum(size for size in map(byte_size, types) if size < LARGE)
    except UnsupportedError:  # reported if an op is reached
        return 0


def check_sizes(types: Iterable[Type], limits: Limits) -> int:
    """Raise EvaluationError for a tensor that is too large; return the bytes of those that kernels do not reserve."""
    small = 0
    for t in types:
        if not isinstance(t, TensorType) or not t.is_static:
            continue
        size = byte_size(t)
        if 0 < size < LARGE and len(t.shape) <= MAX_RANK:
            small += size
            continue
        if len(t.shape) > MAX_RANK:
            raise EvaluationError(f"a tensor of {len(t.shape)} dimensions, more than numpy's limit of {MAX_RANK}")
        if size > limits.max_bytes:
            raise EvaluationError(f"{t} is larger than the limit of {limits.max_bytes} bytes for a tensor")
        if not size and prod(n or 1 for n in t.shape) * numpy_dtype(t.element_type).itemsize > sys.maxsize:
            raise EvaluationError(f"numpy cannot represent the shape of {t}, although it is empty")
    return small


def guarded(kernel: Kernel, bound: BoundOp) -> Kernel:
    """Return the kernel of an op; if it needs much memory, one that first reserves it and checks the deadline."""
    values, operands = (sum(map(byte_size, types)) for types in (bound.results, bound.operands))
    temporaries = kernel.temporaries
    if max(values + temporaries, operands) < LARGE:
        return kernel
    traits = bound.definition.traits
    run, in_place = kernel.run, kernel.in_place
    if traits.elementwise and len(bound.results) == 1 and not bound.op.regions:
        run = _in_boxes(run)  # no elementwise op has a form in place
    if traits.communicates:  # all processes of the grid reach the op before any of them allocates the results
        return Kernel(_reserving_for_all(run, values + temporaries))
    allocated = 0 if traits.returns_views else values
    return Kernel(_reserving(run, allocated, temporaries), in_place and _reserving(in_place, 0, temporaries))


def _reserving(run: Run, values: int, temporaries: int) -> Run:
    def guard(*operands: Any) -> Any:
        check_time()
        reserve(values, temporaries)
        return run(*operands)

    return guard


def _reserving_for_all(run: Run, needed: int) -> Run:
    def guard(context: Any, *operands: Any) -> Turns:
        check_time()
        reserve(0, needed * context.process.grid.count)
        return (yield from run(context, *operands))  # type: ignore[no-any-return]

    return guard


def watched(step: Step, allocated: int) -> Step:
    """Return a step that first checks the deadline, and reserves bytes for the small results of all steps before it."""

    def watch(slots: Slots) -> Turns | None:
        check_time()
        reserve(allocated)
        return step(slots)

    return watch


# --- elementwise kernels --------------------------------------------------------------------------------------------


def _in_boxes(run: Run) -> Run:
    """Return an elementwise kernel that computes large results box by box if the time is limited."""

    def by_boxes(*operands: Array) -> Array:
        if not has_deadline() or prod(shape := np.broadcast_shapes(*map(np.shape, operands))) <= BOX:
            return run(*operands)  # type: ignore[no-any-return]
        out: Array | None = None
        for box in within_time(boxes(shape, BOX)):
            result = run(*[_in_box(x, box, shape) for x in operands])
            if out is None:
                out = np.empty(shape, result.dtype)
            out[box] = result
        assert out is not None  # the shape has elements
        return out

    return by_boxes


def _in_box(x: Array, box: tuple[slice, ...], shape: Sequence[int]) -> Array:
    if not np.ndim(x):
        return x
    return np.asarray((x if x.shape == shape else np.broadcast_to(x, tuple(shape)))[box])
