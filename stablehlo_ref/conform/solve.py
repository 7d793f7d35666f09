"""Members of an op that satisfy all of its constraints, or all but one.

The constraints of an op are formulas (`C(4, rank(lhs) == rank(rhs))`), which are checked here as in the verifier. A random
choice of members is repaired: an equation whose one side is a member, or the shape, the element type or a size of one, is
solved for it; else a member in the formula is changed at random. A step stays if no more formulas are false than before.
"""

from __future__ import annotations

import ast
import random
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any

from stablehlo_ref.conform.members import Members, NotDrawn, changed, draw_member, draw_shape, is_readable
from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.definition import OpDefinition
from stablehlo_ref.define.formulas import check_of, constraint_label, labelled_formulas
from stablehlo_ref.define.members import REQUIRED, Attr, Bodies, Body, In, Ins, Member, Out, Outs
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import Location, Source, StablehloError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, TensorType, Type, tensor_type
from stablehlo_ref.ir.wellformed import ill_formed_reason

NOWHERE = Location(Source("", "<conform>"), 0)
ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, StablehloError)
STEPS, RESTARTS = 400, 12
FORMULAS = 13  # as many as a formula that cannot be evaluated counts, less those before it


@dataclass
class Failure:
    """A formula that does not hold, with its names and where to evaluate parts of it."""

    label: str
    formula: ast.expr | None = None
    scope: Mapping[str, Any] = field(default_factory=dict)


