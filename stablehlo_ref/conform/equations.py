"""Formulas, solved for members: the values for which an equation, or another common formula, holds."""

from __future__ import annotations

import ast
import inspect
import random
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FrameType
from typing import Any

from stablehlo_ref.define.formulas import check_of
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.types import FunctionType, TensorType, Type, tensor_type

ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, StablehloError)
MAX_RANK = 8  # of types that are tried

Solution = tuple[str, Any]  # the name of a member and its value


@dataclass
class Failure:
    """A formula that does not hold, with its local names and those of its module, and what locals are computed from."""

    label: str
    formula: ast.expr | None = None
    scope: Mapping[str, Any] = field(default_factory=dict)
    module: Mapping[str, Any] = field(default_factory=dict)
    assigned: Mapping[str, ast.expr] = field(default_factory=dict)


def failure_at(label: str, frame: FrameType, line: int | None = None) -> Failure:
    """Return the failure of the formula at a line of a role, by default the one that it is at."""
    check = check_of(frame, line)
    formula = check.call.args[1] if check else None
    return Failure(label, formula, dict(frame.f_locals), frame.f_globals, assignments(frame.f_code))


@cache
def assignments(code: CodeType) -> Mapping[str, ast.expr]:
    """Return the expressions that are assigned to local names of a role, which are no parameters of it."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, SyntaxError):
        return {}
    parameters = code.co_varnames[: code.co_argcount]
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    pairs = [(node.targets[0], node.value) for node in found]
    return {name.id: value for name, value in pairs if isinstance(name, ast.Name) and name.id not in parameters}


def solutions(rng: random.Random, failure: Failure) -> list[Solution]:
    """Return members and values for which a part of a formula holds."""
    if failure.formula is None:
        return []
    equations = _Equations(rng, {**failure.module, **failure.scope}, failure.assigned)
    return [found for node in _parts(failure.formula) for found in equations.of(node)]


@cache
def names_in(formula: ast.expr | None) -> Sequence[str]:
    """Return the names in a formula, as often as they are there."""
    return [node.id for node in ast.walk(formula) if isinstance(node, ast.Name)] if formula is not None else []


@cache
def _parts(formula: ast.expr) -> list[ast.AST]:
    return [node for node in ast.walk(formula) if isinstance(node, ast.Compare | ast.Call)]


@cache
def _compiled(node: ast.expr) -> CodeType:
    return compile(ast.Expression(node), "<formula>", "eval")


class _Equations:
    def __init__(self, rng: random.Random, scope: dict[str, Any], assigned: Mapping[str, ast.expr]) -> None:
        self.rng = rng
        self.scope = scope
        self.assigned = assigned

    def of(self, node: ast.AST) -> Iterator[Solution]:
        """Yield what makes a part of a formula hold."""
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for left, operator, right in zip(sides, node.ops, sides[1:]):
                    yield from self._compared(left, operator, right)
            case ast.Call(ast.Name("compatible" | "all_compatible"), arguments):
                for x in arguments:
                    for y in arguments:
                        if x is not y:
                            yield from self._solved(x, self.value(y))
            case ast.Call(ast.Name("in_range"), [argument, stop]):
                value, count = self.value(argument), self.value(stop)
                if isinstance(value, tuple | list) and isinstance(count, int) and len(value) <= count:
                    sample = self.rng.sample(range(count), len(value))
                    yield from self._solved(argument, tuple(sample))
                    yield from self._solved(argument, tuple(sorted(sample)))

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Iterator[Solution]:
        a, b = self.value(left), self.value(right)
        if isinstance(operator, ast.Eq):
            yield from self._solved(left, b)
            yield from self._solved(right, a)
        elif isinstance(operator, ast.Lt | ast.LtE) and isinstance(a, int) and isinstance(b, int):
            off = isinstance(operator, ast.Lt)
            yield from self._solved(left, b - off)
            yield from self._solved(right, a + off)

    def value(self, node: ast.expr) -> Any:
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
                yield from self._solved(argument, _adjusted(function, self.value(argument), value))

    def _parts(self, elements: list[ast.expr], value: tuple[Any, ...]) -> Iterator[Solution]:
        """Yield the members that are the elements of a tuple; of a list in it as many items as it has."""
        lengths = [len(self.value(e.value) or ()) if isinstance(e, ast.Starred) else 1 for e in elements]
        if sum(lengths) != len(value):
            return
        start = 0
        for element, length in zip(elements, lengths):
            part = value[start : start + length]
            start += length
            yield from (
                self._solved(element.value, part)
                if isinstance(element, ast.Starred)
                else self._solved(element, part[0])
            )

    def _operated(self, left: ast.expr, operator: ast.operator, right: ast.expr, value: Any) -> Iterator[Solution]:
        a, b = self.value(left), self.value(right)
        if isinstance(operator, ast.Add) and isinstance(value, tuple) and isinstance(a, tuple) and isinstance(b, tuple):
            yield from self._solved(left, value[: len(a)])
            yield from self._solved(right, value[len(a) :])
        if not (isinstance(value, int) and isinstance(a, int) and isinstance(b, int)):
            return
        match operator:
            case ast.Add():
                yield from self._solved(left, value - b)
                yield from self._solved(right, value - a)
            case ast.Sub():
                yield from self._solved(left, value + b)
                yield from self._solved(right, a - value)


def _is_shape(value: Any) -> bool:
    """Return whether a value is that of a shape, of not too many dimensions."""
    is_list = isinstance(value, tuple | list) and len(value) <= MAX_RANK
    return is_list and all(isinstance(n, int | None) for n in value)


def _adjusted(function: str, old: Any, value: Any) -> Any:
    """Return what `function` maps to `value`, as similar as possible to `old`; None if that is not known."""
    if isinstance(old, TensorType):
        if function == "shape" and _is_shape(value):
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
