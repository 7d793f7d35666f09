"""The formulas of constraints in the source of roles: lists them, and quotes one in an error."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias

from stablehlo_ref.define.spec import axes, compatible, dim, rank
from stablehlo_ref.ir.types import TensorType

Scope: TypeAlias = Mapping[str, Any]

MAX_VALUES = 4  # of parts of a formula
_SIZES = ("shape", "dims", "dim")  # functions that return sizes of the type that is their first argument
_NOT_EVALUABLE = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)


class Subformula(NamedTuple):
    """A part of a formula, with the values of names there; `bound` are those that a comprehension binds."""

    node: ast.expr
    scope: Scope
    bound: tuple[str, ...] = ()


class Explanation(NamedTuple):
    """Which sizes differ, "" if that is not what fails; parts of the formula, and names, with values to show."""

    words: str
    values: dict[str, Any]


def explain(formula: ast.expr, scope: Scope) -> Explanation:
    """Explain why a formula does not hold, given the values of all names."""
    part = _failing(Subformula(formula, scope))
    values = {name: part.scope[name] for name in part.bound}
    words = ""
    operands: Iterable[ast.expr] = (part.node,)
    if isinstance(part.node, ast.Compare):
        left, operator, right = _failing_pair(part.node, part.scope)
        if isinstance(operator, ast.Eq):
            words = _difference(left, right, part.scope) or _difference_of_types((left, right), part.scope)
        operands = (left, right)
    elif isinstance(part.node, ast.Call):
        operands = part.node.args
        words = _difference_of_types(operands, part.scope) if _called(part.node) == "compatible" else ""
    for node in _worth_showing(operands):
        value, text = _value(node, part.scope), ast.unparse(node)
        if isinstance(node, ast.GeneratorExp):
            text = text.removeprefix("(").removesuffix(")")
        if value is not None and not callable(value):
            values.setdefault(text, value)
    return Explanation(words, dict(list(values.items())[:MAX_VALUES]))


# --- the part that fails ----------------------------------------------------------------------------------------------


def _failing(part: Subformula) -> Subformula:
    """Return the innermost part of a false formula that makes it false; what cannot be evaluated is false."""
    node, scope, bound = part
    if isinstance(node, ast.BoolOp):
        is_or = isinstance(node.op, ast.Or)  # of which the last operand is the most specific one
        first = next((n for n in node.values if not _holds(n, scope)), node.values[-1])
        return _failing(Subformula(node.values[-1] if is_or else first, scope, bound))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "all":
        comprehension = node.args[0]
        if isinstance(comprehension, ast.GeneratorExp):
            names = [n.id for g in comprehension.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
            found = _failing_item(comprehension, names, scope)
            if found is not None:
                return _failing(Subformula(comprehension.elt, {**scope, **dict(zip(names, found))}, (*bound, *names)))
    return part


def _failing_item(comprehension: ast.GeneratorExp, names: Sequence[str], scope: Scope) -> tuple[Any, ...] | None:
    """Return the values of the names that a comprehension binds for which its element does not hold, if there are."""
    clauses, element = "".join(map(ast.unparse, comprehension.generators)), ast.unparse(comprehension.elt)
    text = f"next((({', '.join(names)},){clauses} if not _is_true(lambda: {element})), None)"
    found: tuple[Any, ...] | None = _value(ast.parse(text, mode="eval").body, {**scope, "_is_true": _is_true})
    return found


def _is_true(condition: Callable[[], object]) -> bool:
    try:
        return bool(condition())
    except _NOT_EVALUABLE:
        return False


def _failing_pair(node: ast.Compare, scope: Scope) -> tuple[ast.expr, ast.cmpop, ast.expr]:
    """Return the first comparison of a chain that is false, else the first."""
    pairs = list(zip([node.left, *node.comparators], node.ops, node.comparators))
    return next((p for p in pairs if not _holds(ast.Compare(p[0], [p[1]], [p[2]]), scope)), pairs[0])


def _holds(node: ast.expr, scope: Scope) -> bool:
    return _is_true(lambda: _value(node, scope))


def _value(node: ast.expr, scope: Scope) -> Any:
    """Return the value of an expression, an iterator's as a tuple; None if it has none."""
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<formula>", "eval")
    try:
        value = eval(code, dict(scope))
        return tuple(value) if isinstance(value, Iterator) else value
    except _NOT_EVALUABLE:
        return None


