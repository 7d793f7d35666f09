"""Find the functions of a text, in any dialect: ops with a symbol, a list of arguments and a body; and returns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stablehlo_ref.ir.lexer import BRACKETS, CLOSING, IDENTIFIER, LABEL, STRING_LITERAL, SYMBOL, VALUE
from stablehlo_ref.text.scopes import BlockText, Definition, OpText, RegionText, Structure
from stablehlo_ref.text.tokens import Tokens, counted

_is_return = re.compile(r"(?:return(?:value|_v\d+)?|yield|output)\Z").match  # the last part of a name, in lower case


@dataclass(slots=True)
class FoundFunction:
    """A function with a body. `arguments` are those that its header names; `count` includes those without a name."""

    name: str
    token: int
    body: RegionText
    is_private: bool = False
    arguments: list[Definition] = field(default_factory=list)
    count: int = 0

    @property
    def header_arguments(self) -> list[Definition]:
        """The arguments that the header names, as opposed to the label of the first block."""
        return [] if self.body.is_labelled else self.arguments


def find_function(tokens: Tokens, structure: Structure, name: str | None) -> FoundFunction:
    """Return the function called `name`, else `main`, else the only one that is not private, else the only one.

    MalformedError if there is no such function or several.
    """
    found = _functions(tokens, structure)
    if name is not None:
        return _named(tokens, found, name.removeprefix("@"))
    if not found:
        raise tokens.error("expected a function with a body", 0)
    public = [function for function in found if not function.is_private]
    for chosen in ([f for f in found if f.name == "main"], public, found):
        if len(chosen) == 1:
            return chosen[0]
    shown = _shown(public or found)
    raise tokens.error(f"expected one function, got {shown}; choose one with function=...", found[1].token)


def _named(tokens: Tokens, found: list[FoundFunction], name: str) -> FoundFunction:
    for function in found:
        if function.name == name:
            return function
    known = f"the text defines {_shown(found)}" if found else "the text defines none"
    raise tokens.error(f"expected a function '@{name}' with a body; {known}", 0)


def _shown(found: list[FoundFunction]) -> str:
    names = [f"'@{function.name}'" for function in found]
    return ", ".join([*names[:5], "..."] if len(names) > 5 else names)


def _functions(tokens: Tokens, structure: Structure) -> list[FoundFunction]:
    """Return the functions in the modules of a text, not those inside of functions."""
    found: list[FoundFunction] = []
    pending = list(reversed(structure.root.ops))
    while pending:
        op = pending.pop()
        function = _function(tokens, structure, op) if op.regions else None
        if function:
            found.append(function)
        else:
            pending.extend(nested for region in reversed(op.regions) for nested in reversed(region.ops))
    return found


def _function(tokens: Tokens, structure: Structure, op: OpText) -> FoundFunction | None:
    if tokens.kinds[op.start] == STRING_LITERAL:
        return _generic_function(tokens, op)
    index = _symbol(tokens, op)
    if index is None or tokens.kinds[index + 1] != "(" or tokens.values[op.start].endswith(".global"):
        return None
    is_private = "private" in tokens.values[op.start : index]
    function = FoundFunction(unquoted(tokens.values[index][1:]), index, op.regions[0], is_private)
    _read_arguments(tokens, function, index + 1, structure.closers[index + 1])
    return _with_labelled_arguments(tokens, function)


def _symbol(tokens: Tokens, op: OpText) -> int | None:
    for index in range(op.start, op.regions[0].open):
        if tokens.kinds[index] == SYMBOL:
            return index
        if tokens.kinds[index] in ("(", "{"):
            return None
    return None


def _read_arguments(tokens: Tokens, function: FoundFunction, start: int, end: int) -> None:
    """Read `(%a: type {attributes} loc(...), ...)`, or types alone."""
    outer = [")"]
    starts = True  # an argument
    for index in range(start + 1, end):
        kind = tokens.kinds[index]
        if starts and len(outer) == 1 and kind != "...":
            function.count += 1
        starts = kind == "," and len(outer) == 1
        if kind in BRACKETS:
            outer.append(BRACKETS[kind])
        elif kind == outer[-1]:
            outer.pop()
        elif kind == VALUE and len(outer) == 1:
            function.arguments.append(Definition(tokens.values[index], index, is_argument=True))


def _with_labelled_arguments(tokens: Tokens, function: FoundFunction) -> FoundFunction:
    """If the header of a function names no arguments, take those of the label of its first block."""
    if not function.body.is_labelled:
        return function
    label = function.body.blocks[0]
    if function.arguments:
        raise tokens.error(
            "expected no label before the first block of a function with named arguments", function.body.open + 1
        )
    function.arguments = label.arguments
    function.count = max(function.count, len(function.arguments))
    return function


def _generic_function(tokens: Tokens, op: OpText) -> FoundFunction | None:
    """`"func.func"() <{sym_name = "f", ...}> ({...}) : () -> ()`."""
    attributes = _attributes(tokens, op)
    name = attributes.get("sym_name")
    if name is None or "function_type" not in attributes:
        return None
    is_private = attributes.get("sym_visibility", op.start) != op.start
    is_private = is_private and tokens.values[attributes["sym_visibility"]] == '"private"'
    function = FoundFunction(unquoted(tokens.values[name]), name, op.regions[0], is_private)
    return _with_labelled_arguments(tokens, function)


def _attributes(tokens: Tokens, op: OpText) -> dict[str, int]:
    """Return the first token of the value of each `name = value` of an op, outside of its regions."""
    found: dict[str, int] = {}
    index = op.start
    for end, behind in [*((region.open, region.close + 1) for region in op.regions), (op.end, op.end)]:
        for token in range(index, end):
            if tokens.kinds[token] == IDENTIFIER and tokens.kinds[token + 1] == "=":
                found.setdefault(tokens.values[token], token + 2)
        index = behind
    return found


def unquoted(symbol: str) -> str:
    """Return a symbol or string without quotes; escapes stay as they are."""
    return symbol[1:-1] if symbol[:1] == '"' else symbol


# --- returns --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Return:
    """An op that returns from a function: tokens from `start` to `end`."""

    start: int
    end: int
    operands: list[int]
    types: list[tuple[int, int]]  # each from a token to another
    is_last: bool  # nothing follows it in the function


def find_returns(tokens: Tokens, function: FoundFunction) -> list[Return]:
    """Return the ops that end the blocks of a function and return from it; MalformedError if no op does."""
    blocks = function.body.blocks
    found = [_read(tokens, block, is_last=block is blocks[-1]) for block in blocks if _returns(tokens, block)]
    if not found or (len(blocks) == 1 and not found[0].is_last):
        raise tokens.error(f"expected a return at the end of function '@{function.name}'", function.body.close)
    for other in found[1:]:
        if len(other.operands) != len(found[0].operands):
            expected = counted(len(found[0].operands), "operand")
            message = f"expected {expected}, like the first return of the function, got {len(other.operands)}"
            raise tokens.error(message, other.start)
    return found


def _returns(tokens: Tokens, block: BlockText) -> bool:
    if block.last_op is None or LABEL in tokens.kinds[block.last_op : block.end]:
        return False
    name = unquoted(tokens.values[block.last_op]).rpartition(".")[2]
    return _is_return(name.lower()) is not None


def _read(tokens: Tokens, block: BlockText, is_last: bool) -> Return:
    start = block.last_op or block.start
    colon = _at_top(tokens, start, block.end, ":")
    operands = [index for index in range(start, colon) if tokens.kinds[index] == VALUE]
    is_generic = tokens.kinds[start] == STRING_LITERAL
    return Return(start, block.end, operands, _types(tokens, colon + 1, block.end, is_generic), is_last)


def _types(tokens: Tokens, start: int, end: int, is_generic: bool) -> list[tuple[int, int]]:
    """Return where each of the types of the operands is: `t, t`, or `(t, t) -> ()` in generic form."""
    if is_generic and start < end:
        start, end = start + 1, _at_top(tokens, start + 1, end, ")")
    else:
        end = _location(tokens, start, end)
    found = []
    while start < end:
        comma = _at_top(tokens, start, end, ",")
        found.append((start, comma))
        start = comma + 1
    return found


def _location(tokens: Tokens, start: int, end: int) -> int:
    """Return the token `loc` of a trailing location, or the end."""
    for index in range(start, end):
        if tokens.values[index] == "loc" and tokens.kinds[index] == IDENTIFIER and tokens.kinds[index + 1] == "(":
            return index
    return end


def _at_top(tokens: Tokens, start: int, end: int, wanted: str) -> int:
    """Return the first token of a kind that no bracket encloses, or the end."""
    depth = 0
    for index in range(start, end):
        kind = tokens.kinds[index]
        if depth == 0 and kind == wanted:
            return index
        depth += (kind in BRACKETS) - (kind in CLOSING)
    return end
