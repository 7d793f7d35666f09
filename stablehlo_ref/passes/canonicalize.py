"""Canonicalize, eliminate common subexpressions, and fold constants."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from itertools import groupby

import numpy as np

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.definition import definition_of, group_by_member, is_constant_like, resolve
from stablehlo_ref.define.spec import is_float, is_integer
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Region, Value, location_of
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import TOKEN, TensorType, Type, tensor_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.passes.analysis import (
    defined_by,
    evaluate,
    is_plain,
    is_pure,
    known_array,
    known_integers,
    operation_key,
)
from stablehlo_ref.passes.emit import Emitter, replace_by_constants
from stablehlo_ref.passes.patterns import Patterns, elements_of, rewrite, shape_of, splat, static
from stablehlo_ref.passes.registry import PassOption, flag, transformation
from stablehlo_ref.passes.symbols import functions, symbols_of

CANONICAL, CASTS = Patterns(), Patterns()


@transformation(
    "canonicalize",
    "erase dead ops, merge constants, fold constant branches",
    PassOption("test-convergence", flag, "fail unless the pass converges, which it always does"),
)
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
    """Replace a `case` whose index is a constant in range by the ops of its branch."""
    branch = known_branch(op)
    return None if branch is None else emit_branch(emit, op, branch)


def known_branch(op: Operation) -> int | None:
    """Return the number of the branch that a `case` with a constant index in range selects; None for others."""
    indices = known_integers(op.operands[0])
    return indices[0] if indices and 0 <= indices[0] < len(op.regions) else None


def emit_branch(emit: Emitter, op: Operation, branch: int) -> list[Value]:
    """Emit the ops of a branch; return what it does."""
    emit.rewriter.settle(op)
    return emit.inline(op.regions[branch].block)


@CASTS.on("builtin.unrealized_conversion_cast")
def cast_of_same(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make a cast between equal types its operands."""
    return op.operands if op.operand_types == op.result_types else None


