"""The formulas of constraints as they stand in the source: which there are, and how an error quotes one."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any, NamedTuple


class Check(NamedTuple):
    """A call of `C`, and its formula as it is written, on one line."""

    call: ast.Call
    formula: str


@cache
def checks(code: Any) -> list[Check]:
    """The calls of `C` in a function's source; none where that is not at hand."""
    try:
        lines, first = inspect.getsourcelines(code)
    except OSError:
        return []
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    found = [n for n in calls if n.func.id == "C" and len(n.args) == 2]  # type: ignore[attr-defined]
    formulas = [_on_one_line(ast.get_source_segment(text, n.args[1]) or "") for n in found]
    ast.increment_lineno(tree, first - 1)
    return list(map(Check, found, formulas))


def _on_one_line(formula: str) -> str:
    return re.sub(r"(?<=[(\[]) |,? (?=[)\]])", "", " ".join(formula.split()))


def _check_at(frame: FrameType, line: int | None) -> Check | None:
    line = line or frame.f_lineno
    found = [c for c in checks(frame.f_code) if c.call.lineno <= line <= (c.call.end_lineno or c.call.lineno)]
    return found[0] if found else None


def failing_check(error: BaseException, role: Callable[..., Any]) -> tuple[FrameType, int] | None:
    """The frame and line, of the role or of a helper that it calls, of the formula that an error comes from."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code is role.__code__ or (found and _check_at(frame, line)):
            found = frame, line
    return found


def label_at(frame: FrameType, line: int | None = None) -> str:
    """The label of the formula that stands at a line of a role."""
    check = _check_at(frame, line)
    return shown(ast.literal_eval(check.call.args[0])) if check else "constraints"


def shown(label: int | str) -> str:
    """A number is that of a constraint of the spec's page; anything else has a name."""
    return f"C{label}" if isinstance(label, int) else label


def quote(frame: FrameType, line: int | None = None) -> tuple[str, list[str]]:
    """The formula that stands at a line of a role, and `name = value` for each local name in it."""
    check = _check_at(frame, line)
    if check is None:
        return "does not hold", []
    names = dict.fromkeys(n.id for n in ast.walk(check.call.args[1]) if isinstance(n, ast.Name))
    scope = frame.f_locals
    notes = [f"{n} = {_show(scope[n])}" for n in names if n in scope and not callable(scope[n])]
    return check.formula, notes


def _show(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_show, value))}{',' if len(value) == 1 else ''})"
    text = str(getattr(value, "name", value))
    return text if len(text) <= 200 else f"{text[:200]}..."
