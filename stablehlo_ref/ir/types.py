"""The types of StableHLO programs (spec, "Types"), immutable and hashable; `str(type)` is MLIR's syntax.

An unknown dimension size is `None` in `TensorType.shape`. Signless integers (`i32`) are the spec's signed ones
(`si32`); the two are different types here so that a program is printed as it was written.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from math import prod
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Type:
    """Any type."""


# --- element types --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BooleanType(Type):
    """`i1`."""

    def __str__(self) -> str:
        return "i1"


@dataclass(frozen=True)
class IntegerType(Type):
    """An integer of `width` bits; `signedness` is "" (signless, read as signed), "s" or "u"."""

    width: int
    signedness: str = ""

    @property
    def is_signed(self) -> bool:
        return self.signedness != "u"

    @property
    def range(self) -> tuple[int, int]:
        """The minimum and the maximum value."""
        return (-(1 << self.width - 1), (1 << self.width - 1) - 1) if self.is_signed else (0, (1 << self.width) - 1)

    def __str__(self) -> str:
        return f"{self.signedness}i{self.width}"


@dataclass(frozen=True)
class IndexType(Type):
    """MLIR's `index`: a 64-bit integer in dimension sizes of the shape and tensor dialects."""

    def __str__(self) -> str:
        return "index"


@dataclass(frozen=True)
class FloatType(Type):
    """A floating-point format by its name in MLIR (`bf16`, `f8E4M3FN`, ...)."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class ComplexType(Type):
    """`complex<f32>` or `complex<f64>`; the verifier rejects other elements."""

    element: Type

    def __str__(self) -> str:
        return f"complex<{self.element}>"


@dataclass(frozen=True)
class QuantizedType(Type):
    """`!quant.uniform<storage<min:max>:expressed[:axis], {scale:zero_point, ...}>`; the axis is None per tensor."""

    storage_type: IntegerType
    expressed_type: Type
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    storage_min: int
    storage_max: int
    quantization_dimension: int | None = None
    storage_text: str = ""  # `u8`, which MLIR takes for another type than `ui8`; "" if it is that of the storage type

    def __str__(self) -> str:
        limits = self.storage_min, self.storage_max
        bounds = "" if limits == self.storage_type.range else f"<{self.storage_min}:{self.storage_max}>"
        axis = "" if self.quantization_dimension is None else f":{self.quantization_dimension}"
        scales = [_scale_text(float(scale)) for scale in self.scales]
        pairs = [scale + (f":{z}" if z else "") for scale, z in zip(scales, self.zero_points)]
        parameters = pairs[0] if self.quantization_dimension is None else "{" + ",".join(pairs) + "}"
        storage = self.storage_text or self.storage_type
        return f"!quant.uniform<{storage}{bounds}:{self.expressed_type}{axis}, {parameters}>"


# --- value types ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorType(Type):
    """`tensor<2x?xf32>`; `bounds` are those of `#stablehlo.bounds<...>`, `encoding` is any other encoding attribute."""

    shape: tuple[int | None, ...]
    element_type: Type
    bounds: tuple[int | None, ...] | None = None
    encoding: object = field(default=None)
    spelling: str = field(default="", compare=False)  # `mhlo` if the bounds are `#mhlo.type_extensions<...>`

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields alone: hashes of strings, and so `_hash`, differ from process to process."""
        if self.bounds is None and self.encoding is None:
            return tensor_type, (self.shape, self.element_type)
        return TensorType, (self.shape, self.element_type, self.bounds, self.encoding, self.spelling)

    @cached_property
    def _hash(self) -> int:
        return hash((self.shape, self.element_type, self.bounds))

    @cached_property
    def is_static(self) -> bool:
        return None not in self.shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @cached_property
    def size(self) -> int:
        """The number of elements of a static shape."""
        return prod(self.shape)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"tensor<{_dimensions(self.shape)}{self.element_type}{self._suffix()}>"

    def _suffix(self) -> str:
        if self.bounds is not None:
            bounds = ", ".join("?" if bound is None else str(bound) for bound in self.bounds)
            is_mhlo = self.spelling == "mhlo"
            return f", #mhlo.type_extensions<bounds = [{bounds}]>" if is_mhlo else f", #stablehlo.bounds<{bounds}>"
        return "" if self.encoding is None else f", {self.encoding}"


