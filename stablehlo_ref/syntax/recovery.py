"""Find all errors of a malformed program: a parser that goes on after an op that it cannot read.

The parser of `parser.py` stops at the first error and pays nothing for recovery. When it has failed, the text is parsed
again by the one here. It skips an op with an error up to where the next op starts, or the region around ends. Values of
skipped ops are *poisoned*: they have whatever type their uses expect, and no error follows from them. The time stays
linear in the size of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from stablehlo_ref.diagnostics import MAX_ERRORS, Diagnostic, MalformedError, Source, StablehloError
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import MALFORMED, Block, Operation, Region, Value
from stablehlo_ref.ir.lexer import STRING, SUFFIX, token
from stablehlo_ref.ir.types import FLOATS, FunctionType, OpaqueType, Type, integer_type
from stablehlo_ref.limits.stack import collection_paused
from stablehlo_ref.suggestions import did_you_mean, element_type
from stablehlo_ref.syntax.file import Scope
from stablehlo_ref.syntax.parser import Parser, match_head
from stablehlo_ref.syntax.places import defined_here, definition_note
from stablehlo_ref.syntax.types import match_simple_type

UNKNOWN = OpaqueType("!malformed")  # the type of a poisoned value
REREAD = 4  # how often, on average, a character may be parsed again after an error

_RESULTS = rf"%{SUFFIX}(?:\s*:\s*\d+)?"
_starts_op = re.compile(
    rf"[ \t]*(?:{STRING}\s*\(|[A-Za-z_]\w*\.[A-Za-z_]|{_RESULTS}(?:\s*,\s*{_RESULTS})*\s*=(?!=)"
    r"|(?:module|func|call|return)\b|[#!][\w$.\-]+\s*=|\{-#)",
    re.ASCII,
).match
_find_definitions = re.compile(rf"^[ \t]*({_RESULTS}(?:[ \t]*,[ \t]*{_RESULTS})*)[ \t]*=", re.ASCII | re.M).finditer
_find_names = re.compile(rf"%({SUFFIX})", re.ASCII).findall
_find_bracket = re.compile(rf"""(?:[^{{}}"/\n]++|{STRING}|//[^\n]*+|["/])*+([{{}}\n]|)""").match
_opens_region = re.compile(r"[ \t]*(?:\^[^\n]*|//[^\n]*)?(?:\r?\n|$)").match
_match_function = token(r"(?:func\.func|func)\b(?!\.)")
_match_integer = re.compile(r"u?i\d{1,3}").fullmatch
_find_symbol = re.compile(
    rf'(?:(?:\w+\.)?(?:func|module|global|mesh)\b[^\n({{"]*?@({SUFFIX}|{STRING})|[^\n]*?sym_name = ({STRING}))',
    re.ASCII,
).match


class Recovered(Exception):
    """What a malformed program contains: the errors, and the module without the ops that have them."""

    def __init__(self, errors: list[Diagnostic], module: Operation | None, poisoned: set[Value]) -> None:
        super().__init__()
        self.errors = errors
        self.module = module
        self.poisoned = poisoned  # values that stand for those of ops with errors

    @property
    def lost_symbols(self) -> bool:
        """Whether an op with an error defines a symbol."""
        ops = self.module.walk() if self.module else ()
        return any(op.name == MALFORMED and "sym_name" in op.properties for op in ops)


class _Silent(MalformedError):
    """An error that follows from another, and is not reported."""


class _NextFunction(MalformedError):
    """A function starts inside the body of another, which has not been closed."""


class _TooMany(Exception):
    """The limit on errors is reached."""


class _Poisoned(Value):
    """What the name of a value refers to whose definition has an error."""

    __slots__ = ("op",)

    def __init__(self, name: str, op: Operation) -> None:
        super().__init__(UNKNOWN, op, 0, name)
        self.op = op


class RecoveringParser(Parser):
    """Parses a program and collects its errors."""

    def __init__(self, source: Source, allow_unregistered_dialect: bool = False) -> None:
        super().__init__(source, allow_unregistered_dialect)
        self.errors: list[Diagnostic] = []
        self.reported: set[int] = set()  # offsets
        self.poisoned: set[Value] = set()
        self.places: dict[str, tuple[int, int]] = {}  # offsets of the last occurrence of names, and the one before
        self.definitions: dict[Value, int] = {}  # offsets of block arguments
        self.broken_aliases: set[str] = set()
        self.resumed = -1  # where parsing went on after the last error
        self.fuel = REREAD * len(self.text)
        self.function = -1  # the offset of the function around
        self.is_unstructured = False  # whether text in that function could not be assigned to an op

    # --- errors -------------------------------------------------------------------------------------------------

    def report(self, error: StablehloError) -> None:
        """Keep the errors that are new and do not follow from others."""
        if isinstance(error, _Silent) or self.position <= self.resumed:
            return
        for diagnostic in error.diagnostics:
            offset = diagnostic.location.offset if diagnostic.location else -1
            if offset not in self.reported:
                self.reported.add(offset)
                self.errors.append(diagnostic)
        if len(self.errors) >= MAX_ERRORS:
            raise _TooMany

    def attempt(self, action: Callable[[], object]) -> bool:
        """Return whether `action` has no error."""
        try:
            action()
        except StablehloError as error:
            self.report(error)
            return False
        return True

    # --- the whole text -----------------------------------------------------------------------------------------

    def program(self) -> Operation:
        operations: list[Operation] = []
        while start := self.peek():
            if start == "{-#":
                if not self.attempt(self.metadata):
                    self._resume(len(self.text))
            elif start[0] in "#!":
                self._alias(start)
            elif start == "}" and self.errors:  # which follows from an earlier error
                self._resume(self.start + 1)
            else:
                operations.append(self.operation())
        used = [(label, op.location.offset) for op in operations for label in op.successors]
        self.attempt(lambda: self._check_labels({}, used))
        self.check_scope()
        self.attempt(self.check_locations)
        self.attempt(self.fill_resources)
        if len(operations) == 1 and operations[0].name == "builtin.module":
            return operations[0]
        return Operation("builtin.module", [], [], {}, {}, [Region([Block([], operations)])], self.location(0))

    def _alias(self, name: str) -> None:
        offset = self.start
        if not self.attempt(self.alias):
            self.broken_aliases.add(name)
            self._skip(offset)

    def attribute_alias(self, name: str) -> Attribute:
        self._check_alias(name)
        return super().attribute_alias(name)

    def type_alias(self, name: str) -> Type:
        self._check_alias(name)
        return super().type_alias(name)

    def _check_alias(self, name: str) -> None:
        if name in self.broken_aliases:
            raise _Silent(f"alias '{name}' has an error")

    # --- operations ---------------------------------------------------------------------------------------------

    def operation(self) -> Operation:
        start, scope, depth, function = self.start, self.scope, self.depth, self.function
        defined = len(scope.defined)
        is_function = _match_function(self.text, self.position) is not None
        if is_function and function >= 0 and self._column(start) == self._column(function):
            raise _NextFunction("expected '}' before the next function", self.location(start))
        try:
            if is_function:
                self.function, self.is_unstructured = start, False
            count = len(self.errors)
            op = super().operation()
            if len(self.errors) > count:
                self.lines.clear()  # so that the same error in the next line is found
            return op
        except _NextFunction as error:
            if not is_function:
                raise
            self.report(error)
            self._resume(self.position)
        except StablehloError as error:
            self.report(error)
            self.is_unstructured |= match_head(self.text, start) is None
            self.depth = depth
            self.position = max(self.position, start)
            self._skip(start)
        finally:
            self.function = function
        self.scope, self.depth = scope, depth
        self.leave(defined)
        return self._malformed(start)

    def _operations(self, used: list[tuple[str, int]]) -> list[Operation]:
        operations = []
        while self.peek()[:1] not in ("}", "^", ""):
            operations.append(op := self.operation())
            used += [(label, op.location.offset) for label in op.successors]
        if not self.peek():
            raise self.expected("'}'")
        return operations

    def _column(self, offset: int) -> int:
        return offset - self.text.rfind("\n", 0, offset)

    def _malformed(self, start: int) -> Operation:
        """Return what stands for the op in the text that was skipped, and poison the names defined there."""
        op = Operation(MALFORMED, [], [], {}, {}, [], self.location(start))
        symbol = _find_symbol(self.text, start)
        if symbol:
            op.properties["sym_name"] = (symbol[1] or symbol[2]).strip('"')
        line = self.text.rfind("\n", 0, start) + 1
        for match in _find_definitions(self.text, line, max(self.position, start)):
            for name in _find_names(match[1]):
                self._poison(name, op)
        return op

    def _poison(self, name: str, op: Operation) -> None:
        scope = self.scope
        if scope.expected.pop(name, None) is not None:
            self.poisoned.add(scope.values[name])
        if name not in scope.values:
            scope.defined.append(name)
        scope.values[name] = _Poisoned(name, op)

    # --- types --------------------------------------------------------------------------------------------------

    def type(self) -> Type:
        position, count = self.position, len(self.errors)
        parsed = super().type()
        if len(self.errors) > count and (match := match_simple_type(self.text, position)):
            self.types.pop(match[1], None)  # so that the same error elsewhere is found
        return parsed

    def function_type(self) -> FunctionType:
        count = len(self.errors)
        parsed = super().function_type()
        if len(self.errors) > count:
            self.function_types.clear()
        return parsed

    def _type(self) -> Type:
        """Parse a type; take an element type under another name for what it means, after an error."""
        start = self.start
        try:
            return super()._type()
        except MalformedError as error:
            meant = element_type(self.peek(), FLOATS) if self.start == start else None
            if meant is None or not (meant in FLOATS or _match_integer(meant)):
                raise
            self.report(error)
            self.advance()
            sign, _, width = meant.partition("i")
            return FLOATS[meant] if meant in FLOATS else integer_type(int(width), sign)

    # --- where to go on -----------------------------------------------------------------------------------------

    def _skip(self, start: int) -> None:
        """Go on after the op that starts at `start` and has an error."""
        if self.resumed >= len(self.text):  # which was said to be unfinished
            return self._resume(len(self.text))
        end = self._end_of_op(start)
        if end < self.position:  # the parser took the beginning of the next op for a part of this one
            again = self.position - end
            end = end if again <= self.fuel else self.position
            self.fuel -= again
        if end <= start:
            self.position = start
            self.advance()
            end = max(self.position, start + 1)
        self._resume(end)

    def _resume(self, position: int) -> None:
        self.position = self.resumed = min(position, len(self.text))

    def _end_of_op(self, start: int) -> int:
        """Return where the next op starts, or the region around the op at `start` ends.

        The next op starts on a line of its own that is indented at most as much. Braces that a line opens and does not
        close count only if they are at its end, where regions start.
        """
        text, indent = self.text, self._indent(start)
        starts_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        first_line = text.find("\n", start) if starts_line else start
        depth = inline = 0  # of regions, and of braces opened in the same line
        is_nested_deeper = False
        position = start
        while True:
            match = _find_bracket(text, position)
            assert match is not None  # the expression matches everywhere
            position, mark = match.end(), match[1]
            if mark == "{":
                if _opens_region(text, position):
                    depth += 1
                    is_nested_deeper |= self._is_deeper(position, indent)
                else:
                    inline += 1
            elif mark == "}":
                if inline:
                    inline -= 1
                elif not depth:
                    if position <= first_line:  # a brace in the middle of the op
                        continue
                    return position - 1
                else:
                    depth -= 1
            elif not mark:
                return len(text)
            elif _starts_op(text, position):
                here = self._indent(position)
                if here <= indent and (is_nested_deeper or not depth):
                    return position

    def _indent(self, offset: int) -> int:
        """Return how many blanks there are at the start of the line of an offset."""
        line = self.text.rfind("\n", 0, offset) + 1
        end = line
        while end < len(self.text) and self.text[end] in " \t":
            end += 1
        return end - line

    def _is_deeper(self, position: int, indent: int) -> bool:
        line = self.text.find("\n", position)
        return line >= 0 and self._indent(line + 1) > indent

    # --- values -------------------------------------------------------------------------------------------------

    def operand(self) -> tuple[str, int]:
        name, offset = super().operand()
        self.places[name] = offset, self.places.get(name, (offset, offset))[0]
        return name, offset

    def _value(self, name: str, offset: int, type: Type | None) -> Value:
        poisoned = self._poisoned_value(name)
        if poisoned is None:
            return super()._value(name, offset, type)
        if type is None:
            raise _Silent(f"%{name} is not known")
        value = Value(type, poisoned.op, len(poisoned.op.results), name)
        poisoned.op.results.append(value)
        self.poisoned.add(value)
        return value

    def _conflict(self, name: str, used: Type, defined: Type, offset: int) -> MalformedError:
        error = super()._conflict(name, used, defined, offset)
        value = self.scope.values.get(name) or self.scope.values.get(name.removesuffix("#0"))
        return error if value is None else self._with_definition(error, value)

    def _redefine(self, name: str, value: Value, offset: int) -> Value:
        known = self.scope.values[name]
        if self.definitions.get(known) == offset:  # the names of a list of arguments are bound at its end
            self.definitions[known] = self.places.get(name, (offset, offset))[1]
        try:
            return super()._redefine(name, value, offset)
        except MalformedError as error:
            raise self._with_definition(error, known) from None

    def _with_definition(self, error: MalformedError, value: Value) -> MalformedError:
        """Return an error with the note that says where a value is defined."""
        place = self.definitions.get(value)
        note = definition_note(value) if place is None else defined_here(value, self.location(place))
        return MalformedError([replace(error.diagnostics[0], definitions=(note,) if note else ())])

    def _poisoned_value(self, name: str) -> _Poisoned | None:
        scope: Scope | None = self.scope
        while scope is not None:
            for known in (scope.values.get(name), scope.values.get(name.partition("#")[0])):
                if known is not None:
                    return known if isinstance(known, _Poisoned) else None
            scope = scope.above
        return None

    def define(self, name: str, value: Value, offset: int) -> Value:
        if isinstance(self.scope.values.get(name), _Poisoned):
            del self.scope.values[name]
        place = offset if self.text.startswith("%", offset) else self.places.get(name, (offset,))[0]
        self.definitions[value] = place
        return super().define(name, value, place)

    def _expect_value(self, name: str, offset: int, type: Type | None) -> Value:
        if type is None:
            raise self._undeclared(name, offset)
        return super()._expect_value(name, offset, type)

    def check_scope(self) -> None:
        # Definitions may be lost in text without structure, or belong to a function that was closed too early.
        follows = self.is_unstructured or (self.function < 0 and bool(self.errors))
        for name, offset in self.scope.expected.items():
            self.poisoned.add(self.scope.values[name])
            if not follows:
                self._report_earlier(self._undeclared(name, offset))

    def _undeclared(self, name: str, offset: int) -> MalformedError:
        declared = (known for known in self.scope.values if known not in self.scope.expected)
        hint = did_you_mean(name, declared, "%")
        return self.error(f"use of undeclared SSA value name '%{name}'{hint}", offset)

    def _report_earlier(self, error: MalformedError) -> None:
        """Report an error in text that has been parsed."""
        self.resumed, kept = -1, self.resumed
        self.report(error)
        self.resumed = kept


def recover(source: Source, allow_unregistered_dialect: bool = False) -> Recovered:
    """Parse a program that has an error and return all its errors, in the order of the text."""
    return recover_with(RecoveringParser(source, allow_unregistered_dialect))


def recover_with(parser: RecoveringParser) -> Recovered:
    """Let a parser parse its text, and return the errors in the order of the text, and the module."""
    module = None
    try:
        with collection_paused():
            module = parser.program()
    except (_TooMany, RecursionError, StablehloError):
        pass
    errors = sorted(parser.errors, key=lambda error: error.location.offset if error.location else -1)
    return Recovered(errors, module, parser.poisoned)
