"""How an op is defined: one class whose members are its inputs and outputs and whose roles are pure functions.

A role is a static function (or class method) whose parameters are named after the members it uses; a name that is no
member is a TypeError when the class is created. What a role gets for a member:

=================  ==========================================  =================================================
member             in `infer`, `constraints`, `plan`           in the function that `plan` returns
=================  ==========================================  =================================================
`In`, `Out`        its type                                    `In`: its array
`Ins`, `Outs`      the tuple of its types                      `Ins`: the tuple of its arrays
`Attr`             its Python value                            (closed over)
`Body`, `Bodies`   function type(s); in `plan` planned bodies  (closed over)
=================  ==========================================  =================================================

`constraints` also gets `C`, the checker, and may ask for `infer`, a function without parameters. `infer` and `plan` may
ask for `constants`, from the name of an `In` to its array: of operands that are constants of the program, and of
`shaping` operands where an op is planned when it is reached, and for `symbols`, a function from a symbol's name to the
op that it stands for. `constraints` may ask for `regions`, `plan` for `location`, the op's place, for its discardable
`attributes`, for `operand_names` and `producers` (functions that give the names of the operands, and the ops that they
are results of), and for `functions` (from a symbol to its plan).

Control flow has the role `inline` instead of `plan`: it gets slot numbers for values and functions that plan the blocks
of regions, may ask for `functions` (from a symbol to its plan), for `run_grid` (which runs plans as processes) and for
`dying` (the slots that it is to empty itself), and returns a generator function of the slots, which yields whatever its
blocks yield. `lift` gets attribute members and returns those that change when every value has one more axis in front.
`open_cases` gets what `constraints` does and returns a generator function of the operands' arrays, of the `Choice`s
that these need where the spec leaves the result open, or None where no arrays need any; only runs that ask call it.

An op class is never instantiated; the program is made of `ir.core.Operation`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from typing import Any, ClassVar

from stablehlo_ref.diagnostics import InvalidError
from stablehlo_ref.formulas import failing_check, label_at, quote, shown
from stablehlo_ref.ir.attributes import DenseElements, StructAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.kinds import AttributeKind, Kind, OneOf

REQUIRED: Any = object()
ROLES = ("infer", "constraints", "plan", "inline", "lift", "open_cases")
SPECIAL = {
    "C", "infer", "attributes", "constants", "dying", "functions", "location", "operand_names", "producers", "regions",
    "run_grid", "symbols",
}  # fmt: skip


class Member:
    """An input or output of an op; its name is that of the class attribute that holds it, which is the spec's."""

    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class In(Member):
    """One operand."""

    def __init__(self, kind: Kind, optional: bool = False) -> None:
        self.kind = kind
        self.optional = optional


class Ins(Member):
    """A variadic number of operands. Two such members of an op have the same number."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind


class Attr(Member):
    """An attribute; `default` is its value where it is left out, `name` its spelling in MLIR where that is another."""

    def __init__(self, kind: AttributeKind | type, default: Any = REQUIRED, name: str = "") -> None:
        self.kind: AttributeKind = kind if isinstance(kind, AttributeKind) else OneOf(kind)
        self.default = default
        self.spelling = name

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.spelling = self.spelling or name


class Out(Member):
    """One result."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind


class Outs(Member):
    """A variadic number of results."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind


class Body(Member):
    """A region: an input function of the op."""


class Bodies(Member):
    """A variadic number of regions."""


class Group(Member):
    """Members that travel together in MLIR's text as the struct attribute `#name<...>`, and only there."""

    def __init__(self, struct: str, *members: Attr, **renamed: Attr) -> None:
        self.struct = struct
        self._members = members
        self._renamed = renamed

    @property
    def members(self) -> dict[str, Attr]:
        """From the field's name in MLIR to the member."""
        return {member.name: member for member in self._members} | self._renamed

    def is_written_as(self, attribute: Any) -> bool:
        return isinstance(attribute, StructAttribute) and attribute.name == self.struct


class Undecodable:
    """An attribute whose kind is not the member's: kept, printed back, refused by the verifier."""

    def __init__(self, attribute: Any, reason: str) -> None:
        self.attribute = attribute
        self.reason = reason


