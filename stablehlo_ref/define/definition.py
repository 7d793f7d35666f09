"""The metadata of op classes: name, traits, members and roles. Parser, verifier and planner know ops by it alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from stablehlo_ref.define.facts import UNKNOWN, Facts
from stablehlo_ref.define.members import Attr, Bodies, Body, Group, In, Ins, Member, Out, Outs
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import Attribute, StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import Type
from stablehlo_ref.suggestions import MIN_ABBREVIATION, closest

if TYPE_CHECKING:
    from stablehlo_ref.define.assembly import Directive

T = TypeVar("T")
Syntax: TypeAlias = "str | tuple[str | Directive, ...]"
# An op computes NaNs, and those of its results are canonical; or it moves NaNs from operands to results, and changes no
# more than their signs; or the bits of its operands can be observed.
Nans: TypeAlias = Literal["computed", "moved", "observed"]


@dataclass(frozen=True)
class Traits:
    """Properties of an op, given as keyword arguments of its class: `class Add(Op, op="add", commutative=True)`."""

    terminator: bool = False
    isolated_from_above: bool = False  # regions cannot use values from above
    shadows_names: bool = False  # names in regions may repeat, and hide, those of values from above
    single_block: bool = True  # each region is one block that ends with a terminator
    multiple_blocks: bool = False  # each region is a graph of one or more blocks that end with terminators
    runs_once: bool = False  # each region runs at most once when the op runs
    commutative: bool = False
    elementwise: bool = False  # what `plan` returns takes arrays of any shapes that broadcast
    effects: bool = False  # what `plan` returns takes the run's `Context` as its first argument
    communicates: bool = False  # what `plan` returns is a generator of rendezvous with other processes
    computes_on_storage: bool = False  # takes quantized tensors as stored; ops with effects and regions always do
    row_major: bool = False  # what `plan` returns takes C-contiguous arrays, on whose strides the order of sums depends
    rows_apart: bool = False  # with `row_major`: real arrays may have rows that do not follow each other
    releases_operands: bool = False  # control flow that itself empties the slots of operands that it uses last
    returns_views: bool = False  # results are operands, or views of them; a kernel that may have to copy reserves that
    prepares_constants: bool = False  # what `plan` takes from its site are only operands that are constants
    nans: Nans | None = None  # what happens to NaNs; None: they are computed by elementwise ops, else observed
    shape_operands: tuple[str, ...] = ()  # operands whose values decide the result's shape: `Site.constants` of `infer`


NO_TRAITS = Traits()


@dataclass(frozen=True)
class Role:
    """A pure function of an op class; its parameters are named after the members that it uses."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    groups: tuple[Group, ...] = field(default=(), kw_only=True)  # those that parameters name

    def __call__(self, arguments: Mapping[str, Any]) -> Any:
        if self.groups:
            arguments = {**arguments, **{group.name: group.value(arguments) for group in self.groups}}
        return self.function(*[arguments[name] for name in self.parameters])


