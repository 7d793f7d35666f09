"""What ops on MLIR values besides tensors have in common: types of scalars, shapes and sizes, forms, base classes."""

from __future__ import annotations

from collections.abc import Mapping
from types import new_class
from typing import Any, ClassVar, TypeVar

import numpy as np

from stablehlo_ref.define.assembly import AsmParser, AsmPrinter, Deduced, Directive, Draft, Irregular, first_operand
from stablehlo_ref.define.attribute_codecs import NO_FAST_MATH, NO_OVERFLOW, FastMath
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.facts import EXACT, function
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out, returns
from stablehlo_ref.define.spec import element_type, is_quantized, with_element_type
from stablehlo_ref.define.type_constraints import TypeConstraint, anything, index, tensor_of
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import (
    UNIT,
    Attribute,
    DenseElements,
    DenseResource,
    FloatAttribute,
    IntegerAttribute,
    OpaqueAttribute,
)
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import (
    BOOLEAN,
    INDEX,
    BooleanType,
    FloatType,
    IndexType,
    IntegerType,
    OpaqueType,
    TensorType,
    Type,
    integer_type,
)
from stablehlo_ref.numerics.dtypes import INT64, UINT64, numpy_dtype
from stablehlo_ref.ops.constants import elements_of
from stablehlo_ref.ops.elementwise import BinaryElementwise, Elementwise, UnaryElementwise

T = TypeVar("T", bound=Op)

DYNAMIC = -(1 << 63)  # marks a size in an attribute whose value is an operand (MLIR's ShapedType::kDynamic)


def _like(name: str, *classes: type[Type]) -> TypeConstraint:
    """Return the constraint that a type is an element type of these classes, or a tensor of one."""
    return TypeConstraint(name, lambda t: isinstance(t.element_type if isinstance(t, TensorType) else t, classes))


def _opaque(text: str) -> TypeConstraint:
    return TypeConstraint(text, lambda t: isinstance(t, OpaqueType) and t.text == text)


def _signless(constraint: TypeConstraint) -> TypeConstraint:
    """Return a constraint without signed and unsigned integers."""
    return TypeConstraint(
        constraint.name, lambda t: constraint.holds(t) and not getattr(element_type(t), "signedness", "")
    )


integer_like = _signless(_like("integer, index, or tensor of these", BooleanType, IntegerType, IndexType))
float_like = _like("floating-point number or tensor", FloatType)
boolean_like = _like("boolean or tensor of booleans", BooleanType)
fixed_integer_like = _signless(_like("integer or tensor of integers", BooleanType, IntegerType))
number_like = integer_like | float_like
any_tensor = tensor_of("tensor", lambda t: True)
unquantized_tensor = tensor_of("tensor", lambda t: not is_quantized(t))
static_tensor = tensor_of("statically shaped tensor", lambda t: t.is_static)
boolean = TypeConstraint("i1", lambda t: isinstance(t, BooleanType))
fixed_integer = TypeConstraint("integer", lambda t: isinstance(t, BooleanType | IntegerType))
shape = _opaque("!shape.shape")  # at run time a 1-dimensional array of i64
size = _opaque("!shape.size")  # at run time an i64
extents = TypeConstraint(
    "1-dimensional tensor of sizes",
    lambda t: isinstance(t, TensorType) and isinstance(t.element_type, IndexType) and t.rank == 1,
)
shape_like = shape | extents
size_like = size | index


def alike(x: Type, y: Type) -> bool:
    """Return whether both types are scalars, or tensors of the same shape and encoding."""
    if isinstance(x, TensorType) and isinstance(y, TensorType):
        return (x.shape, x.bounds, x.encoding) == (y.shape, y.bounds, y.encoding)
    return not isinstance(x, TensorType) and not isinstance(y, TensorType)


def type_of(value: Attribute | None) -> Type | None:
    """Return the type of a constant attribute; None for any other attribute."""
    if isinstance(value, DenseElements | DenseResource | IntegerAttribute | FloatAttribute):
        return value.type
    return BOOLEAN if isinstance(value, bool) else None


def constant_value(value: Attribute, type: Type) -> Array:
    """Return a constant attribute as an array or a numpy scalar of `type`. TypeError for any other attribute."""
    if isinstance(value, DenseElements | DenseResource):
        return elements_of(value)
    dtype = numpy_dtype(element_type(type))
    if isinstance(value, IntegerAttribute):
        wide = np.array(value.value, INT64 if value.value < 0 else UINT64)
        return np.asarray(wide.astype(dtype))[()]
    if isinstance(value, FloatAttribute | bool):
        return np.asarray(value if isinstance(value, bool) else value.value).astype(dtype)[()]
    raise TypeError(f"{value} is not a constant")


def in_bounds(index: Array, stop: int) -> int:
    """Return `index` as a Python int. EvaluationError unless `0 <= index < stop`."""
    if not 0 <= index < stop:
        raise EvaluationError(f"index {index} is out of bounds for size {stop}")
    return int(index)


# --- pretty forms ----------------------------------------------------------------------------------------------------


class SameTypes(Directive):
    """No text. The types of the results are those of the operands."""

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        draft.result_types = draft.operand_types or ()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.result_types != op.operand_types:
            raise Irregular


