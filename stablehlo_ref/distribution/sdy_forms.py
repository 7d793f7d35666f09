"""How attributes of Shardy's sdy dialect are described: a class with fields and a line of text for each attribute.

Parser, printer and the reader of bytecode follow from the forms of fields, which are those of their types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.ir.lexer import TOKEN, Cursor, quoted

T = TypeVar("T")
Parts: TypeAlias = tuple[str | tuple[str, ...], ...]  # tokens, `$field`, and those of an optional part

BITS = 63  # of numbers, besides the sign

_find_parts = re.compile(r"\?\(([^)]*)\)|\$\w+|[^$?]+").finditer
_find_tokens = cache(re.compile(TOKEN, re.ASCII).findall)


class Reader(Cursor):
    """A position in the text of an attribute."""

    def expected(self, what: str, starts_line: bool = False, hint: str = "") -> MalformedError:
        found = self.peek()
        return self.error(f"expected {what}, got '{found[:40]}'" if found else f"expected {what}, got the end")

    def tuple_of(self, item: Callable[[], T], opening: str, closing: str, required: bool = False) -> tuple[T, ...]:
        """Parse `opening (item (, item)*)? closing`; at least one item if they are `required`."""
        self.expect(opening)
        found: list[T] = [item()] if required else []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(item())
        return tuple(found)

    def integer(self) -> int:
        offset, sign = self.start, -1 if self.accept("-") else 1
        if not (digits := self.peek()).isdecimal():
            raise self.expected("an integer")
        if len(digits) > 20 or int(digits) >= 1 << BITS:
            raise self.error("integer value too large", offset)
        return sign * int(self.advance())

    def name(self) -> str:
        """Parse a string, the name of an axis."""
        if self.peek()[:1] != '"' or len(self.peek()) < 2:
            raise self.expected('the name of an axis such as "x"')
        return self.string()

    def is_word(self) -> bool:
        """Return whether an identifier is next."""
        return self.peek()[:1].isalpha() or self.peek()[:1] == "_"

    def skip_name(self, mnemonic: str) -> None:
        """Consume `#sdy.mnemonic`, which an attribute inside another one may start with."""
        if self.peek()[:1] == "#":
            self.expect(f"#sdy.{mnemonic}")


@dataclass(frozen=True)
class Form(Generic[T]):
    """How a value is parsed and printed.

    A list has `item`, the form of its items; an attribute that others refer to its `mnemonic`; a value that may be left
    out is `optional`.
    """

    read: Callable[[Reader], T]
    text: Callable[[T], str]
    opening: str = ""
    item: Form[Any] | None = None
    mnemonic: str = ""
    optional: bool = False


INTEGER, NAME, FLAG = Form(Reader.integer, str), Form(Reader.name, quoted), Form(lambda _: True, lambda _: "")
BY_TYPE: Mapping[type, Form[Any]] = {int: INTEGER, str: NAME, bool: FLAG}
ATTRIBUTES: dict[str, Form[Any]] = {}  # of the dialect, by mnemonic


def listed(item: Form[T], brackets: str = "[]", required: bool = False, mnemonic: str = "") -> Form[tuple[T, ...]]:
    """Return the form of a list in brackets."""
    opening, closing = brackets[0], brackets[1]

    def read(reader: Reader) -> tuple[T, ...]:
        return reader.tuple_of(lambda: item.read(reader), opening, closing, required)

    return Form(read, lambda items: f"{opening}{joined(map(item.text, items))}{closing}", opening, item, mnemonic)


def joined(items: Iterable[object]) -> str:
    """Return `a, b`."""
    return ", ".join(map(str, items))


class SdyAttribute:
    """The base class of attributes, which are dataclasses, and of what they consist of; `str` is their text.

    `text` is that text after the mnemonic: tokens, `$field`, and `?(...)` around a part that is there if its field is
    not empty. Bytecode has the fields in their order.
    """

    mnemonic: ClassVar[str] = ""
    form: ClassVar[Form[Any]]
    parts: ClassVar[Parts]

    def __init_subclass__(cls, mnemonic: str = "", text: str = "") -> None:
        cls.mnemonic, cls.parts = mnemonic, _split(text)
        cls.form = Form(cls.read, str, mnemonic=mnemonic)
        if mnemonic:
            ATTRIBUTES[mnemonic] = cls.form

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, Form[Any]]:
        """Return the forms of the fields."""
        hints = get_type_hints(cls, include_extras=True)
        return {name: _form_of(hint) for name, hint in hints.items() if get_origin(hint) is not ClassVar}

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """Parse an attribute."""
        values: dict[str, object] = {}
        _read(cls.parts, cls.fields(), reader, values)
        return cls(**values)

    def __str__(self) -> str:
        return _text(self.parts, self.fields(), self)


def _form_of(hint: Any) -> Form[Any]:
    """Return the form of a field, given its annotation."""
    if get_origin(hint) is Annotated:
        return next(form for form in hint.__metadata__ if isinstance(form, Form))
    if get_origin(hint) is tuple:
        return listed(_form_of(get_args(hint)[0]))
    if get_origin(hint) in (Union, UnionType):
        return replace(_form_of(get_args(hint)[0]), optional=True)
    return hint.form if issubclass(hint, SdyAttribute) else BY_TYPE[hint]


def _split(text: str) -> Parts:
    matches = _find_parts(text)
    return tuple(m[0] if m[1] is None else tuple(part[0] for part in _find_parts(m[1])) for m in matches)


def _read(parts: Parts, forms: Mapping[str, Form[Any]], reader: Reader, values: dict[str, object]) -> None:
    for part in parts:
        if isinstance(part, tuple):
            if reader.peek() == _opening(part, forms):
                _read(part, forms, reader, values)
        elif part.startswith("$"):
            values[part[1:]] = forms[part[1:]].read(reader)
        else:
            for token in _find_tokens(part):
                reader.expect(token)


def _opening(parts: Sequence[str], forms: Mapping[str, Form[Any]]) -> str:
    """Return the first token of an optional part, which may be that of a field."""
    first = next(part for part in parts if part.strip())
    return forms[first[1:]].opening if first.startswith("$") else str(_find_tokens(first)[0])


def _text(parts: Parts, forms: Mapping[str, Form[Any]], value: SdyAttribute) -> str:
    """Return the text of an attribute, or of an optional part of it: nothing if a field there is empty."""
    written = ""
    for part in parts:
        if isinstance(part, tuple):
            fields = [field[1:] for field in part if field.startswith("$")]
            written += _text(part, forms, value) if all(getattr(value, field) for field in fields) else ""
        else:
            written += forms[part[1:]].text(getattr(value, part[1:])) if part.startswith("$") else part
    return written