def _worth_showing(operands: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """Yield the parts of operands whose values say more than those of names: calls, and sums of lists."""
    for node in operands:
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add):
            yield from _worth_showing((node.left, node.right))
        elif not isinstance(node, ast.Name | ast.Constant | ast.Lambda | ast.Starred):
            yield node


# --- in words ---------------------------------------------------------------------------------------------------------


_Dimension: TypeAlias = tuple[str, str]  # in words, and of what: `contracting dimension 1` of `lhs`


def _difference(left: ast.expr, right: ast.expr, scope: Scope) -> str:
    """Return which sizes on the two sides of `==` differ: `dimension 1 of lhs has size 3, of rhs 4`; "" if none are."""
    if not _are_sizes(left):
        left, right = right, left
    a, b = _value(left, scope), _value(right, scope)
    if not _are_sizes(left) or a is None or b is None:
        return ""
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        a, b = (a,), (b,)
    elif len(a) != len(b):
        return f"{_name_of_type(left)} has {len(a)} dimensions, expected {len(b)}" if _called(left) == "shape" else ""
    sides = (_dimensions(side, len(a), scope) for side in (left, right))
    return next((_sizes(x, n, y, m) for n, m, x, y in zip(a, b, *sides) if not _equal(n, m)), "")


def _difference_of_types(nodes: Iterable[ast.expr], scope: Scope) -> str:
    """Return how the first two of some tensor types that are not compatible differ; "" if they are no tensor types."""
    types = [(_name_of_type(node), _value(node, scope)) for node in nodes]
    for (a, x), (b, y) in combinations(sorted(types, key=lambda pair: not pair[0]), 2):
        if not (a and isinstance(x, TensorType) and isinstance(y, TensorType)) or compatible(x, y):
            continue
        if rank(x) != rank(y):
            return f"{a} has {rank(x)} dimensions, {f'{b} has' if b else 'expected'} {rank(y)}"
        if x.element_type != y.element_type:
            return f"{a} has elements {x.element_type}, {f'{b} has' if b else 'expected'} {y.element_type}"
        for d in axes(x):
            if not _equal(dim(x, d), dim(y, d)):
                return _sizes((f"dimension {d}", a), dim(x, d), (f"dimension {d}", b), dim(y, d))
    return ""


def _equal(a: object, b: object) -> bool:
    return a == b  # an unknown size is equal to any, and also unequal


def _sizes(left: _Dimension, a: object, right: _Dimension, b: object) -> str:
    (which, of), (which_other, of_other) = left, right
    other = f"{which_other} of {of_other}" if which_other != which else f"of {of_other}"
    return f"{which} of {of} has size {a}, {other if of_other else 'expected'} {b}"


def _are_sizes(node: ast.expr) -> bool:
    """Return whether an expression is sizes of the type of a value."""
    return _called(node) in _SIZES and bool(_name_of_type(node))


def _called(node: ast.expr) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _name_of_type(node: ast.expr) -> str:
    """Return the value whose type, or its sizes, an expression is; "" for one that is computed, so expected."""
    if _called(node) in (*_SIZES, "baseline_type") and isinstance(node, ast.Call):
        return _name_of_type(node.args[0])
    return "" if any(isinstance(n, ast.Call) for n in ast.walk(node)) else ast.unparse(node)