@dataclass(frozen=True)
class MeshTensorType(TensorType):
    """`!mpmd.mesh_tensor<"mesh", tensor<2xf32>, sharding=<@mesh, [{"x"}]>, memory_kind="device">`: a whole tensor."""

    mesh: str = ""
    sharding: str = ""  # its text in angle brackets
    memory_kind: str = ""

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        fields = self.shape, self.element_type, self.bounds, self.encoding, self.spelling
        return MeshTensorType, (*fields, self.mesh, self.sharding, self.memory_kind)

    @property
    def tensor(self) -> TensorType:
        """The type of the tensor on no mesh."""
        return TensorType(self.shape, self.element_type, self.bounds, self.encoding, self.spelling)

    def __str__(self) -> str:
        sharding = f", sharding={self.sharding}" if self.sharding else ""
        kind = f', memory_kind="{self.memory_kind}"' if self.memory_kind else ""
        return f'!mpmd.mesh_tensor<"{self.mesh}", {self.tensor}{sharding}{kind}>'


@dataclass(frozen=True)
class UnrankedTensorType(Type):
    """`tensor<*xf32>`: part of MLIR and CHLO, invalid in StableHLO."""

    element_type: Type

    def __str__(self) -> str:
        return f"tensor<*x{self.element_type}>"


@dataclass(frozen=True)
class TokenType(Type):
    """`!stablehlo.token`, or `!mhlo.token`."""

    spelling: str = field(default="stablehlo", compare=False)

    def __str__(self) -> str:
        return f"!{self.spelling}.token"


@dataclass(frozen=True)
class TupleType(Type):
    """`tuple<...>`: a legacy feature for compatibility with HLO."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.elements))}>"


@dataclass(frozen=True)
class FutureType(Type):
    """`!stablehlo.future<...>`: the results of an asynchronous op."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"!stablehlo.future<{', '.join(map(str, self.elements))}>"


@dataclass(frozen=True)
class BufferType(Type):
    """`memref<2x3xf32>`: a buffer that `custom_call` ops read and write. `layout` holds its other parameters."""

    shape: tuple[int | None, ...]
    element_type: Type
    layout: tuple[Any, ...] = ()

    def __str__(self) -> str:
        layout = "".join(f", {part}" for part in self.layout)
        return f"memref<{_dimensions(self.shape)}{self.element_type}{layout}>"


@dataclass(frozen=True)
class UnrankedBufferType(Type):
    """`memref<*xf32>`: a buffer of any shape, which programs only pass on. `space` is its memory space, or ""."""

    element_type: Type
    space: str = ""

    def __str__(self) -> str:
        return f"memref<*x{self.element_type}{self.space and f', {self.space}'}>"


@dataclass(frozen=True)
class FunctionType(Type):
    """`(inputs) -> outputs`."""

    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]

    def __str__(self) -> str:
        outputs = ", ".join(map(str, self.outputs))
        bare = len(self.outputs) == 1 and not isinstance(self.outputs[0], FunctionType)
        return f"({', '.join(map(str, self.inputs))}) -> {outputs if bare else f'({outputs})'}"


@dataclass(frozen=True)
class NoneType(Type):
    """MLIR's `none`."""

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True)
class OpaqueType(Type):
    """A type of another dialect (`!shape.witness`, `vector<4xf32>`, ...), kept as written."""

    text: str

    def __str__(self) -> str:
        return self.text


Shape: TypeAlias = tuple[int | None, ...]

BOOLEAN = BooleanType()
INDEX = IndexType()
TOKEN = TokenType()
NONE = NoneType()
WITNESS = OpaqueType("!shape.witness")

FLOAT_NAMES = (
    "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2",
    "f8E5M2FNUZ", "f8E8M0FNU", "bf16", "f16", "tf32", "f32", "f64", "f80", "f128",
)  # fmt: skip
FLOATS = {name: FloatType(name) for name in FLOAT_NAMES}


@cache
def integer_type(width: int, signedness: str = "") -> BooleanType | IntegerType:
    """Return `i1`, `i32`, `ui8`, `si4`, ...; a signless integer of one bit is the boolean type."""
    return BOOLEAN if width == 1 and not signedness else IntegerType(width, signedness)


@lru_cache(maxsize=4096)
def tensor_type(shape: Shape, element_type: Type) -> TensorType:
    """Return `tensor<shape x element_type>` without bounds or encoding; cached."""
    return TensorType(shape, element_type)


def unranked(type: Type) -> Type:
    """Return the type of an unranked tensor with the elements of a tensor; another type as it is."""
    return UnrankedTensorType(type.element_type) if isinstance(type, TensorType) else type