class ArrowTypes(Directive):
    """`-> (types)` of the results, or nothing. One type may be without brackets, and is printed so if `bare`."""

    def __init__(self, bare: bool = False) -> None:
        self.bare = bare

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("->"):
            draft.result_types = parser.result_types()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if op.results:
            types = ", ".join(map(str, op.result_types))
            printer.value(f"-> {types}" if self.bare and len(op.results) == 1 else f"-> ({types})")


def boolean_of(type: Type) -> Type:
    """Return `i1`, or for a tensor type the same with element type `i1`."""
    return with_element_type(type, BOOLEAN) if isinstance(type, TensorType) else BOOLEAN


IMPLIED = (None, NO_OVERFLOW, NO_FAST_MATH)  # flags that no text means


class ArithFlags(Directive):
    """`upward`, `exact`, `nneg`, `overflow<nsw, nuw>` and `fastmath<fast>`, all optional."""

    rounding_modes = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
    words: ClassVar[dict[str, tuple[str, Attribute]]] = {
        "exact": ("is_exact", UNIT),
        "nneg": ("non_negative", UNIT),
        **{word: ("rounding_mode", IntegerAttribute(i, integer_type(32))) for i, word in enumerate(rounding_modes)},
    }
    with_values = ("overflow", "fastmath")
    members: tuple[str, ...] = ("is_exact", "non_negative", "rounding_mode", *with_values)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        name, value = self.words.get(parser.peek(), ("", None))
        known = draft.definition.attributes if draft.definition is not None else {}
        if name in known:
            parser.advance()
            draft.members[name] = value
        for name in self.with_values:
            if name in known and parser.accept(name):
                flags = OpaqueAttribute(f"#arith.{name}{parser.balanced_text('flags')}")
                draft.members[name] = known[name].decode(flags)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        for name in self.members[: -len(self.with_values)]:
            if (value := op.properties.get(name)) is not None:
                word = next((w for w, known in self.words.items() if known == (name, value)), None)
                if word is None:
                    raise Irregular
                printer.value(word)
        for name in self.with_values:
            flags = op.properties.get(name)
            if flags is not None and not isinstance(flags, OpaqueAttribute):
                raise Irregular
            if flags not in IMPLIED:
                printer.value(flags.text.removeprefix("#arith."))


class LaterFlags(ArithFlags):
    """Flags that earlier versions of MLIR have in the dictionary: what both read is the generic form."""

    members = ()

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if any(op.properties.get(name) is not None for name in ArithFlags.members):
            raise Irregular


COMPARED = Deduced(first_operand, lambda t, n: ([t] * n, [boolean_of(t)]))
CAST = Deduced(
    lambda operands, results: [operands[0], results[0]], lambda a, b, n: ([a] + [INDEX] * (n - 1), [b]), "to"
)
FLAGS, LATER_FLAGS, SAME_TYPES = ArithFlags(), LaterFlags(), SameTypes()


# --- base classes ----------------------------------------------------------------------------------------------------


identity = returns(lambda operand: operand)


class Yield(Op, terminator=True):
    """The base class of terminators that return values of any types."""

    results = Ins(anything)

    syntax: ClassVar[Syntax] = "attr-dict operands (: type(operands))?"


class Unary(UnaryElementwise, facts=EXACT):
    """The base class of ops on one integer or tensor of integers, whose result has its type."""

    operand = In(integer_like)
    result = Out(integer_like)

    syntax: ClassVar[Syntax] = ("operands", FLAGS, "attr-dict : same_type")

    @staticmethod
    def constraints(C: Checker, operand: Type, result: Type) -> None:
        C(1, operand == result)


class UnaryF(Unary, facts=function(monotone=True)):
    """The base class of ops on one float or tensor of floats."""

    operand = In(float_like)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(float_like)


class Binary(BinaryElementwise, facts=EXACT):
    """The base class of ops on two integers or tensors of integers of one type, which the result has too."""

    lhs = In(integer_like)
    rhs = In(integer_like)
    result = Out(integer_like)

    syntax: ClassVar[Syntax] = ("operands", FLAGS, "attr-dict : same_type")

    @staticmethod
    def constraints(C: Checker, lhs: Type, rhs: Type, result: Type) -> None:
        C(1, lhs == rhs == result)


class BinaryF(Binary, facts=function()):
    """The base class of ops on two floats or tensors of floats of one type."""

    lhs = In(float_like)
    rhs = In(float_like)
    fastmath = Attr(FastMath, default=NO_FAST_MATH)
    result = Out(float_like)


def define(base: type[T], mnemonic: str, doc: str | None, **options: Any) -> type[T]:
    """Define an op of class `base`; `options` are its attributes, such as kernels, and arguments of the class."""
    arguments: dict[str, Any] = {name: options.pop(name) for name in ("facts", "nans") if name in options}
    body = {"__doc__": doc, "__module__": base.__module__, **options}
    return new_class(mnemonic, (base,), {"op": mnemonic, **arguments}, lambda namespace: namespace.update(body))


def define_like(base: type[Op], models: Mapping[str, type[Elementwise]], elements: str = "floating") -> None:
    """Define ops of class `base`, each with the facts of an op of another dialect and its kernel for such elements."""
    for mnemonic, model in models.items():
        facts, nans = model.definition.facts, model.definition.traits.nans
        define(base, mnemonic, model.__doc__, facts=facts, nans=nans, **{elements: getattr(model, elements)})
