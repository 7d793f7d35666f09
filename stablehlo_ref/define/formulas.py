"""The formulas of constraints in the source of roles: lists them, and quotes one in an error."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from stablehlo_ref.define.explain import explain

SHOWN = 400  # characters of a value


class Check(NamedTuple):
    """A call of `C`, and the source of its formula on one line."""

    call: ast.Call
    formula: str


@cache
def checks(code: CodeType) -> list[Check]:
    """Return the calls of `C` in the function that code is of, or is in; none if the source is not available."""
    try:
        lines, _ = inspect.findsource(code)
    except OSError:
        return []
    text = "".join(lines)
    function = _function_at(code.co_firstlineno, _parsed(text))
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    found = [n for n in calls if n.func.id == "C" and len(n.args) == 2]  # type: ignore[attr-defined]
    return [Check(n, _on_one_line(ast.get_source_segment(text, n.args[1]) or "")) for n in found]


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


def _check_at(frame: FrameType, line: int | None) -> Check | None:
    line = line or frame.f_lineno
    found = [c for c in checks(frame.f_code) if c.call.lineno <= line <= (c.call.end_lineno or c.call.lineno)]
    return found[0] if found else None


def failing_check(error: BaseException, role: Callable[..., Any]) -> tuple[FrameType, int] | None:
    """Return the frame and line of the formula that raised an error, in a role or in a helper that the role calls."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code is role.__code__ or (found and _check_at(frame, line)):
            found = frame, line
    return found


def label_at(frame: FrameType, line: int | None = None) -> str:
    """Return the label of the formula at a line of a role."""
    check = _check_at(frame, line)
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
    check = _check_at(frame, line)
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


def labelled_formulas(op_class: type) -> list[tuple[str, str]]:
    """Return the label (`C3`) and the source of each formula, in the order of the spec; OSError as `formulas`."""
    found = sorted(formulas(op_class), key=lambda pair: (not pair[0].isdecimal(), pair[0].zfill(3), pair[1]))
    return [(constraint_label(int(label) if label.isdecimal() else label), formula) for label, formula in found]


def _formulas(function: Callable[..., Any]) -> set[tuple[str, str]]:
    found = {(str(ast.literal_eval(call.args[0])), formula) for call, formula in checks(function.__code__)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        helper = _called(call.func, vars(inspect.getmodule(function)))
        if inspect.isfunction(helper) and any(_name(argument) == "C" for argument in call.args):
            found |= _formulas(helper)
    return found


def _called(function: ast.expr, scope: Mapping[str, object]) -> object:
    """Return the object that `helper` or `Class.constraints` names in a module; None for any other expression."""
    if isinstance(function, ast.Attribute):
        return getattr(scope.get(_name(function.value)), function.attr, None)
    return scope.get(_name(function))


def _name(expression: ast.expr) -> str:
    return expression.id if isinstance(expression, ast.Name) else ""
