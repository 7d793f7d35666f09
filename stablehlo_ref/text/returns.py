"""The ops that end a function, and what they return."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stablehlo_ref.ir.lexer import IDENTIFIER, LABEL, STRING_LITERAL, VALUE
from stablehlo_ref.text.functions import FoundFunction, unquoted
from stablehlo_ref.text.structure import Block
from stablehlo_ref.text.tokens import Tokens, counted

_is_return = re.compile(r"(?:return(?:value|_v\d+)?|yield|output)\Z").match  # the last part of a name, in lower case
_OPENERS = frozenset("([{<")
_CLOSERS = frozenset(")]}>")


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


def _returns(tokens: Tokens, block: Block) -> bool:
    if block.last_op is None or LABEL in tokens.kinds[block.last_op : block.end]:
        return False
    name = unquoted(tokens.values[block.last_op]).rpartition(".")[2]
    return _is_return(name.lower()) is not None


def _read(tokens: Tokens, block: Block, is_last: bool) -> Return:
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
        depth += (kind in _OPENERS) - (kind in _CLOSERS)
    return end
