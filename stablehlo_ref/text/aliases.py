"""Definitions of aliases, and text with all aliases in it spelled out."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass

from stablehlo_ref.ir.lexer import BRACKETS, CLOSING, HASH, IDENTIFIER, NUMBER_LITERAL, STRING_LITERAL, SYMBOL, TYPE
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.text.scopes import CloseRegion, OpenRegion, RegionText, Structure
from stablehlo_ref.text.tokens import READING, Tokens


@dataclass(slots=True)
class Alias:
    """An alias: the tokens of its value, from `start` to `end`."""

    name: str
    token: int
    start: int
    end: int
    is_location: bool = False
    is_function_type: bool = False


# The use of an alias: the token of its definition, and whether it is inside of `loc(...)`, where locations are written
# without `loc`.
Use = tuple[int, bool]


class Nesting:
    """The regions of a text, and which is in which."""

    def __init__(self, structure: Structure) -> None:
        self.opened = [structure.root]  # in textual order
        self.parents: dict[RegionText, RegionText | None] = {structure.root: None}
        inside = [structure.root]
        for event in within_time(structure.events, READING):
            if isinstance(event, OpenRegion):
                self.parents[event.region] = inside[-1]
                self.opened.append(event.region)
                inside.append(event.region)
            elif isinstance(event, CloseRegion):
                inside.pop()

    def around(self, token: int) -> Iterator[RegionText]:
        """Yield the regions around a token, the innermost first."""
        region: RegionText | None = self.opened[bisect(self.opened, token, key=lambda region: region.open) - 1]
        while region is not None:
            if token <= region.close:
                yield region
            region = self.parents[region]


class Aliases:
    """The aliases of a text."""

    def __init__(self, tokens: Tokens, structure: Structure, limit: int) -> None:
        """Find the value of each alias; MalformedError where one is missing or an alias is defined twice.

        `limit` bounds the number of characters that any of them expands to.
        """
        self.tokens = tokens
        self.limit = limit
        self.closers = structure.closers
        self.regions = Nesting(structure)
        self.known: dict[str, dict[RegionText, Alias]] = {}  # by name and region
        self.defined: dict[int, Alias] = {}  # by the token of the definition
        self.sizes: dict[Use, int] = {}
        self.spelled_out: dict[Use, str] = {}  # what was asked for: longer aliases are often made of it
        for token, region in structure.aliases:
            self.define(token, region)

    def define(self, token: int, region: RegionText) -> None:
        name = self.tokens.values[token]
        namesakes = self.known.setdefault(name, {})
        if region in namesakes:
            raise self.tokens.error(f"redefinition of alias '{name}'", token)
        start = token + 2
        alias = Alias(name, token, start, self.value_end(start, name))
        self.defined[token] = namesakes[region] = alias
        alias.is_location = self.tokens.values[start] == "loc"
        alias.is_function_type = self.tokens.kinds[start] == "("

    # --- where a value ends -------------------------------------------------------------------------------------

    def value_end(self, index: int, name: str) -> int:
        """Return the token after an attribute or type: `value (: type)?`, `(types) -> types`."""
        while True:
            if self.tokens.kinds[index] == "-":
                index += 1
            end = self.simple_end(index)
            if end == index or self.tokens.kinds[end] == "=":
                raise self.tokens.error(f"expected the value of alias '{name}'", index)
            if self.tokens.kinds[end] not in (":", "->"):
                return end
            index = end + 1

    def simple_end(self, index: int) -> int:
        kind = self.tokens.kinds[index]
        if kind in ("(", "[", "{"):
            return self.closers[index] + 1
        if kind == SYMBOL:
            while self.tokens.kinds[index + 1] == "::" and self.tokens.kinds[index + 2] == SYMBOL:
                index += 2
            return index + 1
        if kind in (NUMBER_LITERAL, STRING_LITERAL):
            return index + 1
        if kind in (IDENTIFIER, HASH, TYPE):
            return self.arguments_end(index + 1)
        return index

    def arguments_end(self, index: int) -> int:
        """Return the token after `[...]` and `<...>` or, for `loc`, `(...)`."""
        if self.tokens.values[index - 1] == "loc" and self.tokens.kinds[index] == "(":
            return self.closers[index] + 1
        if self.tokens.kinds[index] == "[":  # distinct[0]<...>
            index = self.closers[index] + 1
        return self.angle_end(index) if self.tokens.kinds[index] == "<" else index

    def angle_end(self, index: int) -> int:
        """Return the token after the `>` of the `<` at `index`."""
        kinds, first, depth = self.tokens.kinds, index, 0
        while index < len(kinds):
            kind = kinds[index]
            if kind in ("(", "[", "{"):
                index = self.closers[index]  # a comparison may be inside
            elif kind in (")", "]", "}"):
                break
            depth += (kind == "<") - (kind == ">")
            index += 1
            if depth == 0:
                return index
        raise self.tokens.error("expected '>' to close this '<'", first)

    # --- spelling out -------------------------------------------------------------------------------------------

    def find(self, token: int) -> Alias:
        """Return the alias that a token refers to: of those whose region is around it, the innermost."""
        name = self.tokens.values[token]
        namesakes = self.known.get(name, {})
        for region in self.regions.around(token) if namesakes else ():
            if region in namesakes:
                return namesakes[region]
        raise self.tokens.error(f"undefined alias '{name}'", token)

    def is_use(self, token: int, in_dialect: bool) -> bool:
        """Return whether a token is the use of an alias; in text of a dialect, only if there is such an alias."""
        return self.tokens.is_alias(token) and (not in_dialect or self.tokens.values[token] in self.known)

    def size(self, token: int, in_location: bool) -> int:
        """Return how many characters the alias at a token expands to.

        MalformedError where an alias is undefined, refers to itself or expands beyond the limit.
        """
        use = self.find(token).token, in_location
        self.measure(use)
        return self.sizes[use]

    def spell_out(self, token: int, in_location: bool) -> str:
        """Return the text that the alias at a token stands for, with nested aliases expanded."""
        self.size(token, in_location)
        return "".join(self.expand(self.use(token, in_location)))

    def expand(self, parts: Iterator[str | Use]) -> Iterator[str]:
        """Yield the text of parts; the text of each alias is cached, as longer aliases often contain it."""
        for part in parts:
            if isinstance(part, str):
                yield part
                continue
            if part not in self.spelled_out:
                self.spelled_out[part] = "".join(self.strings(part))
            yield self.spelled_out[part]

    def strings(self, use: Use) -> Iterator[str]:
        """Yield the text of an alias, without a call for each level of aliases in it."""
        pending = [self.parts(*use)]
        while pending:
            part = next(pending[-1], None)
            if part is None:
                pending.pop()
            elif isinstance(part, str):
                yield part
            elif part in self.spelled_out:
                yield self.spelled_out[part]
            else:
                pending.append(self.parts(*part))

    def parts(self, token: int, in_location: bool) -> Iterator[str | Use]:
        """Yield the text and the aliases that an alias consists of, with a blank for line breaks and comments."""
        alias = self.defined[token]
        start, end = alias.start, alias.end
        if alias.is_location and in_location:
            start, end = start + 2, end - 1
        contexts = Contexts(self.tokens, in_location)
        for index in range(start, end):
            if index > start:
                yield self.tokens.blanks_before(index)
            contexts.see(index)
            if self.is_use(index, contexts.in_dialect):
                yield from self.use(index, contexts.in_location)
            else:
                yield self.tokens.values[index]

    def use(self, token: int, in_location: bool) -> Iterator[str | Use]:
        """Yield an alias; a function type in front of which `->` stands needs parentheses."""
        alias = self.find(token)
        needs_parentheses = alias.is_function_type and self.tokens.kinds[token - 1] == "->"
        yield "(" if needs_parentheses else ""
        yield alias.token, in_location
        yield ")" if needs_parentheses else ""

    # --- sizes --------------------------------------------------------------------------------------------------

    def measure(self, use: Use) -> None:
        """Compute how many characters an alias expands to before expanding it: each alias can double the size."""
        pending, unfinished = [use], set()
        while pending:
            use = pending[-1]
            parts = [] if use in self.sizes else list(self.parts(*use))
            missing = [part for part in parts if isinstance(part, tuple) and part not in self.sizes]
            if not missing:
                self.set_size(use, parts)
                unfinished.discard(use)
                pending.pop()
                continue
            unfinished.add(use)
            self.check_finished(missing, unfinished)
            pending.extend(dict.fromkeys(missing))

    def set_size(self, use: Use, parts: list[str | Use]) -> None:
        if use in self.sizes:
            return
        size = sum(len(part) if isinstance(part, str) else self.sizes[part] for part in parts)
        if size > self.limit:
            name = self.defined[use[0]].name
            raise self.tokens.error(f"alias '{name}' expands beyond the limit of {self.limit} characters", use[0])
        self.sizes[use] = size

    def check_finished(self, uses: list[Use], unfinished: set[Use]) -> None:
        for use in uses:
            if use in unfinished:
                raise self.tokens.error(f"alias '{self.defined[use[0]].name}' refers to itself", use[0])


class Contexts:
    """Tracks, token by token, the brackets around the next token."""

    def __init__(self, tokens: Tokens, in_location: bool = False) -> None:
        self.tokens = tokens
        self.in_location = in_location  # of `loc(...)`, but not of an attribute in it
        self.in_dialect = False  # of `#dialect.attribute<...>` or `!dialect.type<...>`, whose text may be anything
        self.outer: list[tuple[str, bool, bool]] = []

    def see(self, index: int) -> None:
        """Take a token."""
        kind = self.tokens.kinds[index]
        if kind in BRACKETS:
            self.outer.append((BRACKETS[kind], self.in_location, self.in_dialect))
            self.in_location = self.enters_location(index, kind)
            self.in_dialect |= kind == "<" and index > 0 and self.tokens.kinds[index - 1] in (HASH, TYPE)
        elif kind in CLOSING:
            self.leave(kind)

    def enters_location(self, index: int, kind: str) -> bool:
        if kind == "(" and index > 0 and self.tokens.values[index - 1] == "loc":
            return True
        return self.in_location and kind in ("(", "[")

    def leave(self, kind: str) -> None:
        while kind != ">" and self.outer and self.outer[-1][0] == ">":  # it was a comparison
            _, self.in_location, self.in_dialect = self.outer.pop()
        if self.outer and self.outer[-1][0] == kind:
            _, self.in_location, self.in_dialect = self.outer.pop()
