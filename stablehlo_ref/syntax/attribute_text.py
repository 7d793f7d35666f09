"""Attributes and locations as MLIR text, which the parser reads back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import cast

import numpy as np

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array, DType, is_splat
from stablehlo_ref.ir.attributes import (
    UNIT,
    Attribute,
    DenseArray,
    DenseElements,
    DenseResource,
    EnumAttribute,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
    StructAttribute,
    SymbolReference,
    TypeAttribute,
    Unit,
)
from stablehlo_ref.ir.lexer import MAX_NESTING, key_text, quoted, symbol
from stablehlo_ref.ir.locations import (
    CallSiteLocation,
    DebugLocation,
    FileLocation,
    FusedLocation,
    NameLocation,
    UnknownLocation,
    resolve,
)
from stablehlo_ref.ir.types import BooleanType, FloatType, IntegerType, Type, decimal_text
from stablehlo_ref.numerics import dtypes
from stablehlo_ref.numerics.narrow_floats import widen
from stablehlo_ref.syntax.structs import CONVOLUTION_LISTS, STRUCTS

DOTTED = ("result_accuracy_mode", "rng_algorithm", "rng_distribution")  # enumerations that mhlo writes like structs
HEX_FROM = 101  # elements from which on a literal is printed as a hexadecimal string


def attribute_text(attribute: Attribute | DebugLocation) -> str:
    """Return the text of an attribute, location attributes included."""
    match attribute:
        case bool():
            return "true" if attribute else "false"
        case str():
            return quoted(attribute)
        case tuple():
            return f"[{', '.join(map(attribute_text, attribute))}]"
        case dict():
            return dictionary_text(attribute)
        case Unit():
            return "unit"
        case IntegerAttribute(value, type):
            return str(value) if type is None else f"{value} : {type}"
        case FloatAttribute(value, type, text):
            number_type = type if isinstance(type, FloatType) else FloatType("f64")
            return (text or float_text(value, number_type)) + (f" : {type}" if type else "")
        case DenseElements(type, array):
            return f"dense<{elements_text(array, type.element_type)}> : {type}"
        case DenseResource(key, type):
            return f"dense_resource<{key_text(key)}> : {type}"
        case DenseArray(element_type, values):
            return _array_text(element_type, values)
        case SymbolReference(path):
            return "::".join(map(symbol, path))
        case EnumAttribute(dialect, kind, value, spelling):
            is_dotted = spelling and kind in DOTTED
            return f"#{spelling}.{kind}<{value}>" if is_dotted else f"#{spelling or dialect}<{kind} {value}>"
        case StructAttribute(name, fields, spelling):
            return f"#{_spelled(name, spelling)}<{struct_text(name, fields, spelling)}>"
        case OpaqueAttribute(text):
            return text
        case TypeAttribute(type):
            return str(type)
    return location_text(attribute)


def dictionary_text(entries: Mapping[str, Attribute]) -> str:
    """Return `{name = value, ...}` in alphabetical order, as MLIR does; a unit attribute is its name alone."""
    ordered = sorted(entries.items(), key=lambda entry: entry[0])
    written = [key_text(k) if v == UNIT else f"{key_text(k)} = {attribute_text(v)}" for k, v in ordered]
    return f"{{{', '.join(written)}}}"


def dimensions_text(sizes: Iterable[object]) -> str:
    """Return `[0, 1]`."""
    return f"[{', '.join(map(str, sizes))}]"


# --- structs --------------------------------------------------------------------------------------------------------


def _spelled(name: str, spelling: str) -> str:
    """Return the name of a struct in the dialect in which it is printed."""
    return f"{spelling}.{name.partition('.')[2]}" if spelling else name


def _ragged_dot_text(fields: Mapping[str, object]) -> str:
    """Return the text of `#mhlo.ragged_dot<...>`, in which some of CHLO's fields are a struct."""
    known = STRUCTS["stablehlo.dot"]
    inner = StructAttribute("stablehlo.dot", {f: v for f, v in fields.items() if f in known}, "mhlo")
    outer = _fields_text("chlo.ragged_dot", {f: v for f, v in fields.items() if f not in known})
    return ", ".join(filter(None, (f"dot_dimension_numbers = {attribute_text(inner)}", outer)))


