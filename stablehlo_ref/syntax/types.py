"""Types, with a memo from their text, and debug locations: recursive descent over MLIR's grammar."""

from __future__ import annotations

import re
from collections.abc import Callable

from stablehlo_ref.define.assembly import AsmParser
from stablehlo_ref.diagnostics import Source
from stablehlo_ref.ir.attributes import StructAttribute
from stablehlo_ref.ir.lexer import STRING, TRIVIA, token
from stablehlo_ref.ir.locations import (
    UNKNOWN_LOCATION,
    CallSiteLocation,
    DebugLocation,
    FileLocation,
    FusedLocation,
    LocationAlias,
    NameLocation,
)
from stablehlo_ref.ir.types import (
    FLOATS,
    INDEX,
    NONE,
    TOKEN,
    BufferType,
    ComplexType,
    FunctionType,
    FutureType,
    IntegerType,
    MeshTensorType,
    OpaqueType,
    QuantizedType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    UnrankedBufferType,
    UnrankedTensorType,
    integer_type,
    tensor_type,
)
from stablehlo_ref.suggestions import closest, element_type

MAX_WIDTH = (1 << 24) - 1  # of an integer type, as in MLIR
MAX_DIMENSION = (1 << 63) - 1

_ANGLED = r"<[^<>\"/]*+(?:<[^<>\"/]*+>[^<>\"/]*+)*+>"
SIMPLE_TYPE = rf"(?:tensor{_ANGLED}|[a-z!][\w.]*+(?![\w.<\-$]))"
_TYPES = rf"(?:{SIMPLE_TYPE}(?:,\s*+{SIMPLE_TYPE})*+)?+"
FUNCTION_TYPE = rf"\({_TYPES}\)\s*+->\s*+(?:{SIMPLE_TYPE}|\({_TYPES}\))"

match_simple_type = token(rf"({SIMPLE_TYPE})")
_match_function_type = token(rf"({FUNCTION_TYPE})")
_match_dimensions = token(rf"((?:(?:\?|\d++){TRIVIA}x{TRIVIA})*+)")
_find_sizes = re.compile(r"\?|\d++").findall
_match_unranked = token(r"\*\s*x")
_match_integer_type = re.compile(r"(si|ui|i)([1-9]\d*)").fullmatch
_match_layout = re.compile(r"(?:affine_map<\s*\(|strided<\s*\[)([^)\]]*)").match
_match_number = token(r"(-?(?:\d++(?:\.\d*+)?+(?:[eE][+\-]?\d++)?+))")
_match_file = token(rf"({STRING}):(\d++):(\d++)(?:\s*to\s*(\d*+):(\d++))?")
_match_simple_name = token(rf"loc\(({STRING})(?:\((\#[\w$.\-]++)\))?\)")
_match_loc = token(r"loc(?:\((\#[\w$.\-]++)\)|(?![\w$.]))")


