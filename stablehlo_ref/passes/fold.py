"""Constant folding: ops on constants, and arguments of functions that are always called with the same constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.definition import group_by_member, is_constant_like, resolve
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.passes.call_graph import functions
from stablehlo_ref.passes.canonicalize import canonicalize
from stablehlo_ref.passes.constants import replace_by_constants
from stablehlo_ref.passes.equivalence import operation_key
from stablehlo_ref.passes.evaluate import evaluate, known_array
from stablehlo_ref.passes.registry import Pass, PassOption, count
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


def aggressive_folder(module: Operation, fold_op_element_limit: int = FOLDED_ELEMENTS) -> None:
    """Replace ops whose operands are constants by constants, and canonicalize.

    Ops with effects, with regions and with more elements in a result than the limit stay, as do ops whose results are
    implementation-defined.
    """
    _fold_ops(module, fold_op_element_limit)
    canonicalize(module)


def _fold_ops(module: Operation, limit: int) -> None:
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            if _may_fold(op) and _is_small(op, limit) and (arrays := _folded(op)) is not None:
                replace_by_constants(rewriter, op, arrays)


def _may_fold(op: Operation) -> bool:
    is_held = op.parent_op is not None and op.parent_op.name == "stablehlo.async_start"  # which holds one op
    return not is_constant_like(op) and not is_held


def _is_small(op: Operation, limit: int) -> bool:
    """Whether no result has more than `limit` elements, or more than one for an op without operands."""
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


SCCP = Pass("sccp", "fold ops on constants, also across calls", sccp)
FOLDER = Pass(
    "stablehlo-aggressive-folder",
    "fold ops on constants",
    aggressive_folder,
    (PassOption("fold-op-element-limit", count, "the largest number of elements of a result (default 65536)"),),
)
