"""How an op is defined: one class whose members are its inputs and outputs and whose roles are pure functions.

A role is a static function (or class method) whose parameters are named after the members it uses; a name that is not a
member is a TypeError when the class is created. What a role gets for a member:

=================  ============================================  =================================================
member             in `infer`, `constraints`, `plan`             in the function that `plan` returns
=================  ============================================  =================================================
`In`, `Out`        its type                                      `In`: its array
`Ins`, `Outs`      the tuple of its types                        `Ins`: the tuple of its arrays
`Attr`             its Python value                              (closed over)
`Group`            its members as one value of its `as_type`     (closed over)
`Body`, `Bodies`   `FunctionType`; in `plan` a `RegionFunction`     (closed over)
=================  ============================================  =================================================

Every role may also take `mode`, which says how exact results are (`mode.Mode`), and `site`, which holds what else is
known besides the members (`bound.Site`). The roles are:

=========================  ========================================================================================
role                       returns
=========================  ========================================================================================
`infer`                    the type of the result, or a sequence of types
`constraints`              nothing; also takes `C`, the `Checker`, and may take `infer`, which infers without arguments
`preconditions`            nothing; also takes `C`. Formulas that the verifier, as MLIR's, does not check, but without
                           which the op has no result: they are checked before the op is planned
`plan`                     a function from arrays to arrays, or a `Kernel` (`computation.py`)
`plan_control_flow`        for control flow, instead of `plan`: gets slots for values and functions that plan regions,
                           and returns a generator function of the slots that yields whatever its blocks yield
`forwarded`                of a terminator with successors: for each of them, the operands (types, slots) that become
                           the arguments of the block
`plan_branch`              of such a terminator: gets slots, and returns a function of the slots that returns the number
                           of the successor
`batching_rule`            the attribute members that change when every value gets one more axis in front
`implementation_defined`   a generator function of the operands' arrays, of the `Choice`s that they need where the spec
                           leaves the result open; None where no arrays need any. Only runs that ask for it call it
=========================  ========================================================================================

An op class is never instantiated; a program is made of `ir.core.Operation`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MethodType
from typing import Any, ClassVar, TypeVar

from stablehlo_ref.define.definition import REGISTRY, OpDefinition, Role, Syntax, Traits
from stablehlo_ref.define.facts import Facts
from stablehlo_ref.define.members import Attr, Bodies, Body, Group, In, Ins, Member, Out, Outs

T = TypeVar("T")

__all__ = [
    "Attr", "Bodies", "Body", "Group", "In", "Ins", "Op", "Out", "Outs", "outputs_of", "returns", "type_of",
    "without_change",
]  # fmt: skip

ROLES = (
    "infer", "constraints", "preconditions", "plan", "plan_control_flow", "forwarded", "plan_branch", "batching_rule",
    "implementation_defined",
)  # fmt: skip
_find_members = re.compile(r"\$(\w+)").findall  # in a line of `syntax`
BESIDE_MEMBERS = ("C", "infer", "mode", "site")  # parameters of roles that are not members


class Op:
    """The base of all op classes. Subclassing with `op="mnemonic"` registers the class as `dialect.mnemonic`.

    Keyword arguments of a class are its `Traits` and its `Facts`; a class inherits those of its first base.
    """

    definition: ClassVar[OpDefinition] = OpDefinition("stablehlo", "", object, Traits(), "", {}, {})
    syntax: ClassVar[Syntax] = ""

    def __init_subclass__(cls, op: str = "", dialect: str = "", facts: Facts | None = None, **traits: Any) -> None:
        super().__init_subclass__()
        base = cls.definition
        mnemonic = op or base.mnemonic
        members = {**base.members, **{m.name: m for m in vars(cls).values() if isinstance(m, Member)}}
        roles = {name: cls._role(name, members) for name in ROLES if hasattr(cls, name)} if mnemonic else {}
        lines = (cls.syntax,) if isinstance(cls.syntax, str) else cls.syntax
        unknown = [n for line in lines if isinstance(line, str) for n in _find_members(line) if n not in members]
        if unknown and mnemonic:
            raise TypeError(f"{cls.__name__}.syntax: no member '${unknown[0]}'; expected one of: {', '.join(members)}")
        cls.definition = OpDefinition(
            dialect or base.dialect, mnemonic, cls, replace(base.traits, **traits), cls.syntax, members, roles,
            variant=getattr(cls, "variant", None), facts=facts or base.facts,
        )  # fmt: skip
        if op:
            REGISTRY[cls.definition.name] = cls.definition

    @classmethod
    def _role(cls, name: str, members: Mapping[str, Member]) -> Role:
        """Return the role of that name; TypeError if a parameter is not a member."""
        function = getattr(cls, name)
        parameters = _parameters(function)
        unknown = [p for p in parameters if not _may_name(members.get(p)) and p not in BESIDE_MEMBERS]
        if unknown:
            known = ", ".join([*(m for m in members if _may_name(members[m])), *BESIDE_MEMBERS])
            raise TypeError(f"{cls.__name__}.{name}: unknown parameter '{unknown[0]}'; expected one of: {known}")
        groups = tuple(m for p in parameters if isinstance(m := members.get(p), Group))
        return Role(function, parameters, groups=groups)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a function, or of a bound method without its first one."""
    if isinstance(function, MethodType):
        return _own_parameters(function.__func__)[1:]
    return _own_parameters(function)


@cache  # as most roles are inherited, and looking at a function takes long
def _own_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _may_name(member: Member | None) -> bool:
    """Return whether a parameter of a role may name a member; a group only if it has a type as one value."""
    return member is not None and not (isinstance(member, Group) and member.as_type is None)


# --- roles that many ops have -----------------------------------------------------------------------------------------


def returns(value: T) -> staticmethod[[], T]:
    """Return a role that depends on no member, such as the `plan` of an op that has one kernel."""
    return staticmethod(lambda: value)


# The batching rule of an op that works along the last axes, so that no attribute changes.
without_change: staticmethod[[], Mapping[str, object]] = returns({})


def type_of(member: str) -> staticmethod[..., Any]:
    """Return an `infer` that gives the result the type of an operand, or the results those of variadic operands."""
    return _role_of(member, lambda type: type)


def outputs_of(member: str) -> staticmethod[..., Any]:
    """Return an `infer` that gives the results the types that a region returns."""
    return _role_of(member, lambda body: body.outputs)


def _role_of(member: str, function: Callable[[Any], Any]) -> staticmethod[..., Any]:
    """Return a role with one member as its parameter."""
    signature = inspect.Signature([inspect.Parameter(member, inspect.Parameter.POSITIONAL_ONLY)])
    function.__signature__ = signature  # type: ignore[attr-defined]
    return staticmethod(function)
