"""Members of an op that satisfy all of its constraints, or all but one.

The constraints of an op are formulas (`C(4, rank(lhs) == rank(rhs))`), which are checked here as in the verifier. A
random choice of members is repaired: a formula that a value of one member satisfies is solved for it, else a member in
the formula is changed at random. A step stays if no more formulas are false than before.
"""

from __future__ import annotations

import ast
import random
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.conform.equations import ERRORS, Failure, failure_at, names_in, solutions
from stablehlo_ref.conform.members import (
    CALLEE,
    Callee,
    Members,
    NotDrawn,
    Values,
    array_of,
    changed,
    draw_member,
    draw_tensor,
    is_readable,
    neighbours,
)
from stablehlo_ref.define.attribute_codecs import SymbolCodec
from stablehlo_ref.define.bound import NOWHERE, Site
from stablehlo_ref.define.definition import OpDefinition
from stablehlo_ref.define.formulas import check_of, constraint_label, label_at, labelled_formulas
from stablehlo_ref.define.members import REQUIRED, Attr, Bodies, Body, In, Ins, Member, Out, Outs
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TensorType, Type, ill_formed_reason, tensor_type

TYPE_OF = "type of "  # the start of labels for members of types that the class does not take
RAISES = "raises"  # the label if a role fails where it checks no formula
STEPS, RESTARTS = 400, 12
BASES = 6  # valid members near which a constraint is broken, before it is broken by a search
NEAR = 40  # members that break it, among which the search starts
Wrong = Callable[[Members], list[Failure]]  # what keeps members from being what is sought
MAX_VALUES = 256  # of an operand that shapes depend on
MAX_RANK = 32  # of such an operand, as far as a search goes
FORMULAS = 13  # as many as a formula that cannot be evaluated counts, less those before it


class ConformSite(Site):
    """The site of an op of which only members are known, with the functions that its symbols name."""

    __slots__ = ("functions",)

    def __init__(self, op: Operation, constants: Mapping[str, Array], functions: Mapping[str, Operation]) -> None:
        super().__init__(op, constants)
        self.functions = functions

    def symbol(self, name: str) -> Operation | None:
        """Return the function of a name; None if there is none."""
        return self.functions.get(name)


def members_of(definition: OpDefinition) -> list[Member]:
    """Return the members of an op whose values are drawn, in order, with what its site provides."""
    found: list[Member] = []
    for member in definition.members.values():
        if isinstance(member, In | Ins | Attr | Body | Bodies | Out | Outs):
            found.append(member)
        if member.name in definition.traits.shape_operands:
            found.append(Values(member.name))
        if isinstance(member, Attr) and isinstance(member.codec, SymbolCodec):
            found.append(Callee(member.name))
    return found


@dataclass(frozen=True)
class Broken:
    """Members that break a constraint, the first that does not hold; `others` after it do not hold either."""

    members: Members
    others: tuple[str, ...] = ()


