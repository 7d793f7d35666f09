"""What the pretty forms of ops are made of: directives, each of which parses and prints its part of the text.

The `syntax` of an op class is a line of directives that have names (`syntax/assembly.py` lists them), or several lines
and irregular directives in turn: `syntax = ("operands, format =", ExponentMantissa(), "attr-dict : same_type")`.
Directives see the parser and the printer as the protocols here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Any, Protocol, TypeAlias, TypeVar

from stablehlo_ref.define.attribute_codecs import AttributeCodec
from stablehlo_ref.define.definition import REGISTRY, OpDefinition
from stablehlo_ref.define.members import Undecodable
from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.lexer import Cursor
from stablehlo_ref.ir.locations import DebugLocation
from stablehlo_ref.ir.types import FloatType, FunctionType, Type

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
Types: TypeAlias = Sequence[Type]
OperandName: TypeAlias = tuple[str, int]  # the name of a value without `%`, and the offset of the `%` in the text


class Draft:
    """The parts of an op that have been parsed. Operand types that the text omits are those of the values."""

    __slots__ = (
        "attributes", "definition", "dictionary", "exclusive", "members", "name", "offset", "operand_types", "operands",
        "regions", "result_types", "spelling", "successors",
    )  # fmt: skip

    def __init__(self, name: str, definition: OpDefinition | None, offset: int) -> None:
        self.name = name
        self.definition = definition
        self.offset = offset
        self.operands: list[tuple[str, int]] = []  # names without `%`, and offsets in the text
        self.operand_types: tuple[Type, ...] | None = None
        self.result_types: tuple[Type, ...] = ()
        self.members: dict[str, object] = {}  # values of attribute members
        self.attributes: dict[str, Attribute] = {}  # attributes in dictionaries, not decoded yet
        self.dictionary = offset  # where the last dictionary starts
        self.exclusive: tuple[str, ...] = ()  # attributes that must not be in the dictionary, as a pretty form has them
        self.regions: list[Region] = []
        self.successors: list[str] = []
        self.spelling = ""  # as of `Operation`


class AsmParser(Cursor, ABC):
    """A position in the text of a program, and methods that parse constructs there."""

    # --- types and attributes ---

    @abstractmethod
    def type(self) -> Type:
        """Parse a type."""

    @abstractmethod
    def type_list(self, count: int | None = None) -> tuple[Type, ...]:
        """Parse types, separated by commas: those of `count` operands if that is given."""

    @abstractmethod
    def result_types(self) -> tuple[Type, ...]:
        """Parse `type` or `(types)`."""

    @abstractmethod
    def function_type(self) -> FunctionType:
        """Parse `(types) -> types`."""

    @abstractmethod
    def attribute(self) -> Attribute:
        """Parse an attribute."""

    @abstractmethod
    def elements(self, type: Type) -> Attribute:
        """Parse `dense<...>` or `dense_resource<...>` of a type that the text does not repeat."""

    @abstractmethod
    def dictionary(self) -> dict[str, Attribute]:
        """Parse `{name = attribute, ...}`."""

    @abstractmethod
    def real(self, type: FloatType) -> float:
        """Parse a number of a floating-point type that the text does not repeat."""

    @abstractmethod
    def symbol_name(self) -> str:
        """Parse `@name`."""

    @abstractmethod
    def struct(self, name: str) -> Attribute:
        """Parse the fields `<...>` of a struct attribute."""

    @abstractmethod
    def upgrading(self) -> AbstractContextManager[None]:
        """Read attributes of vhlo as what they mean, as those of ops of vhlo."""

    @abstractmethod
    def convolution_lists(self, with_unused: bool = False) -> Mapping[str, Attribute]:
        """Parse the dimension numbers of a convolution in their short form; `?` if there are unused ones."""

    # --- operations ---

    @abstractmethod
    def op_name(self) -> str:
        """Parse the name of an op, with or without quotes."""

    @abstractmethod
    def operand(self) -> OperandName:
        """Parse the name of a value."""

    @abstractmethod
    def operand_list(self) -> list[OperandName]:
        """Parse names of values, separated by commas, if there are any."""

    @abstractmethod
    def argument(self) -> Value:
        """Parse a block argument: `%name: type`."""

    @abstractmethod
    def arguments(self, names: Sequence[OperandName], types: Sequence[Type]) -> list[Value]:
        """Return block arguments with these names and types."""

    @abstractmethod
    def argument_list(self) -> list[Value]:
        """Parse `(%name: type, ...)`."""

    @abstractmethod
    def label(self) -> str:
        """Parse the label of a block; return it without `^`."""

    @abstractmethod
    def region(
        self, arguments: Sequence[Value] = (), isolated: bool = False, shadows: bool = False, implied: str = ""
    ) -> Region:
        """Parse a region; `arguments` are those of its first block, if they are parsed elsewhere.

        A block without a terminator gets `implied`, the name of an op without operands, if that is given.
        """

    @abstractmethod
    def properties(self, draft: Draft) -> None:
        """Parse `<{...}>`, if it is next."""

    @abstractmethod
    def functional_type(self, draft: Draft) -> None:
        """Parse `(operand types) -> result types`."""

    @abstractmethod
    def trailing_location(self) -> DebugLocation | None:
        """Parse `loc(...)`, if it is next."""


class AsmPrinter(Protocol):
    """The text of a program under construction."""

    @property
    def locations(self) -> bool:
        """Whether `loc(...)` is printed."""

    def literal(self, token: str) -> None:
        """Print a token with MLIR's spacing around punctuation."""

    def value(self, text: str) -> None:
        """Print other text, after a space unless it follows an opening bracket."""

    def newline(self) -> None:
        """Start an indented line."""

    def attribute(self, attribute: Attribute) -> str:
        """Return the text of an attribute."""

    def symbol(self, name: str) -> str:
        """Return `@name`."""

    def dictionary(self, op: Operation, members: Sequence[str] = (), keyword: str = "") -> None:
        """Print `keyword {...}`, with the attributes except for those of some members, unless there are none."""

    def op_name(self, op: Operation) -> str:
        """Return the name of an op in the dialect in which it is printed."""

    def operand(self, value: Value) -> str:
        """Return `%name`."""

    def operands(self, values: Sequence[Value]) -> str:
        """Return `%a, %b`."""

    def region_argument_names(self, *lists: Sequence[Value]) -> list[str]:
        """Return unused names for the arguments of a region, or of regions that share them."""

    def argument_text(self, argument: Value, name: str, attributes: str = "") -> str:
        """Return `%name: type`, with attributes and location."""

    def functional_type(self, op: Operation) -> str:
        """Return `(operand types) -> result types`."""

    def region(self, region: Region, names: Sequence[str] | None = None, implied: str = "") -> None:
        """Print `{...}`; `names` are those of the arguments of the first block, if they are printed elsewhere.

        The terminator `implied`, if it has no operands and the region is one block, is omitted.
        """


