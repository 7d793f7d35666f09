"""SSA values: definitions, uses and scopes of their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stablehlo_ref.define.assembly import Draft
from stablehlo_ref.diagnostics import MalformedError, Source
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.lexer import SUFFIX, TRIVIA, token
from stablehlo_ref.ir.types import Type
from stablehlo_ref.syntax.file import FileParser

MAX_RESULTS = 1 << 20  # of an operation

VALUE = rf"{SUFFIX}(?:\#\d++)?+"
RESULT = rf"%({SUFFIX})(?:\s*:\s*(\d++))?+"
_find_results = re.compile(RESULT, re.ASCII).finditer
_match_operand = token(rf"%({VALUE})")
_match_next_operand = token(rf",{TRIVIA}%({VALUE})")


class Scope:
    """The names of values inside an isolated region, or inside a region that may shadow names of the scope `above`."""

    __slots__ = ("above", "defined", "expected", "values")

    def __init__(self, above: Scope | None = None) -> None:
        self.above = above
        self.values: dict[str, Value] = {}
        self.defined: list[str] = []  # in order, so that the names of a region can be removed at its end
        self.expected: dict[str, int] = {}  # offsets of the first uses of names that are not yet defined

    def forward_uses(self) -> None:
        """Leave the definition of names that are used and not defined here to the scope above."""
        assert self.above is not None
        self.above.values |= {name: self.values[name] for name in self.expected}
        self.above.expected |= self.expected


class ValueParser(FileParser):
    """Parses names of values and keeps the values that they refer to."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.scope = Scope()
        self.assumed: set[Value] = set()  # values whose types are guesses until they are used

    # operand ::= %name (#index)?
    def operand(self) -> tuple[str, int]:
        """Parse the name of a value; return it without `%`, with its offset."""
        match = self.take(_match_operand(self.text, self.position))
        if not match:
            raise self.expected("a value such as '%0'")
        return match[1], match.start(1) - 1

    # operands ::= (operand (, operand)*)?
    def operand_list(self) -> list[tuple[str, int]]:
        """Parse names of values, separated by commas, if there are any."""
        if self.peek()[:1] != "%":
            return []
        operands = [self.operand()]
        while match := self.take(_match_next_operand(self.text, self.position)):
            operands.append((match[1], match.start(1) - 1))
        return operands

    def resolve(self, draft: Draft) -> list[Value]:
        """Return the values that the operands of an op refer to."""
        types: Sequence[Type | None] = draft.operand_types or (None,) * len(draft.operands)
        if len(types) != len(draft.operands):
            raise self.error(f"{len(draft.operands)} operands present, but expected {len(types)}", draft.offset)
        return [self._value(name, offset, type) for (name, offset), type in zip(draft.operands, types)]

    def _value(self, name: str, offset: int, type: Type | None) -> Value:
        value = self.scope.values.get(name)
        if value is None and name.endswith("#0"):
            value = self.scope.values.get(name[:-2])
        if value is None and self.scope.above is not None:
            value = self.scope.above.values.get(name)
        if value is None:
            return self._expect_value(name, offset, type)
        if type is not None and value.type is not type and value.type != type:
            if value in self.assumed:
                self.assumed.discard(value)
                value.type = type
                return value
            raise self._conflict(name, type, value.type, offset)
        return value

    def _conflict(self, name: str, used: Type, defined: Type, offset: int) -> MalformedError:
        message = f"use of value '%{name}' expects different type than prior uses: '{used}' vs '{defined}'"
        return self.error(message, offset)

    def _expect_value(self, name: str, offset: int, type: Type | None) -> Value:
        """Return a value that is used before its definition, which may be in a later block of the region."""
        if type is None:
            raise self.error(f"use of undeclared SSA value name '%{name}'", offset)
        value = self.scope.values[name] = Value(type, None, 0, name)
        self.scope.expected[name] = offset
        return value

    def define_results(self, op: Operation, match: re.Match[str]) -> None:
        """Give the results of `op` the names that precede it in the text."""
        if match[2] is None and not match[3] and len(op.results) == 1:
            op.results[0] = self.define(match[1], op.results[0], match.start(1) - 1)
            return
        start, names = match.start(1) - 1, self.result_groups(match)
        declared = sum(count for _, count in names)
        if declared != len(op.results):
            raise self.error(f"expected {len(op.results)} result names for '{op.name}', got {declared}", start)
        index = 0
        for name, count in names:
            for part in range(count):
                full = name if count == 1 else f"{name}#{part}"
                op.results[index] = self.define(full, op.results[index], start)
                index += 1
            if count > 1:  # the name without a number is that of the first
                self.define(name, op.results[index - count], start)

    def result_groups(self, match: re.Match[str]) -> list[tuple[str, int]]:
        """Return the names before an op, each with the number of results that it stands for."""
        if match[1] is None:
            return []
        start, stop = match.start(1) - 1, match.start(4 if match[4] else 5)
        return [(m[1], self._result_count(m)) for m in _find_results(self.text, start, stop)]

    def is_visible(self, name: str) -> bool:
        """Return whether a name is that of a value here."""
        scopes = (self.scope, self.scope.above) if self.scope.above is not None else (self.scope,)
        return any(name in scope.values for scope in scopes)

    def _result_count(self, match: re.Match[str]) -> int:
        count = 1 if match[2] is None else self.to_integer(match[2], match.start(2))
        if not 1 <= count <= MAX_RESULTS:
            raise self.error(f"expected a number of results from 1 to {MAX_RESULTS}", match.start(2))
        return count

    def define(self, name: str, value: Value, offset: int) -> Value:
        """Bind a name to `value`; return the value, or the one that earlier uses of the name refer to."""
        values = self.scope.values
        if name in values:
            value = self._redefine(name, value, offset)
        else:
            self.scope.defined.append(name)
        values[name] = value
        if not value.name:
            value.name = name
        return value

    def _redefine(self, name: str, value: Value, offset: int) -> Value:
        if name not in self.scope.expected:
            raise self.error(f"redefinition of SSA value '%{name}'", offset)
        used = self.scope.expected.pop(name)
        known = self.scope.values[name]
        if known.type != value.type and value not in self.assumed:
            raise self._conflict(name, known.type, value.type, used)
        known.owner, known.index = value.owner, value.index
        self.scope.defined.append(name)
        return known

    def check_scope(self) -> None:
        """Raise MalformedError for a name that is used and never defined."""
        for name, offset in self.scope.expected.items():
            raise self.error(f"use of undeclared SSA value name '%{name}'", offset)

    def leave(self, first_defined: int) -> None:
        """Remove the names that were defined after the first `first_defined`."""
        scope = self.scope
        for name in scope.defined[first_defined:]:
            scope.values.pop(name, None)
        del scope.defined[first_defined:]

    # argument ::= %name : type location?
    def argument(self) -> Value:
        """Parse a block argument, whose name is not yet bound."""
        name, _ = self.operand()
        self.expect(":")
        value = Value(self.type(), None, 0, name)
        value.location = self.trailing_location()
        return value

    # argument-list ::= ( (argument (, argument)*)? )
    def argument_list(self) -> list[Value]:
        """Parse block arguments in parentheses."""
        arguments = self.items(self.argument, "(", ")")
        for index, argument in enumerate(arguments):
            argument.index = index
        return arguments

    def arguments(self, names: Sequence[tuple[str, int]], types: Sequence[Type]) -> list[Value]:
        """Return block arguments with these names and types."""
        return [Value(type, None, index, name) for index, ((name, _), type) in enumerate(zip(names, types))]