def struct_text(name: str, fields: Mapping[str, object], spelling: str = "") -> str:
    """Return the text between the brackets of `#name<...>`."""
    if name == "chlo.ragged_dot" and spelling:
        return _ragged_dot_text(fields)
    if name == "stablehlo.bounds":
        return _bounds_text(fields["bounds"])
    if name == "stablehlo.conv":
        return convolution_text(fields, bool(spelling)) or f"raw {_fields_text(name, fields)}"
    return _fields_text(name, fields)


def _bounds_text(bounds: object) -> str:
    return ", ".join("?" if bound is None else str(bound) for bound in cast("tuple[int | None, ...]", bounds))


def _fields_text(name: str, fields: Mapping[str, object]) -> str:
    written = {field: _field_text(field, value) for field, value in fields.items()}
    defaults = {field: _field_text(field, value) for field, value in STRUCTS.get(name, {}).items()}
    return ", ".join(f"{field} = {text}" for field, text in written.items() if defaults.get(field) != text)


def _field_text(field: str, value: object) -> str:
    """Return the text of a field: integers without their types, enumerations in the form of structs."""
    match value:
        case IntegerAttribute():
            return str(value.value)
        case DenseArray():
            return dimensions_text(value.values)
        case EnumAttribute(dialect, kind, member, spelling):
            return f"#{spelling or dialect}.{kind}<{member}>"
        case StructAttribute(name="stablehlo.sub_axis_info", fields=sizes):
            return f"({sizes['pre_size'].value}){sizes['size'].value}"
    if field == "bounds":
        return f"[{_bounds_text(value)}]"
    return attribute_text(cast(Attribute, value))


def convolution_text(fields: Mapping[str, object], with_unused: bool = False) -> str | None:
    """Return `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`; None if the dimensions are not a permutation of integers.

    They need not be a permutation if there may be unused dimensions, which are `?`.
    """
    lists = []
    for letters, spatial in CONVOLUTION_LISTS:
        numbers = [fields.get(field) for field in letters.values()]
        labels = {n.value: letter for n, letter in zip(numbers, letters) if isinstance(n, IntegerAttribute)}
        dimensions = _integers(fields.get(spatial))
        if dimensions is None:
            return None
        labels |= {dimension: str(label) for label, dimension in enumerate(dimensions)}
        rank = len(letters) + len(dimensions)
        if len(labels) < rank or min(labels) < 0 or (max(labels) >= rank and not with_unused):
            return None
        lists.append(dimensions_text(labels.get(position, "?") for position in range(max(labels) + 1)))
    return f"{lists[0]}x{lists[1]}->{lists[2]}"


def _integers(value: object) -> list[int] | None:
    """Return the integers of a list; None for another attribute."""
    match value:
        case DenseArray(IntegerType(), values):
            return list(values)
        case tuple() if all(isinstance(element, IntegerAttribute) for element in value):
            return [element.value for element in value]
    return None


# --- numbers --------------------------------------------------------------------------------------------------------


def float_text(value: float, type: FloatType) -> str:
    """Return a literal of `type` that reads back as `value`; infinities and NaNs are printed as bits."""
    try:
        return _real_text(cast(np.generic, np.asarray(value).astype(dtypes.numpy_dtype(type))[()]))
    except UnsupportedError:  # a format without arrays
        return decimal_text(repr(value))


def _bits_text(value: Array) -> str:
    return f"0x{int(value.view(f'u{value.dtype.itemsize}')):0{2 * value.dtype.itemsize}X}"


def _array_text(element_type: BooleanType | IntegerType | FloatType, values: tuple[bool | int | float, ...]) -> str:
    if not values:
        return f"array<{element_type}>"
    match element_type:
        case FloatType():
            words = [float_text(value, element_type) for value in values]
        case BooleanType():
            words = ["true" if value else "false" for value in values]
        case _:
            words = list(map(str, values))
    return f"array<{element_type}: {', '.join(words)}>"