def _dimensions(node: ast.expr, count: int, scope: Scope) -> Sequence[_Dimension]:
    """Return the dimension and the value that each of `count` sizes belongs to; empty names for other expressions."""
    if not _are_sizes(node) or not isinstance(node, ast.Call):
        return [("", "")] * count
    type, last = _name_of_type(node), node.args[-1]
    numbers = range(count) if _called(node) == "shape" else _value(last, scope)
    named = re.fullmatch(rf"{re.escape(type)}_(\w+)_dim(?:ension)?s", ast.unparse(last))  # what they are: `contracting`
    kind = named[1].replace("_", " ") + " " if named else ""
    return [(f"{kind}dimension {n}", type) for n in (numbers if isinstance(numbers, Iterable) else [numbers])]


SHOWN = 400  # characters of a value


class Check(NamedTuple):
    """A call of `C`, and the source of its formula on one line."""

    call: ast.Call
    formula: str


@cache
def checks(code: CodeType) -> list[Check]:
    """Return the calls of `C` in the function that code is of, or is in; none if the source is not available."""
    function, lines = _source_of(code)
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    found = [n for n in calls if n.func.id == "C" and len(n.args) == 2]  # type: ignore[attr-defined]
    return [Check(n, _on_one_line(_text_of(n.args[1], lines))) for n in found]


@cache
def assignments(code: CodeType) -> Mapping[str, ast.expr]:
    """Return what the function that code is of assigns to local names, which are no parameters of it."""
    function, _ = _source_of(code)
    parameters = code.co_varnames[: code.co_argcount]
    found = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    pairs = ((node.targets[0], node.value) for node in found)
    return {name.id: value for name, value in pairs if isinstance(name, ast.Name) and name.id not in parameters}


def _source_of(code: CodeType) -> tuple[ast.AST, Sequence[str]]:
    """Return the function around a code object and the lines of its file; both empty if the source is not available."""
    try:
        lines, _ = inspect.findsource(code)
    except OSError:
        return ast.Module([], []), []
    return _function_at(code.co_firstlineno, _parsed("".join(lines))), lines


def _text_of(node: ast.expr, lines: Sequence[str]) -> str:
    """Return the text of an expression as `ast.get_source_segment` does, which splits the file into lines anew."""
    *before, last = lines[node.lineno - 1 : node.end_lineno]
    text = "".join((*before, last.encode()[: node.end_col_offset].decode()))
    return text.encode()[node.col_offset :].decode()


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _function_at(line: int, module: ast.Module) -> ast.AST:
    """Return the innermost function around a line, which may be that of a decorator; the module if there is none."""
    around: ast.AST = module
    for node in ast.walk(module):  # outer functions come before inner ones
        if isinstance(node, ast.FunctionDef):
            start = min((d.lineno for d in node.decorator_list), default=node.lineno)
            around = node if start <= line <= (node.end_lineno or start) else around
    return around


def _on_one_line(formula: str) -> str:
    """Return a formula on one line, without `site.` in front of what the op's site provides."""
    line = re.sub(r"(?<=[(\[]) |,? (?=[)\]])", "", " ".join(formula.split()))
    return re.sub(r"\bsite\.", "", line)


def check_of(frame: FrameType, line: int | None = None) -> Check | None:
    """Return the call of `C` at a line of a frame, by default the one that it is at; None if there is none."""
    return _check_at(frame.f_code, line or frame.f_lineno)


@cache
def _check_at(code: CodeType, line: int) -> Check | None:
    found = (c for c in checks(code) if c.call.lineno <= line <= (c.call.end_lineno or c.call.lineno))
    return next(found, None)