class Irregular(Exception):
    """Raised by `Directive.print` if the pretty form cannot express an op, which is then printed in generic form."""


class Directive:
    """A part of a pretty form. `members` are the attribute members that it contains."""

    members: tuple[str, ...] = ()

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        """Parse this part into `draft`."""
        raise NotImplementedError

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        """Print this part of `op`; Irregular if it cannot express the op."""
        raise NotImplementedError

    def is_next(self, parser: AsmParser) -> bool:
        """Return whether this part is next in the text; called for the first part of an optional group."""
        raise NotImplementedError

    def present(self, op: Operation) -> bool | None:
        """Return whether `op` has what this part describes; None for a part that does not depend on the op."""
        return None


class Deduced(Directive):
    """One type, or two with a separator between them, from which all others follow; none without a separator.

    `shown` returns what is written, given the types of the operands and of the results. `follow` returns all types of
    operands and results, given what is written and the number of operands, None for those that are written elsewhere;
    ValueError if none follow. A form that `is_short` may be replaced with a functional type, and is where it does not
    suffice.
    """

    def __init__(
        self,
        shown: Callable[[Types, Types], Types],
        follow: Callable[..., tuple[Types | None, Types | None]],
        separator: str | None = "",
        is_short: bool = False,
    ) -> None:
        self.shown = shown
        self.follow = follow
        self.separator = separator
        self.is_short = is_short

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if self.is_short and parser.peek() == "(":
            parser.functional_type(draft)
            return
        offset, written = parser.start, [] if self.separator is None else [parser.type()]
        if self.separator:
            parser.expect(self.separator)
            written.append(parser.type())
        try:
            operands, results = self.follow(*written, len(draft.operands))
        except ValueError as error:
            raise parser.error(str(error), offset) from error
        if operands is not None:
            draft.operand_types = tuple(operands)
        if results is not None:
            draft.result_types = tuple(results)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        operands, results = op.operand_types, op.result_types
        types = self.shown(operands, results)
        if not self._follow(types, operands, results):
            if not self.is_short:
                raise Irregular
            printer.value(printer.functional_type(op))
        elif types:
            separator = ", " if self.separator == "," else f" {self.separator} "
            printer.value(separator.join(map(str, types)))

    def _follow(self, types: Types, operands: list[Type], results: list[Type]) -> bool:
        try:
            followed = self.follow(*types, len(operands))
        except (TypeError, ValueError):  # too few are shown, or others
            return False
        return all(f is None or list(f) == types for f, types in zip(followed, (operands, results)))


