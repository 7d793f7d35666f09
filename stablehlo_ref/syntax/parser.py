"""Text to program: operations, blocks, regions, aliases and resources, by recursive descent."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, NamedTuple

from stablehlo_ref.define import Op
from stablehlo_ref.diagnostics import Location, Source
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.types import Type
from stablehlo_ref.syntax.assembly import assembly_of
from stablehlo_ref.syntax.directive import Draft
from stablehlo_ref.syntax.lexer import STRING, SUFFIX, shorten, token
from stablehlo_ref.syntax.regions import again
from stablehlo_ref.syntax.values import RESULT, VALUE, Scope, ValueParser

# Ops that MLIR writes without their dialect.
BARE_NAMES = {
    "module": "builtin.module",
    "unrealized_conversion_cast": "builtin.unrealized_conversion_cast",
    "func": "func.func",
    "call": "func.call",
    "return": "func.return",
}
# Dialects of others whose ops may stand in a program, in generic form; only running one is refused.
FOREIGN_DIALECTS = frozenset((
    "affine", "arith", "bufferization", "builtin", "cf", "func", "jax", "linalg", "llvm", "math", "memref", "mesh",
    "mhlo", "ml_program", "mosaic_gpu", "mpmd", "quant", "scf", "sdy", "shape", "shard", "sparse_tensor", "tensor",
    "tf", "tf_device", "tf_executor", "tf_saved_model", "tfl", "tosa", "tpu", "transform", "tt", "ub", "vector", "vhlo",
    "xla", "xla_cpu", "xla_gpu", "xla_tpu",
))  # fmt: skip
REDUCTIONS = ("stablehlo.reduce",)  # ops whose pretty form may have a region that is not written in braces
WHOLE_DIALECTS = frozenset(("check", "chlo", "interpreter", "stablehlo"))  # all of whose ops are known here

_match_head = token(
    rf"(?:{RESULT}\s*+((?:,\s*+%{SUFFIX}(?:\s*:\s*\d++)?+\s*+)*+)=\s*+)?+(?:([A-Za-z_][\w$.]*+)|({STRING}))"
)
# An operation that may be one line: its result, its name, its operands in one or two lists and what stands around them,
# its location. Longer lines are not worth remembering.
_VALUES = rf"((?:%{VALUE}(?:,\s*+%{VALUE})*+)?+)"
_match_line = token(
    rf"(?:%({SUFFIX})\s*+=\s*+)?+([A-Za-z_][\w$.]*+|{STRING})([^%\n/]{{0,200}}+){_VALUES}([^%\n/]{{0,20}}+){_VALUES}"
    r"((?:[^%\n/l]{1,500}+|l(?!oc\()|/(?!/)){0,50}+)(?:loc\((\#[\w$.\-]++)\))?+[ \t\r]*+\n"
)
_find_names = re.compile(r"%([^\s,]++)").findall


class Line(NamedTuple):
    """What the text of an operation says but for the names in it; such lines come again and again."""

    name: str
    definition: type[Op] | None
    operand_types: tuple[Type, ...] | None
    result_types: tuple[Type, ...]
    properties: dict[str, Any]
    attributes: dict[str, Any]
    regions: list[Region]  # no more than a reduction's `applies op`


class Parser(ValueParser):
    """Reads a whole program."""

    def __init__(self, source: Source, allow_unregistered_dialect: bool = False) -> None:
        super().__init__(source)
        self.allow_unregistered_dialect = allow_unregistered_dialect
        self.lines: dict[tuple[Any, int], Line] = {}

    # --- the whole text -----------------------------------------------------------------------------------------

    # program ::= (operation | alias | metadata)*
    def program(self) -> Operation:
        """The module: the only operation, or one around all operations."""
        operations: list[Operation] = []
        while start := self.peek():
            if start == "{-#":
                self.metadata()
            elif start[0] in "#!":
                self.alias()
            else:
                operations.append(self.operation())
        self.check_scope()
        self.check_locations()
        self.fill_resources()
        if len(operations) == 1 and operations[0].name == "builtin.module":
            return operations[0]
        location = self.location(operations[0].location.offset if operations else 0)
        region = Region([Block([], operations)])
        return Operation("builtin.module", Op.registry.get("builtin.module"), [], [], {}, {}, [region], location)

    # --- operations ---------------------------------------------------------------------------------------------

    # operation ::= (results =)? (string generic-form | name pretty-form) location?
    def operation(self) -> Operation:
        match = _match_line(self.text, self.position)
        if not match:
            return self._operation()
        names = _find_names(match[4])
        if match[6]:
            names += _find_names(match[6])
        key = match.group(2, 3, 5, 7), len(names)
        line = self.lines.get(key)
        return (line and self._repeat(line, names, match)) or self._first(match, names, key)

    def _repeat(self, line: Line, names: list[str], match: re.Match[str]) -> Operation | None:
        """The operation on a line that differs in names only from one that was read before; None if it is in error."""
        scope, result = self.scope, match[1]
        values = scope.values
        operands = [values[name] for name in names if name in values]
        if len(operands) != len(names) or (result and (result in values or len(line.result_types) != 1)):
            return None
        for value, type in zip(operands, line.operand_types or ()):
            if value.type is not type and value.type != type:
                return None
        location = Location(self.source, match.start(2))
        op = Operation(
            line.name, line.definition, operands, line.result_types, line.properties.copy(), line.attributes.copy(),
            [again(region, location) for region in line.regions] if line.regions else [], location,
        )  # fmt: skip
        if result:
            value = op.results[0]
            value.name = result
            values[result] = value
            scope.defined.append(result)
        if match[8]:
            op.debug_location = self.location_alias(match[8], match.start(8))
        self.position = match.end()
        return op

    def _first(self, match: re.Match[str], names: list[str], key: tuple[Any, int]) -> Operation:
        """Reads an operation; if it is all of the line and has no region in braces, remembers what the line says."""
        op, draft = self._operation_and_draft()
        whole = self.position <= match.end() and not self.text[self.position : match.end()].strip()
        simple = not draft.regions or (draft.name in REDUCTIONS and "{" not in match[0])
        if whole and simple and names == [name for name, _ in draft.operands]:
            self.lines[key] = Line(
                op.name, op.definition, draft.operand_types, draft.result_types, op.properties.copy(),
                op.attributes.copy(), op.regions,
            )  # fmt: skip
        return op

    def _operation(self) -> Operation:
        return self._operation_and_draft()[0]

    def _operation_and_draft(self) -> tuple[Operation, Draft]:
        match = _match_head(self.text, self.position)
        if not match:
            raise self.expected("an operation", starts_line=True)
        self.position = match.end()
        draft = self._pretty(match[4], match.start(4)) if match[4] else self._generic(match)
        op = self._build(draft)
        if match[1] is not None:
            self.define_results(op, match)
        op.debug_location = self.trailing_location()
        return op, draft

    def _pretty(self, name: str, offset: int) -> Draft:
        name = BARE_NAMES.get(name, name)
        definition = Op.registry.get(name)
        if definition is None or not definition.syntax:
            raise self.error(_not_known(name), offset)
        draft = Draft(name, definition, offset)
        assembly_of(definition).parse(self, draft)
        return draft

    # generic-form ::= ( operands ) successors? properties? (( regions ))? dictionary? : function-type
    def _generic(self, match: re.Match[str]) -> Draft:
        offset = match.start(5)
        name = self.unescape(match[5], offset)
        self._check_dialect(name, offset)
        draft = Draft(name, Op.registry.get(name), offset)
        draft.operands = self.items(self.operand, "(", ")")
        if self.peek() == "[":
            draft.successors = self.items(self._label, "[", "]")
        self.properties(draft)
        if self.peek() == "(":
            draft.regions = self.items(lambda: self.region((), *_visibility(draft)), "(", ")")
        if self.peek() == "{":
            draft.attributes |= self.dictionary()
        self.expect(":")
        self.functional_type(draft)
        return draft

    def _check_dialect(self, name: str, offset: int) -> None:
        dialect, dot, _ = name.partition(".")
        if name in Op.registry or self.allow_unregistered_dialect:
            return
        if dialect in WHOLE_DIALECTS:
            raise self.error(_not_known(name), offset)
        if not dot or dialect not in FOREIGN_DIALECTS:
            message = f"'{shorten(name)}' is of an unregistered dialect, which has to be allowed expressly"
            raise self.error(message, offset)

    # properties ::= (< dictionary >)?
    def properties(self, draft: Draft) -> None:
        if self.accept("<"):
            written = self.attribute()
            if not isinstance(written, dict):
                raise self.error("properties are a dictionary", draft.offset)
            self.expect(">")
            if draft.definition is None:
                draft.members = written
            else:
                draft.attributes |= written

    def functional_type(self, draft: Draft) -> None:
        """Reads a functional type that says the types of operands and results."""
        offset = self.start
        if self.peek() != "(":
            raise self.expected("a functional type such as '(tensor<f32>) -> tensor<f32>'")
        type = self.function_type()
        if len(type.inputs) != len(draft.operands):
            raise self.error(f"{len(draft.operands)} operands present, but expected {len(type.inputs)}", offset)
        draft.operand_types, draft.result_types = type.inputs, type.outputs

    def op_name(self) -> str:
        """The name of an op, with its dialect, in quotes or without."""
        return self.string() if self.peek()[:1] == '"' else self.word("the name of an op")

    def _build(self, draft: Draft) -> Operation:
        members, attributes = draft.members, draft.attributes
        if draft.definition is not None and attributes:
            decoded, attributes = draft.definition.decode(attributes)
            members = decoded | members
        _normalise(draft, members)
        operands = self.resolve(draft)
        op = Operation(
            draft.name, draft.definition, operands, draft.result_types, members, attributes, draft.regions,
            self.location(draft.offset),
        )  # fmt: skip
        op.successors = draft.successors
        return op

    # --- regions and blocks -------------------------------------------------------------------------------------

    # region ::= { operation* block* }
    def region(self, arguments: Sequence[Value] = (), isolated: bool = False, shadows: bool = False) -> Region:
        """A region whose first block may have its arguments written elsewhere.

        Where it `shadows`, names from above are known, and may be given anew.
        """
        self.descend()
        outer = self.scope
        if isolated or shadows:
            self.scope = Scope(outer if shadows else None)
        first_defined = len(self.scope.defined)
        offset = self.start
        self.expect("{")
        for argument in arguments:
            self.define(argument.name, argument, offset)
        region = Region(self._blocks(list(arguments)))
        if isolated:
            self.check_scope()
        elif shadows:
            self.scope.ask_above()
        self.leave(first_defined)
        self.scope = outer
        self.depth -= 1
        return region

    def _blocks(self, arguments: list[Value]) -> list[Block]:
        blocks: list[Block] = []
        labels: dict[str, int] = {}
        used: list[tuple[str, int]] = []
        if arguments or self.peek()[:1] not in ("^", "}"):
            blocks.append(Block(arguments, self._operations(used)))
        while not self.accept("}"):
            blocks.append(self._block(labels, used))
        for label, offset in used:
            if label not in labels:
                raise self.error(f"reference to an undefined block '^{label}'", offset)
        return blocks

    # block ::= label (( arguments ))? : operation*
    def _block(self, labels: dict[str, int], used: list[tuple[str, int]]) -> Block:
        offset, label = self.start, self._label()
        if label in labels:
            raise self.error(f"redefinition of block '^{label}'", offset)
        labels[label] = offset
        arguments = self.items(self.argument, "(", ")") if self.peek() == "(" else []
        for index, argument in enumerate(arguments):
            argument.index = index
            self.define(argument.name, argument, offset)
        self.expect(":")
        return Block(arguments, self._operations(used), label)

    def _label(self) -> str:
        if self.peek()[:1] != "^" or len(self.peek()) < 2:
            raise self.expected("a block's label such as '^bb0'")
        return self.advance()[1:]

    def _operations(self, used: list[tuple[str, int]]) -> list[Operation]:
        operations = []
        while self.peek()[:1] not in ("}", "^", ""):
            offset = self.start
            op = self.operation()
            operations.append(op)
            if op.successors:
                used += [(label, offset) for label in op.successors]
        if not self.peek():
            raise self.expected("'}'")
        return operations


def _not_known(name: str) -> str:
    """Why an op can't be read in a pretty form, and which op may be meant."""
    dialect = name.partition(".")[0]
    if name in Op.registry or dialect not in WHOLE_DIALECTS:
        return f"'{shorten(name)}' has no pretty form that is known here; its generic form may be"
    close = get_close_matches(name, Op.registry, 1)
    return f"'{shorten(name)}' is no op of {dialect}" + (f"; is '{close[0]}' meant?" if close else "")