class Op:
    """The base of all op classes. Subclassing with `op="mnemonic"` registers the class as `dialect.mnemonic`."""

    registry: ClassVar[dict[str, type[Op]]] = {}

    dialect: ClassVar[str] = "stablehlo"
    name: ClassVar[str] = ""
    syntax: ClassVar[str] = ""  # the pretty form, in the directives of syntax/assembly.py; "" where there is none
    terminator: ClassVar[bool] = False
    isolated: ClassVar[bool] = False  # whether regions see no values from above
    shadows: ClassVar[bool] = False  # whether names in regions may be those of values from above, which they hide
    needs_terminator: ClassVar[bool] = True  # whether each region is one block that ends with a terminator
    commutative: ClassVar[bool] = False
    elementwise: ClassVar[bool] = False  # whether what `plan` returns takes arrays of any shapes that broadcast
    effects: ClassVar[bool] = False  # whether what `plan` returns also takes the run's context, as first argument
    communicates: ClassVar[bool] = False  # whether it is a generator of rendezvous with other processes (has effects)
    on_storage: ClassVar[bool] = False  # whether it takes quantized tensors as they are stored, as `effects` do too
    shaping: ClassVar[tuple[str, ...]] = ()  # operands whose values decide the result's shape: `infer`'s constants

    members: ClassVar[dict[str, Member]] = {}
    operands: ClassVar[tuple[In | Ins, ...]] = ()
    attributes: ClassVar[dict[str, Attr]] = {}
    outputs: ClassVar[tuple[Out | Outs, ...]] = ()
    bodies: ClassVar[tuple[Body | Bodies, ...]] = ()
    groups: ClassVar[dict[str, Group]] = {}
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init_subclass__(cls, op: str = "", dialect: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.dialect = dialect or cls.dialect
        cls.members = cls.members | {m.name: m for m in vars(cls).values() if isinstance(m, Member)}
        members = cls.members.values()
        cls.operands = tuple(m for m in members if isinstance(m, In | Ins))
        cls.attributes = {m.name: m for m in members if isinstance(m, Attr)}
        cls.outputs = tuple(m for m in members if isinstance(m, Out | Outs))
        cls.bodies = tuple(m for m in members if isinstance(m, Body | Bodies))
        cls.groups = {m.name: m for m in members if isinstance(m, Group)}
        if op:
            cls.name = f"{cls.dialect}.{op}"
            cls.parameters = {role: cls._parameters(role) for role in ROLES if hasattr(cls, role)}
            Op.registry[cls.name] = cls

    @classmethod
    def _parameters(cls, role: str) -> tuple[str, ...]:
        names = tuple(inspect.signature(getattr(cls, role)).parameters)
        unknown = [n for n in names if n not in cls.members and n not in SPECIAL]
        if unknown:
            raise TypeError(f"{cls.__name__}.{role}: no such member: {unknown}")
        return names

    @classmethod
    def of(cls, op: Operation) -> type[Op]:
        """The class that says what an op of this name does; another one where that depends on its members."""
        return cls

    @classmethod
    def call(cls, role: str, values: dict[str, Any]) -> Any:
        """Calls a role with those of `values` (from member to what it stands for) that it names."""
        return getattr(cls, role)(*[values[name] for name in cls.parameters[role]])

    # --- attributes: as written ↔ as members --------------------------------------------------------------------

    @classmethod
    @cache
    def _members_by_spelling(cls) -> dict[str, Attr]:
        grouped = {id(member) for group in cls.groups.values() for member in group.members.values()}
        return {m.spelling: m for m in cls.attributes.values() if id(m) not in grouped}

    @classmethod
    def decode(cls, written: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Splits attributes as written into the op's own members, as Python values, and the discardable rest."""
        members: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        by_spelling = cls._members_by_spelling()
        for name, attribute in written.items():
            if member := by_spelling.get(name):
                members[member.name] = _decode(member, attribute)
            elif (group := cls.groups.get(name)) and group.is_written_as(attribute):
                fields = group.members
                members |= {fields[k].name: _decode(fields[k], v) for k, v in attribute.fields.items() if k in fields}
            else:
                rest[name] = attribute
        return members, rest

    @classmethod
    def encode(cls, members: dict[str, Any]) -> dict[str, Any]:
        """The op's own members as MLIR writes them, structs joined again."""
        written: dict[str, Any] = {}
        for group in cls.groups.values():
            fields = {k: _encode(m, members[m.name]) for k, m in group.members.items() if m.name in members}
            if fields:
                written[group.name] = StructAttribute(group.struct, fields)
        for spelling, member in cls._members_by_spelling().items():
            if member.name in members:
                written[spelling] = _encode(member, members[member.name])
        return written

    # --- an operation's members ---------------------------------------------------------------------------------

    @classmethod
    def bind(cls, op: Operation) -> dict[str, Any]:
        """What the roles get for each member of `op`: types, attribute values (or defaults), function types."""
        regions = [region.function_type for region in op.regions]
        given = group_by_member(cls.operands, op.operands) if cls.shaping else {}
        known = {name: array for name in cls.shaping if (array := constant_array(given[name])) is not None}
        return cls.values_for(op, op.operand_types, op.result_types, regions, known)

    @classmethod
    def values_for(
        cls, op: Operation, operands: Sequence[Any], results: Sequence[Any], regions: Sequence[Any],
        constants: dict[str, Any],
    ) -> dict[str, Any]:  # fmt: skip
        """What the roles get for `op`, where these stand for its operands, results and regions, and these are known."""
        return cls.group(op.properties, operands, results, regions) | _surroundings(op) | {"constants": constants}

    @classmethod
    def group(
        cls, properties: dict[str, Any], operands: Sequence[Any], results: Sequence[Any], regions: Sequence[Any]
    ) -> dict[str, Any]:
        """From member to value, out of flat lists in the members' order; ValueError where the numbers do not fit."""
        values: dict[str, Any] = dict(zip(cls.attributes, map(_default, cls.attributes.values())))
        values |= properties
        values |= group_by_member(cls.operands, operands)
        values |= group_by_member(cls.outputs, results)
        values |= group_by_member(cls.bodies, regions)
        return values

    @classmethod
    def infer_types(cls, values: dict[str, Any]) -> tuple[Any, ...]:
        """The result types by the role `infer`, always as a tuple."""
        inferred = cls.call("infer", values)
        return tuple(inferred) if isinstance(inferred, tuple | list) else (inferred,)


def _surroundings(op: Operation) -> dict[str, Any]:
    """What roles get of an op besides its members."""
    return {
        "attributes": op.attributes, "location": op.location, "operand_names": op.operand_names, "regions": op.regions,
        "producers": op.producers, "symbols": op.symbol,
    }  # fmt: skip


def constant_array(value: Any) -> Any:
    """The array of a value that is a constant of the program; None of any other."""
    owner = getattr(value, "owner", None)
    if not isinstance(owner, Operation) or owner.name != "stablehlo.constant":
        return None
    constant = owner.properties.get("value")
    return constant.array if isinstance(constant, DenseElements) and constant.type == value.type else None


def _default(member: Attr) -> Any:
    return None if member.default is REQUIRED else member.default


def _decode(member: Attr, attribute: Any) -> Any:
    try:
        return member.kind.decode(attribute)
    except ValueError as error:
        return Undecodable(attribute, str(error))


def _encode(member: Attr, value: Any) -> Any:
    return value.attribute if isinstance(value, Undecodable) else member.kind.encode(value)


@lru_cache(maxsize=4096)
def segment_sizes(members: tuple[Member, ...], count: int) -> tuple[int, ...]:
    """How many of `count` operands (results, regions) belong to each member; ValueError where they do not fit."""
    variadic = [isinstance(m, Ins | Outs | Bodies) for m in members]
    optional = [isinstance(m, In) and m.optional for m in members]
    flexible = sum(variadic)
    fixed = len(members) - flexible - sum(optional)
    spare = count - fixed
    if not flexible:
        if not 0 <= spare <= sum(optional):
            raise ValueError(f"expects {fixed}, has {count}")
        present = iter(range(spare))
        return tuple(1 if not o else int(next(present, None) is not None) for o in optional)
    if spare < 0 or spare % flexible:
        raise ValueError(f"expects {fixed} and {'twice ' if flexible == 2 else ''}any number more, has {count}")
    return tuple(spare // flexible if v else 1 for v in variadic)


@lru_cache(maxsize=4096)
def member_of_each(members: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """The member that each of `count` operands (results, regions) belongs to; ValueError where they do not fit."""
    return tuple(m for m, size in zip(members, segment_sizes(members, count)) for _ in range(size))


@cache
def _are_single(members: tuple[Member, ...]) -> bool:
    return not any(isinstance(m, Ins | Outs | Bodies) for m in members)


def group_by_member(members: tuple[Any, ...], items: Sequence[Any]) -> dict[str, Any]:
    """From each member's name to its item, a tuple where it is variadic; ValueError where the number does not fit."""
    if len(members) == len(items) and _are_single(members):
        return {member.name: item for member, item in zip(members, items)}
    grouped: dict[str, Any] = {}
    start = 0
    for member, length in zip(members, segment_sizes(members, len(items))):
        part = tuple(items[start : start + length])
        grouped[member.name] = part if isinstance(member, Ins | Outs | Bodies) else part[0] if part else None
        start += length
    return grouped


# --- constraints ----------------------------------------------------------------------------------------------------


class Checker:
    """`C(n, formula)`: nothing when the formula holds; else an InvalidError that quotes it and its names' values."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def __call__(self, label: int | str, holds: Any) -> None:
        if not holds:
            raise self.error(*quote(sys._getframe(1)), label=shown(label))

    def error(self, formula: str, notes: list[str], label: str) -> InvalidError:
        return InvalidError(f"'{self.op.name}' op ({label}): {formula}", self.op.location, notes)


def check_constraints(op: Operation, values: dict[str, Any]) -> None:
    """Runs the role `constraints` of an op's class; raises InvalidError for the first that does not hold."""
    definition = op.definition
    assert definition is not None
    if "constraints" not in definition.parameters:
        return
    checker = Checker(op)
    available = values | {"C": checker, "infer": partial(definition.call, "infer", values)}
    try:
        definition.call("constraints", available)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A formula that cannot even be evaluated does not hold: an index out of range, a member of the wrong kind.
        frame = failing_check(error, definition.constraints)  # type: ignore[attr-defined]
        if frame is None:
            raise
        raise checker.error(*quote(*frame), label=label_at(*frame)) from None
