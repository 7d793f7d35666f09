"""An operation bound to types: the arguments of the roles of its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from stablehlo_ref.define.computation import Callee, FinishLoop, RunGrid
from stablehlo_ref.define.definition import OpDefinition, group_by_member
from stablehlo_ref.define.mode import DEFAULT, Mode
from stablehlo_ref.define.spec import is_quantized
from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import Attribute, DenseElements
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.types import Type, UnrankedTensorType, as_vector, unranked

NOWHERE = Location(Source("", "<none>"), 0)


@dataclass(slots=True, eq=False)
class Site:
    """What a role may know of an operation besides its members."""

    op: Operation
    constants: Mapping[str, Array] = field(default_factory=dict)  # arrays of operands that are known, by member
    mode: Mode = DEFAULT  # how exact results are

    @property
    def name(self) -> str:
        """The name of the op, with its dialect."""
        return self.op.name

    @property
    def location(self) -> Location:
        return self.op.location

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The discardable attributes."""
        return self.op.attributes

    def producers(self) -> list[Operation | None]:
        """Return the ops that the operands are results of; None for block arguments."""
        return self.op.producers()

    def symbol(self, name: str) -> Operation | None:
        """Return the op that `@name` refers to from here; None if it is not defined."""
        return self.op.symbol(name)

    def with_constants(self, constants: Mapping[str, Array]) -> Self:
        """Return the same site where these operands are known."""
        return replace(self, constants=constants)


@dataclass(slots=True, eq=False)
class PlanSite(Site):
    """The site of an op that is being planned."""

    function: Callable[[str], Callee] = field(kw_only=True)  # from the symbol of a function to its plan


@dataclass(slots=True, eq=False)
class ControlFlowSite(PlanSite):
    """The site of control flow, whose values are slots of the surrounding plan."""

    run_grid: RunGrid = field(kw_only=True)  # runs plans as processes
    dying: frozenset[int] = field(kw_only=True)  # slots that the op is to empty after their last use
    finish_loop: FinishLoop | None = None  # is called before each turn of a loop; None: the loop has no fast path


class BoundOp(NamedTuple):
    """An operation with the types (or slots, or planned regions) that its roles see, by member."""

    definition: OpDefinition
    operands: Sequence[Any]
    results: Sequence[Any]
    bodies: Sequence[Any]
    site: Site
    arguments: dict[str, Any]

    @property
    def op(self) -> Operation:
        return self.site.op

    def call(self, role: str) -> Any:
        """Call a role with the members that its parameters name."""
        return self.definition.roles[role](self.arguments)

    def infer(self) -> tuple[Type, ...]:
        """Return the result types by the role `infer`, always as a tuple."""
        inferred = self.call("infer")
        return tuple(inferred) if isinstance(inferred, tuple | list) else (inferred,)

    def with_members(self, changed: Mapping[str, object]) -> BoundOp:
        """Return the same op with other values of some members."""
        return self._replace(arguments={**self.arguments, **changed})


def is_on_expressed(bound: BoundOp) -> bool:
    """Return whether the op, for these types of operands and results, is computed on expressed types."""
    traits = bound.definition.traits
    if traits.computes_on_storage or traits.effects or bound.op.regions or "plan" not in bound.definition.roles:
        return False
    return any(map(is_quantized, (*bound.operands, *bound.results)))


def bind(
    definition: OpDefinition,
    site: Site,
    operands: Sequence[Any],
    results: Sequence[Any],
    bodies: Sequence[Any],
) -> BoundOp:
    """Bind an op to types, slots or planned regions of its members; ValueError if their number is wrong."""
    arguments: dict[str, Any] = {**definition.defaults, **site.op.properties}
    arguments |= group_by_member(definition.operands, operands)
    arguments |= group_by_member(definition.results, results)
    arguments |= group_by_member(definition.regions, bodies)
    arguments |= {"site": site, "mode": site.mode}
    return BoundOp(definition, operands, results, bodies, site, arguments)


def call_role(
    definition: OpDefinition,
    role: str,
    members: Mapping[str, object],
    constants: Mapping[str, Array] = MappingProxyType({}),
    mode: Mode = DEFAULT,
) -> Any:
    """Call a role of an op that is not part of a program; attributes that are not in `members` have their defaults."""
    site = Site(Operation(definition.name, [], [], {}, {}, [], NOWHERE), constants, mode)
    return definition.roles[role]({**definition.defaults, **members, "site": site, "mode": mode})


def bind_types(op: Operation, definition: OpDefinition) -> BoundOp:
    """Bind an op to the types that the program declares, and to the constants among its shape operands."""
    shaping = definition.traits.shape_operands
    given = group_by_member(definition.operands, op.operands) if shaping else {}
    constants = {name: array for name in shaping if (array := constant_array(given[name])) is not None}
    bodies = [region.function_type for region in op.regions]
    return bind(definition, Site(op, constants), op.operand_types, op.result_types, bodies)


def with_vectors(bound: BoundOp) -> BoundOp:
    """Return the same op as if all its tensors were vectors of unknown size, if one of them has no known rank."""
    if not any(isinstance(type, UnrankedTensorType) for type in (*bound.operands, *bound.results)):
        return bound
    operands, results = ([as_vector(unranked(type)) for type in types] for types in (bound.operands, bound.results))
    return bind(bound.definition, bound.site, operands, results, bound.bodies)


def constant_array(value: object) -> Array | None:
    """Return the array of a value that is the result of `stablehlo.constant`; None for any other value."""
    if not isinstance(value, Value) or value.producer is None or value.producer.name != "stablehlo.constant":
        return None
    constant = value.producer.properties.get("value")
    return constant.array if isinstance(constant, DenseElements) and constant.type == value.type else None