def _normalise(draft: Draft, members: dict[str, Any]) -> None:
    """A module always has a block; a function's lists of attributes stand there only if one of them has some."""
    if draft.name == "builtin.module" and draft.regions and not draft.regions[0].blocks:
        draft.regions[0] = Region([Block([], [])])
    if draft.name == "func.func":
        for name in ("arg_attrs", "res_attrs"):
            if isinstance(members.get(name), tuple) and not any(members[name]):
                del members[name]


def _visibility(draft: Draft) -> tuple[bool, bool]:
    """Whether regions see no values from above, and whether they may hide them."""
    definition = draft.definition or Op
    return definition.isolated, definition.shadows


@contextmanager
def collection_paused() -> Iterator[None]:
    """Keeps the garbage collector from searching, again and again, a growing program in which nothing is garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse(source: Source, allow_unregistered_dialect: bool = False) -> Operation:
    """The module that `source` spells: `builtin.module`, implied where the text is a list of other operations.

    Raises MalformedError for what is not MLIR. Regions, types and attributes may be nested `lexer.MAX_NESTING` deep.
    """
    parser = Parser(source, allow_unregistered_dialect)
    try:
        with collection_paused():
            return parser.program()
    except RecursionError as error:  # the caller itself stands deep in the stack
        raise parser.error("nested too deeply for what is left of Python's stack") from error


def parse_attribute(source: Source) -> Any:
    """The one attribute that `source` spells; MalformedError for what is none, or where more follows."""
    parser = Parser(source)
    attribute = parser.attribute()
    if parser.peek():
        raise parser.expected("the end of the attribute")
    return attribute
