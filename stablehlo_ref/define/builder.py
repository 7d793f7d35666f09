"""How text, bytecode and passes make operations, and programs of a few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stablehlo_ref.define.bound import Site, bind
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.diagnostics import Location
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.locations import DebugLocation
from stablehlo_ref.ir.types import FunctionType, Type


def build_operation(
    name: str,
    operands: Sequence[Value],
    result_types: Sequence[Type] | None,
    location: Location,
    *,
    attributes: Mapping[str, Attribute] | None = None,
    members: Mapping[str, object] | None = None,
    regions: Sequence[Region] = (),
    successors: Sequence[str] = (),
    debug_location: DebugLocation | None = None,
) -> Operation:
    """Return an operation, with its attributes split into members and discardable attributes.

    `attributes` are as in MLIR: inherent and discardable ones together, and members of a group as one struct.
    `members` are Python values of attribute members, which take precedence; for an op without a class they are its
    properties. If `result_types` is None, they are inferred; ValueError if that is not possible. An op that replaces
    another should have the other's location.
    """
    definition = REGISTRY.get(name)
    properties: dict[str, object] = {}
    discardable: dict[str, Attribute] = dict(attributes) if attributes else {}
    if definition is not None and attributes:
        properties, discardable = definition.decode(attributes)
    if members:
        properties.update(members)
    blocks = list(regions)
    if name == "builtin.module" and blocks and not blocks[0].blocks:  # which has a block even if it is empty
        blocks[0] = Region([Block([], [])])
    op = Operation(name, list(operands), result_types or (), properties, discardable, blocks, location)
    op.successors = list(successors) or ()
    op.debug_location = debug_location
    if result_types is None:
        types = inferred_types(op, definition)
        op.results = [Value(type, op, index) for index, type in enumerate(types)]
    return op


def build_module(
    arguments: Sequence[Value], ops: Sequence[Operation], results: Sequence[Value], location: Location,
    functions: Sequence[Operation] = (),
) -> Operation:  # fmt: skip
    """Return a module whose function @main has these arguments, ops and results, followed by other functions."""
    main = build_function("main", arguments, ops, results, location)
    return build_operation("builtin.module", (), (), location, regions=[Region([Block([], [main, *functions])])])


def build_function(
    name: str, arguments: Sequence[Value], ops: Sequence[Operation], results: Sequence[Value], location: Location,
    *, visibility: str | None = None, debug_location: DebugLocation | None = None,
) -> Operation:  # fmt: skip
    """Return a function with these arguments, ops and results."""
    signature = FunctionType(tuple(v.type for v in arguments), tuple(v.type for v in results))
    last = build_operation("func.return", results, (), location, debug_location=debug_location)
    members: dict[str, object] = {"sym_name": name, "function_type": signature}
    if visibility is not None:
        members["sym_visibility"] = visibility
    body = Region([Block(list(arguments), [*ops, last])])
    return build_operation(
        "func.func", (), (), location, members=members, regions=[body], debug_location=debug_location
    )


def inferred_types(op: Operation, definition: OpDefinition | None) -> Sequence[Type]:
    """Return the result types that an op's class infers from operands, attributes and regions.

    Raises ValueError if the class cannot infer types, or the number of operands is wrong.
    """
    if definition is None or (definition.results and "infer" not in definition.roles):
        raise ValueError(f"the result types of '{op.name}' cannot be inferred")
    if not definition.results:
        return ()
    unknown = [None] * len(definition.results)
    bodies = [region.function_type for region in op.regions]
    return bind(definition, Site(op), op.operand_types, unknown, bodies).infer()