class Solver:
    """Draws members of one op."""

    def __init__(
        self, definition: OpDefinition, rng: random.Random, types: Sequence[Type] = (), elements: Sequence[Type] = ()
    ) -> None:
        self.definition = definition
        # Types that members are like at first: of values that the op may use, and of the given element types.
        self.types = (*types, *(draw_tensor(rng, element) for element in elements for _ in range(3)))
        self.rng = rng
        self.members = {m.name: m for m in members_of(definition)}
        self.results = [m.name for m in definition.results]
        self.formulas = {
            label: ast.parse(text, mode="eval").body for label, text in labelled_formulas(definition.op_class)
        }

    def solve(self) -> Members | None:
        """Return members for which all constraints hold; None if the search finds none."""
        try:
            return next((found for _ in range(RESTARTS) if (found := self._attempt()) is not None), None)
        except NotDrawn:
            return None

    def on(self, type: Type) -> Members | None:
        """Return members with operands of a type, and defaults and inferred results; None if they do not fit."""
        members: Members = {m.name: (type,) if isinstance(m, Ins) else type for m in self.definition.operands}
        for name, member in self.members.items():
            if isinstance(member, Attr):
                has_default = member.default is not REQUIRED
                members[name] = member.default if has_default else draw_member(self.rng, member, members)
        members = {**dict.fromkeys(self.members), **members}
        members = self._inferred(members)
        return None if self.failures(members) else members

    # --- constraints at their edges, and broken ones ----------------------------------------------------------

    def edges(self, members: Members) -> Iterator[tuple[str, Broken]]:
        """Yield the constraints that the smallest steps from valid members break, with the members after the step.

        The label is that of the first formula that does not hold, as the verifier reports it.
        """
        for name, member in self.members.items():
            for value in neighbours(member, members[name]):
                step = {**members, name: value}
                for after in (step,) if name in self.results else (step, self._inferred(step)):
                    labels = self._labels(after)
                    if labels and not labels[0].startswith(TYPE_OF):
                        yield labels[0], Broken(after, labels[1:])

    def _labels(self, members: Members) -> tuple[str, ...]:
        return tuple(dict.fromkeys(failure.label for failure in self.failures(members)))

    def break_singly(self, label: str, holding: Collection[str] = ()) -> Broken | None:
        """Return members that break one constraint: near valid ones, or found by a search; None if none are found.

        Others that do not hold come after it in the verifier's order; there are none if that is possible. If labels are
        given, only formulas with these, and types, must hold.
        """
        wrong = partial(self._wrong, label, True, holding)
        try:
            near: list[Broken] = []
            for _ in range(BASES):
                valid = self._attempt()
                if valid is not None:
                    near += [broken for first, broken in self.edges(valid) if first == label]
                if alone := [broken for broken in near if not wrong(broken.members)]:
                    return self.rng.choice(alone)
                if len(near) > NEAR:
                    break
            starts = [broken.members for broken in self.rng.sample(near, min(BASES, len(near)))]
            starts = starts or [members for _ in range(BASES) if (members := self._attempt(label)) is not None]
            for start in starts:
                end, left = self._walk(start, wrong, STEPS // 4)
                first, *others = self._labels(end)
                if first == label or (holding and not left):
                    near.append(Broken(end, tuple({first, *others} - {label})))
            return min(near, key=lambda broken: len(broken.others), default=None)
        except NotDrawn:
            return None

    # --- the search -------------------------------------------------------------------------------------------

    def _attempt(self, broken: str = "") -> Members | None:
        """Return drawn members that are repaired until they are valid, or `broken` is the first that does not hold."""
        drawn: Members = {}
        omitted = [] if broken else self._omitted()
        for name, member in self.members.items():
            known = {**drawn, "": self.types}
            drawn[name] = None if name in omitted else draw_member(self.rng, member, known)
        found, wrong = self._walk(self._inferred(drawn), partial(self._wrong, broken, False, ()), STEPS)
        return None if wrong else found

    def _walk(self, members: Members, wrong: Wrong, steps: int) -> tuple[Members, list[Failure]]:
        """Return the best members on a random walk that repairs what is wrong, with what is left."""
        failures = wrong(members)
        best = members, failures
        for _ in range(steps):
            if not failures:
                break
            step = self._step(members, self.rng.choice(failures[:2]))
            after = wrong(step)
            if len(after) <= len(failures) or self.rng.random() < 0.02:
                members, failures = step, after
                best = min(best, (step, after), key=lambda pair: len(pair[1]))
        return best

    def _omitted(self) -> list[str]:
        """Return the fields of structs that most programs leave out."""
        groups = [list(group.fields.values()) for group in self.definition.groups.values()]
        optional = [members for members in groups if all(member.default is None for member in members)]
        return [member.name for members in optional if self.rng.random() < 0.8 for member in members]

    def _wrong(self, broken: str, is_alone: bool, holding: Collection[str], members: Members) -> list[Failure]:
        """Return what keeps members from being what is sought: valid, or with `broken` as the first or only failure."""
        failures = self.failures(members)
        if not broken:
            return failures
        index = next((i for i, failure in enumerate(failures) if failure.label == broken), None)
        if index is None:
            return [*[Failure(broken, self.formulas.get(broken))] * FORMULAS, *failures]
        if not is_alone:
            return failures[:index]
        others = [failure for failure in failures if failure.label != broken]
        return [f for f in others if not holding or f.label in holding or f.label.startswith((TYPE_OF, RAISES))]

    def _inferred(self, members: Members) -> Members:
        """Return members with the results that the op infers, where it does."""
        shaping = self.definition.traits.shape_operands
        if "infer" not in self.definition.roles or not all(self._fits(name, members[name]) for name in shaping):
            return members
        try:
            inferred = self._infer(members)
        except ERRORS:
            return members
        types = tuple(inferred) if isinstance(inferred, tuple | list) else (inferred,)
        if len(self.results) == 1:
            value = types if isinstance(self.members[self.results[0]], Outs) else types[0]
            return {**members, self.results[0]: value}
        return {**members, **dict(zip(self.results, types))}

    def _infer(self, members: Members) -> Any:
        return self.definition.roles["infer"](self._arguments(members))

    def _arguments(self, members: Members) -> dict[str, Any]:
        op = Operation(self.definition.name, [], [], {}, {}, [], NOWHERE)
        return {**members, "site": ConformSite(op, self.constants(members), self.functions(members))}

    def constants(self, members: Members) -> dict[str, Array]:
        """Return the arrays of shape operands."""
        operands = [m.operand for m in self.members.values() if isinstance(m, Values)]
        given = {name: members[name] for name in operands if isinstance(members[name], TensorType)}
        return {name: array_of(type, members[Values(name).name]) for name, type in given.items()}

    def functions(self, members: Members) -> dict[str, Operation]:
        """Return the functions that symbols name, without bodies."""
        signature = next((members[m.name] for m in self.members.values() if isinstance(m, Callee)), None)
        properties = {"sym_name": CALLEE, "function_type": signature, "sym_visibility": "private"}
        made = Operation("func.func", [], (), properties, {}, [], NOWHERE)
        return {} if signature is None else {CALLEE: made}

    def failures(self, members: Members) -> list[Failure]:
        """Return what does not hold: constraints, or if all hold, what a run of the op requires besides."""
        found = [Failure(f"{TYPE_OF}{name}") for name in self.members if not self._fits(name, members[name])]
        if found:
            return found * 3
        return self._of_role("constraints", members) or self._of_role("preconditions", members)

    def _of_role(self, name: str, members: Members) -> list[Failure]:
        """Return the formulas of a role that do not hold; one that cannot be evaluated counts for those after it."""
        role = self.definition.roles.get(name)
        if role is None:
            return []
        failures: list[Failure] = []
        left = FORMULAS

        def check(label: int | str, holds: object) -> None:
            nonlocal left
            left -= 1
            if not holds:
                failures.append(failure_at(constraint_label(label), sys._getframe(1)))

        try:
            role({**self._arguments(members), "C": check, "infer": partial(self._infer, members)})
        except ERRORS as error:
            steps = traceback.walk_tb(error.__traceback__)
            at = [(frame, line) for frame, line in steps if check_of(frame, line) is not None]
            if not at:  # after a formula that the verifier would have stopped at, or without one
                return failures or [Failure(RAISES)] * FORMULAS
            failures += [failure_at(label_at(*at[-1]), *at[-1])] * max(2, left)
        return failures

    def _fits(self, name: str, value: Any) -> bool:
        member = self.members[name]
        if isinstance(member, In | Out):
            return (value is None and isinstance(member, In) and member.optional) or _holds(member, value)
        if isinstance(member, Ins | Outs):
            return all(_holds(member, v) for v in value)
        if isinstance(member, Attr):
            return value is member.default or is_readable(member.codec, value)
        return True

    # --- steps ------------------------------------------------------------------------------------------------

    def _step(self, members: Members, failure: Failure) -> Members:
        """Return members that may satisfy a formula."""
        rng = self.rng
        if rng.random() < 0.7:
            named = (self._named(name, value) for name, value in solutions(rng, failure))
            known = [solution for solution in named if solution is not None]
            if known:
                return self._with(members, *rng.choice(known))
        names = [name for name in names_in(failure.formula) if name in self.members]
        names += [m.name for m in map(Values, names) if m.name in self.members]
        if failure.label.startswith(TYPE_OF):
            names = [failure.label.removeprefix(TYPE_OF)]
        if not names or rng.random() < 0.15:
            names = list(self.members)
        name = rng.choice(names)
        return self._with(members, name, changed(rng, self.members[name], members[name], members))

    def _named(self, name: str, value: Any) -> tuple[str, Any] | None:
        """Return the member, and its value, that a name in a formula stands for; None if it is no member."""
        if isinstance(value, FunctionType) and name not in self.members:
            return next(((m.name, value) for m in self.members.values() if isinstance(m, Callee)), None)
        if name not in self.members:
            return None
        values = Values(name).name
        return (values if isinstance(value, tuple | list) and values in self.members else name), value

    def _with(self, members: Members, name: str, value: Any) -> Members:
        member = self.members[name]
        if isinstance(member, Bodies) and not all(isinstance(item, FunctionType) for item in value):
            return members
        after = {**members, name: value}
        if isinstance(member, Values) and value != members[name]:  # its operand has the shape of the values
            type = members[member.operand]
            try:
                array = np.array(value, np.int64)
            except (TypeError, ValueError, OverflowError):  # unknown sizes, or rows of several lengths
                return members
            if isinstance(type, TensorType) and type.rank:
                sizes = [n or 0 for n in type.shape[1:]] if array.ndim < type.rank else array.shape[1:]
                shape = (len(array) if array.ndim else 1, *sizes)
                if prod(shape) > MAX_VALUES or len(shape) > MAX_RANK:
                    return members
                array = np.resize(array, shape)
                after[member.operand] = tensor_type(array.shape, type.element_type)
            after[name] = tuple(array.ravel().tolist())
        is_kept = name in self.results or self.rng.random() < 0.2  # else results follow
        return after if is_kept else self._inferred(after)


def is_elementwise_on(definition: OpDefinition, element: Type) -> bool:
    """Return whether an elementwise op takes operands of an element type."""
    return Solver(definition, random.Random(0)).on(tensor_type((1,), element)) is not None


def _holds(member: In | Ins | Out | Outs, value: Any) -> bool:
    return (
        isinstance(value, Type)
        and bool(member.constraint.holds(value))
        and (member.constraint is anything or ill_formed_reason(value) is None)
        and not (isinstance(value, TensorType) and any(n is not None and n < 0 for n in value.shape))
    )
