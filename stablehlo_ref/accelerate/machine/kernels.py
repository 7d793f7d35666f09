"""Kernels of elementary functions of f32 that become machine code, once for all programs of a process."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from stablehlo_ref.accelerate.machine.callbacks import run_code
from stablehlo_ref.accelerate.machine.compiler import Compiled, address, is_available
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS
from stablehlo_ref.accelerate.machine.maps import MAP, with_machine_map
from stablehlo_ref.accelerate.machine.segments import OUTER, Part, Segment, dtype_of
from stablehlo_ref.accelerate.machine.timing import TimedCode
from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.execute.run import current
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import FLOAT32
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.workers import share

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import Planner

FEW = 64  # elements: below this, a call of machine code saves nothing
BLOCK = 1 << 17  # elements, some 0.2 ms, between checks of the time


class _Frames(threading.local):
    """The frame of a thread for a row of contiguous elements."""

    def __init__(self) -> None:
        self.frame = (ctypes.c_int64 * (3 * (OUTER + 1)))(1, 1)
        self.address = ctypes.addressof(self.frame)


_FRAMES = _Frames()


_FUNCTIONS = {name: TimedCode[Compiled]() for name in FUNCTIONS}  # of the process


def with_machine_code(kernel: Kernel, bound: BoundOp, planner: Planner) -> Kernel:
    """Return a kernel that becomes machine code once it has taken long, if it is a function of f32 or a map."""
    if not is_available():
        return kernel
    if bound.op.name == MAP:
        return with_machine_map(kernel, bound, planner)
    if bound.op.name not in FUNCTIONS:
        return kernel
    if not all(isinstance(t, TensorType) and dtype_of(t) == FLOAT32 for t in (*bound.operands, *bound.results)):
        return kernel
    function, op = _FUNCTIONS[bound.op.name], bound.site.op
    return Kernel(_kernel(function, op, kernel.run, lambda text: planner.generated.append((_title(op), text))))


def _title(op: Operation) -> str:
    return f"{op.name} at {op.location}, as machine code"


def _kernel(
    function: TimedCode[Compiled], op: Operation, plain: ArrayKernel, report: Callable[[str], None]
) -> ArrayKernel:
    reported = False

    def run(x: Array) -> Array:
        nonlocal reported
        if x.size < FEW or not function.may_run(current.get()) or not _is_contiguous(x):
            return plain(x)
        if function.code is None:
            return function.timed(lambda: plain(x), lambda: _compiled(op))
        if not reported:
            reported = True
            report(function.code.text)
        result = np.empty(x.shape, FLOAT32)
        if x.size <= BLOCK:
            _compute_block(function.code, address(x), address(result), x.size)
        else:
            _compute(function.code, x, result)
        return result

    return run


def _compiled(op: Operation) -> Compiled:
    """Compile the function that an op applies."""
    part = Part(op, (0,), 1, FLOAT32, True)
    return Compiled(Segment([part], {0: FLOAT32}, {1: FLOAT32}).source([False]))


def _compute(code: Compiled, x: Array, out: Array) -> None:
    """Store the results for a large contiguous array in another one."""
    source, target = address(x), address(out)

    def work(starts: Iterable[int]) -> None:
        for start in starts:
            at = start * x.itemsize
            _compute_block(code, source + at, target + at, min(BLOCK, x.size - start))

    share(work, range(0, x.size, BLOCK))


def _compute_block(code: Compiled, source: int, target: int, count: int) -> None:
    frame = _FRAMES.frame
    frame[OUTER], frame[OUTER + 1], frame[2 * (OUTER + 1)] = count, source, target
    run_code(code, _FRAMES.address)


def _is_contiguous(x: Array) -> bool:
    flags = x.flags  # a new object each time
    return flags.c_contiguous and flags.aligned
