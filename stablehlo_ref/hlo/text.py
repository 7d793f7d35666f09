"""The grammar of HLO text: computations of instructions, with shapes, operands and attributes as they are written.

`%sum = f32[2]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add` is an `Instruction`; `ops` says what it means. The
values of attributes are kept as text, which the methods of `Attributes` read in the form that an op expects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from stablehlo_ref.diagnostics import Location, MalformedError, Source, UnsupportedError
from stablehlo_ref.ir.lexer import MAX_NESTING, Cursor, shorten
from stablehlo_ref.ir.types import (
    BOOLEAN,
    FLOATS,
    ComplexType,
    FunctionType,
    TensorType,
    TokenType,
    Type,
    integer_type,
    tensor_type,
)
from stablehlo_ref.limits.budget import check_time
from stablehlo_ref.suggestions import did_you_mean

_TRIVIA = r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"
_NAME = r"%?[A-Za-z_](?:[\w.$]|-(?!>))*+"
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_match_token = re.compile(rf"{_TRIVIA}({_NAME}|{_STRING}|->|<=|-?\d++|[^\s]|)", re.DOTALL).match
_match_sequence = re.compile(rf"(?:[^{{}}()\[\],\"\n/]++|{_STRING}|/\*(?:[^*]|\*(?!/))*+\*/|/)*+", re.DOTALL).match
_find_comments = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/").sub
_CLOSERS = {"{": "}", "(": ")", "[": "]"}

MAX_RANK = 1 << 10
ELEMENT_TYPES: Mapping[str, Type] = {
    "pred": BOOLEAN,
    "c64": ComplexType(FLOATS["f32"]),
    "c128": ComplexType(FLOATS["f64"]),
    **{f"s{width}": integer_type(width) for width in (2, 4, 8, 16, 32, 64)},
    **{f"u{width}": integer_type(width, "u") for width in (2, 4, 8, 16, 32, 64)},
    **{name.lower(): type for name, type in FLOATS.items() if name not in ("f80", "f128")},
}
TOKEN = TokenType()


@dataclass(frozen=True)
class Shape:
    """The shape of an array or a token, with the layout of the array: dimensions from minor to major, if written."""

    type: TensorType | TokenType
    layout: tuple[int, ...] | None = None


ShapeTree: TypeAlias = "Shape | tuple[ShapeTree, ...]"  # a shape, or the shapes in a tuple


def flat_shapes(tree: ShapeTree) -> Iterator[Shape]:
    """Yield the shapes of arrays and tokens in a tree, in order."""
    if isinstance(tree, Shape):
        yield tree
    else:
        for part in tree:
            yield from flat_shapes(part)


def types_of(tree: ShapeTree) -> list[Type]:
    """Return the types of the values in a tree of this shape."""
    return [shape.type for shape in flat_shapes(tree)]


class TextRange(NamedTuple):
    """A part of the text, such as the value of an attribute."""

    text: str
    offset: int


class Attributes:
    """The attributes of an instruction. Those that nobody reads are an error in the end, unless they mean nothing."""

    def __init__(self, spans: Mapping[str, TextRange], instruction: str, source: Source) -> None:
        self._spans = spans
        self._instruction = instruction
        self._source = source
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._spans

    def location(self, name: str) -> Location:
        """Return where the value of an attribute is."""
        return Location(self._source, self._spans[name].offset)

    def text(self, name: str, default: str | None = None) -> str:
        """Return the value as text; MalformedError if there is neither a value nor a default."""
        self._read.add(name)
        if name in self._spans:
            return self._spans[name].text
        if default is None:
            message = f"'{self._instruction}' needs the attribute '{name}'"
            raise MalformedError(message, Location(self._source, self._spans[""].offset))
        return default

    def error(self, name: str, expected: str) -> MalformedError:
        """Return the error for a value of another form."""
        message = f"expected {expected} as '{name}', got '{shorten(self._spans[name].text)}'"
        return MalformedError(message, self.location(name))

    def integers(self, name: str, default: str | None = None) -> tuple[int, ...]:
        """Return the numbers of `{0,1}`."""
        text = self.text(name, default)
        if not re.fullmatch(r"\{[\s\d,\-]*\}", text):
            raise self.error(name, "integers in braces")
        return _numbers(text)

    def matrix(self, name: str, default: str | None = None) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of `{{0,1},{2,3}}`."""
        text = self.text(name, default)
        if not re.fullmatch(r"\{(\s*\{[\s\d,\-]*\}\s*,?)*\s*\}", text):
            raise self.error(name, "lists of integers")
        return tuple(map(_numbers, re.findall(r"\{([^{}]*)\}", text[1:-1])))

    def integer(self, name: str, default: int | None = None) -> int:
        """Return a number."""
        text = self.text(name, None if default is None else str(default))
        if not re.fullmatch(r"-?\d{1,18}", text):
            raise self.error(name, "an integer")
        return int(text)

    def real(self, name: str) -> float:
        """Return a floating-point number."""
        try:
            return float(self.text(name))
        except ValueError:
            raise self.error(name, "a number") from None

    def flag(self, name: str) -> bool:
        """Return whether a flag is `true`; one that is left out is not."""
        text = self.text(name, "false")
        if text not in ("true", "false"):
            raise self.error(name, "'true' or 'false'")
        return text == "true"

    def string(self, name: str, default: str | None = None) -> str:
        """Return the value of a string literal."""
        text = self.text(name, default if default is None else f'"{default}"')
        if text[:1] != '"':
            raise self.error(name, "a string")
        return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text[1:-1])

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of `%a`, or of `{%a, %b}`."""
        return tuple(found.removeprefix("%") for found in re.findall(_NAME, self.text(name)))

    def unread(self, without_meaning: frozenset[str]) -> Iterator[str]:
        """Yield the attributes that mean something and that nobody read."""
        return (name for name in self._spans if name and name not in self._read and name not in without_meaning)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"-?\d{1,18}", text)))


@dataclass(frozen=True)
class Instruction:
    """One instruction. `literal` is what a constant or a parameter has in parentheses."""

    name: str
    shape: ShapeTree
    opcode: str
    operands: tuple[TextRange, ...]
    literal: TextRange
    attributes: Attributes
    location: Location


@dataclass(frozen=True)
class Computation:
    """A computation; `root` is the instruction whose value is its result."""

    name: str
    instructions: list[Instruction]
    root: Instruction
    location: Location
    parameters: list[Instruction]  # in their order


@dataclass(frozen=True)
class HloModule:
    """All computations by their names, each after those it uses."""

    name: str
    attributes: Attributes
    computations: Mapping[str, Computation]
    entry: Computation
    places: Mapping[int, tuple[str, int, int]]  # files, lines and columns by the numbers of stack frames
    location: Location


class Reader(Cursor):
    """Reads a module: a cursor over the tokens of HLO instead of MLIR's."""

    # --- tokens -------------------------------------------------------------------------------------------------

    def _next(self) -> re.Match[str]:
        if self._token_at != self.position:
            match = _match_token(self.text, self.position)
            assert match is not None  # it may be empty
            self._token, self._token_at = match, self.position
        return self._token

    @property
    def start(self) -> int:
        """The offset of the next token."""
        return self._next().start(1)

    def expected(self, what: str, starts_line: bool = False, hint: str = "") -> MalformedError:
        """Return an error, at the next token, that says what was expected instead of it."""
        found = self.peek()
        described = f"'{shorten(found)}'" if found else "the end of the text"
        return self.error(f"expected {what}, got {described}{hint}")

    def name(self, what: str) -> str:
        """Consume a name, with or without `%`."""
        if not re.match(r"%?[A-Za-z_]", self.peek()):
            raise self.expected(what)
        return self.advance().removeprefix("%")

    def balanced_span(self, stops: str) -> TextRange:
        """Consume text up to one of the characters in `stops` outside of brackets and strings."""
        start = position = self.start
        closers: list[str] = []
        while True:
            check_time("parsing")
            match = _match_sequence(self.text, position)
            position = match.end() if match else position
            character = self.text[position : position + 1]
            if not character or (not closers and character in stops):
                break
            if character == '"':
                raise self.error("unterminated string", position)
            if character == "\n" and character in stops:
                raise self.error(f"expected '{closers[-1]}' on the same line", start)
            if character in _CLOSERS:
                closers.append(_CLOSERS[character])
            elif character in ")]}" and (not closers or closers.pop() != character):
                raise self.error(f"unexpected '{character}'", position)
            position += 1
        if closers:
            raise self.error(f"expected '{closers[-1]}' before the end of the text", start)
        self.position = position
        return TextRange(self.text[start:position].strip(), start)

    # --- shapes -------------------------------------------------------------------------------------------------

    # shape ::= ( (shape (, shape)*)? ) | type [ (size (, size)*)? ] layout?
    def shape(self, depth: int = 0) -> ShapeTree:
        """Read the shape of an array, a token or a tuple."""
        if depth > MAX_NESTING:
            raise self.error(f"nesting exceeds the limit of {MAX_NESTING} levels")
        if not self.accept("("):
            return self._array()
        shapes: list[ShapeTree] = []
        while not self.accept(")"):
            if shapes:
                self.expect(",")
            shapes.append(self.shape(depth + 1))
        return tuple(shapes)

    def _array(self) -> Shape:
        start, name = self.start, self.name("a shape")
        if name != "token" and name not in ELEMENT_TYPES:
            hint = did_you_mean(name, ELEMENT_TYPES)
            raise UnsupportedError(f"unsupported element type '{shorten(name)}'{hint}", Location(self.source, start))
        self.expect("[")
        sizes: list[int | None] = []
        bounds: list[int | None] = []
        while not self.accept("]"):
            if sizes:
                self.expect(",")
            is_bounded = self.accept("<=")
            size = None if self.accept("?") else self._size()
            sizes.append(None if is_bounded else size)
            bounds.append(size if is_bounded else None)
        if len(sizes) > MAX_RANK:
            raise self.error(f"the shape has more than {MAX_RANK} dimensions", start)
        layout = self._layout() if self.text[self.position : self.position + 1] == "{" else None
        if name == "token":
            return Shape(TOKEN)
        type = tensor_type(tuple(sizes), ELEMENT_TYPES[name])
        if any(bound is not None for bound in bounds):
            type = TensorType(type.shape, type.element_type, tuple(bounds))
        if layout is not None and sorted(layout) != list(range(type.rank)):
            raise self.error(f"expected a layout of {type.rank} dimensions, got {layout}", start)
        return Shape(type, layout)

    def _size(self) -> int:
        if not re.fullmatch(r"\d{1,18}", self.peek()):
            raise self.expected("a size")
        return int(self.advance())

    def _layout(self) -> tuple[int, ...]:
        """Read `{1,0:T(8,128)}`, of which the order of dimensions is kept: the rest is about memory."""
        self.expect("{")
        text, start = self.balanced_span("}")
        self.expect("}")
        order = text.partition(":")[0]
        if not re.fullmatch(r"[\s\d,]*", order):
            raise self.error("expected a layout", start)
        return _numbers(order)

    # --- instructions -------------------------------------------------------------------------------------------

    # instruction ::= ROOT? name = shape opcode ( operands ) (, name = value)*
    def instruction(self) -> tuple[Instruction, bool]:
        """Read an instruction; return it and whether it is the root."""
        check_time("parsing")
        is_root = self.accept("ROOT")
        location = Location(self.source, self.start)
        name = self.name("an instruction")
        self.expect("=")
        shape = self.shape()
        opcode = self.name("an opcode")
        self.expect("(")
        literal = TextRange("", self.start)
        operands: tuple[TextRange, ...] = ()
        if opcode in ("constant", "parameter"):
            literal = self.balanced_span(")")
        else:
            operands = self._operands()
        self.expect(")")
        spans = {"": TextRange("", location.offset), **self._attributes()}
        attributes = Attributes(spans, opcode, self.source)
        return Instruction(name, shape, opcode, operands, literal, attributes, location), is_root

    def _operands(self) -> tuple[TextRange, ...]:
        """Read names of operands; a shape may stand before each."""
        found: list[TextRange] = []
        while self.peek() != ")":
            if found:
                self.expect(",")
            match = self._next()
            if match[1] == "(" or self.text[match.end() : match.end() + 1] == "[":
                self.shape()
            start = self.start
            found.append(TextRange(self.name("an operand"), start))
        return tuple(found)

    def _attributes(self) -> dict[str, TextRange]:
        found: dict[str, TextRange] = {}
        while self.accept(","):
            start, name = self.start, self.name("an attribute")
            if name in found:
                raise self.error(f"duplicate attribute '{name}'", start)
            self.expect("=")
            text, offset = self.balanced_span(",\n}")
            found[name] = TextRange(_find_comments("", text) if text[:1] != '"' else text, offset)
        return found

    # --- computations -------------------------------------------------------------------------------------------

    # computation ::= ENTRY? name (( parameters ) -> shape)? { instruction* }
    def computation(self) -> Computation:
        """Read a computation, after ENTRY."""
        location = Location(self.source, self.start)
        name = self.name("a computation")
        if self.peek() == "(":
            self.balanced_span("{\n")
        self.expect("{")
        instructions: list[Instruction] = []
        root: Instruction | None = None
        while not self.accept("}"):
            instruction, is_root = self.instruction()
            instructions.append(instruction)
            if is_root and root is not None:
                raise MalformedError(f"two instructions are ROOT: '{root.name}' too", instruction.location)
            root = instruction if is_root else root
        if not instructions:
            raise self.error("expected an instruction, as a computation has a result", self.position - 1)
        while self.accept(","):  # execution_thread="main"
            self.balanced_span(",\n")
        parameters = self._parameters(instructions, location)
        return Computation(name, instructions, root or instructions[-1], location, parameters)

    def _parameters(self, instructions: list[Instruction], location: Location) -> list[Instruction]:
        numbered: dict[int, Instruction] = {}
        for instruction in instructions:
            if instruction.opcode != "parameter":
                continue
            text = instruction.literal.text
            if not re.fullmatch(r"\d{1,9}", text) or int(text) in numbered:
                raise self.error("expected the number of a parameter, each once", instruction.literal.offset)
            numbered[int(text)] = instruction
        if sorted(numbered) != list(range(len(numbered))):
            raise MalformedError(f"parameters are numbered {sorted(numbered)}, not from 0 without gaps", location)
        return [numbered[index] for index in range(len(numbered))]

    # --- the module ---------------------------------------------------------------------------------------------

    # module ::= (HloModule name (, name = value)*)? table* computation*
    def module(self) -> HloModule:
        """Read the whole text."""
        location = Location(self.source, self.start)
        name, spans = "", dict[str, TextRange]()
        if self.accept("HloModule"):
            name = self.name("the name of a module")
            spans = self._attributes()
        tables = self._tables()
        computations: dict[str, Computation] = {}
        entry: Computation | None = None
        while self.peek():
            is_entry = self.accept("ENTRY")
            found = self.computation()
            if found.name in computations:
                raise MalformedError(f"redefinition of computation '{found.name}'", found.location)
            computations[found.name] = found
            if is_entry and entry is not None:
                raise MalformedError(f"two computations are ENTRY: '{entry.name}' too", found.location)
            entry = found if is_entry else entry
        if entry is None and len(computations) == 1:
            (entry,) = computations.values()
        if entry is None:
            raise self.error("expected a computation that is marked ENTRY", location.offset)
        if "entry_computation_layout" in spans:
            self._check_entry(entry, spans["entry_computation_layout"].offset)
        attributes = Attributes(spans, "HloModule", self.source)
        return HloModule(name, attributes, computations, entry, _places(tables), location)

    # layout ::= { ( (shape (, shape)*)? ) -> shape }
    def _check_entry(self, entry: Computation, offset: int) -> None:
        """Compare the types of the entry with those that are written at an offset."""
        self.position = offset
        self.expect("{")
        parameters = types_of(self.shape())
        self.expect("->")
        written = FunctionType(tuple(parameters), tuple(types_of(self.shape())))
        self.expect("}")
        inputs = types_of(tuple(parameter.shape for parameter in entry.parameters))
        if written != (type := FunctionType(tuple(inputs), tuple(types_of(entry.root.shape)))):
            raise self.error(f"expected '{entry.name}' of type {written}, as in its layout, got {type}", offset)

    def _tables(self) -> dict[str, list[str]]:
        """Read the tables of files, functions and stack frames that may stand before the computations."""
        tables: dict[str, list[str]] = {}
        while self.peek() in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            rows = tables.setdefault(self.advance(), [])
            while re.fullmatch(r"\d+", self.peek()):
                rows.append(self.balanced_span("\n").text)
        return tables


def _places(tables: Mapping[str, list[str]]) -> dict[int, tuple[str, int, int]]:
    """Return the file, line and column of each stack frame, as far as the tables have them."""
    files = dict(re.findall(r'^(\d+) "(.*)"$', "\n".join(tables.get("FileNames", ())), re.M))
    rows = [
        [dict(re.findall(r"(\w+)=(\d+)", row)) for row in tables.get(t, ())] for t in ("FileLocations", "StackFrames")
    ]
    found: dict[int, tuple[str, int, int]] = {}
    for number, frame in enumerate(rows[1], start=1):
        index = int(frame.get("file_location_id", 0)) - 1
        place = rows[0][index] if 0 <= index < len(rows[0]) else {}
        if (file := files.get(place.get("file_name_id", ""))) is not None:
            found[number] = file, int(place.get("line", 0)), int(place.get("column", 0))
    return found
