"""Functions of f32, which become machine code once for all programs of a process."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from stablehlo_ref.accelerate.machine.chains import Chain, ChainCode, Part, Tensor
from stablehlo_ref.accelerate.machine.compiler import Compiled, address, is_available, run_code
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS
from stablehlo_ref.accelerate.machine.tensors import HEAD
from stablehlo_ref.accelerate.policy import TimedCode
from stablehlo_ref.accelerate.python.expressions import dtype_of
from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.execute.run import current
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import FLOAT32
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.workers import share
from stablehlo_ref.ops.elementwise import on_element

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import Planner

FEW = 64  # elements: below this, a call of machine code saves nothing
BLOCK = 1 << 17  # elements, some 0.2 ms, between checks of the time


class _Frames(threading.local):
    """The frame of a thread for an operand and a result."""

    def __init__(self) -> None:
        self.frame = (ctypes.c_int64 * (HEAD + 2))()
        self.address = ctypes.addressof(self.frame)


_FRAMES = _Frames()


_FUNCTIONS = {what: TimedCode[Compiled]() for what in FUNCTIONS}  # of the process


def with_machine_code(kernel: Kernel, bound: BoundOp, planner: Planner) -> Kernel:
    """Return a kernel that becomes machine code once it has taken long, if it is a function of f32."""
    if not is_available():
        return kernel
    what = on_element(bound.op, bound.operands[0]) if bound.operands else None
    if what not in FUNCTIONS:
        return kernel
    if not all(isinstance(t, TensorType) and dtype_of(t) == FLOAT32 for t in (*bound.operands, *bound.results)):
        return kernel
    function, op = _FUNCTIONS[what], bound.site.op
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
    x, y = (Tensor(slot, (), FLOAT32, False) for slot in range(2))
    chain = Chain((BLOCK,), None, [x], [Part(op, (x.slot,), y, True)], frozenset([y.slot]), frozenset())
    return ChainCode(chain, [BLOCK], [(1,), (1,)]).compiled


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
    frame[HEAD], frame[HEAD + 1] = source, target
    run_code(code, _FRAMES.address, count)


def _is_contiguous(x: Array) -> bool:
    flags = x.flags  # a new object each time
    return flags.c_contiguous and flags.aligned
