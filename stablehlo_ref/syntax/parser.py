"""Text to program: operations, blocks, regions, aliases and resources, by recursive descent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stablehlo_ref.define import Op
from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.attributes import DenseResource
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.locations import DebugLocation, LocationAlias
from stablehlo_ref.ir.types import TensorType, Type
from stablehlo_ref.syntax import literals
from stablehlo_ref.syntax.assembly import assembly_of
from stablehlo_ref.syntax.attributes import AttributeParser
from stablehlo_ref.syntax.directive import Draft
from stablehlo_ref.syntax.lexer import STRING, SUFFIX, TRIVIA, token

# Ops that MLIR writes without their dialect.
BARE_NAMES = {
    "module": "builtin.module",
    "unrealized_conversion_cast": "builtin.unrealized_conversion_cast",
    "func": "func.func",
    "call": "func.call",
    "return": "func.return",
}
# Dialects of others whose ops may stand in a program, in generic form; only running one is refused.
FOREIGN_DIALECTS = frozenset(
    "affine arith bufferization cf emitc gpu linalg llvm math memref mhlo mesh ml_program mpmd nvvm quant rocdl scf "
    "sdy shape shard sparse_tensor spirv tensor tf tf_device tf_executor tf_saved_model tfl thlo tosa transform triton "
    "tt ub vector vhlo xla xla_cpu xla_gpu xla_tpu tpu jax mosaic_gpu triton_xla arm_neon".split()
)
KNOWN_DIALECTS = frozenset(("builtin", "check", "chlo", "func", "interpreter", "stablehlo"))
MAX_RESULTS = 1 << 20  # of one operation

_RESULT = rf"%({SUFFIX})(?:\s*:\s*(\d++))?+"
_match_head = token(rf"(?:{_RESULT}\s*+((?:,\s*+%{SUFFIX}(?:\s*:\s*\d++)?+\s*+)*+)=\s*+)?+(?:([A-Za-z_][\w$.]*+)|({STRING}))")
_find_results = re.compile(_RESULT, re.ASCII).finditer
_match_operand = token(rf"%({SUFFIX}(?:\#\d++)?+)")
_match_next_operand = token(rf",{TRIVIA}%({SUFFIX}(?:\#\d++)?+)")
_match_location = token(r"loc\((\#[\w$.\-]++)\)")
_find_alias = re.compile(r"^[ \t]*([#!][A-Za-z_$.\-][\w$.\-]*|[#!]\d+)[ \t]*=", re.ASCII | re.MULTILINE).finditer

Results = list[tuple[str, int]]  # names and how many values each stands for


class Scope:
    """The values that a text may name inside one isolated region."""

    __slots__ = ("defined", "expected", "values")

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.defined: list[str] = []  # in order, so that a region's end can take back what it defined
        self.expected: dict[str, int] = {}  # used before their definition: where


class Parser(AttributeParser):
    """Reads a whole program."""

    def __init__(self, source: Source, allow_unregistered_dialect: bool = False) -> None:
        super().__init__(source)
        self.allow_unregistered_dialect = allow_unregistered_dialect
        self.scope = Scope()
        self.attribute_aliases: dict[str, Any] = {}
        self.alias_ends: dict[int, int] = {}  # from where a definition starts to where it ends, of those read
        self.blobs: dict[str, bytes] = {}

    # --- the whole text -----------------------------------------------------------------------------------------

    # program ::= (operation | alias | metadata)*
    def program(self) -> Operation:
        """The module: the only operation, or one around all operations."""
        operations: list[Operation] = []
        while start := self.peek():
            if start == "{-#":
                self._metadata()
            elif start[0] in "#!":
                self._alias()
            else:
                operations.append(self.operation())
        self._check_scope()
        self._check_locations()
        self._fill_resources()
        if len(operations) == 1 and operations[0].name == "builtin.module":
            return operations[0]
        location = self.location(operations[0].location.offset if operations else 0)
        region = Region([Block([], operations)])
        return Operation("builtin.module", Op.registry.get("builtin.module"), [], [], {}, {}, [region], location)

    # --- aliases ------------------------------------------------------------------------------------------------

    # alias ::= (#name | !name) = (attribute | type | location)
    def _alias(self) -> None:
        offset = self.start
        if offset in self.alias_ends:  # read before, where it was used
            self.position = self.alias_ends[offset]
            return
        name = self.advance()
        if name in self.attribute_aliases or (name[0] == "!" and name in self.types):
            raise self.error(f"alias '{name}' is defined twice", offset)
        self.expect("=")
        if name[0] == "!":
            self.types[name] = self.type()
        elif self.peek() == "loc":
            self._location_alias_target(name, self.location_attribute())
        else:
            self.attribute_aliases[name] = self.attribute()
        self.alias_ends[offset] = self.position

    def _location_alias_target(self, name: str, target: DebugLocation) -> None:
        alias = self.location_aliases.setdefault(name, LocationAlias(name))
        self.location_uses.pop(name, None)
        alias.target = self.attribute_aliases[name] = target

    def attribute_alias(self, name: str) -> Any:
        if name not in self.attribute_aliases:
            self._define_alias(name)
        return self.attribute_aliases[name]

    def type_alias(self, name: str) -> Type:
        if name not in self.types:
            self._define_alias(name)
        return self.types[name]

    def _define_alias(self, name: str) -> None:
        """Reads the definition of an alias that is used before it, or fails."""
        kept, offset = self.position, self._later_aliases.pop(name, None)
        if offset is None:
            raise self.error(f"alias '{name}' is not defined", kept - len(name))
        self.position = offset
        self._alias()
        self.position = kept
        if name not in self.attribute_aliases and name not in self.types:
            raise self.error(f"alias '{name}' is not of the kind that is used here", kept - len(name))

    @property
    def _later_aliases(self) -> dict[str, int]:
        """Where lines in the rest of the text define aliases; looked up once, when the first is needed."""
        if not hasattr(self, "_aliases_below"):
            found = {m[1]: m.start(1) for m in reversed(list(_find_alias(self.text)))}
            self._aliases_below = found
        return self._aliases_below

    def _check_locations(self) -> None:
        for name, offset in self.location_uses.items():
            raise self.error(f"location alias '{name}' is not defined", offset)

    # --- resources ----------------------------------------------------------------------------------------------

    # metadata ::= {-# (section (, section)*)? #-} ; section ::= word : { group, ... } ; group ::= word : { entry, ... }
    def _metadata(self) -> None:
        self.items(self._metadata_section, "{-#", "#-}")

    def _metadata_section(self) -> None:
        section = self.word("a section of file metadata")
        self.expect(":")

        def entry() -> None:
            key = self.string() if self.peek()[:1] == '"' else self.word("a resource's key")
            self.expect(":")
            if self.peek()[:1] == '"':
                self._blob(section, key)
            else:
                self.attribute()

        def group() -> None:
            self.word("a dialect")
            self.expect(":")
            self.items(entry, "{", "}")

        self.items(group, "{", "}")

    def _blob(self, section: str, key: str) -> None:
        start = self.start
        end = self.text.find('"', start + 1)
        if section != "dialect_resources" or not self.text.startswith('"0x', start) or end < 0:
            self.string()
            return
        try:
            self.blobs[key] = literals.parse_blob(self.text, start, end)
        except literals.LiteralError as error:
            raise self.error(f"{error} in resource '{key}'", start) from error
        self.position = end + 1

    def _fill_resources(self) -> None:
        """Gives every `dense_resource` its array, a view of its blob."""
        for resource, offset in self.resources:
            if resource.key in self.blobs:
                object.__setattr__(resource, "array", self._view(resource, self.blobs[resource.key], offset))

    def _view(self, resource: DenseResource, blob: bytes, offset: int) -> Any:
        type = resource.type
        if not isinstance(type, TensorType) or not type.is_static:
            raise self.error(f"a resource needs a tensor type of static shape, not {type}", offset)
        try:
            return literals.from_bytes(blob, type.shape, type.element_type)  # type: ignore[arg-type]
        except literals.LiteralError as error:
            raise self.error(f"{error} in resource '{resource.key}' of type {type}", offset) from error
        except TypeError:
            return None

    # --- operations ---------------------------------------------------------------------------------------------

    # operation ::= (results =)? (string generic-form | name pretty-form) location?
    def operation(self) -> Operation:
        match = _match_head(self.text, self.position)
        if not match:
            raise self.expected("an operation")
        self.position = match.end()
        name = match[4]
        if name is None:
            draft = self._generic(match)
        else:
            draft = self._pretty(name, match.start(4))
        op = self._build(draft)
        if match[1] is not None:
            self._define_results(op, match)
        op.debug_location = self.trailing_location()
        return op

    def _pretty(self, name: str, offset: int) -> Draft:
        name = BARE_NAMES.get(name, name)
        definition = Op.registry.get(name)
        if definition is None or not definition.syntax:
            raise self.error(f"'{name}' has no pretty form that is known here; its generic form may be", offset)
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
            draft.regions = self.items(lambda: self.region(isolated=_is_isolated(draft)), "(", ")")
        if self.peek() == "{":
            draft.attributes |= self.dictionary()
        self.expect(":")
        self.functional_type(draft)
        return draft

    def _check_dialect(self, name: str, offset: int) -> None:
        dialect, dot, _ = name.partition(".")
        if name in Op.registry or self.allow_unregistered_dialect:
            return
        if not dot or (dialect not in KNOWN_DIALECTS and dialect not in FOREIGN_DIALECTS):
            raise self.error(f"'{name}' is of an unregistered dialect, which has to be allowed expressly", offset)

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
        if draft.name == "builtin.module" and draft.regions and not draft.regions[0].blocks:
            draft.regions[0] = Region([Block([], [])])
        operands = self._resolve(draft)
        op = Operation(
            draft.name, draft.definition, operands, draft.result_types, members, attributes, draft.regions,
            self.location(draft.offset),
        )  # fmt: skip
        op.successors = draft.successors
        return op

    # --- values -------------------------------------------------------------------------------------------------

    # operand ::= %name (#index)?
    def operand(self) -> tuple[str, int]:
        """The name of a value, and where it stands."""
        match = self.take(_match_operand(self.text, self.position))
        if not match:
            raise self.expected("a value such as '%0'")
        return match[1], match.start(1) - 1

    # operands ::= (operand (, operand)*)?
    def operand_list(self) -> list[tuple[str, int]]:
        if self.peek()[:1] != "%":
            return []
        operands = [self.operand()]
        while match := self.take(_match_next_operand(self.text, self.position)):
            operands.append((match[1], match.start(1) - 1))
        return operands

    def _resolve(self, draft: Draft) -> list[Value]:
        types: Sequence[Type | None] = draft.operand_types or (None,) * len(draft.operands)
        if len(types) != len(draft.operands):
            raise self.error(f"{len(draft.operands)} operands present, but expected {len(types)}", draft.offset)
        return [self._value(name, offset, type) for (name, offset), type in zip(draft.operands, types)]

    def _value(self, name: str, offset: int, type: Type | None) -> Value:
        value = self.scope.values.get(name)
        if value is None and name.endswith("#0"):
            value = self.scope.values.get(name[:-2])
        if value is None:
            return self._expect_value(name, offset, type)
        if type is not None and value.type is not type and value.type != type:
            raise self.error(f"'%{name}' is used as {type}, but is {value.type}", offset)
        return value

    def _expect_value(self, name: str, offset: int, type: Type | None) -> Value:
        """A value that is used before its definition, which other blocks of the region may hold."""
        if type is None:
            raise self.error(f"use of undeclared value '%{name}'", offset)
        value = self.scope.values[name] = Value(type, None, 0, name)
        self.scope.expected[name] = offset
        return value

    def _define_results(self, op: Operation, match: re.Match[str]) -> None:
        """Names the results of `op` as the text before it does."""
        if match[2] is None and not match[3] and len(op.results) == 1:
            op.results[0] = self._define(match[1], op.results[0], match.start(1) - 1)
            return
        start = match.start(1) - 1
        names = [(m[1], self._result_count(m)) for m in _find_results(self.text, start, match.start(4) if match[4] else match.start(5))]
        declared = sum(count for _, count in names)
        if declared != len(op.results):
            raise self.error(f"'{op.name}' has {len(op.results)} results, but {declared} are named", start)
        index = 0
        for name, count in names:
            for part in range(count):
                full = name if count == 1 else f"{name}#{part}"
                op.results[index] = self._define(full, op.results[index], start)
                if part == 0 and count > 1:
                    self._define(name, op.results[index], start)
                    op.results[index].name = full
                index += 1

    def _result_count(self, match: re.Match[str]) -> int:
        count = 1 if match[2] is None else self.to_integer(match[2], match.start(2))
        if not 1 <= count <= MAX_RESULTS:
            raise self.error("expected a positive number of results", match.start(2))
        return count

    def _define(self, name: str, value: Value, offset: int) -> Value:
        """Binds a name; returns `value`, or what stood for it where it was used before."""
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
            raise self.error(f"'%{name}' is defined twice", offset)
        used = self.scope.expected.pop(name)
        known = self.scope.values[name]
        if known.type != value.type:
            raise self.error(f"'%{name}' is used as {known.type}, but is {value.type}", used)
        known.owner, known.index = value.owner, value.index
        self.scope.defined.append(name)
        return known

    def _check_scope(self) -> None:
        for name, offset in self.scope.expected.items():
            raise self.error(f"use of undeclared value '%{name}'", offset)

    # --- regions and blocks -------------------------------------------------------------------------------------

    # region ::= { operation* block* }
    def region(self, arguments: Sequence[Value] = (), isolated: bool = False) -> Region:
        """A region whose first block may have its arguments written elsewhere."""
        self.descend()
        outer = self.scope
        if isolated:
            self.scope = Scope()
        first_defined = len(self.scope.defined)
        offset = self.start
        self.expect("{")
        for argument in arguments:
            self._define(argument.name, argument, offset)
        region = Region(self._blocks(list(arguments)))
        if isolated:
            self._check_scope()
        self._leave(first_defined)
        self.scope = outer
        self.depth -= 1
        return region

    def _leave(self, first_defined: int) -> None:
        """Takes back the names that were defined since."""
        scope = self.scope
        for name in scope.defined[first_defined:]:
            scope.values.pop(name, None)
        del scope.defined[first_defined:]

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
                raise self.error(f"block '^{label}' is not defined", offset)
        return blocks

    # block ::= label (( arguments ))? : operation*
    def _block(self, labels: dict[str, int], used: list[tuple[str, int]]) -> Block:
        offset, label = self.start, self._label()
        if label in labels:
            raise self.error(f"block '^{label}' is defined twice", offset)
        labels[label] = offset
        arguments = self.items(self.argument, "(", ")") if self.peek() == "(" else []
        for index, argument in enumerate(arguments):
            argument.index = index
            self._define(argument.name, argument, offset)
        self.expect(":")
        return Block(arguments, self._operations(used), label)

    def _label(self) -> str:
        if self.peek()[:1] != "^" or len(self.peek()) < 2:
            raise self.expected("a block's label such as '^bb0'")
        return self.advance()[1:]

    # argument ::= %name : type location?
    def argument(self) -> Value:
        """A block's argument, not yet defined."""
        name, _ = self.operand()
        self.expect(":")
        value = Value(self.type(), None, 0, name)
        value.location = self.trailing_location()
        return value

    def arguments(self, names: Sequence[tuple[str, int]], types: Sequence[Type]) -> list[Value]:
        """Block arguments by names and types."""
        return [Value(type, None, index, name) for index, ((name, _), type) in enumerate(zip(names, types))]

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

    # location? ::= (loc ( ... ))?
    def trailing_location(self) -> DebugLocation | None:
        match = self.take(_match_location(self.text, self.position))
        if match:
            return self._location_alias(match[1], match.start(1))
        return self.location_attribute() if self.peek() == "loc" else None

    def struct(self, name: str) -> Any:
        return self._struct(name)


def _is_isolated(draft: Draft) -> bool:
    return draft.definition is not None and draft.definition.isolated


def parse(source: Source, allow_unregistered_dialect: bool = False) -> Operation:
    """The module that `source` spells: `builtin.module`, implied where the text is a list of other operations.

    Raises MalformedError for what is not MLIR. Regions, types and attributes may be nested `lexer.MAX_NESTING` deep.
    """
    return Parser(source, allow_unregistered_dialect).program()


def parse_attribute(source: Source) -> Any:
    """The one attribute that `source` spells; MalformedError for what is none, or where more follows."""
    parser = Parser(source)
    attribute = parser.attribute()
    if parser.peek():
        raise parser.expected("the end of the attribute")
    return attribute