@dataclass(frozen=True, eq=False)
class OpDefinition:
    """The metadata of one op class."""

    dialect: str
    mnemonic: str  # "" for a class that only others inherit from
    op_class: type
    traits: Traits
    syntax: Syntax  # the pretty form (syntax/assembly.py); "" for generic form only
    members: Mapping[str, Member]
    roles: Mapping[str, Role]
    variant: Callable[[Operation], OpDefinition] | None = None  # the definition that depends on an op's attributes
    facts: Facts | None = None  # what the op does to numbers, if that is known

    @cached_property
    def name(self) -> str:
        """The name with the dialect: `stablehlo.add`."""
        return f"{self.dialect}.{self.mnemonic}"

    def _members(self, *kinds: type[T]) -> tuple[T, ...]:
        return tuple(member for member in self.members.values() if isinstance(member, kinds))

    @cached_property
    def operands(self) -> tuple[In | Ins, ...]:
        return self._members(In, Ins)

    @cached_property
    def attributes(self) -> Mapping[str, Attr]:
        return {member.name: member for member in self._members(Attr)}

    @cached_property
    def results(self) -> tuple[Out | Outs, ...]:
        return self._members(Out, Outs)

    @cached_property
    def regions(self) -> tuple[Body | Bodies, ...]:
        return self._members(Body, Bodies)

    @cached_property
    def groups(self) -> Mapping[str, Group]:
        return {member.name: member for member in self._members(Group)}

    @cached_property
    def is_verified_by_kind(self) -> bool:
        """Whether verification depends on members alone."""
        return not self.uses_site("constraints", "infer")

    @cached_property
    def is_variadic(self) -> bool:
        """Whether any number of operands belong to a member."""
        return any(isinstance(member, Ins) for member in self.operands)

    def uses_site(self, *roles: str) -> bool:
        """Return whether any of these roles depends on more than members: symbols, or constant shape operands."""
        return bool(self.traits.shape_operands) or any(
            "site" in self.roles[role].parameters for role in roles if role in self.roles
        )

    # --- attributes: as written <-> as members ------------------------------------------------------------------

    @cached_property
    def _ungrouped(self) -> Mapping[str, Attr]:
        """The attribute members that no struct attribute holds, by their spelling in MLIR."""
        grouped = {member.name for group in self.groups.values() for member in group.fields.values()}
        return {m.spelling: m for m in self.attributes.values() if m.name not in grouped}

    def decode(self, written: Mapping[str, Attribute]) -> tuple[dict[str, object], dict[str, Attribute]]:
        """Split attributes as written into Python values of the op's members, and discardable attributes."""
        members: dict[str, object] = {}
        discardable: dict[str, Attribute] = {}
        for name, attribute in written.items():
            if member := self._ungrouped.get(name):
                members[member.name] = member.decode(attribute)
            elif (
                (group := self.groups.get(name)) and group.matches(attribute) and isinstance(attribute, StructAttribute)
            ):
                fields = group.fields
                known = {fields[k].name: fields[k].decode(v) for k, v in attribute.fields.items() if k in fields}
                members |= known
            else:
                discardable[name] = attribute
        return members, discardable

    def members_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the members that an attribute as written stands for, which for a struct are several."""
        if group := self.groups.get(name):
            return tuple(member.name for member in group.fields.values())
        return (self._ungrouped[name].name,) if name in self._ungrouped else ()

    @cached_property
    def property_names(self) -> frozenset[str]:
        """The names that may stand in `<{...}>`."""
        return frozenset((*self._ungrouped, *self.groups, *WITHOUT_MEANING.get(self.name, ())))

    def known_properties(self, written: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
        """Return the properties that the op has among those in `<{...}>`; others mean nothing, as in MLIR.

        ValueError for one that is misspelt or abbreviated, or if the op has none at all.
        """
        names = self.property_names
        if not (names or written):
            raise ValueError(f"'{self.name}' op has no properties, not even '<{{}}>'")
        if written.keys() <= names:
            return written
        for name in written.keys() - names:
            meant = closest(name, names)
            if meant or not names:
                hint = f"; did you mean '{meant}'?" if meant else ""
                raise ValueError(f"'{self.name}' op has no property '{name}'{hint}")
        return {name: attribute for name, attribute in written.items() if name in names}

    def encode(self, members: Mapping[str, object]) -> dict[str, Attribute]:
        """Return the values of members as attributes as MLIR writes them, with groups as structs."""
        written: dict[str, Attribute] = {}
        for group in self.groups.values():
            fields = {k: m.encode(members[m.name]) for k, m in group.fields.items() if m.name in members}
            if fields:
                written[group.name] = StructAttribute(group.struct, fields)
        for spelling, member in self._ungrouped.items():
            if member.name in members:
                written[spelling] = member.encode(members[member.name])
        return written

    @cached_property
    def defaults(self) -> Mapping[str, object]:
        """The values of attribute members that are omitted."""
        return {name: member.default_value() for name, member in self.attributes.items()}


# Properties of MLIR that mean nothing here and are kept as discardable attributes.
WITHOUT_MEANING: Mapping[str, tuple[str, ...]] = {
    "func.call": ("arg_attrs", "no_inline", "res_attrs"),
    "func.call_indirect": ("arg_attrs", "res_attrs"),
    "func.func": ("no_inline",),
    "stablehlo.custom_call": ("result_tilings",),
}

REGISTRY: dict[str, OpDefinition] = {}  # by the op's name

# What dialects demand of their discardable attributes on ops of any dialect, such as `sdy.sharding`, by the names of
# attributes; the checks raise InvalidError.
OP_CHECKS: dict[str, Callable[[Operation, Attribute], None]] = {}
# Of arguments and results of functions, whose types they get, and `argument 0` or `result 0`.
PARAMETER_CHECKS: dict[str, Callable[[Operation, Attribute, Type, str], None]] = {}


def definition_of(op: Operation) -> OpDefinition | None:
    """Return the definition of an op; None for an op of a dialect without classes."""
    return REGISTRY.get(op.name)


def facts_of(op: Operation) -> Facts:
    """Return what an op does to numbers, UNKNOWN if its class does not say it."""
    definition = REGISTRY.get(op.name)
    return UNKNOWN if definition is None or definition.facts is None else definition.facts


def traits_of(op: Operation) -> Traits:
    """Return the traits of an op, the defaults for an op of a dialect without classes."""
    definition = REGISTRY.get(op.name)
    return NO_TRAITS if definition is None else definition.traits


def attributes_of(op: Operation) -> dict[str, Any]:
    """Return the attribute members of an op; those that are omitted have their defaults."""
    definition = REGISTRY.get(op.name)
    return {**definition.defaults, **op.properties} if definition else dict(op.properties)


def is_constant_like(op: Operation) -> bool:
    """Return whether an op has no operands, and an attribute as its value."""
    return facts_of(op).constant


def resolve(op: Operation) -> OpDefinition | None:
    """Return the definition that evaluates `op`: of a variant of its class where its attributes select one."""
    definition = REGISTRY.get(op.name)
    if definition is None or definition.variant is None:
        return definition
    return definition.variant(op)


def evaluated(op: Operation) -> OpDefinition:
    """Return the definition that evaluates an op; UnsupportedError for an op without a class."""
    definition = resolve(op)
    if definition is None:
        of_mhlo = op.name.startswith("mhlo.")  # of which ops with an equal are evaluated
        reason = "has no equal in StableHLO or CHLO" if of_mhlo else "belongs to a dialect that is not evaluated"
        raise UnsupportedError(f"'{op.name}' op {reason}")
    return definition


# --- how many operands, results and regions belong to each member ---------------------------------------------------


@lru_cache(maxsize=4096)
def segment_sizes(members: tuple[Member, ...], count: int) -> tuple[int, ...]:
    """Return how many of `count` operands (results, regions) belong to each member; ValueError if they do not fit."""
    variadic = [isinstance(m, Ins | Outs | Bodies) for m in members]
    optional = [isinstance(m, In) and m.optional for m in members]
    flexible = sum(variadic)
    fixed = len(members) - flexible - sum(optional)
    spare = count - fixed
    if not flexible:
        if not 0 <= spare <= sum(optional):
            raise ValueError(f"expected {fixed}, got {count}")
        present = iter(range(spare))
        return tuple(1 if not o else int(next(present, None) is not None) for o in optional)
    if spare < 0 or spare % flexible:
        more = "an even number more" if flexible == 2 else "any number more"
        raise ValueError(f"expected {fixed} and {more}, got {count}")
    return tuple(spare // flexible if v else 1 for v in variadic)


@lru_cache(maxsize=4096)
def member_of_each(members: tuple[T, ...], count: int) -> tuple[T, ...]:
    """Return the member that each of `count` operands (results, regions) belongs to; ValueError if they do not fit."""
    return tuple(m for m, size in zip(members, segment_sizes(members, count)) for _ in range(size))


@cache
def _names(members: tuple[Member, ...]) -> tuple[str, ...] | None:
    """Return the names of members; None if one is variadic."""
    return None if any(isinstance(m, Ins | Outs | Bodies) for m in members) else tuple(m.name for m in members)


def group_by_member(members: Sequence[Member], items: Sequence[T]) -> dict[str, T | tuple[T, ...] | None]:
    """Return the item of each member by name, a tuple where it is variadic; ValueError if the number does not fit."""
    members = tuple(members)
    names = _names(members)
    if names is not None and len(names) == len(items):
        return dict(zip(names, items))
    grouped: dict[str, T | tuple[T, ...] | None] = {}
    start = 0
    for member, length in zip(members, segment_sizes(members, len(items))):
        part = tuple(items[start : start + length])
        grouped[member.name] = part if isinstance(member, Ins | Outs | Bodies) else part[0] if part else None
        start += length
    return grouped


DEFAULT_DIALECTS = ("stablehlo", "chlo")  # of ops that are written without a dialect, or with the wrong one of these


def did_you_mean_op(name: str, dialects: Collection[str]) -> str:
    """Return `; did you mean 'stablehlo.add'?` for the op most similar to `name`; "" if none is.

    `dialects` are others than those with registered ops; they are suggested only with ops that are registered.
    """
    meant = similar_op(name, dialects)
    return f"; did you mean '{meant}'?" if meant else ""


def similar_op(name: str, dialects: Collection[str]) -> str | None:
    """Return the registered op most similar to `name`, None if none is."""
    dialect, dot, mnemonic = name.partition(".")
    if not dot:
        return _in_dialect("stablehlo", name) if len(name) >= MIN_ABBREVIATION else None
    known = {definition.dialect for definition in REGISTRY.values()}
    if dialect not in known:
        meant = None if dialect in dialects else closest(dialect, known.union(dialects))
        return _in_dialect(meant, mnemonic) if meant in known else None
    if dialect in DEFAULT_DIALECTS:
        for other in DEFAULT_DIALECTS:
            if f"{other}.{mnemonic}" in REGISTRY:
                return f"{other}.{mnemonic}"
    return _in_dialect(dialect, mnemonic)


def _in_dialect(dialect: str | None, mnemonic: str) -> str | None:
    """Return the op of a dialect most similar to a mnemonic."""
    mnemonics = [definition.mnemonic for definition in REGISTRY.values() if definition.dialect == dialect]
    found = mnemonic if mnemonic in mnemonics else closest(mnemonic, mnemonics)
    return f"{dialect}.{found}" if found else None


Kind: TypeAlias = tuple[Hashable, ...]


def kind_of(op: Operation) -> Kind:
    """Return the name, the types and the attribute members of an op, by identity; regions are not part of it.

    Types and attributes that are the same object are equal, and the parser shares them. Those that are equal and not
    the same only make another kind. Identities are unique as long as the objects live: a table outlives the op only if
    it keeps these.
    """
    operands, properties = op.operands, op.properties
    types = [id(v.type) for v in operands + op.results]
    if not properties:
        return op.name, len(operands), *types
    return op.name, len(operands), *types, *properties, *map(id, properties.values())
