"""Ops that create tensors without operands, and ops on tuples and tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import ClassVar

import numpy as np

from stablehlo_ref.define.assembly import (
    AsmParser,
    AsmPrinter,
    Deduced,
    Directive,
    Draft,
    Irregular,
    Types,
    attribute_dictionary,
    first_result,
    member_value,
)
from stablehlo_ref.define.attribute_codecs import Dense, Int, Int32
from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax
from stablehlo_ref.define.facts import CONSTANT, EXACT, KEEPS, MOVES
from stablehlo_ref.define.op import Attr, In, Ins, Op, Out, returns
from stablehlo_ref.define.spec import dim, element_type, rank, shape, size, storage_type, with_element_type
from stablehlo_ref.define.type_constraints import (
    any_value,
    complex_tensor,
    float_tensor,
    integer_tensor,
    per_tensor_quantized,
    quantized_tensor,
    tensor,
    tensor_of,
    token,
    tuple_value,
)
from stablehlo_ref.diagnostics import MalformedError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.attributes import DenseElements, DenseResource
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TOKEN, TensorType, TupleType, Type
from stablehlo_ref.limits.budget import reserve, within_time
from stablehlo_ref.numerics import implementation_defined
from stablehlo_ref.numerics.conversion import convert
from stablehlo_ref.numerics.dtypes import INT64, numpy_dtype

BLOCK = 1 << 16  # elements converted at a time
KEPT = 1 << 22  # bytes of numbers that are computed while planning; more are computed in each run

number_tensor = integer_tensor | float_tensor | complex_tensor | per_tensor_quantized


class ConstantForm(Directive):
    """`attr-dict dense<...> : type`, or `() {value = dense<...> : type} : () -> type` if the two types differ."""

    members = ("value",)

    def parse(self, parser: AsmParser, draft: Draft) -> None:
        if parser.accept("("):
            parser.expect(")")
            parser.properties(draft)
            attribute_dictionary(parser, draft)
            parser.expect(":")
            draft.operand_types, draft.result_types = (type := parser.function_type()).inputs, type.outputs
            return
        draft.exclusive = self.members
        attribute_dictionary(parser, draft)
        offset = parser.start
        value = parser.attribute()
        if not isinstance(value, DenseElements | DenseResource):
            raise parser.error("expected a tensor constant such as 'dense<0.0> : tensor<f32>'", offset)
        draft.members["value"] = value
        draft.result_types = (value.type,)

    def print(self, printer: AsmPrinter, op: Operation) -> None:
        value = member_value(op, "value")
        if op.result_types != [value.type]:
            raise Irregular
        printer.dictionary(op, self.members)
        printer.value(printer.attribute(value))


class Constant(Op, op="constant", computes_on_storage=True, facts=CONSTANT):
    """Return the constant `value`."""

    value = Attr(Dense)  # I1
    output = Out(tensor | quantized_tensor)

    syntax: ClassVar[Syntax] = (ConstantForm(),)

    @staticmethod
    def infer(value: Dense) -> TensorType:
        inferred: TensorType = value.type
        return inferred

    @staticmethod
    def constraints(C: Checker, value: Dense, output: TensorType) -> None:
        C(1, compatible_constant(value.type, output))

    @staticmethod
    def plan(value: Dense) -> Run:
        array = elements_of(value)
        return lambda: array


def elements_of(value: DenseElements | DenseResource) -> Array:
    """Return the elements of a constant; MalformedError if the text does not have them."""
    if value.array is None:
        hint = "--random-weights SEED and Program.with_random_weights(seed) draw some"
        raise MalformedError(f"no data found for dense_resource<{value.key}>, whose elements were left out; {hint}")
    return value.array


def compatible_constant(value_type: TensorType, output: TensorType) -> bool:
    """Return whether the types are equal, or `value_type` has the storage type of the quantized `output`."""
    return bool(value_type == output or value_type == with_element_type(output, storage_type(output)))


class Iota(Op, op="iota", returns_views=True, facts=MOVES):
    """Fill a tensor with numbers that increase from zero along `iota_dimension`."""

    iota_dimension = Attr(Int)  # I1
    output = Out(tensor_of(f"statically shaped {number_tensor}", lambda t: number_tensor.holds(t) and t.is_static))

    syntax = "dim = $iota_dimension attr-dict : type(results)"

    @staticmethod
    def constraints(C: Checker, iota_dimension: Int, output: TensorType) -> None:
        C(1, 0 <= iota_dimension < rank(output))

    @staticmethod
    def batching_rule(iota_dimension: Int) -> Mapping[str, object]:
        return {"iota_dimension": iota_dimension + 1}

    @staticmethod
    def plan(iota_dimension: Int, output: TensorType) -> Run:
        """Plan `output[output_index] = output_index[iota_dimension]`, as a view that repeats one row of numbers."""
        length, dtype = dim(output, iota_dimension), numpy_dtype(element_type(output))
        sizes, ones = shape(output), [1] * (rank(output) - iota_dimension - 1)
        if length * dtype.itemsize > KEPT:
            return lambda: np.broadcast_to(count(length, dtype).reshape(-1, *ones), sizes)
        result = np.broadcast_to(count(length, dtype).reshape(-1, *ones), sizes)
        return lambda: result

    @staticmethod
    def implementation_defined(iota_dimension: Int, output: TensorType) -> FindChoices:
        """Find numbers that the type lacks: those beyond its range, and 0 in f8E8M0FNU."""
        found = implementation_defined.convert(INT64, numpy_dtype(element_type(output)))
        numbers = np.arange(min(dim(output, iota_dimension), BLOCK + 1))
        return None if found is None else lambda *_: found(numbers)


def count(size: int, dtype: DType) -> Array:
    """Return the numbers from 0 up to, not including, `size`, converted to `dtype`.

    They are converted block by block, so that only the result needs memory.
    """
    reserve(size * dtype.itemsize)
    exact = dtype if dtype.kind in "iu" and size <= np.iinfo(dtype).max else INT64
    numbers, kernel = np.empty(size, dtype), convert(exact, dtype)
    for start in within_time(range(0, size, BLOCK)):
        numbers[start : start + BLOCK] = kernel(np.arange(start, min(start + BLOCK, size), dtype=exact))
    return numbers


# --- tuples, and the tokens that order side effects ------------------------------------------------------------------


def from_tuple(type: Type, count: int) -> tuple[Types, Types]:
    """Return the types of the elements of a tuple type, and the type."""
    if not isinstance(type, TupleType):
        raise ValueError(f"expected tuple type, got {type}")
    if len(type.elements) != count:
        raise ValueError(f"{count} operands present, but expected {len(type.elements)}")
    return type.elements, [type]


class Tuple(Op, op="tuple", computes_on_storage=True, returns_views=True, nans="moved", facts=KEEPS):
    """Create a tuple of `val`."""

    val = Ins(any_value)  # I1
    result = Out(tuple_value)

    syntax = ("operands attr-dict :", Deduced(first_result, from_tuple, is_short=True))

    @staticmethod
    def infer(val: Sequence[Type]) -> TupleType:
        return TupleType(tuple(val))

    @staticmethod
    def constraints(C: Checker, val: Sequence[Type], result: TupleType) -> None:
        C(1, result == TupleType(tuple(val)))

    plan = returns(tuple)


class GetTupleElement(
    Op, op="get_tuple_element", computes_on_storage=True, returns_views=True, nans="moved", facts=MOVES
):
    """Return element number `index` of a tuple."""

    operand = In(tuple_value)  # I1
    index = Attr(Int32)  # I2
    result = Out(any_value)

    syntax = "operands [ $index ] attr-dict : functional_type"

    @staticmethod
    def infer(operand: TupleType, index: Int32) -> Type:
        return operand.elements[index]

    @staticmethod
    def constraints(C: Checker, operand: TupleType, index: Int32, result: Type) -> None:
        C(1, 0 <= index < size(operand.elements))
        C(2, result == operand.elements[index])

    @staticmethod
    def plan(index: Int32) -> Run:
        return itemgetter(index)


class AfterAll(Op, op="after_all", facts=EXACT):
    """Create a token that depends on `inputs`. Ops run one after the other anyway, so the value of a token is None."""

    inputs = Ins(token)  # I1
    result = Out(token)

    syntax = "operands attr-dict : same_type"

    infer = returns(TOKEN)

    plan = returns(lambda inputs: None)