@CASTS.on("bufferization.to_buffer")
def buffer_of_tensor_of_buffer(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make the buffer of a `to_tensor` of a buffer of its type that buffer."""
    made = defined_by(op.operands[0], "bufferization.to_tensor")
    return made.operands if made and made.operand_types == op.result_types else None


# --- common subexpressions ------------------------------------------------------------------------------------------

Known = MutableMapping[Hashable, Operation]


@transformation("cse", "eliminate common subexpressions")
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


# --- constant folding -------------------------------------------------------------------------------------------------


FOLDED_ELEMENTS = 1 << 16


@transformation("sccp", "fold ops on constants, also across calls")
def sccp(module: Operation) -> None:
    """Replace ops whose operands are constants by constants, also where constants come in through calls.

    An argument of a private function is a constant if all that use the function call it with the same one. Ops with
    effects, with regions and with more than 65,536 elements in a result stay, as do ops whose results are
    implementation-defined.
    """
    is_changed = True
    while is_changed:
        with Rewriter(module) as rewriter:
            for op in within_time(list(module.walk()), "transforming the program", location_of):
                if _may_fold(op) and _is_small(op, FOLDED_ELEMENTS) and (arrays := _folded(op)) is not None:
                    replace_by_constants(rewriter, op, arrays)
        is_changed = _propagate_into_functions(module)


def _may_fold(op: Operation) -> bool:
    is_held = op.parent_op is not None and op.parent_op.name == "stablehlo.async_start"  # which holds one op
    return not is_constant_like(op) and not is_held


def _is_small(op: Operation, limit: int) -> bool:
    """Return whether no result has more than `limit` elements, or more than one for an op without operands."""
    most = limit if op.operands else 1
    return all(isinstance(t, TensorType) and t.is_static and t.size <= most for t in op.result_types)


def _folded(op: Operation) -> Sequence[Array] | None:
    operands = [array for operand in op.operands if (array := known_array(operand)) is not None]
    arrays = evaluate(op, operands) if len(operands) == len(op.operands) else None
    return None if arrays is None or _is_implementation_defined(op, operands) else arrays


def _is_implementation_defined(op: Operation, operands: Sequence[Array]) -> bool:
    definition = resolve(op)
    if definition is None or "implementation_defined" not in definition.roles:
        return False
    cases = bind_types(op, definition).call("implementation_defined")
    return cases is not None and any(True for _ in cases(*group_by_member(definition.operands, operands).values()))


# --- constants that come in through calls -----------------------------------------------------------------------------


def _propagate_into_functions(module: Operation) -> bool:
    """Let functions start with the constants that all calls pass; return whether there was any."""
    calls: dict[str, list[Operation]] = {}
    others: set[str] = set()  # functions that something else than a call refers to
    for op in module.walk():
        if op.name == "func.call":
            calls.setdefault(str(op.properties["callee"]), []).append(op)
        else:
            others.update(symbols_of(op))
    has_changed = False
    with Rewriter(module) as rewriter:
        for name, function in functions(module).items():
            is_private = function.properties.get("sym_visibility") == "private"
            if is_private and name in calls and name not in others and function.regions[0].blocks:
                for argument, constant in _common_constants(function, calls[name]):
                    if rewriter.uses(argument):
                        made = clone(constant, {})
                        rewriter.insert_before(function.regions[0].blocks[0].operations[0], made)
                        rewriter.replace_uses(argument, made.results[0])
                        has_changed = True
    return has_changed


def _common_constants(function: Operation, calls: Sequence[Operation]) -> Iterator[tuple[Value, Operation]]:
    """Yield the arguments that are the same constant in all calls, and one op that defines it."""
    for index, argument in enumerate(function.regions[0].blocks[0].arguments):
        constants = [op for call in calls if (op := call.operands[index].producer) and is_constant_like(op)]
        is_same = len(constants) == len(calls) and len(set(map(operation_key, constants))) == 1
        if is_same and constants[0].results[0].type == argument.type:
            yield argument, constants[0]


# --- patterns that fold -----------------------------------------------------------------------------------------------


def folding(limit: int, name: str = "*") -> Patterns:
    """Return the pattern that makes ops of a name, on constants, constants of at most `limit` elements."""
    table = Patterns()

    @table.on(name)
    def fold(emit: Emitter, op: Operation) -> Sequence[Value] | None:
        are_splats = all(splat(x) is not None and (type := static(x)) and type.size > 1 for x in op.operands)
        is_longer = op.name == "stablehlo.concatenate" and are_splats
        arrays = _folded(op) if _may_fold(op) and _is_small(op, limit) and not is_longer else None
        return None if arrays is None or _is_kept(op, arrays) else emit.constants(op.result_types, arrays)

    return table


def _is_kept(op: Operation, arrays: Sequence[Array]) -> bool:
    """Return whether MLIR's folder keeps an op: it is NaN or infinite, loses a zero's sign, or reverses nothing."""
    operand = known_array(op.operands[0]) if op.operands else None
    if op.name == "stablehlo.reverse":
        return operand is not None and np.array_equal(operand, arrays[0])
    if op.name == "stablehlo.convert" and is_float(op.operands[0].type) and is_integer(op.results[0].type):
        return operand is not None and bool((np.signbit(operand) & (operand == 0)).any())
    return _is_pole(op, arrays)


def _is_pole(op: Operation, arrays: Sequence[Array]) -> bool:
    """Return whether an op is a function of one float that is NaN, or infinite where the operand is finite."""
    definition = resolve(op)
    if len(op.operands) != 1 or definition is None or not definition.traits.elementwise:
        return False
    operand = known_array(op.operands[0])
    if operand is None or not is_float(op.operands[0].type) or not is_float(op.results[0].type):
        return False
    return bool(np.isnan(arrays[0]).any() or (np.isinf(arrays[0]) & np.isfinite(operand)).any())


FOLDS = Patterns()


@FOLDS.on("broadcast_in_dim", "dynamic_slice", "reshape", "slice", "transpose")
def move_splat(emit: Emitter, op: Operation) -> Value | None:
    """Make an op that moves equal elements these elements."""
    element, type = splat(op.operands[0]), static(op.results[0])
    return None if element is None or type is None else emit.constant(type, np.asarray(element))


@FOLDS.on("concatenate")
def concatenate_splats(emit: Emitter, op: Operation) -> Value | None:
    """Make neighbours of equal elements one constant."""
    axis, joined = op.properties["dimension"], list[Value]()
    runs = [(key, list(run)) for key, run in groupby(op.operands, _splat_key)]
    if all(key is None or len(run) == 1 for key, run in runs):
        return None
    for key, run in runs:
        type, element = static(run[0]), splat(run[0])
        if key is None or len(run) == 1 or type is None or element is None:
            joined += run
            continue
        size = sum(shape_of(value)[axis] or 0 for value in run)
        shape = (*type.shape[:axis], size, *type.shape[axis + 1 :])
        joined.append(emit.constant(tensor_type(shape, type.element_type), np.asarray(element)))
    return emit.value(op.name, *joined, type=op.results[0].type, dimension=axis)


def _splat_key(value: Value) -> bytes | None:
    element = splat(value)
    return None if element is None else element.tobytes()


@FOLDS.on("reduce")
def reduce_splat(emit: Emitter, op: Operation) -> Value | None:
    """Make the `and`, `or`, `minimum` or `maximum` of equal elements and the same initial value that value."""
    emit.rewriter.settle(op)
    block, element = op.regions[0].block, splat(op.operands[0])
    body, initial, type = block.operations[0], splat(op.operands[1]), static(op.results[0])
    is_call = len(op.results) == 1 and len(block.operations) == 2 and body.results == block.operations[1].operands
    is_same = element is not None and initial is not None and element.tobytes() == initial.tobytes()
    if not is_call or not is_same or body.name not in IDEMPOTENT or set(body.operands) != set(block.arguments):
        return None
    if type is None or type.element_type != elements_of(op.operands[0]):
        return None
    return emit.constant(type, np.asarray(element))


IDEMPOTENT = frozenset(f"stablehlo.{name}" for name in ("and", "maximum", "minimum", "or"))


@FOLDS.on("set_dimension_size")
def same_size(emit: Emitter, op: Operation) -> Value | None:
    """Make a `set_dimension_size` to the size that a dimension has the operand."""
    operand, size = op.operands
    return operand if known_integers(size) == [shape_of(operand)[op.properties["dimension"]]] else None


@FOLDS.on("case")
def only_branch(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Replace a `case` whose index is constant by the ops of its branch.

    If other branches have effects it stays, unused and with constants in that branch, as something may rely on them.
    """
    branch = known_branch(op)
    others = [region for index, region in enumerate(op.regions) if index != branch]
    is_kept = not all(is_pure(inner) for region in others for inner in region.block.operations[:-1])
    have_defaults = all(is_plain(type) or type == TOKEN for type in op.result_types)
    if branch is None or (is_kept and not (emit.rewriter.is_used(op) and have_defaults)):
        return None
    results = emit_branch(emit, op, branch)
    if is_kept:
        rest = clone(op, {})
        default = emit.region((), lambda inner, _: [_default(inner, type) for type in op.result_types])
        rest.regions = [default if index == branch else region for index, region in enumerate(rest.regions)]
        default.parent = rest
        emit.insert(rest)
    return results


def _default(emit: Emitter, type: Type) -> Value:
    return emit.constant(type, 0) if isinstance(type, TensorType) else emit.value("stablehlo.after_all", type=type)


def dead_loops(assume_no_undeclared: bool) -> Patterns:
    """Return the pattern that makes a loop whose condition is false the operands; one with effects stays, unused."""
    table = Patterns()

    @table.on("while")
    def no_iteration(emit: Emitter, op: Operation) -> Sequence[Value] | None:
        *operations, terminator = op.regions[0].block.operations
        if known_integers(terminator.operands[0]) != [0] or not all(map(is_pure, operations)):
            return None
        emit.rewriter.settle(op)
        if not is_pure(op, assume_no_undeclared):
            if not emit.rewriter.is_used(op):
                return None
            emit.insert(clone(op, {}))
        return op.operands

    return table