class Recorder:
    """Is called as `C` by a role, and records which formulas do not hold."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.count = 0

    def __call__(self, label: int | str, holds: object) -> None:
        self.count += 1
        if holds:
            return
        frame = sys._getframe(1)
        self.failures.append(_failure(constraint_label(label), frame))


def _failure(label: str, frame: FrameType) -> Failure:
    check = check_of(frame)
    return Failure(label, check.call.args[1] if check else None, {**frame.f_globals, **frame.f_locals})


def members_of(definition: OpDefinition) -> list[Member]:
    """Return the members of an op whose values are drawn, in order."""
    return [m for m in definition.members.values() if isinstance(m, In | Ins | Attr | Body | Bodies | Out | Outs)]


class Solver:
    """Draws members of one op."""

    def __init__(
        self, definition: OpDefinition, rng: random.Random, types: Sequence[Type] = (), elements: Sequence[Type] = ()
    ) -> None:
        self.definition = definition
        # Types that members are like at first: of values that the op may use, and of the given element types.
        self.types = (*types, *(tensor_type(draw_shape(rng), element) for element in elements for _ in range(3)))
        self.rng = rng
        self.members = {m.name: m for m in members_of(definition)}
        self.results = [m.name for m in definition.results]
        self.formulas = {label: ast.parse(text, mode="eval").body for label, text in labelled_formulas(definition.op_class)}

    def solve(self, broken: str | None = None) -> Members | None:
        """Return members for which all constraints hold, or all but `broken`; None if the search finds none."""
        try:
            return next((found for _ in range(RESTARTS) if (found := self._attempt(broken)) is not None), None)
        except NotDrawn:
            return None

    def with_operands(self, types: Sequence[Type]) -> Members | None:
        """Return members with operands of these types, and defaults and inferred results; None if they do not fit."""
        members: Members = dict(zip((m.name for m in self.definition.operands), types))
        for name, member in self.members.items():
            if isinstance(member, Attr):
                has_default = member.default is not REQUIRED
                members[name] = member.default if has_default else draw_member(self.rng, member, members)
        members = {**dict.fromkeys(self.members), **members}
        members = self._inferred(members)
        return None if self.failures(members) else members

    def _attempt(self, broken: str | None) -> Members | None:
        current: Members = {}
        for name, member in self.members.items():
            current[name] = draw_member(self.rng, member, {**current, "": self.types})
        current = self._inferred(current)
        failures = self._wrong(current, broken)
        for _ in range(STEPS):
            if not failures:
                return current
            step = self._step(current, self.rng.choice(failures[:2]))
            if step is None:
                continue
            after = self._wrong(step, broken)
            if len(after) <= len(failures) or self.rng.random() < 0.02:
                current, failures = step, after
        return None

    def _wrong(self, members: Members, broken: str | None) -> list[Failure]:
        """Return what keeps members from being what is sought."""
        failures = self.failures(members)
        if broken is None:
            return failures
        others = [failure for failure in failures if failure.label != broken]
        return others if len(others) < len(failures) else [*others, Failure(broken, self.formulas.get(broken))]

    def _inferred(self, members: Members) -> Members:
        """Return members with the results that the op infers, where it does."""
        if "infer" not in self.definition.roles:
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
        return {**members, "site": Site(op)}

    def failures(self, members: Members) -> list[Failure]:
        """Return what does not hold: constraints, or if all hold, what a run of the op requires besides."""
        found = [Failure(f"type of {name}") for name in self.members if not self._fits(name, members[name])]
        if found:
            return found * 3
        return self._of_role("constraints", members) or self._of_role("preconditions", members)

    def _of_role(self, name: str, members: Members) -> list[Failure]:
        """Return the formulas of a role that do not hold; one that cannot be evaluated counts for those after it."""
        role = self.definition.roles.get(name)
        if role is None:
            return []
        recorder = Recorder()
        try:
            role({**self._arguments(members), "C": recorder, "infer": partial(self._infer, members)})
        except ERRORS as error:
            steps = traceback.walk_tb(error.__traceback__)
            at = [(frame, check) for frame, line in steps if (check := check_of(frame, line)) is not None]
            if not at:
                return [Failure("raises")] * FORMULAS
            frame, check = at[-1]
            label = constraint_label(ast.literal_eval(check.call.args[0]))
            failure = Failure(label, check.call.args[1], {**frame.f_globals, **frame.f_locals})
            recorder.failures += [failure] * max(2, FORMULAS - recorder.count)
        return recorder.failures

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

    def _step(self, members: Members, failure: Failure) -> Members | None:
        """Return members that may satisfy a formula."""
        rng = self.rng
        if failure.scope and rng.random() < 0.7:
            solutions = list(_solutions(failure.formula, failure.scope)) if failure.formula else []
            known = [(name, value) for name, value in solutions if name in self.members]
            if known:
                name, value = rng.choice(known)
                return self._with(members, name, value)
        names = [name for name in _names(failure.formula) if name in self.members]
        if failure.label.startswith("type of "):
            names = [failure.label.removeprefix("type of ")]
        if not names or rng.random() < 0.15:
            names = list(self.members)
        name = rng.choice(names)
        return self._with(members, name, changed(rng, self.members[name], members[name], members))

    def _with(self, members: Members, name: str, value: Any) -> Members:
        after = {**members, name: value}
        return after if name in self.results else self._inferred(after)


def is_elementwise_on(definition: OpDefinition, element: Type) -> bool:
    """Return whether an elementwise op takes operands of an element type."""
    types = [tensor_type((1,), element) for _ in definition.operands]
    return Solver(definition, random.Random(0)).with_operands(types) is not None


def _holds(member: In | Ins | Out | Outs, value: Any) -> bool:
    return isinstance(value, Type) and bool(member.constraint.holds(value)) and (
        member.constraint is anything or ill_formed_reason(value) is None
    )


def _names(formula: ast.expr | None) -> list[str]:
    return [] if formula is None else [n.id for n in ast.walk(formula) if isinstance(n, ast.Name)]


# --- equations --------------------------------------------------------------------------------------------------------


def _solutions(formula: ast.expr, scope: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield members and values for which an equation in a formula holds."""
    for node in ast.walk(formula):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, operator, right in zip(sides, node.ops, sides[1:]):
                if isinstance(operator, ast.Eq):
                    yield from _solved(left, _evaluated(right, scope), scope)
                    yield from _solved(right, _evaluated(left, scope), scope)
                elif isinstance(operator, ast.Lt | ast.LtE):
                    off = isinstance(operator, ast.Lt)
                    a, b = _evaluated(left, scope), _evaluated(right, scope)
                    if isinstance(a, int) and isinstance(b, int):
                        yield from _solved(left, b - off, scope)
                        yield from _solved(right, a + off, scope)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "compatible":
                for x in node.args:
                    for y in node.args:
                        if x is not y:
                            yield from _solved(x, _evaluated(y, scope), scope)
            elif node.func.id == "is_sorted" and len(node.args) == 1:
                value = _evaluated(node.args[0], scope)
                if isinstance(value, tuple):
                    yield from _solved(node.args[0], tuple(sorted(value)), scope)
            elif node.func.id == "is_unique" and len(node.args) == 1:
                value = _evaluated(node.args[0], scope)
                if isinstance(value, tuple):
                    yield from _solved(node.args[0], tuple(dict.fromkeys(value)), scope)


