"""Constant folding: ops on constants, and arguments of functions that are always called with the same constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.definition import group_by_member, is_constant_like, resolve
from stablehlo_ref.define.spec import is_float, is_integer
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value, location_of
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import QuantizedType, TensorType, TokenType, Type, tensor_type
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.passes.canonicalize import emit_branch, known_branch
from stablehlo_ref.passes.effects import is_pure
from stablehlo_ref.passes.emit import Emitter, replace_by_constants
from stablehlo_ref.passes.equivalence import operation_key
from stablehlo_ref.passes.evaluate import evaluate, known_array, known_integers
from stablehlo_ref.passes.patterns import Patterns, elements_of, shape_of, splat, static
from stablehlo_ref.passes.registry import Pass
from stablehlo_ref.passes.symbols import symbols_of

FOLDED_ELEMENTS = 1 << 16


def sccp(module: Operation) -> None:
    """Replace ops whose operands are constants by constants, also where constants come in through calls.

    An argument of a private function is a constant if all that use the function call it with the same one. Ops with
    effects, with regions and with more than 65,536 elements in a result stay, as do ops whose results are
    implementation-defined.
    """
    while True:
        _fold_ops(module, FOLDED_ELEMENTS)
        if not _propagate_into_functions(module):
            return


def _fold_ops(module: Operation, limit: int) -> None:
    with Rewriter(module) as rewriter:
        for op in within_time(list(module.walk()), "transforming the program", location_of):
            if _may_fold(op) and _is_small(op, limit) and (arrays := _folded(op)) is not None:
                replace_by_constants(rewriter, op, arrays)


def _may_fold(op: Operation) -> bool:
    is_held = op.parent_op is not None and op.parent_op.name == "stablehlo.async_start"  # which holds one op
    return not is_constant_like(op) and not is_held


def _is_small(op: Operation, limit: int) -> bool:
    """Return whether no result has more than `limit` elements, or more than one for an op without operands."""
    most = limit if op.operands else 1
    return all(isinstance(t, TensorType) and t.is_static and t.size <= most for t in op.result_types)


def _folded(op: Operation) -> Sequence[Array] | None:
    operands = [array for operand in op.operands if (array := known_array(operand)) is not None]
    if len(operands) != len(op.operands) or _is_implementation_defined(op, operands):
        return None
    return evaluate(op, operands)


def _is_implementation_defined(op: Operation, operands: Sequence[Array]) -> bool:
    definition = resolve(op)
    if definition is None or "implementation_defined" not in definition.roles:
        return False
    cases = bind_types(op, definition).call("implementation_defined")
    return cases is not None and any(True for _ in cases(*group_by_member(definition.operands, operands).values()))


# --- calls ----------------------------------------------------------------------------------------------------------


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
        owners = [call.operands[index].owner for call in calls]
        constants = [op for op in owners if isinstance(op, Operation) and is_constant_like(op)]
        is_same = len(constants) == len(calls) and len(set(map(operation_key, constants))) == 1
        if is_same and constants[0].results[0].type == argument.type:
            yield argument, constants[0]


# --- patterns -------------------------------------------------------------------------------------------------------


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
    return (
        None
        if type is None or type.element_type != elements_of(op.operands[0])
        else emit.constant(type, np.asarray(element))
    )


IDEMPOTENT = frozenset(f"stablehlo.{name}" for name in ("and", "maximum", "minimum", "or"))


@FOLDS.on("set_dimension_size")
def same_size(emit: Emitter, op: Operation) -> Value | None:
    """Make a `set_dimension_size` to the size that a dimension has the operand."""
    return (
        op.operands[0]
        if known_integers(op.operands[1]) == [shape_of(op.operands[0])[op.properties["dimension"]]]
        else None
    )


@FOLDS.on("case")
def only_branch(emit: Emitter, op: Operation) -> Sequence[Value] | None:
    """Make a `case` with a constant index the ops of its branch.

    If other branches have effects it stays, unused and with constants in that branch, as something may rely on them.
    """
    branch = known_branch(op)
    others = [region for index, region in enumerate(op.regions) if index != branch]
    is_kept = not all(is_pure(inner) for region in others for inner in region.block.operations[:-1])
    if branch is None or (is_kept and not (emit.rewriter.is_used(op) and all(map(_has_default, op.result_types)))):
        return None
    results = emit_branch(emit, op, branch)
    if is_kept:
        rest = clone(op, {})
        default = emit.region((), lambda inner, _: [_default(inner, type) for type in op.result_types])
        rest.regions = [default if index == branch else region for index, region in enumerate(rest.regions)]
        default.parent = rest
        emit.insert(rest)
    return results


def _has_default(type: Type) -> bool:
    is_tensor = isinstance(type, TensorType) and type.is_static and not isinstance(type.element_type, QuantizedType)
    return is_tensor or isinstance(type, TokenType)


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


SCCP = Pass("sccp", "fold ops on constants, also across calls", sccp)
