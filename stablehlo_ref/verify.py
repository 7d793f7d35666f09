"""The verifier: a walk over the module that checks SSA form, symbols, terminators, members and constraints of ops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from stablehlo_ref.define.bound import bind_types, with_vectors
from stablehlo_ref.define.constraints import check_constraints
from stablehlo_ref.define.definition import (
    OP_CHECKS,
    PARAMETER_CHECKS,
    REGISTRY,
    Kind,
    OpDefinition,
    definition_of,
    kind_of,
    member_of_each,
    traits_of,
)
from stablehlo_ref.define.members import REQUIRED, Undecodable
from stablehlo_ref.define.op import Attr, Body, In, Ins, Out, Outs
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import MAX_ERRORS, Diagnostic, InvalidError
from stablehlo_ref.ir.attributes import Attribute, DenseElements
from stablehlo_ref.ir.core import MALFORMED, Block, Operation, Region, Value, defined_values, location_of
from stablehlo_ref.ir.graph import dominated, labelled
from stablehlo_ref.ir.types import BufferType, FunctionType, OpaqueType, TensorType, Type, ill_formed_reason
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.limits.stack import FRAMES, collection_paused, on_enough_stack
from stablehlo_ref.suggestions import closest, did_you_mean
from stablehlo_ref.syntax.places import described, may_follow

T = TypeVar("T")


class Known(NamedTuple):
    """What the verifier has found out so far."""

    poisoned: set[Value]  # results of ops with errors
    kinds: set[Kind]  # of ops that have been checked by their definition
    labels: dict[Region, dict[str, Block]]  # the blocks of regions


def verify(module: Operation) -> None:
    """Raise InvalidError, with a diagnostic for each invalid op in the order of the text, unless the module is valid.

    Errors that may follow from others, because an op uses values of an invalid op, are left out.
    """
    if errors := invalid_ops(module, set()):
        raise InvalidError(errors)


def invalid_ops(module: Operation, poisoned: set[Value]) -> list[Diagnostic]:
    """Return the errors of a module in the order of the text, without those that may follow from `poisoned` values."""
    with collection_paused():
        return on_enough_stack(module.location, FRAMES, _invalid_ops, module, poisoned)


def _invalid_ops(module: Operation, poisoned: set[Value]) -> list[Diagnostic]:
    errors: list[Diagnostic] = []
    for error in _verify_op(module, set(), Known(poisoned, set(), {})):
        errors.extend(error.diagnostics)
        if len(errors) >= MAX_ERRORS:
            break
    return sorted(errors, key=lambda error: error.location.offset if error.location else 0)


def _verify_op(op: Operation, visible: set[Value], known: Known) -> Iterator[InvalidError]:
    """Yield the errors of an op and of the ops in its regions; `visible` are the values that it may use.

    What has been found out on the way is kept in `known`.
    """
    definition = definition_of(op)
    failed: InvalidError | None = None
    try:
        _check_operands(op, visible)
        if definition is not None:
            _check_definition(op, definition, known)
            if check_symbols := SYMBOL_CHECKS.get(op.name):
                check_symbols(op)
        if op.successors:
            _check_successors(op, definition, known)
        for name, attribute in op.attributes.items():
            if check := OP_CHECKS.get(name):
                check(op, attribute)
    except InvalidError as error:
        failed = error
    isolated = traits_of(op).isolated_from_above
    is_valid = True
    for region in op.regions:
        for reported in _verify_region(region, set() if isolated else visible, known):
            is_valid = False
            yield reported
    if is_valid and failed is None and op.name == "func.func":
        failed = _signature_error(op)
    if failed is not None:
        if not (known.poisoned and may_follow(op, failed.diagnostics[0], known.poisoned)):
            yield InvalidError([described(diagnostic, op) for diagnostic in failed.diagnostics])
        known.poisoned.update(op.results)


def _verify_region(region: Region, visible: set[Value], known: Known) -> Iterator[InvalidError]:
    """Yield the errors in a region, whose ops may use `visible` values and those of blocks that dominate theirs."""
    if len(region.blocks) <= 1:
        for block in region.blocks:
            here = yield from _verify_block(block, visible, known)
            visible.difference_update(here)
        return
    tree = dominated(region)
    pending: list[tuple[Block, list[Value] | None]] = [(region.blocks[0], None)]
    while pending:
        block, leaving = pending.pop()
        if leaving is not None:
            visible.difference_update(leaving)
            continue
        pending.append((block, (yield from _verify_block(block, visible, known))))
        pending += [(child, None) for child in reversed(tree[block])]
    everything = visible.union(*map(defined_values, region.blocks))
    for block in region.blocks:
        if block not in tree:  # nothing branches to it, so it may use any value
            yield from _verify_block(block, everything, known)


def _verify_block(block: Block, visible: set[Value], known: Known) -> Generator[InvalidError, None, list[Value]]:
    """Yield the errors in a block, and return the values that it has added to `visible`."""
    here = [v for v in block.arguments if v not in visible]
    visible.update(here)
    for op in within_time(block.operations, "verification", location_of):
        is_simple = not (op.regions or op.attributes or op.successors or op.name in SYMBOL_CHECKS)
        if not (is_simple and _kind(op) in known.kinds and visible.issuperset(op.operands)):
            yield from _verify_op(op, visible, known)
        visible.update(op.results)
        here += op.results
    return here


def _kind(op: Operation) -> Kind:
    """Return the kind of an op; that of a constant has the type of its value, as no rule looks at elements."""
    value = op.properties.get("value") if op.name == "stablehlo.constant" else None
    if not isinstance(value, DenseElements):
        return kind_of(op)
    return op.name, id(value.type), len(op.operands), *map(id, op.result_types), *op.properties


def _check_definition(op: Operation, definition: OpDefinition, known: Known) -> None:
    """Check an op by its definition, except for what has been checked on an op of the same kind."""
    is_pure = definition.is_verified_by_kind and not op.attributes
    kind = (*_kind(op), *[region.function_type for region in op.regions]) if is_pure else ()
    if kind in known.kinds:
        return _check_regions(op, definition)
    _check_members(op, definition)
    _check_regions(op, definition)
    _check_bound(op, definition)
    if is_pure:
        known.kinds.add(kind)


def check_op(op: Operation, definition: OpDefinition) -> None:
    """Raise InvalidError unless operands, results and attributes of an op are those of its class."""
    _check_members(op, definition)
    _check_bound(op, definition)


def _check_bound(op: Operation, definition: OpDefinition) -> None:
    bound = bind_types(op, definition)
    check_constraints(with_vectors(bound) if definition.dialect == "chlo" else bound)


def _check_operands(op: Operation, visible: set[Value]) -> None:
    if visible.issuperset(op.operands):
        return
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
        if group.is_required and not any(member.name in op.properties for member in group.fields.values()):
            raise _error(op, f"requires attribute '{name}'")
    for member in definition.attributes.values():
        _check_attribute(op, member)


def _check_values(op: Operation, what: str, members: tuple[In | Ins | Out | Outs, ...], types: list[Type]) -> None:
    for index, (member, type) in enumerate(zip(_member_of_each(op, what, members, len(types)), types)):
        constraint = member.constraint
        if not constraint.holds(type):
            reason = f"must be {constraint.name}, but is {type}"
        elif constraint is anything or (ill := ill_formed_reason(type)) is None:
            continue
        else:
            reason = f"has an invalid type: {ill}"
        subjects = (index,) if what == "operand" else ()
        raise _error(op, f"{what} #{index} ({member.name}) {reason}", *subjects)


def _member_of_each(op: Operation, what: str, members: tuple[T, ...], count: int) -> tuple[T, ...]:
    try:
        return member_of_each(members, count)
    except ValueError as error:
        raise _error(op, f"number of {what}s: {error}") from None


def _check_attribute(op: Operation, member: Attr) -> None:
    value = op.properties.get(member.name, member.default)
    if value is REQUIRED:
        unknown = [name for name in op.attributes if "." not in name]
        misspelt = closest(member.spelling, unknown) or next(
            (n for n in unknown if closest(n, [member.spelling])), None
        )
        if misspelt:
            raise _error(op, f"requires attribute '{member.spelling}', got '{misspelt}'", misspelt)
        hint = f"; '{unknown[0]}' is not an attribute of this op" if unknown else ""
        raise _error(op, f"requires attribute '{member.spelling}'{hint}", *unknown[:1])
    if isinstance(value, Undecodable):
        raise _error(op, f"attribute '{member.spelling}' {value.reason}", member.name)


def _check_regions(op: Operation, definition: OpDefinition) -> None:
    if not (op.regions or definition.regions):
        return
    members = _member_of_each(op, "region", definition.regions, len(op.regions))
    if op.name != "func.func":  # whose signature is checked
        for block in (block for region in op.regions for block in region.blocks):
            _check_types(op, "block argument", [argument.type for argument in block.arguments])
    if not definition.traits.single_block:
        return
    for member, region in zip(members, op.regions):
        if isinstance(member, Body) and member.optional and not region.blocks:
            continue
        if definition.traits.multiple_blocks:
            if not region.blocks and not is_declaration(op):
                raise _error(op, "expects regions with at least one block")
        elif len(region.blocks) != 1:
            raise _error(op, "expects regions with one block")
        for block in region.blocks:
            _check_terminator(op, definition, block)
        outputs = region.function_type.outputs
        for last in _returns(region) if len(region.blocks) > 1 and op.name != "func.func" else ():
            if tuple(last.operand_types) != outputs:
                raise _error(last, f"returns {_list(last.operand_types)}, but an earlier block {_list(outputs)}")


def _returns(region: Region) -> Iterator[Operation]:
    """Yield the terminators of a region that return, as far as their dialects are known."""
    for block in region.blocks:
        last = block.operations[-1]
        if not last.successors and definition_of(last) is not None:
            yield last


def is_declaration(op: Operation) -> bool:
    """Return whether an op is a function without a body."""
    return op.name == "func.func" and not op.regions[0].blocks


def _check_terminator(op: Operation, definition: OpDefinition, block: Block) -> None:
    last = block.operations[-1] if block.operations else None
    if last is None:
        raise _error(op, "expects a region that ends with a terminator")
    if definition_of(last) is not None and not traits_of(last).terminator:  # an op without a class may be one
        usual = f"{op.name.partition('.')[0]}.return"
        example = f" such as '{usual}'" if usual in REGISTRY else ""
        raise _error(last, f"must be followed by a terminator{example}, which ends the region of '{op.name}'")
    if not _may_end(op, definition, last):
        raise _error(op, f"expects a region that ends with a terminator of its dialect, got '{last.name}'")
    for inner, following in pairwise(block.operations):
        if traits_of(inner).terminator and following.name != MALFORMED:
            raise _error(inner, "must be the last op of its block")


def _may_end(op: Operation, definition: OpDefinition, last: Operation) -> bool:
    """Return whether a terminator may end the regions of `op`: one of its dialect, or a branch to another block."""
    of = definition_of(last)
    if of is None or op.name == "func.func":
        return True
    dialect = "stablehlo" if definition.dialect == "chlo" else definition.dialect
    return of.dialect == dialect or (definition.traits.multiple_blocks and of.dialect == "cf")


def _check_successors(op: Operation, definition: OpDefinition | None, known: Known) -> None:
    """Check that a terminator forwards to each successor what are its arguments."""
    if op.parent is None or op.parent.parent is None:
        return
    region = op.parent.parent
    if definition is None and op is not op.parent.operations[-1]:
        raise _error(op, "must be the last op of its block, as it branches to others")
    if region.blocks[0].label in op.successors:
        raise _error(op, f"branches to ^{region.blocks[0].label}, but the entry block of a region has no predecessors")
    if definition is None:
        return
    blocks = known.labels.get(region) or known.labels.setdefault(region, labelled(region))
    forwarded = bind_types(op, definition).call("forwarded") if "forwarded" in definition.roles else ()
    if len(forwarded) != len(op.successors):
        raise _error(op, f"expects {len(forwarded)} successors, got {len(op.successors)}")
    for label, types in zip(op.successors, forwarded):
        arguments = [argument.type for argument in blocks[label].arguments]
        if list(types) != arguments:
            raise _error(op, f"branches to ^{label} with {_list(types)}, but its arguments are {_list(arguments)}")


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
    _check_parameters(op, "argument", "arg_attrs", declared.inputs)
    _check_parameters(op, "result", "res_attrs", declared.outputs)
    if is_declaration(op):
        if op.properties.get("sym_visibility") in (None, "public"):
            raise _error(op, "expects a body, or the visibility private of a declaration", "sym_visibility")
        return
    body = op.regions[0].function_type
    if body.inputs != declared.inputs:
        expected, found = _list(declared.inputs), _list(body.inputs)
        raise _error(op, f"expects arguments {expected} by its function type, but its body has {found}")
    for terminator in _returns(op.regions[0]):
        if tuple(terminator.operand_types) != declared.outputs:
            returned, results = _list(terminator.operand_types), _list(declared.outputs)
            raise _error(terminator, f"returns {returned}, but the function's results are {results}")


def _signature_error(op: Operation) -> InvalidError | None:
    """Return the error of an ill-formed type of a function whose ops, which are better places for it, are valid."""
    declared: FunctionType = op.properties["function_type"]
    try:
        _check_types(op, "argument", declared.inputs)
        _check_types(op, "result", declared.outputs)
    except InvalidError as error:
        return error
    return None


def _check_types(op: Operation, what: str, types: Sequence[Type]) -> None:
    for index, type in enumerate(types):
        is_foreign = isinstance(type, TensorType | BufferType) and isinstance(type.element_type, OpaqueType)
        if not is_foreign and (reason := ill_formed_reason(type)):  # other dialects have elements of their own
            raise _error(op, f"{what} #{index} has an invalid type: {reason}")


def _check_parameters(op: Operation, what: str, member: str, types: Sequence[Type]) -> None:
    """Check the attributes of the arguments or results of a function, which are those of dialects."""
    attributes: Sequence[Mapping[str, Attribute]] = op.properties.get(member) or ()
    if attributes and len(attributes) != len(types):
        raise _error(op, f"expects attributes of {len(types)} {what}s in '{member}', got {len(attributes)}", member)
    for index, (dictionary, type) in enumerate(zip(attributes, types)):
        for name, attribute in dictionary.items():
            if "." not in name:
                raise _error(
                    op, f"{what} #{index} has attribute '{name}', expected attributes of dialects only", member
                )
            if check := PARAMETER_CHECKS.get(name):
                check(op, attribute, type, f"{what} {index}")


def _check_call(op: Operation) -> None:
    for name in ("arg_attrs", "res_attrs"):
        given = op.attributes.get(name, ())
        if not isinstance(given, tuple) or not all(isinstance(entry, dict) for entry in given):
            raise _error(op, f"attribute '{name}' must be a list of dictionaries", name)
    callee = op.properties["callee"]
    function = op.symbol(callee)
    if function is not None and function.name == MALFORMED:
        return
    if function is None or function.name != "func.func":
        hint = did_you_mean(callee, _functions_around(op), "@")
        raise _error(op, f"calls undefined function @{callee}{hint}", "callee")
    signature = function.properties.get("function_type")
    if not isinstance(signature, FunctionType):  # which is an error of the function
        return
    called = FunctionType(tuple(op.operand_types), tuple(op.result_types))
    if called != signature:
        raise _error(op, f"calls @{callee} as {called}, but it is {signature}", "callee")


def _functions_around(op: Operation) -> Iterator[str]:
    """Yield the names of the functions that an op can call."""
    scope = op
    while (above := scope.parent_op) is not None:
        scope = above
        for other in (other for region in scope.regions for block in region.blocks for other in block.operations):
            if other.name == "func.func" and isinstance(name := other.properties.get("sym_name"), str):
                yield name


SYMBOL_CHECKS: Mapping[str, Callable[[Operation], None]] = {
    "builtin.module": _check_module,
    "func.func": _check_function,
    "func.call": _check_call,
}


def _list(types: Iterable[Type]) -> str:
    return f"({', '.join(map(str, types))})"


def _error(op: Operation, message: str, *subjects: str | int) -> InvalidError:
    return InvalidError(f"'{op.name}' op {message}", op.location, subjects=subjects)
