"""Kernels that become machine code: functions of f32, once for all programs of a process, and computations of maps."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import NotCompiled
from stablehlo_ref.accelerate.machine.chains import Chain, ChainCode, Part, Tensor, WholeChain
from stablehlo_ref.accelerate.machine.compiler import Compiled, address, is_available, run_code
from stablehlo_ref.accelerate.machine.elementwise import has_code
from stablehlo_ref.accelerate.machine.functions import FUNCTIONS
from stablehlo_ref.accelerate.machine.tensors import HEAD, is_plain
from stablehlo_ref.accelerate.policy import TimedCode
from stablehlo_ref.accelerate.python.expressions import dtype_of
from stablehlo_ref.define.bound import BoundOp, constant_array
from stablehlo_ref.define.computation import Kernel
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import current
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.dtypes import FLOAT32
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.workers import share
from stablehlo_ref.ops.elementwise import LANES, on_element

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import Planner

MAP = "stablehlo.map"
MAX_OPS = 200  # of the computation of a map
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
    """Return a kernel that becomes machine code once it has taken long, if it is a function of f32 or a map."""
    if not is_available():
        return kernel
    if bound.op.name == MAP:
        try:
            return _map_code(kernel, bound, planner)
        except NotCompiled:
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


def _map_code(kernel: Kernel, bound: BoundOp, planner: Planner) -> Kernel:
    """Return the kernel of a map whose computation is a chain on whole tensors; NotCompiled if it is none."""
    chain, constants = _map_chain(bound, planner)
    title, plain = f"{MAP} at {bound.op.location}", kernel.run

    def report(what: str, text: str) -> None:
        planner.generated.append((f"{title}, {what}", text))

    timed = TimedCode[WholeChain](chain.weight, report)
    (out,) = chain.results

    def run(*arrays: Array) -> Array:
        context = current.get()
        if context is None or not timed.may_run(context) or any(np.shape(x) != chain.shape for x in arrays):
            found: Array = plain(*arrays)
            return found
        if timed.code is None:
            return timed.timed(lambda: plain(*arrays), lambda: WholeChain(chain, report))
        slots = [*arrays, *constants]
        code = timed.code.bound(slots)
        if code is None:
            return plain(*arrays)  # type: ignore[no-any-return]
        result = np.empty(out.shape, out.dtype)
        timed.code.run(code, slots, {out.slot: result})
        return result

    return Kernel(run)


def _map_chain(bound: BoundOp, planner: Planner) -> tuple[Chain, list[Array]]:
    """Return the computation of a map, of several ops; its slots are arguments, constants, and results of ops."""
    region, shape = bound.op.regions[0], bound.results[0].shape
    if len(region.blocks) != 1 or recognised_op(region) is not None or prod(shape) <= LANES:
        raise NotCompiled("one op, or few elements")
    block = region.block
    *ops, last = block.operations
    values = [*block.arguments, *(result for op in ops for result in op.results)]
    if (
        len(ops) > MAX_OPS
        or any(len(op.results) != 1 for op in ops)
        or not all(isinstance(t, TensorType) and is_plain(t) and not t.shape for t in (value.type for value in values))
    ):
        raise NotCompiled("many ops, or elements of another form")
    constants = {x: array for x in values if (array := constant_array(x)) is not None}
    computed = [op for op in ops if op.results[0] not in constants]
    slots = {x: n for n, x in enumerate((*block.arguments, *constants, *(op.results[0] for op in computed)))}
    if any(x not in slots for op in computed for x in op.operands) or not all(map(has_code, computed)):
        raise NotCompiled("values of another function, or ops without machine code")

    def tensor(x: Value) -> Tensor:
        return Tensor(slots[x], shape, dtype_of(x.type), False)

    parts = [
        Part(op, tuple(slots[x] for x in op.operands), tensor(op.results[0]), op in planner.canonical)
        for op in computed
    ]
    used = {slot for part in parts for slot in part.operands}
    result = slots.get(last.operands[0])
    if result is None or result not in {part.result.slot for part in parts}:
        raise NotCompiled("a result that no op computes")
    chain = Chain(
        shape,
        None,
        [
            *(tensor(x) for x in block.arguments if slots[x] in used),
            *(Tensor(slots[x], (), dtype_of(x.type), True) for x in constants if slots[x] in used),
        ],
        parts,
        frozenset([result]),
        frozenset(),
    )
    return chain, [x.reshape(()) for x in constants.values()]
