"""`map` with a computation of elementwise ops as one function in machine code, on whole tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import NotCompiled
from stablehlo_ref.accelerate.machine.callbacks import run_code
from stablehlo_ref.accelerate.machine.compiler import Compiled, address
from stablehlo_ref.accelerate.machine.elementwise import has_code
from stablehlo_ref.accelerate.machine.segments import ADDRESSES, Part, Segment, dtype_of, frame_of
from stablehlo_ref.accelerate.machine.tensors import is_plain
from stablehlo_ref.accelerate.machine.timing import TimedCode, weight
from stablehlo_ref.budget import within_time
from stablehlo_ref.define.bound import BoundOp, constant_array
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.context import Context
from stablehlo_ref.execute.regions import recognised_op
from stablehlo_ref.execute.run import check_depth, current
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.ops.elementwise import LANES

if TYPE_CHECKING:
    from stablehlo_ref.execute.plan import Planner

MAP = "stablehlo.map"
PIECE = 1 << 18  # elements between checks of the time
MAX_OPS = 200


class _Computation(NamedTuple):
    """The ops of a computation; constants are further operands."""

    segment: Segment
    constants: Sequence[Array]
    dtypes: Sequence[DType]  # of the arguments
    used: Sequence[int]  # the numbers of the arguments that ops use

    @property
    def result(self) -> DType:
        (dtype,) = self.segment.stores.values()
        return dtype

    def source(self) -> str:
        """Return the code."""
        return self.segment.source([*[False] * len(self.used), *[True] * len(self.constants)])


def with_machine_map(kernel: Kernel, bound: BoundOp, planner: Planner) -> Kernel:
    """Return the kernel of a map, or one that becomes machine code once it has taken long."""
    try:
        computation = _computation(bound, planner)
    except NotCompiled:
        return kernel

    def report(what: str, text: str) -> None:
        planner.generated.append((f"{MAP} at {bound.op.location}, {what}", text))

    return Kernel(_run(computation, kernel.run, report))


def _computation(bound: BoundOp, planner: Planner) -> _Computation:
    block = _simple_block(bound.op.regions[0])
    slots: dict[Value, int] = {value: number for number, value in enumerate(block.arguments)}
    constants: dict[int, Array] = {}
    parts: list[Part] = []
    for op in block.operations[:-1]:
        (result,) = op.results
        slot = slots[result] = len(slots)
        if (array := constant_array(result)) is not None:
            constants[slot] = array.reshape(())
        else:
            parts.append(_part(op, slots, op in planner.canonical))
    (returned,) = block.operations[-1].operands
    dtypes = [dtype_of(value.type) for value in block.arguments]
    return _joined(parts, constants, dtypes, slots.get(returned))


def _simple_block(region: Region) -> Block:
    """Return the block of a region of several ops on scalars, each with one result."""
    if len(region.blocks) != 1 or recognised_op(region) is not None or len(region.block.operations) > MAX_OPS:
        raise NotCompiled("one op, or many")
    for op in region.block.operations[:-1]:
        if len(op.results) != 1:
            raise NotCompiled(op.name)
    made = [*region.block.arguments, *(op.results[0] for op in region.block.operations[:-1])]
    if not all(map(_is_simple, made)):
        raise NotCompiled("elements of another form")
    return region.block


def _part(op: Operation, slots: Mapping[Value, int], is_canonical: bool) -> Part:
    if any(value not in slots for value in op.operands):
        raise NotCompiled("a value of another function")
    if not has_code(op):
        raise NotCompiled(op.name)
    (result,) = op.results
    return Part(op, tuple(slots[x] for x in op.operands), slots[result], dtype_of(result.type), is_canonical)


def _joined(
    parts: Sequence[Part], constants: Mapping[int, Array], dtypes: Sequence[DType], result: int | None
) -> _Computation:
    """Return the computation of ops, constants and arguments whose slots are their numbers."""
    found = {part.result: part.dtype for part in parts}
    if result not in found:
        raise NotCompiled("a result that no op computes")
    needed = {slot for part in parts for slot in part.operands} - found.keys()
    used = sorted(needed - constants.keys())
    loads = {n: dtypes[n] for n in used} | {n: x.dtype for n, x in constants.items() if n in needed}
    segment = Segment(parts, loads, {result: found[result]})
    return _Computation(segment, [constants[n] for n in loads if n in constants], dtypes, used)


def _is_simple(value: Value) -> bool:
    return isinstance(value.type, TensorType) and is_plain(value.type) and value.type.shape == ()


def _run(computation: _Computation, plain: Run, report: Callable[[str, str], None]) -> Run:
    timed = TimedCode[Compiled](sum(weight(part.op) for part in computation.segment.parts), report)

    def run(*arrays: Array) -> Array:
        context = current.get()
        if context is None or not timed.may_run(context) or not _may_run(arrays, computation.dtypes):
            result: Array = plain(*arrays)
            return result
        if timed.code is not None:
            return _computed(computation, timed.code, arrays, context)
        return timed.timed(lambda: plain(*arrays), lambda: _compiled(computation, report))

    return run


def _compiled(computation: _Computation, report: Callable[[str, str], None]) -> Compiled:
    code = Compiled(computation.source())
    report("as machine code", code.text)
    return code


def _may_run(arrays: Sequence[Array], dtypes: Sequence[DType]) -> bool:
    """Return whether arrays have one shape, of more than one block, and are contiguous."""
    if not all(isinstance(x, np.ndarray) and x.flags.c_contiguous and x.flags.aligned for x in arrays):
        return False
    is_plain = [x.dtype for x in arrays] == list(dtypes) and all(x.shape == arrays[0].shape for x in arrays)
    return is_plain and arrays[0].size > LANES


def _computed(computation: _Computation, code: Compiled, arrays: Sequence[Array], context: Context) -> Array:
    """Return the result; blocks count as calls of the computation, as they are in numpy."""
    count = arrays[0].size
    check_depth(context)
    for _ in range(0, count, LANES):
        context.turn()
    result = np.empty(arrays[0].shape, computation.result)
    operands = [arrays[n] for n in computation.used]
    tensors = [*operands, *computation.constants, result]
    steps = np.array([*[x.itemsize for x in operands], *[0] * len(computation.constants), result.itemsize], np.int64)
    addresses = np.array([address(x) for x in tensors], np.int64)
    for start in within_time(range(0, count, PIECE)):
        frame = frame_of([1, 1, min(PIECE, count - start)], [[0, 0, step] for step in steps])
        frame[ADDRESSES] = addresses + start * steps
        run_code(code, address(frame))
    return result
