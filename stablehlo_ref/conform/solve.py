"""Members of an op that satisfy all of its constraints, or all but one: a search that solves their formulas.

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
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import permutations
from math import prod
from types import CodeType, FrameType
from typing import Any

import numpy as np

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
from stablehlo_ref.define.formulas import assignments, check_of, constraint_label, label_at, labelled_formulas
from stablehlo_ref.define.members import REQUIRED, Attr, Bodies, Body, In, Ins, Member, Out, Outs
from stablehlo_ref.define.type_constraints import TypeConstraint, anything
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TensorType, Type, ill_formed_reason, tensor_type

TYPE_OF = "type of "  # the start of labels for members of types that the class does not take
RAISES = "raises"  # the label if a role fails where it checks no formula
STEPS, RESTARTS = 400, 12
BASES = 6  # valid members near which a constraint is broken, before it is broken by a search
NEAR = 40  # members that break it, among which the search starts
MAX_VALUES, MAX_RANK = 256, 32  # of an operand that shapes depend on, as far as a search goes
MAX_SOLVED_RANK = 8  # of types for which an equation is solved
nodes_of = cache(lambda formula: list(ast.walk(formula)))  # of formulas, which are few
FORMULAS = 13  # as many as a formula that cannot be evaluated counts, less those before it
ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, StablehloError)
Wrong = Callable[[Members], "list[Failure]"]  # what keeps members from being what is sought
Solution = tuple[str, Any]  # the name of a member and its value


class ConformSite(Site):
    """The site of an op of which only members are known, with the functions that its symbols name."""

    __slots__ = ("functions",)

    def __init__(self, op: Operation, constants: Mapping[str, Array], functions: Mapping[str, Operation]) -> None:
        super().__init__(op, constants)
        self.functions = functions

    def symbol(self, name: str) -> Operation | None:
        """Return the function of a name; None if there is none."""
        return self.functions.get(name)


def members_of(definition: OpDefinition) -> Iterator[Member]:
    """Yield the members of an op whose values are drawn, in order, with what its site provides."""
    for member in definition.members.values():
        if isinstance(member, In | Ins | Attr | Body | Bodies | Out | Outs):
            yield member
        if member.name in definition.traits.shape_operands:
            yield Values(member.name)
        if isinstance(member, Attr) and isinstance(member.codec, SymbolCodec):
            yield Callee(member.name)


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
        self.shaping = [m for m in self.members.values() if isinstance(m, Values)]
        self.callee = next((m.name for m in self.members.values() if isinstance(m, Callee)), None)
        self.op = Operation(definition.name, [], [], {}, {}, [], NOWHERE)
        self.fitting: dict[str, tuple[Any, bool]] = {}  # whether a member has its last value, which a step mostly keeps
        formulas = labelled_formulas(definition.op_class)
        self.formulas = {label: ast.parse(text, mode="eval").body for label, text in formulas}

    def solve(self) -> Members | None:
        """Return members for which all constraints hold; None if the search finds none."""
        try:
            return next((found for _ in range(RESTARTS) if (found := self._attempt()) is not None), None)
        except NotDrawn:
            return None

    def on(self, type: Type) -> Members | None:
        """Return members with operands of a type, and defaults and inferred results; None if they do not fit."""
        members: Members = {m.name: (type,) if isinstance(m, Ins) else type for m in self.definition.operands}
        for name, member in self.definition.attributes.items():
            is_given = member.default is REQUIRED
            members[name] = draw_member(self.rng, member, members) if is_given else member.default
        members = self._inferred(dict.fromkeys(self.members) | members)
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
            return [*[Failure(broken, self.formulas.get(broken, Failure.formula))] * FORMULAS, *failures]
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
        is_list = len(self.results) == 1 and isinstance(self.members[self.results[0]], Outs)
        return {**members, **dict(zip(self.results, (types,) if is_list else types))}

    def _infer(self, members: Members) -> Any:
        return self.definition.roles["infer"](self._arguments(members))

    def _arguments(self, members: Members) -> dict[str, Any]:
        return {**members, "site": ConformSite(self.op, self.constants(members), self.functions(members))}

    def constants(self, members: Members) -> dict[str, Array]:
        """Return the arrays of shape operands."""
        given = [(m, members[m.operand]) for m in self.shaping]
        return {m.operand: array_of(t, members[m.name]) for m, t in given if isinstance(t, TensorType)}

    def functions(self, members: Members) -> dict[str, Operation]:
        """Return the functions that symbols name, without bodies."""
        if not self.callee or members[self.callee] is None:
            return {}
        properties = {"sym_name": CALLEE, "function_type": members[self.callee], "sym_visibility": "private"}
        return {CALLEE: Operation("func.func", [], (), properties, {}, [], NOWHERE)}

    def failures(self, members: Members) -> list[Failure]:
        """Return what does not hold: constraints, or if all hold, what a run of the op requires besides."""
        found = [Failure(f"{TYPE_OF}{name}") for name in self.members if not self._fits(name, members[name])]
        return found * 3 or self._of_role("constraints", members) or self._of_role("preconditions", members)

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
                failures.append(Failure.at(constraint_label(label), sys._getframe(1)))

        try:
            role({**self._arguments(members), "C": check, "infer": partial(self._infer, members)})
        except ERRORS as error:
            steps = traceback.walk_tb(error.__traceback__)
            at = [(frame, line) for frame, line in steps if check_of(frame, line) is not None]
            if not at:  # after a formula that the verifier would have stopped at, or without one
                return failures or [Failure(RAISES)] * FORMULAS
            failures += [Failure.at(label_at(*at[-1]), *at[-1])] * max(2, left)
        return failures

    def _fits(self, name: str, value: Any) -> bool:
        if name not in self.fitting or self.fitting[name][0] is not value:
            self.fitting[name] = value, self._takes(self.members[name], value)
        return self.fitting[name][1]

    def _takes(self, member: Member, value: Any) -> bool:
        if isinstance(member, Attr):
            return value is member.default or is_readable(member.codec, value)
        is_omitted = value is None and isinstance(member, In) and member.optional
        if is_omitted or not isinstance(member, In | Ins | Out | Outs):
            return True
        return all(_holds(member.constraint, type) for type in (value if isinstance(member, Ins | Outs) else (value,)))

    # --- steps ------------------------------------------------------------------------------------------------

    def _step(self, members: Members, failure: Failure) -> Members:
        """Return members that may satisfy a formula."""
        rng = self.rng
        if rng.random() < 0.7:
            solutions = failure.solutions(rng)
            known = [named for solution in solutions if (named := self._named(*solution)) is not None]
            if known:
                return self._with(members, *rng.choice(known))
        names = [n.id for n in nodes_of(failure.formula) if isinstance(n, ast.Name) and n.id in self.members]
        names += [m.name for m in map(Values, names) if m.name in self.members]
        if failure.label.startswith(TYPE_OF):
            names = [failure.label.removeprefix(TYPE_OF)]
        if not names or rng.random() < 0.15:
            names = list(self.members)
        name = rng.choice(names)
        return self._with(members, name, changed(rng, self.members[name], members[name], members))

    def _named(self, name: str, value: Any) -> tuple[str, Any] | None:
        """Return the member, and its value, that a name in a formula stands for; None if it is no member."""
        if name not in self.members:
            return (self.callee, value) if self.callee and isinstance(value, FunctionType) else None
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


def _holds(constraint: TypeConstraint, type: object) -> bool:
    return (
        isinstance(type, Type)
        and bool(constraint.holds(type))
        and (constraint is anything or ill_formed_reason(type) is None)
        and not (isinstance(type, TensorType) and any(n is not None and n < 0 for n in type.shape))
    )


# --- formulas, solved for members -------------------------------------------------------------------------------------


@dataclass
class Failure:
    """A formula that does not hold, with its names, and what local names in it are computed from."""

    label: str
    formula: ast.expr = ast.Constant(False)  # noqa: RUF009
    globals: Mapping[str, Any] = field(default_factory=dict)
    locals: Mapping[str, Any] = field(default_factory=dict)
    assigned: Mapping[str, ast.expr] = field(default_factory=dict)

    @classmethod
    def at(cls, label: str, frame: FrameType, line: int | None = None) -> Failure:
        """Return the failure of the formula at a line of a role, by default the one that it is at."""
        formula = check.call.args[1] if (check := check_of(frame, line)) else cls.formula
        return cls(label, formula, frame.f_globals, dict(frame.f_locals), assignments(frame.f_code))

    @cached_property
    def scope(self) -> dict[str, Any]:
        return {**self.globals, **self.locals}

    def solutions(self, rng: random.Random) -> list[Solution]:
        """Return members and values for which an equation, or another common part of the formula, holds."""
        return [found for node in nodes_of(self.formula) for found in self._of(node, rng)]

    def _of(self, node: ast.AST, rng: random.Random) -> Iterator[Solution]:
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for left, operator, right in zip(sides, node.ops, sides[1:]):
                    a, b = self._value(left), self._value(right)
                    if isinstance(operator, ast.Eq):
                        yield from self._solved(left, b)
                        yield from self._solved(right, a)
                    elif isinstance(operator, ast.Lt | ast.LtE) and isinstance(a, int) and isinstance(b, int):
                        off = isinstance(operator, ast.Lt)
                        yield from self._solved(left, b - off)
                        yield from self._solved(right, a + off)
            case ast.Call(ast.Name("compatible" | "all_compatible"), arguments):
                for x, y in permutations(arguments, 2):
                    yield from self._solved(x, self._value(y))
            case ast.Call(ast.Name("in_range"), [argument, stop]):
                value, count = self._value(argument), self._value(stop)
                if isinstance(value, tuple | list) and isinstance(count, int) and len(value) <= count:
                    sample = rng.sample(range(count), len(value))
                    yield from self._solved(argument, tuple(sample))
                    yield from self._solved(argument, tuple(sorted(sample)))

    def _value(self, node: ast.expr) -> Any:
        """Return the value of an expression; None if it cannot be evaluated."""
        try:
            return eval(_compiled(node), self.scope)
        except (*ERRORS, NameError):
            return None

    def _solved(self, side: ast.expr, value: Any) -> Iterator[Solution]:
        """Yield the members for which one side of an equation has a value."""
        if value is None:
            return
        match side:
            case ast.Name(name) if name in self.assigned:
                yield from self._solved(self.assigned[name], value)
            case ast.Name(name):
                yield name, value
            case ast.Tuple(elements) | ast.List(elements) if isinstance(value, tuple | list):
                yield from self._parts(elements, tuple(value))
            case ast.Attribute(ast.Name(name), "inputs" | "outputs" as part):
                old = self.scope.get(name)
                if isinstance(old, FunctionType) and isinstance(value, tuple | list):
                    yield name, FunctionType(**{"inputs": old.inputs, "outputs": old.outputs, part: tuple(value)})
            case ast.BinOp(left, operator, right):
                yield from self._operated(left, operator, right, value)
            case ast.Call(ast.Name(function), [argument]):
                yield from self._solved(argument, _adjusted(function, self._value(argument), value))

    def _parts(self, elements: list[ast.expr], value: tuple[Any, ...]) -> Iterator[Solution]:
        """Yield the members that are the elements of a tuple; of a list in it as many items as it has."""
        lengths = [len(self._value(e.value) or ()) if isinstance(e, ast.Starred) else 1 for e in elements]
        if sum(lengths) != len(value):
            return
        start = 0
        for element, length in zip(elements, lengths):
            part = value[start : start + length]
            start += length
            inner, whole = (element.value, part) if isinstance(element, ast.Starred) else (element, part[0])
            yield from self._solved(inner, whole)

    def _operated(self, left: ast.expr, operator: ast.operator, right: ast.expr, value: Any) -> Iterator[Solution]:
        a, b = self._value(left), self._value(right)
        match operator, a, b, value:
            case ast.Add(), tuple(), tuple(), tuple():
                yield from self._solved(left, value[: len(a)])
                yield from self._solved(right, value[len(a) :])
            case ast.Add(), int(), int(), int():
                yield from self._solved(left, value - b)
                yield from self._solved(right, value - a)
            case ast.Sub(), int(), int(), int():
                yield from self._solved(left, value + b)
                yield from self._solved(right, a - value)


@cache
def _compiled(node: ast.expr) -> CodeType:
    return compile(ast.Expression(node), "<formula>", "eval")


def _adjusted(function: str, old: Any, value: Any) -> Any:
    """Return what `function` maps to `value`, as similar as possible to `old`; None if that is not known."""
    match function, old, value:
        case "shape", TensorType(), tuple() | list() if len(value) <= MAX_SOLVED_RANK:
            is_shape = all(isinstance(n, int | None) for n in value)
            return tensor_type(tuple(value), old.element_type) if is_shape else None
        case "element_type", TensorType(), Type():
            return tensor_type(old.shape, value)
        case "rank", TensorType(), int() if 0 <= value <= 5:
            return tensor_type((*old.shape, 2, 2, 1, 3, 2)[:value], old.element_type)
        case "size", TensorType(rank=1), int():
            return tensor_type((value,), old.element_type)
        case "size" | "len", tuple(), int() if 0 <= value < 9:
            return (*old, *[old[-1] if old else 0] * value)[:value]
    return None