def implied(results: Types | None, operands: Callable[[int], Types] | None = None) -> Deduced:
    """Return the form without text of types of results, and of operands given their number, that are always the same.

    None stands for types that are written elsewhere.
    """
    return Deduced(lambda _, __: [], lambda count: (operands(count) if operands else None, results), separator=None)


def first_operand(operands: Types, results: Types) -> Types:
    """Return the type of the first operand."""
    return operands[:1]


def first_result(operands: Types, results: Types) -> Types:
    """Return the type of the first result."""
    return results[:1]


def attribute_dictionary(parser: AsmParser, draft: Draft, keyword: str = "") -> None:
    """Parse `keyword {...}`, or `{...}` without a keyword, if it is next."""
    if keyword and not parser.accept(keyword):
        return
    if keyword or parser.peek() == "{":
        draft.dictionary = parser.start
        written = parser.dictionary()
        if twice := written.keys() & draft.attributes.keys():
            message = f"duplicate attribute '{min(twice)}', which is a property already"
            raise parser.error(message, draft.dictionary)
        draft.attributes |= written


def let_dictionary_win(parser: AsmParser, draft: Draft) -> None:
    """Drop what the pretty form says of an attribute that is in the dictionary too.

    MLIR reads the dictionary last, or refuses the attribute there: then this raises MalformedError.
    """
    for name in draft.attributes:
        if name in draft.exclusive:
            raise parser.error(f"attribute '{name}' is already given outside of the dictionary", draft.dictionary)
        for member in REGISTRY[draft.name].members_of(name):
            draft.members.pop(member, None)


def give(draft: Draft, name: str, attribute: Attribute) -> None:
    """Set the members of `draft` that an attribute, which is not in the dictionary, stands for."""
    draft.members |= REGISTRY[draft.name].decode({name: attribute})[0]


def member_value(op: Operation, name: str) -> Any:
    """Return the value of an attribute member; Irregular if it is missing or could not be decoded."""
    value = op.properties.get(name)
    if value is None or isinstance(value, Undecodable):
        raise Irregular
    return value


class SpelledCodec(AttributeCodec[T]):
    """The codec of an attribute that has a pretty form of its own."""

    def parse(self, parser: AsmParser) -> T:
        """Parse the pretty form."""
        raise NotImplementedError

    def text(self, value: T) -> str:
        """Return the pretty form."""
        raise NotImplementedError

    def starts_with(self, token: str) -> bool:
        """Return whether the pretty form of a value starts with a token."""
        return False


class WordCodec(SpelledCodec[E]):
    """The codec of an enumeration whose pretty form is the value of a member."""

    def __init__(self, enum: type[E]) -> None:
        self.words = {str(member.value): member for member in enum}

    def parse(self, parser: AsmParser) -> E:
        if parser.peek() not in self.words:
            raise parser.expected(", ".join(self.words))
        return self.words[parser.advance()]

    def text(self, value: E) -> str:
        return str(value.value)

    def starts_with(self, token: str) -> bool:
        return token in self.words


def is_plain(region: Region) -> bool:
    """Return whether a region can be printed without the label of its block."""
    return len(region.blocks) == 1 and bool(region.block.operations)


def listed(items: Iterable[object]) -> str:
    """Return `[0, 1]`."""
    return f"[{', '.join(map(str, items))}]"
