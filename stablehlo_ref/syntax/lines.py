"""Operations on one line, which are most: lines that differ from others in names only, and short constants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import Attribute, DenseElements
from stablehlo_ref.ir.core import Region
from stablehlo_ref.ir.lexer import STRING, SUFFIX, TRIVIA, token
from stablehlo_ref.ir.types import FLOATS, TensorType, Type
from stablehlo_ref.syntax.file import VALUE
from stablehlo_ref.syntax.literals import filled
from stablehlo_ref.syntax.numbers import FEW, FLOAT, FLOAT32, LiteralError, few_floats, parse_numbers

CONSTANT = "stablehlo.constant"
F32 = FLOATS["f32"]

# An operation on one line: its result, name, operands in one or two lists, the text around those, and its location.
# The length is bounded, since long lines rarely repeat.
_VALUES = rf"((?:%{VALUE}(?:,\s*+%{VALUE})*+)?+)"
_UP_TO_LOCATION = r"(?:[^%\n/l]{1,100}+|l(?!oc\())"
match_line = token(
    rf"(?:%({SUFFIX})\s*+=\s*+)?+([A-Za-z_][\w$.]*+|{STRING})({_UP_TO_LOCATION}{{0,8}}+)"
    rf"{_VALUES}({_UP_TO_LOCATION}{{0,8}}+){_VALUES}"
    r"((?:[^%\n/l]{1,500}+|l(?!oc\()|/(?!/)){0,50}+)(?:loc\((\#[\w$.\-]++)\))?+[ \t\r]*+\n\s*+"
    rf"(?!{TRIVIA}loc\b)"  # of this operation, on a later line
)
find_names = re.compile(r"%([^\s,]++)").findall
_NUMBERS = r"[-+.\deE, ]++"
_match_floats = re.compile(rf" dense<\[({FLOAT}(?:, {FLOAT})*+)\]> : (tensor<\d++x\w++>) *+", re.ASCII).fullmatch
_match_numbers = re.compile(
    rf" dense<(?:\[({_NUMBERS})\]> : (tensor<\d++x\w++>)|({_NUMBERS})> : (tensor<[\dx]*+\w++>)) *+", re.ASCII
).fullmatch

LineKey: TypeAlias = "tuple[tuple[str | Any, ...], int]"  # the text of a line without names, the number of operands


class Line(NamedTuple):
    """The contents of an operation on one line except for names. Programs repeat such lines, which are parsed once."""

    name: str
    operand_types: tuple[Type, ...] | None
    result_types: tuple[Type, ...]
    properties: dict[str, object]
    attributes: dict[str, Attribute]
    regions: Sequence[Region]  # empty, or that of `applies op`
    spelling: str = ""


def constant_line(key: LineKey, types: Mapping[str, Type]) -> Line | None:
    """Return the line of a constant that is a number or a list, as MLIR prints it; `types` are known types by text.

    None for any other line, also one with an error.
    """
    name, text, more, end = key[0]
    if name != CONSTANT or more or end:
        return None
    elements = _few_floats(text, types) or _numbers(text, types)
    if elements is None:
        return None
    elements.array.setflags(write=False)
    return Line(name, (), (elements.type,), {"value": elements}, {}, ())


def _few_floats(text: str, types: Mapping[str, Type]) -> DenseElements | None:
    """Return a list of a few numbers of 32 bits as MLIR prints it, as constants often are; None for another text."""
    if not (match := _match_floats(text)):
        return None
    numbers, written = match.groups()
    type = types.get(written)
    if not isinstance(type, TensorType) or type.element_type is not F32 or type.size > FEW:
        return None
    array = few_floats(numbers.split(", "), type.size, FLOAT32)
    return None if array is None else DenseElements(type, array)


def _numbers(text: str, types: Mapping[str, Type]) -> DenseElements | None:
    """Return a number, or a list of as many numbers as the type has; None for another text."""
    if not (match := _match_numbers(text)):
        return None
    numbers, list_type, number, number_type = match.groups()
    type = types.get(list_type or number_type)
    if not isinstance(type, TensorType):
        return None
    body, count = (numbers, type.size) if numbers else (number, 1)
    if body.count(",") != count - 1:
        return None
    try:
        array = parse_numbers(body.encode(), count, type.element_type, body)
        return DenseElements(type, array if numbers else filled(array, type.shape))  # type: ignore[arg-type]
    except (LiteralError, UnsupportedError):  # to be reported with its place
        return None
