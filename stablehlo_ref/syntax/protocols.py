"""The parser and the printer as the directives of pretty forms use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from re import Match
from typing import Protocol, TypeAlias, TypeVar

from stablehlo_ref.diagnostics import Location, MalformedError
from stablehlo_ref.ir.attributes import Attribute, FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.core import Operation, Region, Value
from stablehlo_ref.ir.locations import DebugLocation
from stablehlo_ref.ir.types import FloatType, FunctionType, Type
from stablehlo_ref.syntax.draft import Draft

T = TypeVar("T")
OperandName: TypeAlias = tuple[str, int]  # the name of a value without `%`, and the offset of the `%` in the text


class AsmParser(Protocol):
    """A position in the text of a program, and methods that parse constructs there."""

    text: str
    position: int

    # --- tokens ---

    def take(self, match: Match[str] | None) -> Match[str] | None:
        """Consume a match that was made at the current position, if there is one; return it."""

    @property
    def start(self) -> int:
        """The offset of the next token."""

    def peek(self) -> str:
        """Return the next token; "" at the end of the text."""

    def advance(self) -> str:
        """Consume the next token and return it."""

    def accept(self, expected: str) -> bool:
        """Consume the next token if it is `expected`."""

    def expect(self, expected: str) -> None:
        """Consume the next token; MalformedError unless it is `expected`."""

    def items(self, item: Callable[[], T], opening: str, closing: str) -> list[T]:
        """Parse `opening (item (, item)*)? closing`."""

    def word(self, what: str) -> str:
        """Parse an identifier or keyword."""

    def integer(self) -> int:
        """Parse an integer of at most 64 bits."""

    def dimensions(self) -> tuple[int, ...]:
        """Parse `[1, 2]`."""

    def string(self) -> str:
        """Parse a string literal."""

    def balanced_text(self, what: str) -> str:
        """Return the text from the next bracket to the one that closes it; `what` describes it in errors."""

    # --- errors ---

    def location(self, offset: int) -> Location:
        """Return the location of an offset."""

    def error(self, message: str, offset: int | None = None) -> MalformedError:
        """Return an error at an offset, by default that of the next token."""

    def expected(self, what: str, starts_line: bool = False) -> MalformedError:
        """Return an error that says what was expected instead of the next token."""

    # --- types and attributes ---

    def type(self) -> Type:
        """Parse a type."""

    def type_list(self) -> tuple[Type, ...]:
        """Parse types, separated by commas."""

    def function_type(self) -> FunctionType:
        """Parse `(types) -> types`."""

    def attribute(self) -> Attribute:
        """Parse an attribute."""

    def elements(self, type: Type) -> Attribute:
        """Parse `dense<...>` or `dense_resource<...>` of a type that the text does not repeat."""

    def dictionary(self) -> dict[str, Attribute]:
        """Parse `{name = attribute, ...}`."""

    def number(self, typed: bool = True) -> IntegerAttribute | FloatAttribute:
        """Parse a number, with `: type` after it if `typed`."""

    def real(self, type: FloatType) -> float:
        """Parse a number of a floating-point type that the text does not repeat."""

    def symbol_name(self) -> str:
        """Parse `@name`."""

    def struct(self, name: str) -> Attribute:
        """Parse the fields `<...>` of a struct attribute."""

    def upgrading(self) -> AbstractContextManager[None]:
        """Read attributes of vhlo as what they mean, as those of ops of vhlo."""

    def convolution_lists(self, with_unused: bool = False) -> Mapping[str, Attribute]:
        """Parse the dimension numbers of a convolution in their short form; `?` if there are unused ones."""

    # --- operations ---

    def op_name(self) -> str:
        """Parse the name of an op, with or without quotes."""

    def operand(self) -> OperandName:
        """Parse the name of a value."""

    def operand_list(self) -> list[OperandName]:
        """Parse names of values, separated by commas, if there are any."""

    def argument(self) -> Value:
        """Parse a block argument: `%name: type`."""

    def arguments(self, names: Sequence[OperandName], types: Sequence[Type]) -> list[Value]:
        """Return block arguments with these names and types."""

    def label(self) -> str:
        """Parse the label of a block; return it without `^`."""

    def region(
        self, arguments: Sequence[Value] = (), isolated: bool = False, shadows: bool = False, implied: str = ""
    ) -> Region:
        """Parse a region; `arguments` are those of its first block, if they are parsed elsewhere.

        A block without a terminator gets `implied`, the name of an op without operands, if that is given.
        """

    def properties(self, draft: Draft) -> None:
        """Parse `<{...}>`, if it is next."""

    def functional_type(self, draft: Draft) -> None:
        """Parse `(operand types) -> result types`."""

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
