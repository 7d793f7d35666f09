"""Canonicalize, and eliminate common subexpressions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, MutableMapping, Sequence

from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.ir.core import Operation, Region, Value, location_of
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.passes.effects import is_pure
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.equivalence import operation_key
from stablehlo_ref.passes.evaluate import known_integers
from stablehlo_ref.passes.patterns import Patterns, rewrite
from stablehlo_ref.passes.registry import Pass, PassOption, flag

CANONICAL, CASTS = Patterns(), Patterns()


def canonicalize(module: Operation, test_convergence: bool = False) -> None:
    """Do what MLIR's pass of this name does for StableHLO's ops, until nothing changes.

    Pure ops that nothing uses are erased. Equal constants become one at the start of the function (or other isolated
    region) that they are in. A `case` with a constant index becomes the ops of the branch it selects, an
    `unrealized_conversion_cast` between equal types its operands, and the buffer of a tensor of a buffer that buffer.
    `test_convergence` changes nothing, since the pass always converges.
    """
    rewrite(module, CANONICAL, CASTS)


@CANONICAL.on("case")
def select_branch(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make a `case` with a constant index that is in range the ops of its branch."""
    branch = known_branch(op)
    return None if branch is None else emit_branch(emit, op, branch)


def known_branch(op: Operation) -> int | None:
    """Return the number of the branch that a `case` with a constant index in range selects; None for others."""
    indices = known_integers(op.operands[0])
    return indices[0] if indices and 0 <= indices[0] < len(op.regions) else None


def emit_branch(emit: Emitter, op: Operation, branch: int) -> list[Value]:
    """Emit the ops of a branch; return what it does."""
    emit.rewriter.settle(op)
    mapping: dict[Value, Value] = {}
    *operations, terminator = op.regions[branch].block.operations
    for inner in operations:
        emit.insert(clone(inner, mapping))
    return [mapping.get(value, value) for value in terminator.operands]


@CASTS.on("builtin.unrealized_conversion_cast")
def cast_of_same(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make a cast between equal types its operands."""
    return op.operands if op.operand_types == op.result_types else None


@CASTS.on("bufferization.to_buffer")
def buffer_of_tensor_of_buffer(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make the buffer of a `to_tensor` of a buffer of its type that buffer."""
    owner = op.operands[0].owner
    if not isinstance(owner, Operation) or owner.name != "bufferization.to_tensor":
        return None
    return owner.operands if owner.operand_types == op.result_types else None


# --- common subexpressions ------------------------------------------------------------------------------------------

Known = MutableMapping[Hashable, Operation]


def cse(module: Operation) -> None:
    """Replace pure ops by earlier equal ones, in the same block or around it, and erase pure ops that nothing uses."""
    with Rewriter(module) as rewriter:
        for region in module.regions:
            _simplify_region(region, ChainMap(), rewriter)


def _simplify_region(region: Region, known: ChainMap[Hashable, Operation], rewriter: Rewriter) -> None:
    for block in region.blocks:
        here = known.new_child() if len(region.blocks) == 1 else ChainMap[Hashable, Operation]()
        for op in within_time(block.operations, "transforming the program", location_of):
            _simplify(op, here, rewriter)


def _simplify(op: Operation, known: ChainMap[Hashable, Operation], rewriter: Rewriter) -> None:
    definition = definition_of(op)
    is_isolated = definition is None or definition.traits.isolated_from_above
    if is_pure(op):
        if not rewriter.is_used(op):
            rewriter.erase(op)
            return
        earlier = known.setdefault(operation_key(op), op)
        if earlier is not op:
            rewriter.replace(op, earlier.results)
            return
    for region in op.regions:
        _simplify_region(region, ChainMap() if is_isolated else known, rewriter)


CSE = Pass("cse", "eliminate common subexpressions", cse)

CONVERGENCE = PassOption("test-convergence", flag, "fail unless the pass converges, which it always does")
PASS = Pass("canonicalize", "erase dead ops, merge constants, fold constant branches", canonicalize, (CONVERGENCE,))
