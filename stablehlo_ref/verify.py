"""The verifier: a walk over the module that checks SSA form, symbols, terminators, members and constraints of ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.constraints import check_constraints
from stablehlo_ref.define.definition import OpDefinition, definition_of, member_of_each
from stablehlo_ref.define.members import REQUIRED, Undecodable
from stablehlo_ref.define.op import Attr, In, Ins, Out, Outs
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import Diagnostic, InvalidError
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import FunctionType, Type
from stablehlo_ref.ir.wellformed import ill_formed_reason
from stablehlo_ref.syntax.pinpoint import pinpointed

MAX_ERRORS = 20  # in one program, before the verifier stops

T = TypeVar("T")


def verify(module: Operation) -> None:
    """Raise InvalidError, with a diagnostic for each invalid op, unless the module is valid."""
    errors: list[Diagnostic] = []
    for error in _verify_op(module, set()):
        errors.extend(error.diagnostics)
        if len(errors) >= MAX_ERRORS:
            break
    if errors:
        raise InvalidError(errors)


def _verify_op(op: Operation, visible: set[Value]) -> Iterator[InvalidError]:
    """Yield the errors of an op and of the ops in its regions; `visible` are the values that it may use."""
    definition = definition_of(op)
    try:
        _check_operands(op, visible)
        if definition is not None:
            _check_members(op, definition)
            _check_regions(op, definition)
            check_constraints(bind_types(op, definition))
            _check_symbols(op)
    except InvalidError as error:
        yield InvalidError([pinpointed(diagnostic, op.name) for diagnostic in error.diagnostics])
    isolated = definition is not None and definition.traits.isolated_from_above
    for region in op.regions:
        yield from _verify_region(region, set() if isolated else visible)


def _verify_region(region: Region, visible: set[Value]) -> Iterator[InvalidError]:
    if len(region.blocks) > 1:  # dominance between blocks is not checked
        visible = visible | {v for block in region.blocks for v in _defined(block)}
    for block in region.blocks:
        here: list[Value] = [v for v in block.arguments if v not in visible]
        visible.update(here)
        for op in block.operations:
            yield from _verify_op(op, visible)
            visible.update(op.results)
            here.extend(op.results)
        visible.difference_update(here)


def _defined(block: Block) -> Iterable[Value]:
    yield from block.arguments
    for op in block.operations:
        yield from op.results


def _check_operands(op: Operation, visible: set[Value]) -> None:
    for index, operand in enumerate(op.operands):
        if operand not in visible:
            reason = "is used before its definition, or outside of the region that defines it"
            raise _error(op, f"operand #{index} (%{operand.name}) {reason}", index)


def _check_members(op: Operation, definition: OpDefinition) -> None:
    _check_values(op, "operand", definition.operands, op.operand_types)
    _check_values(op, "result", definition.results, op.result_types)
    for name, group in definition.groups.items():
        if name in op.attributes:  # it could not be decoded
            raise _error(op, f"attribute '{name}' must be a #{group.struct}<...>", name)
    for member in definition.attributes.values():
        _check_attribute(op, member)


def _check_values(op: Operation, what: str, members: tuple[In | Ins | Out | Outs, ...], types: list[Type]) -> None:
    for index, (member, type) in enumerate(zip(_member_of_each(op, what, members, len(types)), types)):
        subjects = (index,) if what == "operand" else ()
        if not member.constraint.holds(type):
            expected = f"must be {member.constraint.name}, but is {type}"
            raise _error(op, f"{what} #{index} ({member.name}) {expected}", *subjects)
        if member.constraint is not anything and (reason := ill_formed_reason(type)):
            raise _error(op, f"{what} #{index} ({member.name}) has an invalid type: {reason}", *subjects)


def _member_of_each(op: Operation, what: str, members: tuple[T, ...], count: int) -> tuple[T, ...]:
    try:
        return member_of_each(members, count)
    except ValueError as error:
        raise _error(op, f"number of {what}s: {error}") from None


def _check_attribute(op: Operation, member: Attr) -> None:
    value = op.properties.get(member.name, member.default)
    if value is REQUIRED:
        raise _error(op, f"requires attribute '{member.spelling}'")
    if isinstance(value, Undecodable):
        raise _error(op, f"attribute '{member.spelling}' {value.reason}", member.name)


def _check_regions(op: Operation, definition: OpDefinition) -> None:
    _member_of_each(op, "region", definition.regions, len(op.regions))
    if not definition.traits.single_block:
        return
    for region in op.regions:
        if len(region.blocks) != 1 and not _is_declaration(op):
            raise _error(op, "expects regions with one block")
        for block in region.blocks:
            _check_terminator(op, definition, block)


def _is_declaration(op: Operation) -> bool:
    return op.name == "func.func" and not op.regions[0].blocks


def _check_terminator(op: Operation, definition: OpDefinition, block: Block) -> None:
    last = block.operations[-1] if block.operations else None
    if last is None or not _may_be_terminator(last):
        raise _error(op, "expects a region that ends with a terminator")
    for inner in block.operations[:-1]:
        if _is_terminator(inner):
            raise _error(inner, "must be the last op of its block")


def _is_terminator(op: Operation) -> bool:
    definition = definition_of(op)
    return definition is not None and definition.traits.terminator


def _may_be_terminator(op: Operation) -> bool:
    """Return whether an op is a terminator, or may be one because it has no class."""
    return definition_of(op) is None or _is_terminator(op)


def _check_symbols(op: Operation) -> None:
    if op.name == "builtin.module":
        _check_module(op)
    elif op.name == "func.func":
        _check_function(op)
    elif op.name == "func.call":
        _check_call(op)


def _check_module(module: Operation) -> None:
    (region,) = module.regions
    if len(region.blocks) != 1 or region.block.arguments:
        raise _error(module, "expects a region with one block without arguments")
    seen: set[str] = set()
    for op in region.block.operations:
        name = op.properties.get("sym_name") if definition_of(op) is not None else None
        if name in seen:
            raise _error(op, f"redefinition of symbol @{name}", "sym_name")
        if name is not None:
            seen.add(name)


def _check_function(op: Operation) -> None:
    declared: FunctionType = op.properties["function_type"]
    if _is_declaration(op):
        return
    body = op.regions[0].function_type
    if body.inputs != declared.inputs:
        expected, found = _list(declared.inputs), _list(body.inputs)
        raise _error(op, f"expects arguments {expected} by its function type, but its body has {found}")
    if body.outputs != declared.outputs:
        terminator = op.regions[0].block.operations[-1]
        returned, results = _list(body.outputs), _list(declared.outputs)
        raise _error(terminator, f"returns {returned}, but the function's results are {results}")


def _check_call(op: Operation) -> None:
    callee = op.properties["callee"]
    function = op.symbol(callee)
    if function is None or function.name != "func.func":
        raise _error(op, f"calls undefined function @{callee}", "callee")
    signature: FunctionType = function.properties["function_type"]
    called = FunctionType(tuple(op.operand_types), tuple(op.result_types))
    if called != signature:
        raise _error(op, f"calls @{callee} as {called}, but it is {signature}", "callee")


def _list(types: Iterable[Type]) -> str:
    return f"({', '.join(map(str, types))})"


def _error(op: Operation, message: str, *subjects: str | int) -> InvalidError:
    return InvalidError(f"'{op.name}' op {message}", op.location, subjects=subjects)
