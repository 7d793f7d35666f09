"""The parser: operations, blocks and regions, by recursive descent."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence

from stablehlo_ref.define.assembly import Draft, attribute_dictionary, let_dictionary_win
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import REGISTRY, OpDefinition, Traits, did_you_mean_op, traits_of
from stablehlo_ref.define.plugins import PluginError, load_dialect
from stablehlo_ref.diagnostics import LimitError, Location, MalformedError, Source, UnsupportedError
from stablehlo_ref.ir.attributes import VERBATIM, Attribute
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.lexer import STRING, SUFFIX, shorten, token
from stablehlo_ref.ir.types import OpaqueType, Type
from stablehlo_ref.limits.budget import activity, check_time
from stablehlo_ref.limits.stack import FRAMES, collection_paused, on_enough_stack
from stablehlo_ref.ops.reduction import copy_applied_region
from stablehlo_ref.suggestions import did_you_mean
from stablehlo_ref.syntax import verbatim
from stablehlo_ref.syntax.assembly import assembly_of
from stablehlo_ref.syntax.file import RESULT, FileParser, Scope
from stablehlo_ref.syntax.foreign import VHLO_FUNCTION, parse_vhlo_function, upgrade_vhlo
from stablehlo_ref.syntax.lines import CONSTANT, Line, LineKey, constant_line, find_names, match_line
from stablehlo_ref.syntax.mhlo import (
    adopt_meaning,
    equivalent,
    has_form_of_its_own,
    keep_unequal,
    ops_with_equal,
    parse_as_mhlo,
)

# Ops that MLIR prints without their dialect.
BARE_NAMES = {
    "module": "builtin.module",
    "unrealized_conversion_cast": "builtin.unrealized_conversion_cast",
    "func": "func.func",
    "call": "func.call",
    "return": "func.return",
    "call_indirect": "func.call_indirect",
    "constant": "func.constant",
}
# Other dialects of MLIR and of frameworks. Their ops are accepted in generic form; only running one is an error.
KNOWN_DIALECTS = frozenset((
    "affine", "arith", "bufferization", "builtin", "cf", "func", "jax", "linalg", "llvm", "math", "memref", "mesh",
    "mhlo", "ml_program", "mosaic_gpu", "mpmd", "quant", "scf", "sdy", "shape", "shard", "sparse_tensor", "tensor",
    "tf", "tf_device", "tf_executor", "tf_saved_model", "tfl", "tosa", "tpu", "transform", "tt", "ub", "vector", "vhlo",
    "xla", "xla_cpu", "xla_gpu", "xla_tpu",
))  # fmt: skip
REDUCTIONS = ("stablehlo.reduce",)  # ops whose pretty form may have a region without braces
COMPLETE_DIALECTS = frozenset(("check", "chlo", "interpreter", "stablehlo"))  # dialects all of whose ops have a class

_RESULTS = rf"{RESULT}\s*+((?:,\s*+%{SUFFIX}(?:\s*:\s*\d++)?+\s*+)*+)=\s*+"
match_results = token(_RESULTS)
match_alias = token(rf"[#!]{SUFFIX}\s*+=")
match_head = token(rf"(?:{_RESULTS})?+(?:([A-Za-z_][\w$.]*+)|({STRING}))")


class Parser(FileParser):
    """Parses a program."""

    def __init__(self, source: Source, allow_unregistered_dialect: bool = False) -> None:
        super().__init__(source)
        self.allow_unregistered_dialect = allow_unregistered_dialect
        self.lines: dict[LineKey, Line] = {}

    # --- the whole text -----------------------------------------------------------------------------------------

    # program ::= (operation | alias | metadata)*
    def program(self) -> Operation:
        """Parse the whole text and return the module: the only operation, or a module around all operations."""
        operations: list[Operation] = []
        while start := self.peek():
            check_time("parsing")
            if start == "{-#":
                self.metadata()
            elif start[0] in "#!":
                self.alias()
            else:
                operations.append(self.operation())
        self._check_labels({}, [(label, op.location.offset) for op in operations for label in op.successors])
        self.check_scope()
        self.check_locations()
        self.fill_resources()
        if len(operations) == 1 and operations[0].name == "builtin.module":
            return operations[0]
        location = self.location(operations[0].location.offset if operations else 0)
        region = Region([Block([], operations)])
        return Operation("builtin.module", [], [], {}, {}, [region], location)

    # --- operations ---------------------------------------------------------------------------------------------

    # operation ::= (results =)? (string generic-form | name pretty-form) location?
    def operation(self) -> Operation:
        """Parse an operation."""
        return self._line(match) if (match := match_line(self.text, self.position)) else self._operation_and_draft()[0]

    def _line(self, match: re.Match[str]) -> Operation:
        """Parse an operation on one line."""
        names = find_names(match[4]) + (find_names(match[6]) if match[6] else [])
        key = match.group(2, 3, 5, 7), len(names)
        line = self.lines.get(key)
        if line is None and match[2] == CONSTANT and (line := constant_line(key, self.types)):
            self.lines[key] = line
        return (line and self._repeat(line, names, match)) or self._first(match, names, key)

    def _repeat(self, line: Line, names: list[str], match: re.Match[str]) -> Operation | None:
        """Return the operation of a line that differs from a parsed one in names only; None if it is in error."""
        scope, result = self.scope, match[1]
        values = scope.values
        if result and (result in values or len(line.result_types) != 1):
            return None
        try:
            operands = [values[name] for name in names]
        except KeyError:
            return None
        for value, type in zip(operands, line.operand_types or ()):
            if value.type is not type and value.type != type:
                return None
        location = Location(self.source, match.start(2))
        op = Operation(
            line.name, operands, line.result_types, line.properties.copy(), line.attributes.copy(),
            [copy_applied_region(region, location) for region in line.regions] if line.regions else (), location,
        )  # fmt: skip
        op.spelling = line.spelling
        if result:
            value = op.results[0]
            value.name = result
            values[result] = value
            scope.defined.append(result)
        if match[8]:
            op.debug_location = self.location_alias(match[8], match.start(8))
        self.position = match.end()
        return op

    def _first(self, match: re.Match[str], names: list[str], key: LineKey) -> Operation:
        """Parse an operation; if it is all of the line and has no region in braces, memoize the line."""
        op, draft = self._operation_and_draft()
        whole = self.position <= match.end() and not self.text[self.position : match.end()].strip()
        simple = not draft.regions or (draft.name in REDUCTIONS and "{" not in match[0])
        simple = simple and not draft.successors and VERBATIM not in draft.members
        has_known_location = (op.debug_location is None) == (match[8] is None)
        if whole and simple and has_known_location and names == [name for name, _ in draft.operands]:
            self.lines[key] = Line(
                op.name, draft.operand_types, draft.result_types, op.properties.copy(),
                op.attributes.copy(), op.regions, op.spelling,
            )  # fmt: skip
        return op

    def _operation_and_draft(self) -> tuple[Operation, Draft]:
        match = match_head(self.text, self.position)
        if not match:
            results = self.take(match_results(self.text, self.position))
            if not results and match_alias(self.text, self.position):
                raise self.error(f"alias '{self.peek()}' is defined in a region; move it to the top level, as in MLIR")
            raise self.expected("the name of an op" if results else "an operation", starts_line=not results)
        self.position = match.end()
        draft = self._pretty(match) if match[4] else self.generic_form(match)
        op = self._build(draft)
        if VERBATIM in draft.members:
            self.assumed.update(op.results)
        if match[1] is not None:
            self.define_results(op, match)
        op.debug_location = self.trailing_location()
        return op, draft

    def _pretty(self, match: re.Match[str]) -> Draft:
        written, offset = BARE_NAMES.get(match[4], match[4]), match.start(4)
        name = _meaning(written)
        if name == VHLO_FUNCTION:
            draft = Draft(name, None, offset)
            parse_vhlo_function(self, draft)
            upgrade_vhlo(self, draft)
            return draft
        if name not in REGISTRY:
            self._load_dialect(name, offset)
        definition = REGISTRY.get(name)
        if definition is None and self._keeps_text_of(name):
            return self._verbatim(name, offset, sum(count for _, count in self.result_groups(match)))
        if definition is None or not definition.syntax:
            raise self.error(_unknown_op(name), offset)
        draft = Draft(name, definition, offset)
        draft.spelling = "mhlo" if name != written else ""
        if draft.spelling and has_form_of_its_own(name):
            parse_as_mhlo(self, draft, definition)
        else:
            assembly_of(definition).parse(self, draft)
        let_dictionary_win(self, draft)
        if draft.spelling:
            keep_unequal(draft, written)
        return draft

    def _keeps_text_of(self, name: str) -> bool:
        dialect, dot, _ = name.partition(".")
        return self.allow_unregistered_dialect and bool(dot) and dialect not in COMPLETE_DIALECTS

    def _verbatim(self, name: str, offset: int, count: int) -> Draft:
        """Keep the text of an op up to the next one. Types of its results follow from their uses, or are guessed."""
        start, end = self.position, verbatim.end_of_op(self.text, self.position)
        if end is None:
            raise self.error(f"unbalanced brackets in the pretty form of op '{shorten(name)}'", offset)
        draft = Draft(name, None, offset)
        line = self.text.rfind("\n", 0, offset) + 1
        indent = len(self.text[line:offset]) - len(self.text[line:offset].lstrip(" \t"))
        text = self.without_aliases(verbatim.without_details(self.text[start:end]))
        form, operands = verbatim.form_of(verbatim.dedented(text, indent), self.is_visible)
        draft.operands = [(operand, offset) for operand in operands]
        draft.members[VERBATIM] = form
        if symbol := verbatim.symbol_in(name, text):
            draft.members["sym_name"] = symbol
        draft.successors = verbatim.labels_in(text)
        draft.result_types = self._guessed_types(start, end, count) if count else ()
        self.position = end
        return draft

    def _guessed_types(self, start: int, end: int, count: int) -> tuple[Type, ...]:
        """Return the types at the end of a text, if there is one for each result or one for all."""
        types: tuple[Type, ...] = ()
        depth = self.depth
        for mark in ("->", " : "):
            at = self.text.rfind(mark, start, end)
            if at < 0:
                continue
            self.position = at + len(mark)
            try:
                types = tuple(self.items(self.type, "(", ")")) if self.peek() == "(" else self.type_list()
            except (MalformedError, UnsupportedError):
                types, self.depth = (), depth
            if types:
                break
        if len(types) == count:
            return types
        return types * count if len(types) == 1 else (OpaqueType("!unknown"),) * count

    # generic-form ::= ( operands ) successors? properties? (( regions ))? dictionary? : function-type
    def generic_form(self, match: re.Match[str]) -> Draft:
        """Parse an op in generic form, given the match of its name."""
        offset = match.start(5)
        written = self.unescape(match[5], offset)
        name = _meaning(written)
        self._check_dialect(name, offset)
        # Until a renamed op is what it means, its properties are those that it has under its own name.
        draft = Draft(name, REGISTRY.get(name) if name == written else None, offset)
        draft.operands = self.items(self.operand, "(", ")")
        if self.peek() == "[":
            draft.successors = self.items(self.label, "[", "]")
        self.upgrades = is_vhlo = name.startswith("vhlo.")
        self.properties(draft, is_checked=name == written)
        self.upgrades = False
        if self.peek() == "(":
            draft.regions = self.items(lambda: self.region((), *_visibility(draft)), "(", ")")
        self.upgrades = is_vhlo
        attribute_dictionary(self, draft)
        self.upgrades = False
        self.expect(":")
        self.functional_type(draft)
        if is_vhlo:
            upgrade_vhlo(self, draft)
        elif name != written:
            adopt_meaning(draft, written)
        return draft

    def _load_dialect(self, name: str, offset: int) -> None:
        """Load the package that has the ops of a dialect, if there is one."""
        dialect = name.partition(".")[0]
        if dialect not in COMPLETE_DIALECTS:
            try:
                load_dialect(dialect)
            except PluginError as error:
                raise self.error(str(error), offset) from error

    def _check_dialect(self, name: str, offset: int) -> None:
        dialect, dot, _ = name.partition(".")
        if name not in REGISTRY:
            self._load_dialect(name, offset)
        if name in REGISTRY or self.allow_unregistered_dialect:
            return
        if dialect in COMPLETE_DIALECTS:
            raise self.error(_unknown_op(name), offset)
        if not dot or dialect not in KNOWN_DIALECTS:
            hint = "use allow_unregistered_dialect or --allow-unregistered-dialect to accept it"
            if meant := did_you_mean_op(name, KNOWN_DIALECTS):
                hint = f"{meant.removeprefix('; ')[:-1]}, or {hint}"
            raise self.error(f"op '{shorten(name)}' belongs to an unregistered dialect; {hint}", offset)

    # properties ::= (< dictionary >)?
    def properties(self, draft: Draft, is_checked: bool = True) -> None:
        """Parse `<{...}>`, if it is next; unless it `is_checked`, any name may stand in it."""
        if self.accept("<"):
            offset = self.start
            written = self.attribute()
            if not isinstance(written, dict):
                raise self.error("expected a dictionary of properties", offset)
            self.expect(">")
            if draft.definition is None:
                draft.members = written
            else:
                draft.attributes |= self._known(draft.definition, written, offset) if is_checked else written

    def _known(
        self, definition: OpDefinition, written: Mapping[str, Attribute], offset: int
    ) -> Mapping[str, Attribute]:
        try:
            return definition.known_properties(written)
        except ValueError as error:
            raise self.error(str(error), offset) from None

    def functional_type(self, draft: Draft) -> None:
        """Parse `(operand types) -> result types`."""
        offset = self.start
        if self.peek() != "(":
            raise self.expected("a functional type such as '(tensor<f32>) -> tensor<f32>'")
        type = self.function_type()
        if len(type.inputs) != len(draft.operands):
            raise self.error(f"{len(draft.operands)} operands present, but expected {len(type.inputs)}", offset)
        draft.operand_types, draft.result_types = type.inputs, type.outputs

    def op_name(self) -> str:
        """Parse the name of an op with its dialect, with or without quotes."""
        return _meaning(self.string() if self.peek()[:1] == '"' else self.word("the name of an op"))

    def _build(self, draft: Draft) -> Operation:
        op = build_operation(
            draft.name,
            self.resolve(draft),
            draft.result_types,
            self.location(draft.offset),
            attributes=draft.attributes,
            members=draft.members,
            regions=draft.regions,
            successors=draft.successors,
        )
        op.spelling = draft.spelling
        return op

    # --- regions and blocks -------------------------------------------------------------------------------------

    # region ::= { operation* block* }
    def region(
        self, arguments: Sequence[Value] = (), isolated: bool = False, shadows: bool = False, implied: str = ""
    ) -> Region:
        """Parse a region; `arguments` are those of its first block, if they are parsed elsewhere.

        A block without a terminator gets `implied`, the name of an op without operands, if that is given.
        The names of values from above are unknown in an isolated region. In one that `shadows`, they may be redefined.
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
        blocks = self._blocks(list(arguments))
        region = Region(self._terminated(blocks, implied) if implied else blocks)
        if isolated:
            self.check_scope()
        elif shadows:
            self.scope.forward_uses()
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
        self._check_labels(labels, used)
        return blocks

    def _check_labels(self, labels: Container[str], used: Iterable[tuple[str, int]]) -> None:
        for label, offset in used:
            if label not in labels:
                raise self.error(f"reference to an undefined block '^{label}'", offset)

    def _terminated(self, blocks: list[Block], implied: str) -> list[Block]:
        """Return the blocks, each with a terminator."""
        blocks = blocks or [Block([], [])]
        for block in blocks:
            if not block.operations or not traits_of(block.operations[-1]).terminator:
                end = build_operation(implied, [], [], self.location(self.position - 1))
                end.parent = block
                block.operations.append(end)
        return blocks

    # block ::= label (( arguments ))? : operation*
    def _block(self, labels: dict[str, int], used: list[tuple[str, int]]) -> Block:
        offset, label = self.start, self.label()
        if label in labels:
            raise self.error(f"redefinition of block '^{label}'", offset)
        labels[label] = offset
        arguments = self.argument_list() if self.peek() == "(" else []
        for argument in arguments:
            self.define(argument.name, argument, offset)
        self.expect(":")
        return Block(arguments, self._operations(used), label)

    def label(self) -> str:
        """Parse the label of a block; return it without `^`."""
        if self.peek()[:1] != "^" or len(self.peek()) < 2:
            raise self.expected("a block label such as '^bb0'")
        return self.advance()[1:]

    def _operations(self, used: list[tuple[str, int]]) -> list[Operation]:
        operations = []
        while (match := match_line(self.text, self.position)) or self.peek()[:1] not in ("}", "^", ""):
            check_time("parsing")
            op = self._line(match) if match else self._operation_and_draft()[0]
            operations.append(op)
            if op.successors:
                used += [(label, op.location.offset) for label in op.successors]
        if not self.peek():
            raise self.expected("'}'")
        return operations


