"""Write the body of a function with new names, which are not in use, and without aliases."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import repeat

from stablehlo_ref.diagnostics import ArgumentValueError
from stablehlo_ref.ir.lexer import HASH, IDENTIFIER, LABEL, SUFFIX, SYMBOL, TYPE, VALUE
from stablehlo_ref.limits.budget import within_time
from stablehlo_ref.text.aliases import Aliases, Contexts
from stablehlo_ref.text.functions import FoundFunction, Return
from stablehlo_ref.text.scopes import Bindings, RegionText
from stablehlo_ref.text.tokens import Tokens, counted

WRITING = "writing the text"  # in messages on limits
_REMOVED = "\0"  # is where an op was, so that its line can go as well; in MLIR it is a blank
_REPLACED = frozenset({VALUE, LABEL, HASH, TYPE, SYMBOL, IDENTIFIER})  # what may have to change
_LOCATION_VALUES = frozenset({"=", ",", "(", "[", "<", ":"})  # after these, a location is an attribute

_match_name = re.compile(rf"[%^]?({SUFFIX})(?:[#:]\d+)?", re.ASCII).fullmatch
_match_prefix = re.compile(rf"%?({SUFFIX}|)", re.ASCII).fullmatch


# --- names ----------------------------------------------------------------------------------------------------------


def base_name(name: str) -> str:
    """Return the `x` of `%x`, `%x#1`, `%x:2` and `^x`; ArgumentValueError if it is not a name."""
    match = _match_name(name)
    if not match:
        raise ArgumentValueError(f"expected a name such as '%x' or '%x#1', got {name!r}")
    return match[1]


def check_operand(operand: str) -> str:
    """Return an operand, `%x` or `%x#1`; ArgumentValueError if it is something else."""
    if operand[:1] != "%" or ":" in operand or not _match_name(operand):
        raise ArgumentValueError(f"expected an operand such as '%x' or '%x#1', got {operand!r}")
    return operand


def prefix_name(prefix: str) -> str:
    """Return a prefix without `%`; ArgumentValueError if no name can start with it."""
    match = _match_prefix(prefix)
    if not match:
        raise ArgumentValueError(f"expected the start of an SSA name, got {prefix!r}")
    return match[1]


class FreshNames:
    """Names made of a prefix and a number, counted for each prefix, that leave out those in use."""

    def __init__(self, used_names: Collection[str], make: Callable[[str], str] | None = None) -> None:
        """Leave out `used_names`, or have every name made by `make`, a function of the prefix."""
        self.used = set(map(base_name, used_names))
        self.make = make
        self.counts: dict[str, int] = {}

    def __call__(self, prefix: str) -> str:
        """Return a new name without `%`; ArgumentValueError if `make` returned one that is in use or is not a name."""
        name = self.count(prefix) if self.make is None else base_name(self.make(prefix))
        if name in self.used:
            raise ArgumentValueError(f"expected a fresh name, got '%{name}' again")
        self.used.add(name)
        return name

    def count(self, prefix: str) -> str:
        while True:
            number = self.counts.get(prefix, 0)
            self.counts[prefix] = number + 1
            if f"{prefix}{number}" not in self.used:
                return f"{prefix}{number}"


@dataclass(frozen=True)
class Prefixes:
    """What the names of results, of arguments of blocks and regions, and of blocks start with."""

    result: str
    argument: str
    label: str

    @classmethod
    def of(cls, prefix: str, block_prefix: str, label_prefix: str | None) -> Prefixes:
        """Check the prefixes; the default of `label_prefix` is `prefix` followed by `_bb`."""
        result = prefix_name(prefix)
        label = f"{result}_bb" if label_prefix is None else label_prefix.removeprefix("^")
        return cls(result, prefix_name(block_prefix), prefix_name(label))


@dataclass(slots=True)
class NewNames:
    """By old name, the labels of the function's own blocks; and the block that returns branch to, if there is one."""

    labels: dict[str, str]
    exit_label: str | None
    exit_arguments: list[str]


def rename(
    function: FoundFunction, names: Bindings, returns: list[Return], fresh: FreshNames, prefixes: Prefixes
) -> NewNames:
    """Set `new_name` of each definition, and return new names of blocks."""
    for definition in within_time(names.definitions, WRITING):
        if not definition.is_operand:
            prefix = prefixes.argument if definition.is_argument else prefixes.result
            definition.new_name = f"%{fresh(prefix)}"
    entry = function.body.open + 1  # the first block continues one of the other text
    labels = {name: f"^{fresh(prefixes.label)}" for name, token in function.body.labels.items() if token != entry}
    if len(returns) == 1 and returns[0].is_last:
        return NewNames(labels, None, [])
    arguments = [f"%{fresh(prefixes.argument)}" for _ in returns[0].operands]
    return NewNames(labels, f"^{fresh(prefixes.label)}", arguments)