def elements_text(array: Array, element_type: Type) -> str:
    """Return the text between the brackets of `dense<...>`: a splat, a list, or from 101 elements on their bytes."""
    if array.size == 0:
        splat = splat_of_none(array)
        return "" if splat is None else _element_text(splat, element_type)
    if is_splat(array):
        return _element_text(array[(0,) * array.ndim], element_type)  # `flat` is limited to 32 dimensions
    if array.size >= HEX_FROM and array.dtype != np.bool_:  # some versions of MLIR pack booleans, others do not
        return f'"0x{array.tobytes().hex().upper()}"'
    return _nested_text(array, element_type)


def splat_of_none(array: Array) -> object:
    """Return the element of an empty splat, which only the base of the view holds; None for any other array."""
    base = array.base
    if not isinstance(base, np.ndarray) or base.nbytes != array.itemsize:
        return None
    element: object = base.reshape(-1).view(array.dtype)[0]
    return element


def _nested_text(array: Array, element_type: Type) -> str:
    if array.ndim == 0:
        return _element_text(array[()], element_type)
    return f"[{', '.join(_nested_text(part, element_type) for part in array)}]"


def _element_text(value: object, element_type: Type) -> str:
    if isinstance(value, np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.complexfloating):
        return f"({_real_text(value.real)},{_real_text(value.imag)})"
    if isinstance(element_type, FloatType):
        return _real_text(cast(np.generic, value))
    return str(int(cast(np.integer, value)))


def _real_text(value: np.generic) -> str:
    array = np.asarray(value)
    if not np.isfinite(widen(array) if dtypes.is_narrow_float(array.dtype) else array):
        return _bits_text(array)
    rounded = short_text(float(array))
    if array == array.dtype.type(float(rounded)):
        return rounded
    return full_text(float(array), array.dtype) or _bits_text(array)


# --- locations ------------------------------------------------------------------------------------------------------


def location_text(location: DebugLocation) -> str:
    """Return `loc(...)` with aliases expanded."""
    return f"loc({_expanded_location(location)})"


def _expanded_location(location: DebugLocation | None, depth: int = 0) -> str:
    """Return a location without `loc( )`, cut at a depth that the parser accepts: aliases may nest deeper."""
    return (
        "unknown"
        if depth >= MAX_NESTING // 2
        else _location_body(location, partial(_expanded_location, depth=depth + 1))
    )


def _location_body(location: DebugLocation | None, below: Callable[[DebugLocation | None], str]) -> str:
    """Return a location without `loc( )`; `below` returns the text of those inside it."""
    match resolve(location):
        case FileLocation(filename, line, column, end):
            return f"{quoted(filename)}:{line}:{column}" + (f" to {end[0]}:{end[1]}" if end else "")
        case NameLocation(name, child):
            return quoted(name) + (f"({below(child)})" if child else "")
        case CallSiteLocation(callee, caller):
            return f"callsite({below(callee)} at {below(caller)})"
        case FusedLocation(locations, metadata):
            mark = "" if metadata is None else f"<{attribute_text(metadata)}>"  # type: ignore[arg-type]
            return f"fused{mark}[{', '.join(map(below, locations))}]"
        case UnknownLocation() | None:
            return "unknown"
    raise TypeError(f"not an attribute: {location!r}")


class LocationAliases:
    """The locations in a text, which MLIR prints as aliases `#loc1` and defines around it.

    MLIR numbers them by how deep they nest, and then in order of use. As that is known at the end, a mark with another
    number stands for an alias until then.
    """

    def __init__(self) -> None:
        self.bodies: list[str] = []  # in which the locations inside are marks
        self.numbers: dict[str, int] = {}  # of the marks for them
        self.depths: list[int] = []
        self.early: set[int] = set()  # defined in front of the text: those of arguments, and those inside them
        self.known: dict[int, str] = {}  # the marks of locations by their ids

    def mark(self, location: DebugLocation | None, nesting: int = 0) -> str:
        """Return the mark for a location."""
        if id(location) not in self.known:
            body = "unknown"
            if nesting < MAX_NESTING // 2:
                body = _location_body(location, partial(self.mark, nesting=nesting + 1))
            if body not in self.numbers:
                self.numbers[body] = len(self.bodies)
                self.bodies.append(body)
                self.depths.append(1 + max((self.depths[inner] for inner in _marks_in(body)), default=-1))
            self.known[id(location)] = f"\0{self.numbers[body]}\0"
        return self.known[id(location)]

    def argument(self, location: DebugLocation) -> str:
        """Return the location of an argument, whose outermost part is spelled out."""
        (number,) = _marks_in(self.mark(location))
        self.early.add(number)
        return self.bodies[number]

    def defined(self, text: str) -> str:
        """Return a text with aliases in place of the marks of locations, between the definitions of these aliases."""
        numbers = range(len(self.bodies))
        for number in reversed(numbers):
            if number in self.early:
                self.early.update(_marks_in(self.bodies[number]))
        order = sorted(numbers, key=self.depths.__getitem__)
        names = {f"\0{number}\0": f"#loc{place or ''}" for place, number in enumerate(order)}
        lines: tuple[list[str], list[str]] = [], []
        for number in order:
            lines[number not in self.early].append(f"\0{number}\0 = loc({self.bodies[number]})\n")
        return _MARK.sub(lambda mark: names[mark[0]], "".join((*lines[0], text, *lines[1])))


