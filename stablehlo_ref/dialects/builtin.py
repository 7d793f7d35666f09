"""MLIR's builtin and ub dialects: modules, `unrealized_conversion_cast`, and undefined behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Directive,
    Draft,
    Irregular,
    attribute_dictionary,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import Opaque, String, Visibility
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.op import Attr, Body, Ins, Op, Out, Outs
from stablehlo_ref.define.spec import element_type, is_tensor, shape
from stablehlo_ref.define.type_constraints import anything
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import INDEX, BooleanType, ComplexType, FloatType, IndexType, IntegerType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype


class ModuleForm(Directive):
    """`@name attributes {...} {...}`; the name and the attributes are optional."""

    members = ("sym_name",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.peek()[:1] == "@":
            draft.members["sym_name"] = parser.symbol_name()
        attribute_dictionary(parser, draft, "attributes")
        draft.regions = [parser.region(isolated=True)]

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        if len(op.regions[0].blocks) > 1:
            raise Irregular
        if "sym_name" in op.properties:
            printer.value(printer.symbol(member_value(op, "sym_name")))
        printer.dictionary(op, self.members, "attributes")
        printer.value("")
        printer.region(op.regions[0], ())


class Module(Op, op="module", dialect="builtin", isolated_from_above=True, single_block=False):
    """Contain the functions and nested modules of a program."""

    sym_name = Attr(String, default=None)
    sym_visibility = Attr(Visibility, default=None)
    body = Body()

    syntax = (ModuleForm(),)


class UnrealizedConversionCast(
    Op, op="unrealized_conversion_cast", dialect="builtin", computes_on_storage=True, returns_views=True
):
    """Return the inputs as values of other types with the same representation at run time, or of index as integers."""

    inputs = Ins(anything)
    results = Outs(anything)

    syntax = "(operands : type(operands))? to type(results) attr-dict"

    @staticmethod
    def plan(inputs: Sequence[Type], results: Sequence[Type]) -> Run:
        if len(inputs) == len(results) == 1 and (dtype := cast_dtype(inputs[0], results[0])):
            return lambda inputs: np.asarray(inputs[0], dtype)[... if is_tensor(results[0]) else ()]
        if len(inputs) != len(results) or not all(map(same_representation, inputs, results)):
            types = ", ".join(map(str, inputs)), ", ".join(map(str, results))
            raise UnsupportedError(f"unsupported conversion cast from ({types[0]}) to ({types[1]})")
        return lambda inputs: inputs[0] if len(inputs) == 1 else inputs


def same_representation(x: Type, y: Type) -> bool:
    """Return whether values of both types are the same numpy array or scalar at run time."""
    if is_tensor(x) and is_tensor(y):
        return shape(x) == shape(y) and same_representation(element_type(x), element_type(y))
    try:
        return x == y or (is_tensor(x) == is_tensor(y) and numpy_dtype(x) == numpy_dtype(y))
    except TypeError:
        return False


def cast_dtype(x: Type, y: Type) -> np.dtype[Any] | None:
    """Return the dtype of `y` if one of two types is index and the other an integer, or one a scalar of the other.

    Passes that replace index by tensors of i32 make such casts.
    """
    elements = [element_type(t) if is_tensor(t) else t for t in (x, y)]
    shapes = [shape(t) if is_tensor(t) else () for t in (x, y)]
    is_between = INDEX in elements and all(isinstance(t, IndexType | IntegerType) for t in elements)
    is_scalar = elements[0] == elements[1] and isinstance(elements[0], ELEMENTS)
    return numpy_dtype(elements[1]) if (is_between or is_scalar) and shapes[0] == shapes[1] else None


ELEMENTS = BooleanType, ComplexType, FloatType, IndexType, IntegerType


class Poison(Op, op="poison", dialect="ub", computes_on_storage=True):
    """Return a value that a program must not depend on, here zeros."""

    value = Attr(Opaque, default=OpaqueAttribute("#ub.poison"))
    result = Out(anything)

    syntax = "attr-dict (< $value >)? : type(results)"

    @staticmethod
    def plan(result: Type) -> Run:
        zeros = np.zeros(shape(result) if is_tensor(result) else (), numpy_dtype(element_type(result)))
        return lambda: zeros if zeros.ndim else zeros[()]
