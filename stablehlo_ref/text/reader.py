"""Reading the structure of a text: where regions, blocks and ops start, and which names are defined.

No op is known, so this relies on what the syntax of all dialects has in common.

Aliases are defined where an op can start, at the top level or in a region, and are visible in that.

An op starts at `%results =`, at a dotted identifier or a string with operands where the previous op can end, or at one
of a few names without a dialect (`return`, `call`, ...). Braces hold a region if a label, a statement or an op starts
there, and anything else (attributes, sizes `{%d0}`) otherwise. What defines names:

* `%a, %b:2 =` before an op's name: results, in the region;
* `(%a: type, ...)` after a label: arguments of the block, in the region;
* in the header of an op, for its regions that start without a label:
  - `%i =` after the op's name (`scf.for %i = ...`) and `(%a = %b, ...)` in parentheses or brackets;
  - `(%i, %j) =`, `(%i, %j) in (...)`, `(%i: type) = ...`;
  - `(%a: type, ...)` or `[%a: type, ...]` where nothing but types, attributes and more such lists follow up to the
    region; if the names are also defined before, they may be operands (see `scopes`);
  - `%a as %b: type`, and, if no such name is defined before, `-> %a`, `%a in`, `at(%a)`.

Everything else is a use.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from stablehlo_ref.ir.lexer import HASH, IDENTIFIER, LABEL, STRING_LITERAL, SYMBOL, TYPE, VALUE
from stablehlo_ref.limits.budget import check_time, within_time
from stablehlo_ref.text.scopes import (
    BlockText,
    Candidate,
    Certainty,
    CloseRegion,
    Definition,
    EndOp,
    OpenRegion,
    OpText,
    Redefinition,
    RegionText,
    Structure,
    Successor,
    Use,
)
from stablehlo_ref.text.tokens import READING, Tokens

_CLOSERS = {"(": ")", "[": "]", "{": "}", "{-#": "#-}"}
_OPENERS = {closer: opener for opener, closer in _CLOSERS.items()}
_is_builtin_type = re.compile(r"(?:index|none|[su]?i\d+|b?f\d+\w*|tf32)\Z", re.ASCII).match
# Ops that are often written without their dialect, where a region's op gives a default for it.
_BARE_OPS = frozenset({"return", "call", "call_indirect", "constant", "br", "cond_br", "yield", "module", "func"})
_is_terminator = re.compile(r"(?:return(?:value|_v\d+)?|yield|output|terminator|unreachable)\Z").match
_UNFINISHED = frozenset({",", "=", ":", "->", "(", "[", "<", "::", "+", "-", "*", "/", "|"})  # no op ends with these
_NEVER_FIRST = frozenset({"(", "[", "<", "{", "!", TYPE})  # what an op cannot start with, after a label's colon
# What may stand between a list of arguments and the region it is for: types, attributes and keywords.
_IN_SIGNATURE = frozenset({IDENTIFIER, HASH, TYPE, "->", ":", ",", "::", "(", "[", "<", "{", ")", "]", ">", "}"})


class _Frame:
    """A bracket that is open, or a region."""

    __slots__ = (
        "before", "has_bindings", "is_at", "is_label", "is_plain", "is_tight", "is_typed", "kind", "names", "region",
    )  # fmt: skip

    def __init__(self, kind: str, before: str = "", region: RegionText | None = None) -> None:
        self.kind = kind
        self.before = before  # the kind of the token before the bracket
        self.region = region
        self.is_label = False  # holds the arguments of a block
        self.is_at = False  # follows `at`
        self.has_bindings = False  # holds `%a = ...`
        self.names: list[int] = []  # those that may be arguments
        self.is_typed = True  # each of the names is followed by a colon,
        self.is_tight = True  # with a blank behind it only
        self.is_plain = True  # or each is followed by nothing


def is_terminator(name: str) -> bool:
    """Return whether an op of this name, which may be in quotes, ends a region."""
    return _is_terminator(name.strip('"').rpartition(".")[2].lower()) is not None


def read_structure(tokens: Tokens) -> Structure:
    """Return the structure of a text; MalformedError if brackets do not match."""
    return _Reader(tokens).read()


class _Reader:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.values = tokens.values
        root = RegionText(None, -1, blocks=[BlockText(None, 0)])
        self.structure = Structure(root, [], [], _match_brackets(tokens))
        self.events = self.structure.events
        self.regions = [root]
        self.frames = [_Frame("region", region=root)]
        self.handlers: dict[str, Callable[[int], int]] = {
            VALUE: self.value,
            LABEL: self.label,
            IDENTIFIER: self.word,
            STRING_LITERAL: self.word,
            "{": self.open_brace,
            **dict.fromkeys(("(", "[", "<", "{-#"), self.open_bracket),
            **dict.fromkeys((")", "]", "}", "#-}"), self.close_bracket),
            ">": self.close_angle,
        }

    def read(self) -> Structure:
        kinds, handlers, index, end = self.kinds, self.handlers, 0, len(self.tokens) - 1
        while index < end:
            check_time(READING)
            kind = kinds[index]
            handler = handlers.get(kind)
            if self.frames[-1].region and self.is_alias_definition(index):
                index = self.alias_definition(index)
                continue
            if kind not in _IN_SIGNATURE and self.frames[-1].region:
                self.end_signature()
            index = handler(index) if handler else index + 1
        self.close_region(self.regions[0], end)
        return self.structure

    def is_alias_definition(self, index: int) -> bool:
        return self.tokens.is_alias(index) and self.kinds[index + 1] == "=" and self.can_start_op(index)

    def alias_definition(self, index: int) -> int:
        """Take `#name =`. MLIR has aliases around all ops only, but people and templates write them anywhere."""
        self.end_op(index)
        self.region.op_start = self.region.op_name = index
        self.structure.aliases.append((index, self.region))
        return index + 2

    # --- ops ----------------------------------------------------------------------------------------------------

    @property
    def region(self) -> RegionText:
        return self.regions[-1]

    def op(self) -> OpText:
        """The op that the token belongs to."""
        region = self.region
        if region.current is None:
            region.current = OpText(max(region.op_start, region.open + 1))
            region.ops.append(region.current)
        return region.current

    def start_op(self, index: int, name: int | None = None) -> None:
        """Start an op at a token; `name` is the token of its name, if it is a different one."""
        self.end_op(index)
        region = self.region
        region.op_start = index
        region.op_name = index if name is None else name
        region.blocks[-1].last_op = index

    def end_op(self, index: int) -> None:
        op = self.region.current
        self.region.current, self.region.op_start, self.region.op_name = None, -1, -1
        if op is not None:
            op.end = index
            self.drop(op.waiting)
            self.events.append(EndOp(op))

    def can_start_op(self, index: int) -> bool:
        """Return whether the previous op may end before a token."""
        before = index - 1
        region = self.region
        if before == region.open or before == region.blocks[-1].start - 1:
            return True
        kind = self.kinds[before]
        if kind in _UNFINISHED:
            return False
        if before == region.op_name:
            return self.tokens.starts_line(index)
        if kind != IDENTIFIER or _is_builtin_type(self.values[before]):
            return True
        is_operand = self.kinds[before - 1] in (":", ",", "->", "=")  # a type or an attribute
        return is_operand or self.tokens.starts_line(index)

    def word(self, index: int) -> int:
        """An identifier or a string: an op's name, or something in an op."""
        if self.frames[-1].region and self.is_op_name(index) and self.can_start_op(index):
            self.start_op(index)
        return index + 1

    def is_op_name(self, index: int) -> bool:
        if self.kinds[index] == STRING_LITERAL:
            return self.kinds[index + 1] == "("
        return "." in self.values[index] or self.values[index] in _BARE_OPS

    # --- values -------------------------------------------------------------------------------------------------

    def value(self, index: int) -> int:
        """Read a name, as a definition, a use, or a candidate for either."""
        frame = self.frames[-1]
        if frame.region:
            return self.value_in_region(index)
        following = self.kinds[index + 1]
        if frame.kind not in ("(", "[") or self.kinds[index - 1] == "=":
            self.use(index)
        elif following == "=":
            self.op().waiting.append(Candidate([index], Certainty.DEFINITE))
            frame.has_bindings = True
        elif frame.is_label:
            self.block_argument(index)
        elif not self.arrow_or_as(index):
            self.value_in_list(frame, index, following)
        return index + 1

    def value_in_list(self, frame: _Frame, index: int, following: str) -> None:
        """Keep a name until its bracket is closed: only then it is clear what the list is."""
        frame.names.append(index)
        starts = self.kinds[index - 1] in ("(", "[", ",")
        frame.is_typed &= starts and following == ":"
        frame.is_plain &= starts and following in (",", ")", "]")
        frame.is_tight &= self.tokens.touches_next(index) and not self.tokens.touches_next(index + 1)

    def block_argument(self, index: int) -> None:
        if self.kinds[index - 1] not in ("(", ","):
            self.use(index)
            return
        self.region.blocks[-1].arguments.append(self.define(index, 1, is_argument=True))

    def value_in_region(self, index: int) -> int:
        results = None if self.kinds[index - 1] in (",", "->") else self.results(index)
        if results is None:
            if self.precedes_in(index + 1):
                self.op().waiting.append(Candidate([index], Certainty.MAYBE))
            elif not self.arrow_or_as(index):
                self.use(index)
            return index + 1
        found, name = results
        if not self.is_statement(index, name):
            self.op().waiting.append(Candidate([token for token, _ in found], Certainty.DEFINITE))
            return name
        self.start_op(index, name)
        for token, count in found:
            self.define(token, count)
        return name + 1

    def precedes_in(self, index: int) -> bool:
        """Return whether `in` or `: type in` follows a name, as in `foreach %a : type in %b`."""
        index += 2 if self.kinds[index] == ":" and self.kinds[index + 1] in (IDENTIFIER, TYPE) else 0
        return self.kinds[index] == IDENTIFIER and self.values[index] == "in"

    def is_statement(self, index: int, name: int) -> bool:
        """Return whether `%a, %b =` in front of a token starts an op, and not the bounds of a loop."""
        if self.kinds[name] == IDENTIFIER:
            return "." in self.values[name] or self.can_start_op(index)
        return self.kinds[name] == STRING_LITERAL

    def results(self, index: int) -> tuple[list[tuple[int, int]], int] | None:
        """Read `%a, %b:2 =` or `%i loc(...) =`: tokens with counts, and the token after; None if there is no `=`."""
        kinds, found = self.kinds, []
        while kinds[index] == VALUE and "#" not in self.values[index]:
            token, count = index, 1
            index += 1
            if kinds[index] == ":" and self.values[index + 1].isdigit():
                count = self.result_count(index + 1)
                index += 2
            if self.values[index] == "loc" and kinds[index + 1] == "(":
                index = self.structure.closers[index + 1] + 1
            found.append((token, count))
            if kinds[index] == "=":
                return found, index + 1
            if kinds[index] != ",":
                return None
            index += 1
        return None

    def result_count(self, index: int) -> int:
        count = self.tokens.small_integer(self.values[index], index)
        if count == 0:
            raise self.tokens.error("expected at least one result", index)
        return count

    def arrow_or_as(self, index: int) -> bool:
        """Take the `%b` of `%a as %b` or `-> %b`."""
        if self.kinds[index - 1] == IDENTIFIER and self.values[index - 1] == "as":
            mode = Certainty.DEFINITE if self.kinds[index + 1] == ":" else Certainty.MAYBE
        elif self.kinds[index - 1] == "->" or self.frames[-1].is_at:
            mode = Certainty.MAYBE
        else:
            return False
        self.op().waiting.append(Candidate([index], mode))
        return True

    def define(self, index: int, count: int, is_argument: bool = False) -> Definition:
        definition = Definition(self.values[index], index, count, is_argument)
        if definition.name in self.region.definitions:
            self.events.append(Redefinition(index, f"redefinition of SSA value '{definition.name}'"))
        self.region.definitions[definition.name] = definition
        return definition

    def use(self, index: int) -> None:
        self.events.append(Use(index))

    def drop(self, candidates: list[Candidate]) -> None:
        """Turn candidates that cannot be arguments into uses."""
        for candidate in candidates:
            for token in candidate.tokens:
                self.use(token)
        candidates.clear()

    def end_signature(self) -> None:
        """Turn typed lists into uses, at a token that is never between arguments and their region."""
        op = self.region.current
        if op is None or not op.waiting:
            return
        typed = [c for c in op.waiting if c.mode is Certainty.TYPED]
        op.waiting = [c for c in op.waiting if c.mode is not Certainty.TYPED]
        self.drop(typed)

    # --- blocks -------------------------------------------------------------------------------------------------

    def label(self, index: int) -> int:
        """Read a label, of a block that starts or of a successor."""
        if not self.frames[-1].region or not self.defines_block(index):
            self.events.append(Successor(index, self.region))
            return index + 1
        self.end_op(index)
        region, name = self.region, self.values[index]
        if name in region.labels:
            self.events.append(Redefinition(index, f"redefinition of block '{name}'"))
        region.labels[name] = index
        return self.start_block(index)

    def start_block(self, index: int) -> int:
        region = self.region
        region.blocks[-1].end = index
        if index == region.open + 1 or self.only_aliases_precede(region):
            region.blocks.pop()
            region.is_labelled = True
        has_arguments = self.kinds[index + 1] == "("
        colon = self.structure.closers[index + 1] + 1 if has_arguments else index + 1
        region.blocks.append(BlockText(index, colon + 1))
        if not has_arguments:
            return colon + 1
        frame = _Frame("(")
        frame.is_label = True
        self.frames.append(frame)
        return index + 2

    def only_aliases_precede(self, region: RegionText) -> bool:
        """Return whether definitions of aliases are all that a region has so far."""
        has_aliases = any(where is region for _, where in self.structure.aliases[-1:])
        return has_aliases and len(region.blocks) == 1 and region.blocks[0].last_op is None

    def defines_block(self, index: int) -> bool:
        """Return whether a label starts a block, and is not the successor of an op."""
        after = index + 1
        if self.kinds[after] == "(":
            after = self.structure.closers[after] + 1
        if self.kinds[after] != ":" or self.kinds[after + 1] in _NEVER_FIRST:
            return False
        return self.can_start_op(index)

    # --- brackets -----------------------------------------------------------------------------------------------

    def open_bracket(self, index: int) -> int:
        frame = _Frame(self.kinds[index], self.kinds[index - 1] if index else "")
        frame.is_at = frame.before == IDENTIFIER and self.values[index - 1] == "at"
        self.frames.append(frame)
        return index + 1

    def open_brace(self, index: int) -> int:
        is_region = self.holds_region(index)
        if self.frames[-1].kind == "<":
            if not (is_region and self.kinds[index + 1] in (VALUE, LABEL)):
                return self.open_bracket(index)
            while self.frames[-1].kind == "<":  # it was a comparison
                self.frames.pop()
        if not is_region:
            return self.open_bracket(index)
        self.open_region(index)
        return index + 1

    def holds_region(self, index: int) -> bool:
        """Return whether a brace opens a region, judged by the first two tokens in it."""
        first, second = self.kinds[index + 1 : index + 3]
        if first == VALUE:
            return self.results(index + 1) is not None
        if first == "}":
            return self.awaits_region()
        if first == STRING_LITERAL:
            return second == "("
        if first != IDENTIFIER:
            return first == LABEL or (first in (HASH, TYPE) and second == "=")
        if second == ":":
            return "." in self.values[index + 1]
        if second == "}":
            return is_terminator(self.values[index + 1]) or self.awaits_region()
        return second not in ("=", ",", "::")

    def awaits_region(self) -> bool:
        """Return whether the header of the op defines names for a region, so that `{}` is one."""
        op = self.region.current
        return op is not None and any(c.mode in (Certainty.DEFINITE, Certainty.NAMES) for c in op.waiting)

    def open_region(self, index: int) -> None:
        """Start a region, for which all names that wait in the header may be arguments."""
        op = self.op()
        region = RegionText(op, index, self.kinds[index + 1] == LABEL, blocks=[BlockText(None, index + 1)])
        op.regions.append(region)
        if region.is_labelled:
            self.end_signature()
        region.candidates, op.waiting = op.waiting, []
        region.first_event = len(self.events)
        self.events.append(OpenRegion(region))
        self.regions.append(region)
        self.frames.append(_Frame("region", region=region))

    def close_bracket(self, index: int) -> int:
        while self.frames[-1].kind == "<":  # it was a comparison
            self.frames.pop()
        frame = self.frames.pop()
        if frame.region:
            self.close_region(frame.region, index)
            self.regions.pop()
        elif frame.names:
            self.close_list(frame, index)
        return index + 1

    def close_region(self, region: RegionText, index: int) -> None:
        self.end_op(index)
        region.close = region.blocks[-1].end = index
        self.events.append(CloseRegion(region))
        region.last_event = len(self.events)

    def close_list(self, frame: _Frame, index: int) -> None:
        """Decide what a list of names is, by what follows it."""
        if self.frames[-1].region is None:
            self.drop([Candidate(frame.names, Certainty.NAMES)])
        elif (frame.is_plain or frame.is_typed) and self.starts_bounds(index + 1):
            self.op().waiting.append(Candidate(frame.names, Certainty.NAMES))
        elif frame.is_typed:
            has_keyword = frame.before not in ("=", "->", ")", "]", "}", ">")
            mode = Certainty.DEFINITE if frame.before == SYMBOL and frame.is_tight else Certainty.TYPED
            self.op().waiting.append(Candidate(frame.names, mode, frame.is_tight, has_keyword))
        elif frame.is_plain and frame.has_bindings:
            self.op().waiting.append(Candidate(frame.names, Certainty.MAYBE))
        else:
            self.end_signature()
            self.drop([Candidate(frame.names, Certainty.NAMES)])

    def starts_bounds(self, index: int) -> bool:
        """Return whether what follows a list of loop variables does: `=`, `in (`, or `: type =`."""
        kinds = self.kinds
        if kinds[index] == IDENTIFIER:
            return self.values[index] == "in" and kinds[index + 1] == "("
        if kinds[index] == ":":
            return kinds[index + 1] == IDENTIFIER and kinds[index + 2] == "="
        return kinds[index] == "=" and kinds[index + 1] != ">"  # async ops print =>

    def close_angle(self, index: int) -> int:
        if self.frames[-1].kind == "<":
            self.frames.pop()
        return index + 1


def _match_brackets(tokens: Tokens) -> dict[int, int]:
    """Return the closing token of each bracket token; angle brackets may also be comparisons and are left out."""
    closers: dict[int, int] = {}
    pending: list[int] = []
    for index, kind in enumerate(within_time(tokens.kinds, READING)):
        if kind in _CLOSERS:
            pending.append(index)
        elif kind in _OPENERS:
            if not pending:
                raise tokens.error(f"unexpected '{kind}'; no bracket is open here", index)
            if (opener := tokens.kinds[pending[-1]]) != _OPENERS[kind]:
                raise tokens.error(f"expected '{_CLOSERS[opener]}', got '{kind}'", index)
            closers[pending.pop()] = index
    if pending:
        opener = tokens.kinds[pending[-1]]
        raise tokens.error(f"expected '{_CLOSERS[opener]}' to close this '{opener}'", pending[-1])
    return closers
