"""The sdy attributes of ops: their types as members, which sharding a value has, and whether it is valid there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from typing import Annotated, TypeAlias, TypeVar

from stablehlo_ref.define.assembly import AsmParser, SpelledCodec, WordCodec
from stablehlo_ref.define.definition import OP_CHECKS, PARAMETER_CHECKS
from stablehlo_ref.diagnostics import InvalidError
from stablehlo_ref.distribution.meshes import check_sharding, covers, overlap, sharded_size, spans
from stablehlo_ref.distribution.sdy_attributes import (
    AxisList,
    AxisLists,
    Exchanges,
    ManualAxes,
    Mesh,
    PropagationEdges,
    SdySyntaxError,
    Sharding,
    ShardingRule,
    Shardings,
    ValueRef,
    factor_name,
    read_attribute,
    text_of,
)
from stablehlo_ref.distribution.sdy_forms import SdyAttribute
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute, OpaqueAttribute
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import TensorType, Type, integer_type

T = TypeVar("T", bound=SdyAttribute)
EMPTY_MESH = Mesh(())


@contextmanager
def rejecting(op: Operation, what: str, *subjects: str | int) -> Iterator[None]:
    """Turn a ValueError into an InvalidError about an op, or about `what` of it."""
    try:
        yield
    except ValueError as error:
        raise InvalidError(
            f"'{op.name}' op {f'{what}: ' if what else ''}{error}", op.location, subjects=subjects
        ) from None


# --- meshes ---------------------------------------------------------------------------------------------------------


def mesh_of(sharding: Sharding, op: Operation) -> Mesh:
    """Return the mesh of a sharding that an op has; ValueError for an unknown symbol."""
    if isinstance(sharding.mesh, Mesh):
        return sharding.mesh
    found = op.symbol(sharding.mesh)
    mesh = found.properties.get("mesh") if found is not None and found.name == "sdy.mesh" else None
    if not isinstance(mesh, Mesh):
        raise ValueError(f"unknown mesh @{sharding.mesh}")
    return mesh


def common_mesh(shardings: Sequence[Sharding], op: Operation) -> Mesh:
    """Return the mesh of all shardings, those on an empty mesh aside; ValueError if they are on different meshes."""
    chosen, name = EMPTY_MESH, ""
    for sharding in shardings:
        mesh = mesh_of(sharding, op)
        if mesh == EMPTY_MESH:
            continue
        written = f"mesh{mesh}" if isinstance(sharding.mesh, Mesh) else f"@{sharding.mesh}"
        if chosen not in (EMPTY_MESH, mesh):
            raise ValueError(f"shardings are on different meshes, {name} and {written}")
        chosen, name = mesh, name or written
    return chosen


# --- shardings of values --------------------------------------------------------------------------------------------


def bound_axes(op: Operation) -> dict[str, Operation]:
    """Return the axes that manual computations around an op have bound, with the ops that bind them."""
    bound: dict[str, Operation] = {}
    around = op.parent_op
    while around is not None:
        if around.name == "sdy.manual_computation":
            names = getattr(around.properties.get("manual_axes"), "names", ())
            bound |= dict.fromkeys(names, around)
        around = around.parent_op
    return bound


def check_value(op: Operation, sharding: Sharding, type: Type | None) -> None:
    """Check the sharding of a value of an op; ValueError if it is invalid."""
    check_sharding(sharding, type, mesh_of(sharding, op), bound_axes(op))


def check_values(op: Operation, shardings: Sequence[Sharding], types: Sequence[Type]) -> None:
    """Check the shardings of several values of an op; ValueError if there are more or less, or one is invalid."""
    if not types and len(shardings) == 1:
        mesh = mesh_of(shardings[0], op)
        if mesh.is_maximal or not shardings[0].sharding_axes:
            check_value(op, shardings[0], None)
            return
    if len(shardings) != len(types):
        raise ValueError(f"expected {len(types)} shardings, one for each value, got {len(shardings)}")
    for number, (sharding, type) in enumerate(zip(shardings, types)):
        try:
            check_value(op, sharding, type)
        except ValueError as error:
            raise ValueError(f"value {number}: {error}" if len(types) > 1 else str(error)) from None


def probed(value: Value) -> Value:
    """Return the value that a probe returns, or any other value itself."""
    seen: set[Value] = set()  # an invalid program may have a cycle
    while isinstance(op := value.owner, Operation) and op.name == "interpreter.probe" and value not in seen:
        seen.add(value)
        value = op.operands[0] if op.operands else value
    return value


def check_reductions(op: Operation, sharding: Sharding) -> None:
    """Check that an op which changes a sharding keeps the reduction of unreduced axes, and adds such only by sum."""
    before, mesh = sharding_of(op.operands[0]), mesh_of(sharding, op)
    if before is None or mesh_of(before, op) != mesh:
        return
    kept, parts = spans(before.unreduced, mesh), spans(sharding.unreduced, mesh)
    if before.reduction != sharding.reduction and any(overlap(x, y) for x in kept for y in parts):
        raise ValueError(
            f"axes that are unreduced by {before.reduction} cannot become unreduced by {sharding.reduction}"
        )
    if sharding.reduction != "sum" and not all(any(covers(x, y) for x in kept) for y in parts):
        raise ValueError(f"axes cannot become unreduced by {sharding.reduction}, only by sum")


def sharding_of(value: Value) -> Sharding | None:
    """Return the sharding that a value has by the op that defines it; None if it has none."""
    value = probed(value)
    if isinstance(value.owner, Operation):
        return _of_result(value.owner, value.index)
    return _of_argument(value.owner, value.index) if isinstance(value.owner, Block) else None


def _of_result(op: Operation, index: int) -> Sharding | None:
    if op.name == "sdy.propagation_barrier" or not op.name.startswith("sdy."):
        return _item(read(op.attributes.get("sdy.sharding")), index)
    for name in ("sharding", "out_sharding"):
        if isinstance(sharding := op.properties.get(name), Sharding):
            return sharding
    return _item(op.properties.get("out_shardings"), index)


def _of_argument(block: Block, index: int) -> Sharding | None:
    op = block.parent.parent if block.parent else None
    if op is None:
        return None
    if op.name == "func.func":
        return parameter_sharding(op, "arg_attrs", index)
    sharding = _item(op.properties.get("in_shardings"), index) if op.name.startswith("sdy.") else None
    return _inside(sharding, op) if sharding else None


def _inside(sharding: Sharding, op: Operation) -> Sharding:
    """Return the sharding of an operand as the body of a manual computation sees it: without manual axes."""
    manual = getattr(op.properties.get("manual_axes"), "names", ())
    return sharding.filtered(lambda axis: axis.name not in manual)


def parameter_sharding(function: Operation, name: str, index: int) -> Sharding | None:
    """Return the sharding of an argument (`arg_attrs`) or a result (`res_attrs`) of a function; None without one."""
    attributes = function.properties.get(name) or ()
    found = read(attributes[index].get("sdy.sharding")) if index < len(attributes) else None
    return found if isinstance(found, Sharding) else None


def shard_counts(function: Operation, name: str, index: int) -> list[int]:
    """Return the number of shards of each dimension of an argument or a result of a function; [] of a whole tensor."""
    sharding = parameter_sharding(function, name, index)
    mesh = mesh_of(sharding, function) if sharding is not None else EMPTY_MESH
    return [sharded_size(d, mesh) for d in sharding.dimensions] if sharding is not None else []


def _item(shardings: object, index: int) -> Sharding | None:
    return shardings.shardings[index] if isinstance(shardings, Shardings) and index < len(shardings.shardings) else None


def read(attribute: Attribute | None) -> object:
    """Return the value of an attribute of the dialect; None for any other attribute, and for a malformed one."""
    try:
        return read_attribute(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
    except SdySyntaxError:
        return None


# --- attributes of ops of any dialect -------------------------------------------------------------------------------


def _read_as(kind: type[T], attribute: Attribute) -> T:
    """Return the value of an attribute; ValueError if it is of another kind."""
    value = read_attribute(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
    if not isinstance(value, kind):
        raise ValueError(f"expected a #sdy.{kind.mnemonic}")
    return value


def check_op_sharding(op: Operation, attribute: Attribute) -> None:
    """Check `sdy.sharding` of an op."""
    with rejecting(op, "attribute 'sdy.sharding'", "sdy.sharding"):
        shardings = _read_as(Shardings, attribute)
        check_values(op, shardings.shardings, op.result_types)


def check_parameter_sharding(function: Operation, attribute: Attribute, type: Type, which: str) -> None:
    """Check `sdy.sharding` of an argument or result of a function."""
    with rejecting(function, f"attribute 'sdy.sharding' of {which}"):
        check_value(function, _read_as(Sharding, attribute), type)


def check_rule(op: Operation, attribute: Attribute) -> None:
    """Check `sdy.sharding_rule` of an op."""
    with rejecting(op, "attribute 'sdy.sharding_rule'", "sdy.sharding_rule"):
        rule = _read_as(ShardingRule, attribute)
        in_operands = _check_mappings(rule, rule.operands, op.operand_types, "operand")
        in_results = _check_mappings(rule, rule.results, op.result_types, "result")
        if unused := set(range(len(rule.factor_sizes))) - in_operands - in_results:
            raise ValueError(f"no dimension is mapped to factor {factor_name(min(unused))}")
        known = range(len(rule.factor_sizes))
        for kind, factors in rule.special_factors.items():
            if list(factors) != sorted(set(factors).intersection(known)):
                raise ValueError(f"expected {kind} factors that are known, sorted and unique")
        special = (*rule.reduction, *rule.need_replication, *rule.permutation)
        if len(set(special)) < len(special):
            raise ValueError("expected each factor in at most one of reduction, need_replication and permutation")
        if shared := in_results.intersection(rule.reduction):
            raise ValueError(f"reduction factor {factor_name(min(shared))} is in a result")


def _check_mappings(
    rule: ShardingRule, mappings: Sequence[tuple[tuple[int, ...], ...]], types: Sequence[Type], what: str
) -> set[int]:
    """Return the factors in the mappings of operands or results; ValueError if one is invalid."""
    if len(mappings) != len(types) or not mappings:
        raise ValueError(f"expected mappings for at least one and for all {what}s, got {len(mappings)}")
    seen: set[int] = set()
    for number, (mapping, type) in enumerate(zip(mappings, types)):
        if not isinstance(type, TensorType) or not type.is_static:
            raise ValueError(f"{what} {number}: expected a statically shaped tensor, got {type}")
        if len(mapping) != type.rank:
            raise ValueError(f"{what} {number}: expected {type.rank} dimensions, got {len(mapping)}")
        factors = [factor for dimension in mapping for factor in dimension]
        if any(factor >= len(rule.factor_sizes) for factor in factors):
            raise ValueError(f"{what} {number}: expected factors below {factor_name(len(rule.factor_sizes))}")
        if len(set(factors)) < len(factors):
            raise ValueError(f"{what} {number}: a factor is used twice")
        for dimension in mapping:
            if not dimension or (len(dimension) > 1 and any(rule.factor_sizes[f] == 1 for f in dimension)):
                raise ValueError(f"{what} {number}: expected one factor, or several of a size above 1")
        seen.update(factors)
    return seen


def check_edges(op: Operation, attribute: Attribute) -> None:
    """Check `sdy.propagation_edges` of an op."""
    with rejecting(op, "attribute 'sdy.propagation_edges'", "sdy.propagation_edges"):
        edges = [edge for step in _read_as(PropagationEdges, attribute).steps for edge in step.edges]
        values = [_value(op, ref) for edge in edges for ref in (edge.source, *edge.targets)]
        shardings = [sharding for value in values if value and (sharding := sharding_of(value))]
        if not shardings:
            raise ValueError("expected references to values with a sharding")
        mesh = common_mesh(shardings, op)
        for edge in edges:
            if edge.axis.name not in mesh.sizes:
                raise ValueError(f"unknown axis {edge.axis}")
            for ref in (edge.source, *edge.targets):
                if op.name != "sdy.func_data_flow_edge" and _value(op, ref) is None:
                    raise ValueError(f"the op has no {ref}")


def _value(op: Operation, ref: ValueRef) -> Value | None:
    values = op.operands if ref.kind == "operand" else op.results
    return values[ref.index] if 0 <= ref.index < len(values) else None


def check_lists_of_edges(name: str, op: Operation, attribute: Attribute) -> None:
    """Check an attribute that lists edges."""
    with rejecting(op, f"attribute '{name}'", name):
        if not isinstance(attribute, tuple):
            raise ValueError("expected a list of #sdy.propagation_edges")
        for item in attribute:
            _read_as(PropagationEdges, item)


OP_CHECKS["sdy.sharding"] = check_op_sharding
OP_CHECKS["sdy.sharding_rule"] = check_rule
OP_CHECKS["sdy.propagation_edges"] = check_edges
PARAMETER_CHECKS["sdy.sharding"] = check_parameter_sharding
for name in ("sdy.result_propagation_edges", "sdy.block_arg_propagation_edges"):
    OP_CHECKS[name] = partial(check_lists_of_edges, name)


# --- the types of attribute members ---------------------------------------------------------------------------------


I32 = integer_type(32)


class SdyCodec(SpelledCodec[T]):
    """An attribute of the dialect, written in its canonical text; `what` describes it in errors.

    Pretty forms have only the part in brackets.
    """

    def __init__(self, kind: type[T], what: str) -> None:
        self.mnemonic = kind.mnemonic
        self.kind = kind
        self.what = what
        self.name = f"#sdy.{kind.mnemonic}"

    def read(self, attribute: Attribute) -> T | None:
        try:
            value = read_attribute(attribute.text) if isinstance(attribute, OpaqueAttribute) else None
        except SdySyntaxError as error:
            raise ValueError(f"is malformed: {error}") from None
        return value if isinstance(value, self.kind) else None

    def encode(self, value: T) -> Attribute:
        return OpaqueAttribute(text_of(self.mnemonic, value))

    def parse(self, parser: AsmParser) -> T:
        offset = parser.start
        try:
            return self.decode(parser.attribute() if parser.peek()[:1] == "#" else self._part(parser))
        except ValueError as error:
            raise parser.error(f"{self.what} {error}", offset) from error

    def _part(self, parser: AsmParser) -> Attribute:
        body = parser.balanced_text(self.what)
        if self.kind is Shardings:
            return OpaqueAttribute(f"{self.name}<{body}>")
        return OpaqueAttribute(f"{self.name}{body}" if body.startswith("<") else f"#sdy<{self.mnemonic}{body}>")

    def text(self, value: T) -> str:
        return str(value)[1:-1] if self.kind is Shardings else str(value)


class NumberedCodec(WordCodec[Enum]):
    """An enumeration that MLIR stores as an integer of 32 bits."""

    def __init__(self, enum: type[Enum], mnemonic: str) -> None:
        super().__init__(enum)
        self.members = list(enum)
        self.texts = {OpaqueAttribute(f"#sdy<{mnemonic} {word}>"): member for word, member in self.words.items()}
        self.name = f"{mnemonic}: one of {', '.join(self.words)}"

    def read(self, attribute: Attribute) -> Enum | None:
        number = attribute.value if isinstance(attribute, IntegerAttribute) and attribute.type == I32 else -1
        if 0 <= number < len(self.members):
            return self.members[number]
        return self.texts.get(attribute) if isinstance(attribute, OpaqueAttribute) else None

    def encode(self, value: Enum) -> Attribute:
        return IntegerAttribute(self.members.index(value), I32)


class PropagationDirection(Enum):
    """The directions in which a propagation barrier lets shardings through."""

    NONE = "NONE"
    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"
    BOTH = "BOTH"


class ReductionOp(Enum):
    """How the parts of a tensor that is unreduced along some axes are combined."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"


MeshValue: TypeAlias = Annotated[Mesh, SdyCodec(Mesh, "mesh")]
ShardingValue: TypeAlias = Annotated[Sharding, SdyCodec(Sharding, "sharding")]
ShardingsValue: TypeAlias = Annotated[Shardings, SdyCodec(Shardings, "shardings")]
ManualAxesValue: TypeAlias = Annotated[ManualAxes, SdyCodec(ManualAxes, "axes")]
AxesValue: TypeAlias = Annotated[AxisList, SdyCodec(AxisList, "axes")]
AxesPerDimension: TypeAlias = Annotated[AxisLists, SdyCodec(AxisLists, "axes")]
ExchangesValue: TypeAlias = Annotated[Exchanges, SdyCodec(Exchanges, "axes and dimensions")]
Direction: TypeAlias = Annotated[PropagationDirection, NumberedCodec(PropagationDirection, "propagation_direction")]
Reduction: TypeAlias = Annotated[ReductionOp, NumberedCodec(ReductionOp, "reduction_op")]