def failing_check(error: BaseException, role: Callable[..., Any]) -> tuple[FrameType, int] | None:
    """Return the frame and line of the formula that raised an error, in a role or in a helper that the role calls."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code is role.__code__ or (found and check_of(frame, line)):
            found = frame, line
    return found


def label_at(frame: FrameType, line: int | None = None) -> str:
    """Return the label of the formula at a line of a role."""
    check = check_of(frame, line)
    return constraint_label(ast.literal_eval(check.call.args[0])) if check else "constraints"


def constraint_label(label: int | str) -> str:
    """Return `C3` for 3, the number of a constraint in the spec, and any other label as it is."""
    return f"C{label}" if isinstance(label, int) else label


class Quotation(NamedTuple):
    """A formula, notes on why it is false and on the value of each local name in it, and all names in it in order."""

    formula: str
    notes: list[str]
    names: list[str]


def quote(frame: FrameType, line: int | None = None) -> Quotation:
    """Quote the formula at a line of a role."""
    check = check_of(frame, line)
    if check is None:
        return Quotation("does not hold", [], [])
    found = [n for n in ast.walk(check.call.args[1]) if isinstance(n, ast.Name)]
    names = dict.fromkeys(n.id for n in found)
    scope = frame.f_locals
    why = explain(check.call.args[1], {**frame.f_globals, **scope})
    shown = {n: scope[n] for n in names if n in scope and n != "site" and not callable(scope[n])}
    notes = [why.words] if why.words else []
    notes += [f"{_on_one_line(part)} = {_show(value)}" for part, value in (why.values | shown).items()]
    in_order = sorted(found, key=lambda n: (n.lineno, n.col_offset))
    return Quotation(check.formula, notes, [n.id for n in in_order])


def _show(value: object) -> str:
    """Return a value in a line of at most `SHOWN` characters."""
    text = _text(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _text(value: object) -> str:
    if isinstance(value, tuple | list):  # of which each item has more than one character
        return f"({', '.join(map(_text, value[:SHOWN]))}{',' if len(value) == 1 else ''})"
    return str(getattr(value, "name", value))


# --- all formulas of an op class -------------------------------------------------------------------------------------


def labels(op_class: type) -> set[str]:
    """Return the labels of the constraints that an op class checks."""
    return {label for label, _ in formulas(op_class)}


def formulas(op_class: type) -> set[tuple[str, str]]:
    """Return the `C(label, formula)` calls in `constraints` and `preconditions`, and in helpers that they call.

    Raises OSError if the source of the class is not available.
    """
    return _of_role(op_class, "constraints") | _of_role(op_class, "preconditions")


@cache
def _of_role(op_class: type, name: str) -> set[tuple[str, str]]:
    """Return the formulas of a role and of those that it extends."""
    found: set[tuple[str, str]] = set()
    for cls in op_class.__mro__:
        if name in vars(cls):
            role = vars(cls)[name].__func__
            found |= _formulas(inspect.unwrap(role))
            if "super()" not in inspect.getsource(role):
                break
    return found


def labelled_formulas(op_class: type, *roles: str) -> list[tuple[str, str]]:
    """Return the label (`C3`) and the source of each formula of roles, by default all, in the order of the spec.

    Raises OSError as `formulas` does.
    """
    every = set().union(*(_of_role(op_class, role) for role in roles)) if roles else formulas(op_class)
    found = sorted(every, key=lambda pair: (not pair[0].isdecimal(), pair[0].zfill(3), pair[1]))
    return [(constraint_label(int(label) if label.isdecimal() else label), formula) for label, formula in found]


def _formulas(function: Callable[..., Any]) -> set[tuple[str, str]]:
    found = {(str(ast.literal_eval(call.args[0])), formula) for call, formula in checks(function.__code__)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        helper = _callee(call.func, vars(inspect.getmodule(function)))
        if inspect.isfunction(helper) and any(_name(argument) == "C" for argument in call.args):
            found |= _formulas(helper)
    return found


def _callee(function: ast.expr, scope: Mapping[str, object]) -> object:
    """Return the object that `helper` or `Class.constraints` names in a module; None for any other expression."""
    if isinstance(function, ast.Attribute):
        return getattr(scope.get(_name(function.value)), function.attr, None)
    return scope.get(_name(function))


def _name(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""