def _meaning(written: str) -> str:
    """Return the name of the op that an op of mhlo is; that of any other op itself."""
    return equivalent(written) if written.startswith("mhlo.") else written


def _unknown_op(name: str) -> str:
    """Return the message for an op that is unknown or has no pretty form, with a similar name if there is one."""
    dialect, dot, mnemonic = name.partition(".")
    meant = "" if name in REGISTRY else did_you_mean_op(name, KNOWN_DIALECTS)
    if dialect == "mhlo":
        meant = did_you_mean(mnemonic, ops_with_equal(), "mhlo.")
    if name not in REGISTRY and (dialect in COMPLETE_DIALECTS or (meant and dialect not in KNOWN_DIALECTS)):
        return f"unknown op '{shorten(name)}'{meant}"
    hint = ", or --allow-unregistered-dialect to keep its text" if name not in REGISTRY and dot else ""
    return f"unsupported pretty form of op '{shorten(name)}'; use its generic form{hint}{meant}"


def _visibility(draft: Draft) -> tuple[bool, bool]:
    """Return whether the regions of an op are isolated from above, and whether they may shadow names."""
    definition = REGISTRY.get(draft.name)
    traits = definition.traits if definition else Traits()
    return traits.isolated_from_above, traits.shadows_names


def parse(source: Source, allow_unregistered_dialect: bool = False) -> Operation:
    """Parse a program and return its `builtin.module`, which is implied where the text lists other operations.

    Raises MalformedError if the text is not MLIR, or nests more than `lexer.MAX_NESTING` levels deep.
    """
    parser = Parser(source, allow_unregistered_dialect)
    size = max(len(source.text), 1)
    with collection_paused(), activity(f"reading {source.filename}", lambda: parser.position / size):
        return on_enough_stack(Location(source, 0), FRAMES, _program, parser)


def _program(parser: Parser) -> Operation:
    try:
        return parser.program()
    except LimitError as error:  # the time for parsing is over
        raise error.at(parser.location(parser.start)) from None
    except RecursionError as error:  # Python's recursion limit is low
        raise parser.error("the nesting exceeds Python's recursion limit") from error


def parse_attribute(source: Source) -> Attribute:
    """Parse an attribute; MalformedError if the text is not one, or continues after it."""
    parser = Parser(source)
    attribute = parser.attribute()
    if parser.peek():
        raise parser.expected("the end of the attribute")
    return attribute