# --- the body -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InlinedFunction:
    """The body of a function, renamed to fit into another text; unpacks as `lines, results`.

    Attributes:
        lines: The ops, indented relative to the body.
        results: The values that the function returns, as operands for later lines.
        symbols: The symbols that the lines refer to, such as `@callee` or `@module::@callee`; the other text has to
            define them.
        resources: The keys of `dense_resource` attributes in the lines; the other text has to define them as well.
        labels: The blocks that the lines start. If there are any, what follows the lines is in the last of them.
    """

    lines: list[str]
    results: list[str]
    symbols: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[list[str]]:
        return iter((self.lines, self.results))


@dataclass(frozen=True)
class WriteOptions:
    """What `inline_function` lets callers choose, as documented there."""

    keep_locations: bool
    branch: str
    max_growth: int


class Writer:
    """Copies the text of a function's body, and replaces tokens on the way."""

    def __init__(
        self,
        tokens: Tokens,
        body: RegionText,
        names: Bindings,
        new_names: NewNames,
        aliases: Aliases,
        options: WriteOptions,
    ) -> None:
        self.tokens = tokens
        self.body = body
        self.names = names
        self.new_names = new_names
        self.aliases = aliases
        self.options = options
        self.definitions = {definition.token: definition for definition in names.definitions}
        self.growth = 0
        self.symbols: dict[str, None] = {}
        self.resources: dict[str, None] = {}
        self.written: list[str] = []

    def write(self, returns: list[Return]) -> InlinedFunction:
        """Return the whole result; MalformedError if it grows beyond the limit or an alias is undefined."""
        new_names = self.new_names
        results = new_names.exit_arguments if new_names.exit_label else self.operands(returns[0])
        first = self.first_token()
        self.copy(first, self.body.close, {found.start: found for found in returns})
        lines = self.lines(first)
        labels = list(new_names.labels.values())
        if new_names.exit_label:
            lines.append(self.exit_block(returns[0]))
            labels.append(new_names.exit_label)
        return InlinedFunction(lines, results, list(self.symbols), list(self.resources), labels)

    def first_token(self) -> int:
        """Return the first token of the body that is written: not the label of its first block."""
        return self.body.blocks[0].start if self.body.is_labelled else self.body.open + 1

    # --- tokens -------------------------------------------------------------------------------------------------

    def copy(self, start: int, end: int, returns: dict[int, Return]) -> None:
        """Write the tokens from `start` to `end` and what is between them."""
        tokens, contexts = self.tokens, Contexts(self.tokens)
        text, position, index = tokens.source.text, tokens.ends[start - 1], start
        for _ in within_time(repeat(None), WRITING):
            if index >= end:
                break
            if tokens.kinds[index] not in _REPLACED and index not in returns:
                contexts.see(index)
                index += 1
                continue
            new, behind = self.replacement(index, contexts, returns)
            if new is not None:
                kept_to = tokens.starts[index] if new else self.blanks_start(index)
                self.written += (text[position:kept_to], new)
                position = tokens.ends[behind - 1]
            index = behind
        self.written.append(text[position : tokens.starts[end]])

    def blanks_start(self, index: int) -> int:
        """Return where the blanks in front of a token start, or the token if there is a comment as well."""
        start, end = self.tokens.ends[index - 1], self.tokens.starts[index]
        return end if "//" in self.tokens.source.text[start:end] else start

    def replacement(self, index: int, contexts: Contexts, returns: dict[int, Return]) -> tuple[str | None, int]:
        """Return what is written for a token, None for the token itself, and the token to go on with."""
        if index in returns:
            return self.returned(returns[index]), returns[index].end
        if index in self.aliases.defined:
            return _REMOVED, self.aliases.defined[index].end
        kind = self.tokens.kinds[index]
        if kind == VALUE:
            return self.value(index), index + 1
        if kind == LABEL:
            return self.label(index), index + 1
        if kind in (HASH, TYPE) and self.aliases.is_use(index, contexts.in_dialect):
            return self.alias(index, contexts.in_location), index + 1
        if kind == SYMBOL:
            self.symbol(index)
        if kind == IDENTIFIER:
            return self.word(index, contexts.in_location)
        return None, index + 1

    def value(self, index: int) -> str:
        """Return the new name of a value. `%x#0` may be an argument, whose operand can have a number already."""
        definition = self.definitions.get(index) or self.names.uses.get(index)
        if definition is None:
            raise self.tokens.error(f"unexpected SSA value '{self.tokens.values[index]}' in a location", index)
        _, mark, number = self.tokens.values[index].partition("#")
        new = definition.new_name + ("" if definition.is_operand else mark + number)
        self.grow(len(new) - len(self.tokens.name(index)), index)
        return new

    def label(self, index: int) -> str | None:
        name = self.tokens.values[index]
        is_own = self.names.successors.get(index) is self.body or self.body.labels.get(name) == index
        if is_own and name not in self.new_names.labels:
            raise self.tokens.error(f"expected no branch to the first block '{name}' of a function", index)
        return self.new_names.labels[name] if is_own else None

    def alias(self, index: int, in_location: bool) -> str:
        self.grow(self.aliases.size(index, in_location), index)
        return self.aliases.spell_out(index, in_location)

    def symbol(self, index: int) -> None:
        """Remember a reference; `@a::@b` is one."""
        kinds, values = self.tokens.kinds, self.tokens.values
        if kinds[index - 1] == "::" and kinds[index - 2] == SYMBOL:
            return
        name = values[index]
        while kinds[index + 1] == "::" and kinds[index + 2] == SYMBOL:
            index += 2
            name += "::" + values[index]
        self.symbols[name] = None

    def word(self, index: int, in_location: bool) -> tuple[str | None, int]:
        """Take an identifier: the key of a resource has to be known, a location may be left out."""
        kinds, values = self.tokens.kinds, self.tokens.values
        if values[index] == "dense_resource" and kinds[index + 1] == "<":
            self.resources[values[index + 2]] = None
        if values[index] != "loc" or kinds[index + 1] != "(" or self.options.keep_locations:
            return None, index + 1
        if in_location or kinds[index - 1] in _LOCATION_VALUES:
            return None, index + 1
        return "", self.aliases.closers[index + 1] + 1

    def grow(self, characters: int, index: int) -> None:
        self.growth += characters
        if self.growth > self.options.max_growth:
            message = f"expected at most {self.options.max_growth} characters more than the function has"
            raise self.tokens.error(message, index)

    # --- returns ------------------------------------------------------------------------------------------------

    def operands(self, found: Return) -> list[str]:
        return [self.value(index) for index in found.operands]

    def returned(self, found: Return) -> str:
        """Return what is written for a return: nothing, or a branch to the last block."""
        label = self.new_names.exit_label
        if label is None:
            return _REMOVED
        operands, types = self.operands(found), self.types(found)
        arguments = f"({', '.join(operands)} : {', '.join(types)})" if operands else ""
        return f"{self.options.branch} {label}{arguments}"

    def types(self, found: Return) -> list[str]:
        if len(found.types) != len(found.operands):
            message = f"expected {counted(len(found.operands), 'type')} of operands, got {len(found.types)}"
            raise self.tokens.error(message, found.start)
        return ["".join(self.type(start, end)) for start, end in found.types]

    def type(self, start: int, end: int) -> Iterator[str]:
        contexts = Contexts(self.tokens)
        for index in range(start, end):
            if index > start:
                yield self.tokens.blanks_before(index)
            contexts.see(index)
            is_alias = self.aliases.is_use(index, contexts.in_dialect)
            yield self.alias(index, in_location=False) if is_alias else self.tokens.values[index]

    def exit_block(self, found: Return) -> str:
        arguments = ", ".join(map("{}: {}".format, self.new_names.exit_arguments, self.types(found)))
        return f"{self.new_names.exit_label}({arguments}):" if arguments else f"{self.new_names.exit_label}:"

    # --- lines --------------------------------------------------------------------------------------------------

    def lines(self, first: int) -> list[str]:
        """Return what is written as lines, without the indentation of the first op and blank lines around."""
        lines = "".join(self.written).split("\n")
        if self.tokens.starts_line(first):
            del lines[0]  # the rest of the line in front of the body
        indentation = self.indentation(first)
        kept = [_dedent(line, indentation) for line in within_time(lines, WRITING) if line.strip() != _REMOVED]
        while kept and not kept[-1]:
            kept.pop()
        while kept and not kept[0]:
            del kept[0]
        return kept

    def indentation(self, first: int) -> str:
        """Return the blanks in front of the first op, if it starts its line."""
        if not self.tokens.starts_line(first):
            return ""
        text, start = self.tokens.source.text, self.tokens.starts[first]
        return text[text.rfind("\n", 0, start) + 1 : start]


def _dedent(line: str, indentation: str) -> str:
    """Return a line without the blanks that it shares with `indentation`, and without blanks at its end."""
    shared = 0
    while shared < min(len(line), len(indentation)) and line[shared] == indentation[shared]:
        shared += 1
    line = line[shared:].rstrip()
    return line.replace(_REMOVED, "").strip() if _REMOVED in line else line