_MARK = re.compile("\0([0-9]+)\0")


def _marks_in(text: str) -> list[int]:
    return list(map(int, _MARK.findall(text)))


SHORT = 6  # digits
MOST_ZEROS = 3  # in front of the digits; beyond them, numbers are printed with an exponent


def short_text(value: float) -> str:
    """Return a finite number with six significant digits: `1.500000e+00`."""
    digits, exponent = _digits(abs(value), SHORT)
    power = exponent + len(digits) - 1
    sign = "-" if str(value).startswith("-") else ""
    return f"{sign}{digits[0]}.{digits[1:]:0<{SHORT}}e{'+' if power >= 0 else '-'}{abs(power):02}"


def full_text(value: float, dtype: DType) -> str | None:
    """Return a finite number with enough digits to distinguish all numbers of its type, without trailing zeros.

    None for whole numbers that would have no point, which are printed by their bits.
    """
    count = 2 + (dtypes.mantissa_bits(dtype) + 1) * 59 // 196
    digits, exponent = _digits(abs(value), count)
    sign = "-" if value < 0 else ""
    if not _is_plain(digits, exponent, count):
        return sign + _scientific(digits, exponent)
    return None if exponent >= 0 else sign + _plain(digits, exponent)


def _digits(value: float, count: int) -> tuple[str, int]:
    """Return up to `count` digits of a number and the power of ten of the last, rounded as LLVM does.

    Powers of ten that certainly exceed the digits are cut off first, and what is left is rounded half up.
    """
    numerator, denominator = value.as_integer_ratio()
    power = 1 - denominator.bit_length()
    significand = numerator * 5**-power  # as denominator is a power of two
    spare = (significand.bit_length() - (count * 196 + 58) // 59) * 59 // 196
    if spare > 0:
        significand, power = significand // 10**spare, power + spare
    text = str(significand)
    digits = text.rstrip("0") or "0"
    power += len(text) - len(digits) if significand else 0
    if len(digits) <= count:
        return digits, power if significand else 0
    return _rounded(digits, power, count)


def _rounded(digits: str, power: int, count: int) -> tuple[str, int]:
    kept = int(digits[:count]) + (digits[count] >= "5")
    text = str(kept)
    digits, power = text.rstrip("0"), power + len(digits) - count
    return digits, power + len(text) - len(digits)


def _is_plain(digits: str, exponent: int, count: int) -> bool:
    """Return whether a number is printed without an exponent; `exponent` is that of the last digit."""
    if exponent >= 0:
        return exponent <= MOST_ZEROS and len(digits) + exponent <= count
    leading = exponent + len(digits) - 1
    return leading >= 0 or -leading <= MOST_ZEROS


def _plain(digits: str, exponent: int) -> str:
    whole = len(digits) + exponent
    return f"{digits[:whole]}.{digits[whole:]}" if whole > 0 else f"0.{'0' * -whole}{digits}"


def _scientific(digits: str, exponent: int) -> str:
    power = exponent + len(digits) - 1
    return f"{digits[0]}.{digits[1:] or '0'}E{'+' if power >= 0 else '-'}{abs(power)}"
