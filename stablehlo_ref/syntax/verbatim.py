"""Pretty forms of ops that have no class: kept as text, from the name of the op up to where the next op starts.

Brackets in the text must be balanced. The next op starts on a line of its own, or the region around ends. Names of
values in the text are operands if such values are visible, and names of its own otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from itertools import count

from stablehlo_ref.ir.attributes import Verbatim
from stablehlo_ref.ir.lexer import BRACKETS, STRING, SUFFIX

VALUE = rf"%{SUFFIX}(?:\#\d++)?+"
_RESULT = rf"%{SUFFIX}(?:[ \t]*+:[ \t]*+\d++)?+"
_match_part = re.compile(
    rf"""(?:[^<>()\[\]{{}}"/\-=\n]++|{STRING}|->|[<>]=|=|-|//[^\n]*+|/)*+([<>()\[\]{{}}\n]|)""", re.ASCII
).match
_starts_op = re.compile(
    rf"(?:\s++|//[^\n]*+)*+(?:$|[)\]}}^]|\{{-\#|[\#!][\w$.\-]++\s*+=|{STRING}\s*+\(|[A-Za-z_]\w*+\.[A-Za-z_]"
    rf"|{_RESULT}(?:\s*+,\s*+{_RESULT})*+\s*+=(?!=)|(?:module|func|call|call_indirect|return|unrealized_conversion_cast)\b)",
    re.ASCII,
).match
_COMMENT = re.compile(rf"({STRING})|[ \t]*+//[^\n]*+")
_LOCATION = re.compile(rf"({STRING})|\s*+\bloc\((?:[^()\"]|{STRING}|\((?:[^()\"]|{STRING}|\([^()]*+\))*+\))*+\)")
_NAME = re.compile(rf"{STRING}|({VALUE})", re.ASCII)
_LABEL = re.compile(rf"{STRING}|\^({SUFFIX})", re.ASCII)
_SYMBOL = re.compile(rf"[^({{\"]*?@(?:({SUFFIX})|({STRING}))", re.ASCII)
_DEFINES_SYMBOL = re.compile(r"(?:func|module|global|sequence)\w*$")


def end_of_op(text: str, start: int) -> int | None:
    """Return where the op ends whose text after its name starts at `start`; None if its brackets are not balanced."""
    pending: list[str] = []
    position = start
    while True:
        match = _match_part(text, position)
        assert match is not None  # the expression matches everywhere
        position, mark = match.end(), match[1]
        if mark in BRACKETS:
            pending.append(BRACKETS[mark])
        elif mark == "\n" or not mark:
            if not mark and position < len(text):
                return None  # a string that does not end
            if not pending and _starts_op(text, position):
                return position - len(mark)
            if not mark:
                return None
        elif not pending:
            return position - 1  # the end of what is around the op
        elif pending.pop() != mark:
            return None


def without_details(text: str) -> str:
    """Return the text of an op without comments and locations."""
    text = _COMMENT.sub(lambda m: m[1] or "", text)
    return _LOCATION.sub(lambda m: m[1] or "", text).rstrip()


def dedented(text: str, indent: int) -> str:
    """Return lines without the indentation of the first, of which `text` is a part."""
    first, *rest = text.split("\n")
    return "\n".join((first.rstrip(), *(_without_indent(line, indent) for line in rest if line.strip())))


def _without_indent(line: str, indent: int) -> str:
    spaces = len(line) - len(line.lstrip(" \t"))
    return line[min(indent, spaces) :].rstrip()


def form_of(text: str, is_operand: Callable[[str], bool]) -> tuple[Verbatim, list[str]]:
    """Return the text with places for operands and for names of its own, and the names of the operands."""
    parts, names, operands = [], list[int | str](), list[str]()
    end = 0
    for match in _NAME.finditer(text):
        if match[1] is None:
            continue
        name = match[1][1:]
        parts.append(text[end : match.start()])
        end = match.end()
        if is_operand(name):
            names.append(len(operands))
            operands.append(name)
        else:
            names.append(name)
    return Verbatim((*parts, text[end:]), tuple(names)), operands


def labels_in(text: str) -> list[str]:
    """Return the labels of blocks that a terminator names outside of its own regions."""
    depth, found = 0, list[str]()
    for match in re.finditer(rf"{_LABEL.pattern}|([{{}}])", text):
        if match[2]:
            depth += 1 if match[2] == "{" else -1
        elif match[1] and not depth:
            found.append(match[1])
    return found


def symbol_in(name: str, text: str) -> str | None:
    """Return the symbol that an op defines, judged by its name: `llvm.func @f(...)`."""
    match = _SYMBOL.match(text) if _DEFINES_SYMBOL.search(name) else None
    return (match[1] or match[2][1:-1]) if match else None


def printed(form: Verbatim, operands: list[str], used: Container[str], indent: str) -> str:
    """Return the text with these operands, in which names of its own are none of those `used` around it."""
    own: dict[str, str] = {}
    taken = {name.partition("#")[0] for name in form.names if isinstance(name, str)}
    renamed: dict[str, str] = {}
    for name in form.names:
        if isinstance(name, str):
            base, _, part = name.partition("#")
            if base not in renamed:
                renamed[base] = _free(base, used, taken)
                taken.add(renamed[base])
            own[name] = renamed[base] + (f"#{part}" if part else "")
    pieces = [form.parts[0]]
    for name, part in zip(form.names, form.parts[1:]):
        pieces += (operands[name] if isinstance(name, int) else f"%{own[name]}", part)
    return "".join(pieces).replace("\n", "\n" + indent)


def _free(name: str, used: Container[str], taken: Container[str]) -> str:
    """Return a name, or where it is used around the op, a similar one that is used nowhere."""
    if name not in used:
        return name
    similar = (str(n) if name.isdecimal() else f"{name}_{n}" for n in count())
    return next(s for s in similar if s not in used and s not in taken)