def _solved(side: ast.expr, value: Any, scope: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members for which one side of an equation has a value."""
    if value is None:
        return
    match side:
        case ast.Name(name):
            yield name, value
        case ast.Subscript(ast.Name(name), ast.Constant(int(index))):
            items = scope.get(name)
            if isinstance(items, tuple) and index < len(items):
                yield name, (*items[:index], value, *items[index + 1 :])
        case ast.Attribute(ast.Name(name), part) if isinstance(scope.get(name), FunctionType):
            old = scope[name]
            if part in ("inputs", "outputs") and isinstance(value, tuple | list):
                parts = {"inputs": old.inputs, "outputs": old.outputs, part: tuple(value)}
                yield name, FunctionType(**parts)
        case ast.Call(ast.Name("list" | "tuple"), [ast.Call(ast.Name("map"), [ast.Name(function), argument])]):
            items = _evaluated(argument, scope)
            values = list(value) if isinstance(value, tuple | list) else []
            if isinstance(items, tuple) and len(items) == len(values):
                yield from _solved(argument, tuple(_adjusted(function, x, v) for x, v in zip(items, values)), scope)
        case ast.Call(ast.Name(function), [argument]):
            old = _evaluated(argument, scope)
            new = _adjusted(function, old, value)
            if new is not None:
                yield from _solved(argument, new, scope)
        case ast.Call(ast.Name("dim"), [argument, axis]):
            old, index = _evaluated(argument, scope), _evaluated(axis, scope)
            if isinstance(old, TensorType) and isinstance(index, int) and 0 <= index < old.rank and isinstance(value, int):
                yield from _solved(argument, _resized(old, {index: value}), scope)
        case ast.Call(ast.Name("dims"), [argument, axis]):
            old, indices = _evaluated(argument, scope), _evaluated(axis, scope)
            if isinstance(old, TensorType) and indices is not None and isinstance(value, tuple | list):
                pairs = {i: v for i, v in zip(indices, value) if isinstance(i, int) and 0 <= i < old.rank}
                yield from _solved(argument, _resized(old, pairs), scope)


def _resized(type: TensorType, sizes: Mapping[int, Any]) -> TensorType:
    shape = tuple(sizes.get(axis, n) for axis, n in enumerate(type.shape))
    return tensor_type(shape, type.element_type)


def _adjusted(function: str, old: Any, value: Any) -> Any:
    """Return what `function` maps to `value`, as similar as possible to `old`; None if that is not known."""
    if isinstance(old, TensorType):
        if function == "shape" and isinstance(value, tuple | list):
            return tensor_type(tuple(value), old.element_type)
        if function == "element_type" and isinstance(value, Type):
            return tensor_type(old.shape, value)
        if function == "rank" and isinstance(value, int) and 0 <= value <= 5:
            return tensor_type((*old.shape, 2, 2, 1, 3, 2)[:value], old.element_type)
        if function == "size" and isinstance(value, int) and old.rank == 1:
            return tensor_type((value,), old.element_type)
    if function in ("size", "len") and isinstance(old, tuple) and isinstance(value, int) and 0 <= value < 9:
        filler = old[-1] if old else 0
        return (*old, *[filler] * value)[:value]
    return None


def _evaluated(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    try:
        return eval(compile(ast.Expression(node), "<formula>", "eval"), dict(scope))
    except (*ERRORS, NameError):
        return None