def as_vector(type: Type) -> Type:
    """Return the type of a vector of unknown size with the elements of an unranked tensor; another type as it is."""
    return tensor_type((None,), type.element_type) if isinstance(type, UnrankedTensorType) else type


def _dimensions(shape: Shape) -> str:
    return "".join(f"{'?' if size is None else size}x" for size in shape)


def _scale_text(scale: float) -> str:
    """Return a number as MLIR writes it: with six digits where they say it all."""
    rounded = f"{scale:e}"
    return rounded if float(rounded) == scale else decimal_text(repr(scale))


def decimal_text(digits: str) -> str:
    """Return the digits of a number with a decimal point, which MLIR requires."""
    mantissa, e, exponent = digits.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


# --- well-formed types, independent of the op that uses them ----------------------------------------------------------


INTEGER_WIDTHS = (2, 4, 8, 16, 32, 64)
COMPLEX_PARTS = (FLOATS["f32"], FLOATS["f64"])
NOT_IN_THE_SPEC = (FLOATS["f80"], FLOATS["f128"])

# The least positive and the greatest finite number of expressed types, between which scales are.
ANY_SCALE = (2.0**-1074, sys.float_info.max)
SCALES: dict[Type, tuple[float, float]] = {
    FLOATS["f16"]: (2.0**-24, 2.0**16 - 2.0**5),
    FLOATS["bf16"]: (2.0**-133, 2.0**128 - 2.0**120),
    FLOATS["f32"]: (2.0**-149, 2.0**128 - 2.0**104),
}


@cache
def ill_formed_reason(type: Type) -> str | None:
    """Return why a type is ill-formed; None if it is well-formed."""
    match type:
        case TensorType() | BufferType():
            return _element_type_reason(type.element_type) or _quantization_dimension_reason(type)
        case QuantizedType():
            return _quantized_reason(type)
        case TupleType() | FutureType():
            return next(filter(None, map(ill_formed_reason, type.elements)), None)
    return None


def _element_type_reason(element: Type) -> str | None:
    match element:
        case QuantizedType():
            return _quantized_reason(element)
        case BooleanType() | IndexType():
            return None
        case IntegerType(width) if width in INTEGER_WIDTHS:
            return None
        case FloatType() if element not in NOT_IN_THE_SPEC:
            return None
        case ComplexType(part) if part in COMPLEX_PARTS:
            return None
    return f"unsupported element type {element}"


def _quantized_reason(q: QuantizedType) -> str | None:
    """Return the constraint that a quantized element type violates; the parser ensures C1, C2, C4, C8 and C9."""
    low, high = q.storage_type.range
    least, greatest = SCALES.get(q.expressed_type, ANY_SCALE)
    per_axis = q.quantization_dimension is not None
    constraints = {
        "expressed_type is a floating-point type": isinstance(q.expressed_type, FloatType),
        "storage_type is an integer type, signless or unsigned": (
            q.storage_type.width in INTEGER_WIDTHS and q.storage_type.signedness != "s"
        ),
        "(C3): min_value(storage_type) <= storage_min < storage_max <= max_value(storage_type)": (
            low <= q.storage_min < q.storage_max <= high
        ),
        "(C5): 0 < scales": all(least <= scale for scale in q.scales),
        "(C6): is_finite(scales...)": all(scale <= greatest for scale in q.scales),
        "(C7): storage_min <= zero_points <= storage_max": (
            all(q.storage_min <= zero_point <= q.storage_max for zero_point in q.zero_points)
        ),
        "(C10): size(scales) = 1": per_axis or len(q.scales) == 1,
        "(C11): 0 <= quantization_dimension": not per_axis or 0 <= (q.quantization_dimension or 0),
    }
    return next((f"{q} violates {constraint}" for constraint, holds in constraints.items() if not holds), None)


def _quantization_dimension_reason(type: TensorType | BufferType) -> str | None:
    """Return which of C12 and C13, on tensors that are quantized per axis, a type violates."""
    element = type.element_type
    if not isinstance(element, QuantizedType) or element.quantization_dimension is None:
        return None
    if element.quantization_dimension >= len(type.shape):
        return f"{type} violates (C12): quantization_dimension < rank(self)"
    if type.shape[element.quantization_dimension] not in (None, len(element.scales)):
        return f"{type} violates (C13): dim(self, quantization_dimension) = size(scales)"
    return None
