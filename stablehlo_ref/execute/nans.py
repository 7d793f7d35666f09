"""Which ops return canonical NaNs, and kernels that do.

An op that computes returns canonical NaNs, one that only moves elements keeps their bits. To save time, a NaN is made
canonical only where its bits can be observed: where it may reach a result of the program or of a region, or an op that
looks at bits, such as `bitcast_convert`. Other ops that compute ignore the bits of NaNs. The trait `nans` of an op
(define/definition.py) says what it does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.definition import OpDefinition, resolve
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import ComplexType, FloatType, TensorType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.nans import LARGE, canonical_nans, has_several_nans, with_canonical_blocks
from stablehlo_ref.numerics.narrow_floats import WITHOUT_NAN
from stablehlo_ref.ops.comparison import ComparisonType

CONVERTING = frozenset(("arith.truncf", "stablehlo.convert"))  # keep a NaN's sign if the result type has no NaN
LOOP = "stablehlo.while"
CONSTANT = "stablehlo.constant"  # has no operands, and its NaNs are as they are written
CALLS = "stablehlo.custom_call"  # looks at bits, and its results are canonical


def with_observed_nans(functions: Iterable[Iterable[Operation]]) -> set[Operation]:
    """Return the ops that compute floats whose bits can be observed if they are NaN, given the ops of each function.

    The state of a loop is made canonical after the last iteration, by `canonical_results`, if it is computed in each
    iteration and none observes its bits; such loops are among the ops.
    """
    found: set[Operation] = set()
    for operations in functions:
        ops = [op for op in operations if op.name != CONSTANT]
        loops = [op for op in ops if op.name == LOOP]
        later = _computed_state(ops, loops) if loops else set()
        _observed(ops, found, later)
        found.update(op for op in loops if not later.isdisjoint(_next_state(op)))
    return found


def _observed(ops: Sequence[Operation], found: set[Operation], later: Collection[Value]) -> set[Value]:
    """Return the values whose NaNs can be observed, also by loops unless they are in `later`."""
    observed: set[Value] = set()
    for op in reversed(ops):
        _visit(op, observed, found, later)
    return observed


def _next_state(loop: Operation) -> Sequence[Value]:
    return loop.regions[1].block.operations[-1].operands


def _computed_state(ops: Sequence[Operation], loops: Sequence[Operation]) -> set[Value]:
    """Return the values of the next state of loops whose NaNs ops of the body compute and no iteration observes."""
    places = [
        (value, arguments)
        for op in loops
        for value, *arguments in zip(_next_state(op), *(region.block.arguments for region in op.regions))
    ]
    found = {value for value, _ in places if _is_computed(value)}
    while True:
        observed = _observed(ops, set(), found)
        missed = {value for value, arguments in places if value in found and not observed.isdisjoint(arguments)}
        if not missed:
            return found
        found -= missed  # which may let iterations observe others


def _is_computed(value: Value) -> bool:
    if not isinstance(value.owner, Operation) or not _may_differ(value.type):
        return False
    definition = resolve(value.owner)
    return definition is not None and _computes(value.owner, definition)


def _visit(op: Operation, observed: set[Value], found: set[Operation], later: Collection[Value]) -> None:
    """Add to `observed` the operands of an op whose NaNs can be observed, and the op itself to `found`."""
    definition = resolve(op)
    is_observed = not observed.isdisjoint(op.results) or _is_in_graph(op)
    if definition is not None and definition.traits.nans == "moved":
        if is_observed:
            observed.update(op.operands)
        return
    if definition is not None and _computes(op, definition):
        if is_observed and any(_may_differ(result.type) for result in op.results):
            found.add(op)
    elif not _ends_computation(op, definition):
        is_last = definition is not None and definition.traits.terminator
        is_next_state = is_last and op.parent_op is not None and op.parent_op.name == LOOP
        observed.update(v for v in op.operands if v not in later) if is_next_state else observed.update(op.operands)
        if op.name == CALLS and any(_may_differ(result.type) for result in op.results):
            found.add(op)


def _computes(op: Operation, definition: OpDefinition) -> bool:
    if op.properties.get("compare_type") == ComparisonType.TOTALORDER:
        return False
    if (definition.traits.nans or ("computed" if definition.traits.elementwise else "observed")) != "computed":
        return False
    if op.regions:  # a block of one op only moves what it returns
        return any(len(block.operations) > 1 for block in op.regions[-1].blocks)
    return not (op.name in CONVERTING and _float_dtype(op.results[0].type) in WITHOUT_NAN)


def _ends_computation(op: Operation, definition: OpDefinition | None) -> bool:
    """Return whether an op is the terminator of a region of an op whose results are canonical anyway."""
    if definition is None or not definition.traits.terminator or op.parent_op is None:
        return False
    outer = resolve(op.parent_op)
    return outer is not None and _computes(op.parent_op, outer)


def _is_in_graph(op: Operation) -> bool:
    """Return whether an op is in a region of several blocks, which are in no known order."""
    region = op.parent.parent if op.parent else None
    return region is not None and len(region.blocks) > 1


def _float_dtype(type: Type) -> DType | None:
    """Return the dtype of floating-point and complex tensors; None for other types."""
    if not isinstance(type, TensorType) or not isinstance(type.element_type, FloatType | ComplexType):
        return None
    try:
        return numpy_dtype(type.element_type)
    except UnsupportedError:  # to be reported if an op is reached
        return None


def _may_differ(type: Type) -> bool:
    """Return whether NaNs of a type can have different bits."""
    dtype = _float_dtype(type)
    return dtype is not None and has_several_nans(dtype)


# --- kernels --------------------------------------------------------------------------------------------------------


def with_canonical_nans(kernel: Kernel, bound: BoundOp) -> Kernel:
    """Return a kernel whose results have canonical NaNs."""
    changes = [canonical_nans(numpy_dtype(t.element_type)) if _may_differ(t) else None for t in bound.results]
    if not any(changes) or bound.definition.traits.communicates:  # as collectives do it once for all processes
        return kernel
    result = bound.results[0]
    if bound.definition.traits.elementwise and not bound.op.regions and result.is_static and result.size >= LARGE:
        return Kernel(with_canonical_blocks(kernel, numpy_dtype(result.element_type)))
    in_place = kernel.in_place and _replacing(kernel.in_place, changes)
    return replace(kernel, run=_replacing(kernel.run, changes), in_place=in_place, into=None)


def canonical_results(op: Operation, canonical: Collection[Operation]) -> list[tuple[int, ArrayKernel]]:
    """Return kernels that make NaNs canonical, with the numbers of results of a loop: state that its body computes."""
    if op.name != LOOP or op not in canonical:
        return []
    return [
        (number, canonical_nans(numpy_dtype(value.type.element_type)))
        for number, value in enumerate(_next_state(op))
        if _is_computed(value) and isinstance(value.type, TensorType)
    ]


def _replacing(run: Run, changes: Sequence[Run | None]) -> Run:
    """Return a kernel whose results are those of `run` after the kernels in `changes`, each with the operands."""
    first = changes[0]
    if len(changes) == 1 and first is not None:
        return lambda *operands: first(run(*operands), *operands)

    def replaced(*operands: Array) -> Any:
        return [f(x, *operands) if f else x for f, x in zip(changes, run(*operands))]

    return replaced