class TypeParser(AsmParser):
    """Parses types and locations. Subclasses define `type_alias` for aliases (`!name`)."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.types: dict[str, Type] = dict(FLOATS) | {"index": INDEX, "none": NONE}
        self.types |= {"!stablehlo.token": TOKEN, "!mhlo.token": TokenType("mhlo")}
        self.function_types: dict[str, FunctionType] = {}
        # A location alias may be used before its definition, so uses are `LocationAlias`es, set later.
        self.location_aliases: dict[str, LocationAlias] = {}
        self.location_uses: dict[str, int] = {}  # offsets of aliases that are used and not yet defined

    def attribute_text(self) -> str:
        """Parse an attribute and return its text with aliases expanded."""
        raise NotImplementedError

    def type_alias(self, name: str) -> Type:
        """Return the type that the alias `!name` stands for."""
        raise NotImplementedError

    def foreign_type(self, name: str) -> Type:
        """Parse a type of vhlo, whose name is next."""
        raise NotImplementedError

    # --- entry --------------------------------------------------------------------------------------------------

    # type ::= function-type | non-function-type
    def type(self) -> Type:
        """Parse a type."""
        match = match_simple_type(self.text, self.position)
        if match:
            known = self.types.get(match[1])
            if known is not None:
                self.position = match.end()
                return known
        self.descend()
        parsed = self._type()
        self.depth -= 1
        if match and match.end() == self.position:
            self.types[match[1]] = parsed
        return parsed

    def _type(self) -> Type:
        start = self.peek()
        if start == "(":
            return self.function_type()
        if start[:1] == "!":
            return self._dialect_type()
        read = _BUILTIN.get(start)
        if read:
            self.advance()
            return read(self)
        integer = _match_integer_type(start)
        if not integer:
            meant = element_type(start, FLOATS) or closest(start, (*FLOATS, *_BUILTIN))
            hint = f"; did you mean '{meant}'?" if meant else ""
            raise self.expected("a type", hint="; each dimension is followed by 'x'" if start.isdecimal() else hint)
        if len(integer[2]) > 8 or int(integer[2]) > MAX_WIDTH:
            raise self.error(f"integer bitwidth is limited to {MAX_WIDTH} bits")
        self.advance()
        return integer_type(int(integer[2]), integer[1][:-1])

    # function-type ::= ( types ) -> ( type | ( types ) )
    def function_type(self) -> FunctionType:
        """Parse a function type."""
        match = _match_function_type(self.text, self.position)
        if match and (known := self.function_types.get(match[1])):
            self.position = match.end()
            return known
        inputs = tuple(self.items(self.type, "(", ")"))
        self.expect("->")
        parsed = FunctionType(inputs, self.result_types())
        if match and match.end() == self.position:
            self.function_types[match[1]] = parsed
        return parsed

    # result-types ::= type | ( types )
    def result_types(self) -> tuple[Type, ...]:
        """Parse the result types of a function type."""
        if self.peek() != "(":
            return (self.type(),)
        start = self.position
        types = tuple(self.items(self.type, "(", ")"))
        if self.peek() == "->":  # a single result that is itself a function
            self.position = start
            return (self.function_type(),)
        return types

    # types ::= (type (, type)*)?
    def type_list(self, count: int | None = None) -> tuple[Type, ...]:
        """Parse one type or more, separated by commas; exactly `count`, a number of operands, if that is given."""
        offset, types = self.start, [self.type()]
        while self.accept(","):
            types.append(self.type())
        if count is not None and len(types) != count:
            raise self.error(f"{count} operands present, but expected {len(types)}", offset)
        return tuple(types)

    # --- builtin types ------------------------------------------------------------------------------------------

    # tensor-type ::= tensor < (dimensions | * x) type (, encoding)? >
    def _tensor(self) -> Type:
        start = self.start
        self.expect("<")
        if self.take(_match_unranked(self.text, self.position)):
            element = self.type()
            self.expect(">")
            return UnrankedTensorType(element)
        shape = self._shape()
        element = self.type()
        if self.accept(">"):
            return tensor_type(shape, element)
        if not self.accept(","):
            raise self.expected("',' or '>'")
        encoding = self._encoding()
        self.expect(">")
        if isinstance(encoding, str):
            return TensorType(shape, element, None, encoding)
        bounds: tuple[int | None, ...] = encoding.fields["bounds"]
        self._check_bounds(bounds, shape, start)
        return TensorType(shape, element, bounds, None, encoding.spelling)

    def _check_bounds(self, bounds: tuple[int | None, ...], shape: tuple[int | None, ...], offset: int) -> None:
        if len(bounds) != len(shape):
            message = f"Bounds length is {len(bounds)}, expected to be equal to rank({len(shape)}) of the tensor"
            raise self.error(message, offset)
        for axis, (bound, size) in enumerate(zip(bounds, shape)):
            if bound is not None and size is not None:
                raise self.error(f"Static dimension {axis} cannot have a bound", offset)

    # dimensions ::= ((? | integer) x)*
    def _shape(self) -> tuple[int | None, ...]:
        match = _match_dimensions(self.text, self.position)
        assert match is not None
        self.position = match.end()
        sizes = _find_sizes(re.sub("//.*", "", match[1]) if "/" in match[1] else match[1])
        for size in sizes:
            if len(size) > 18 and (len(size) > 19 or int(size) > MAX_DIMENSION):
                raise self.error("dimension size does not fit in 64 bits", match.start(1))
        return tuple(None if size == "?" else int(size) for size in sizes)

    # encoding ::= #stablehlo.bounds<...> | attribute
    def _encoding(self) -> StructAttribute | str:
        """Return the attribute that has bounds, or the text of any other."""
        start = self.position
        attribute = self.attribute()
        if isinstance(attribute, StructAttribute) and isinstance(attribute.fields.get("bounds"), tuple):
            return attribute
        self.position = start
        return self.attribute_text()

    # memref-type ::= memref < dimensions type (, layout)* >
    def _memref(self) -> Type:
        self.expect("<")
        shape = None if self.take(_match_unranked(self.text, self.position)) else self._shape()
        offset, element = self.start, self.type()
        if isinstance(element, NOT_IN_BUFFERS):
            raise self.error(f"invalid memref element type {element}", offset)
        layout: list[str] = []
        while self.accept(","):
            layout.append(self._buffer_parameter(None if shape is None else len(shape), layout))
        self.expect(">")
        return UnrankedBufferType(element, *layout) if shape is None else BufferType(shape, element, tuple(layout))

    def _buffer_parameter(self, rank: int | None, earlier: list[str]) -> str:
        """Parse a layout or a memory space, and return its text; `rank` is None for an unranked memref."""
        offset, parameter = self.start, self.attribute_text()
        layout, has_space = _match_layout(parameter), bool(earlier) and not _match_layout(earlier[-1])
        if layout and rank is None:
            raise self.error("cannot have a layout of an unranked memref", offset)
        if layout and len([name for name in layout[1].split(",") if name.strip()]) != rank:
            raise self.error(f"expected a layout of {rank} dimensions, as many as the memref has", offset)
        if has_space:
            raise self.error("expected at most one memory space of a memref, after its layout", offset)
        if not layout and _is_no_space(parameter):
            raise self.error(f"unsupported memory space {parameter}", offset)
        return parameter

    # complex-type ::= complex < type >
    def _complex(self) -> Type:
        self.expect("<")
        element = self.type()
        self.expect(">")
        return ComplexType(element)

    # tuple-type ::= tuple < types >
    def _tuple(self) -> Type:
        return TupleType(tuple(self.items(self.type, "<", ">")))

    def _vector(self) -> Type:
        return OpaqueType("vector" + self.balanced_text("vector type"))

    # --- types of dialects --------------------------------------------------------------------------------------

    # dialect-type ::= !alias | ! dialect . name (< ... >)? | ! dialect < ... >
    def _dialect_type(self) -> Type:
        name = self.peek()
        if name == "!":
            raise self.expected("a type")
        if name == "!stablehlo.future":
            self.advance()
            return FutureType(tuple(self.items(self._future_element, "<", ">")))
        if name == "!mpmd.mesh_tensor":
            return self._mesh_tensor()
        if name == "!quant.uniform":
            return self._quantized()
        if name.startswith("!vhlo."):
            return self.foreign_type(name[1:])
        if name == "!mhlo.async_bundle":
            self.advance()
            return OpaqueType(f"{name}<{', '.join(map(str, self.items(self.type, '<', '>')))}>")
        if name.startswith(("!stablehlo.", "!mhlo.")):
            dialect, _, type = name[1:].partition(".")
            raise self.error(f"unknown {dialect} type: {type}")
        start = self.start
        self.advance()
        angled = self.text.startswith("<", self.position)
        if "." not in name and not angled:
            self.position = start
            return self.type_alias(self.advance())
        return OpaqueType(name + (self.balanced_text("dialect type") if angled else ""))

    # mesh-tensor ::= !mpmd.mesh_tensor < string , tensor (, sharding = <...>)? (, memory_kind = string)? >
    def _mesh_tensor(self) -> Type:
        self.advance()
        self.expect("<")
        mesh = self.string()
        self.expect(",")
        offset, tensor = self.start, self.type()
        if not isinstance(tensor, TensorType):
            raise self.error(f"expected a ranked tensor type, got {tensor}", offset)
        sharding = kind = ""
        if has_more := self.accept(","):
            if self.accept("sharding"):
                self.expect("=")
                if self.peek() != "<":
                    raise self.expected("'<'")
                sharding = self.balanced_text("a sharding").strip()
                has_more = self.accept(",")
            if has_more:
                self.expect("memory_kind")
                self.expect("=")
                kind = self.string()
        self.expect(">")
        fields = tensor.shape, tensor.element_type, tensor.bounds, tensor.encoding, tensor.spelling
        return MeshTensorType(*fields, mesh, sharding, kind)

    def _future_element(self) -> Type:
        offset, type = self.start, self.type()
        if not isinstance(type, TensorType):
            raise self.error(f"future element type must be a ranked tensor, but got '{type}'", offset)
        return type

    # quantized-type ::= !quant.uniform < storage (< min : max >)? : type (: axis)? , parameters >
    # parameters ::= parameter | { parameter (, parameter)* }
    def _quantized(self) -> Type:
        start = self.start
        self.advance()
        self.expect("<")
        storage_text = self.peek()
        storage = self._storage_type()
        low, high = self._storage_bounds(storage)
        self.expect(":")
        expressed = self.type()
        axis = None
        if self.accept(":"):
            if self.peek() == "{":  # blocks of several axes
                self.position = self.text.index("<", start)
                return OpaqueType("!quant.uniform" + self.balanced_text("quantized type"))
            axis = self.integer()
        self.expect(",")
        parameters = [self._scale()] if axis is None else self.items(self._scale, "{", "}")
        self.expect(">")
        scales, zero_points = zip(*parameters) if parameters else ((), ())
        spelling = "" if storage_text == str(storage) else storage_text
        return QuantizedType(storage, expressed, scales, zero_points, low, high, axis, spelling)

    def _storage_type(self) -> IntegerType:
        name = self.peek()
        match = _match_integer_type(name.replace("u", "ui", 1) if name[:1] == "u" and name[1:2] != "i" else name)
        if not match or len(match[2]) > 2 or not 1 < int(match[2]) <= 32:
            raise self.expected("an integer type of 2 to 32 bits")
        self.advance()
        return IntegerType(int(match[2]), match[1][:-1])

    def _storage_bounds(self, storage: IntegerType) -> tuple[int, int]:
        if self.accept("<"):
            low = self.integer()
            self.expect(":")
            high = self.integer()
            self.expect(">")
            return low, high
        half = 1 << storage.width - 1
        return (-half, half - 1) if storage.is_signed else (0, 2 * half - 1)

    # parameter ::= number (: integer)?
    def _scale(self) -> tuple[float, int]:
        match = self.take(_match_number(self.text, self.position))
        if not match:
            raise self.expected("a scale")
        return float(match[1]), self.integer() if self.accept(":") else 0

    # --- locations ----------------------------------------------------------------------------------------------------

    # location? ::= (loc ( location-body ))?
    def trailing_location(self) -> DebugLocation | None:
        """Parse `loc(...)`, if it is next."""
        match = _match_loc(self.text, self.position)
        if not match or not match[1]:
            return self.location_attribute() if match else None
        self.position = match.end()
        return self.location_alias(match[1], match.start(1))

    # location ::= loc ( location-body )
    def location_attribute(self) -> DebugLocation:
        """Parse `loc(...)`."""
        match = self.take(_match_simple_name(self.text, self.position))
        if match:
            child = self.location_alias(match[2], match.start(2)) if match[2] else None
            return NameLocation(self.unescape(match[1], match.start(1)), child)
        self.expect("loc")
        self.expect("(")
        location = self._location_body()
        self.expect(")")
        return location

    # location-body ::= unknown | #alias | callsite ( ... ) | fused ... | file | name
    def _location_body(self) -> DebugLocation:
        self.descend()
        start = self.peek()
        if start[:1] == '"':
            location = self._file_or_name()
        elif start[:1] == "#":
            offset = self.start
            location = self.location_alias(self.advance(), offset)
        elif start in _LOCATIONS:
            self.advance()
            location = _LOCATIONS[start](self)
        else:
            raise self.expected("a location")
        self.depth -= 1
        return location

    def location_alias(self, name: str, offset: int) -> DebugLocation:
        """Return the location that an alias `#name`, used at `offset`, stands for."""
        alias = self.location_aliases.get(name)
        if alias is None:
            alias = self.location_aliases[name] = LocationAlias(name)
            self.location_uses[name] = offset
        return alias

    # file ::= string : line : column (to (line)? : column)? ; name ::= string (( location-body ))?
    def _file_or_name(self) -> DebugLocation:
        match = self.take(_match_file(self.text, self.position))
        if match:
            line, column = self.to_integer(match[2], match.start(2)), self.to_integer(match[3], match.start(3))
            end = None
            if match[5]:
                end_line = self.to_integer(match[4], match.start(4)) if match[4] else line
                end = (end_line, self.to_integer(match[5], match.start(5)))
            return FileLocation(self.unescape(match[1], match.start(1)), line, column, end)
        name, child = self.string(), None
        if self.accept("("):
            child = self._location_body()
            self.expect(")")
        return NameLocation(name, child)

    # callsite ::= callsite ( location-body at location-body )
    def _callsite(self) -> CallSiteLocation:
        self.expect("(")
        callee = self._location_body()
        self.expect("at")
        caller = self._location_body()
        self.expect(")")
        return CallSiteLocation(callee, caller)

    # fused ::= fused (< attribute >)? [ location-body (, location-body)* ]
    def _fused(self) -> FusedLocation:
        metadata = None
        if self.accept("<"):
            metadata = self.attribute()
            self.expect(">")
        return FusedLocation(tuple(self.items(self._location_body, "[", "]")), metadata)


# Types that are no elements of buffers, and the text of attributes that are no memory spaces.
NOT_IN_BUFFERS = (TensorType, UnrankedTensorType, TokenType, TupleType, QuantizedType, FunctionType)
_is_no_space = re.compile(r"[\[@]|unit$|dense[<_]").match

_BUILTIN = {
    "tensor": TypeParser._tensor,
    "memref": TypeParser._memref,
    "complex": TypeParser._complex,
    "tuple": TypeParser._tuple,
    "vector": TypeParser._vector,
}
_LOCATIONS: dict[str, Callable[[TypeParser], DebugLocation]] = {
    "unknown": lambda parser: UNKNOWN_LOCATION,
    "callsite": TypeParser._callsite,
    "fused": TypeParser._fused,
}
