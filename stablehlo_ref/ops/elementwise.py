"""Elementwise ops: their base classes, arithmetic, and `map`.

A class lists the kernels of an op by kind of element type, as the spec's section on the op does: "For booleans: logical
OR", "For integers: integer addition", and so on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import FindChoices, RegionFunction, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.definition import Syntax, resolve
from stablehlo_ref.define.facts import EXACT, FOLDS, SELECTS, STEPS, divides_by_zero, function, power_of_zero, rounds
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, type_of
from stablehlo_ref.define.spec import (
    axes,
    baseline_element_type,
    baseline_type,
    compatible,
    complex_element_type,
    element_type,
    expressed_type,
    is_complex,
    is_per_axis_quantized,
    is_quantized,
    quantization_dimension,
    rank,
    real_type,
    scalar,
    shape,
    size,
    storage_type,
)
from stablehlo_ref.define.type_constraints import (
    complex_tensor,
    float_tensor,
    integer_tensor,
    per_tensor_quantized,
    quantized_tensor,
    signed_integer_tensor,
    tensor,
)
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import FunctionType, QuantizedType, TensorType, Type
from stablehlo_ref.numerics import complex_elementary, complexes, elementary, floats, implementation_defined, integers
from stablehlo_ref.numerics.correct_rounding import in_mode
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.numerics.kernels import KernelFactory, same_kernel

number_tensor = integer_tensor | float_tensor | complex_tensor


class Elementwise(Op, elementwise=True):
    """Base of the elementwise ops: kernels by kind of element type, None for kinds that the op does not have.

    `scalar` is a Python operator that does the same on scalars of numpy's own types, ten times as fast as a kernel.
    `choices` returns, for a dtype, a function that finds operands whose result is implementation-defined.
    """

    scalar: ClassVar[Run | None] = None
    boolean: ClassVar[KernelFactory | None] = None
    integer: ClassVar[KernelFactory | None] = None
    floating: ClassVar[KernelFactory | None] = None
    complex: ClassVar[KernelFactory | None] = None
    choices: ClassVar[Callable[[DType], FindChoices] | None] = None

    @classmethod
    def kernel(cls, x: Type, mode: Mode) -> Run:
        """Return the kernel for the element type of `x` in a mode; UnsupportedError if the op has none."""
        dtype = numpy_dtype(element_type(x))
        if cls.scalar is not None and rank(x) == 0 and dtype.kind in "biuf":
            return cls.scalar
        factory: KernelFactory | None = getattr(cls, kind(dtype))
        if factory is None:
            raise UnsupportedError(f"'{cls.definition.name}' op does not support element type {element_type(x)}")
        if mode.reproducible:
            factory = in_mode(factory, reproducible=True)
        return factory(dtype)


def on_element(op: Operation) -> object:
    """Return what says how an op computes one element: a factory of kernels, or the class of the op if that has none.

    It is that for the type of the first operand. Two ops with the same one compute the same.
    """
    definition, x = resolve(op), op.operand_types[0]
    if definition is None:
        return None
    found = definition.op_class
    if not issubclass(found, Elementwise) or not isinstance(x, TensorType) or isinstance(x.element_type, QuantizedType):
        return found
    return getattr(found, kind(numpy_dtype(x.element_type))) or found


class UnaryElementwise(Elementwise):
    """Base of the ops with one operand and a result of the same type."""

    operand = In(tensor | quantized_tensor)  # I1
    result = Out(tensor | quantized_tensor)

    syntax: ClassVar[Syntax] = "operands attr-dict : same_type"

    infer = type_of("operand")

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, compatible(baseline_type(operand), baseline_type(result)))

    @classmethod
    def plan(cls, mode: Mode, operand: TensorType) -> Run:
        return cls.kernel(operand, mode)

    @classmethod
    def implementation_defined(cls, operand: TensorType) -> FindChoices:
        return cls.choices(numpy_dtype(element_type(operand))) if cls.choices else None


class BinaryElementwise(Elementwise):
    """Base of the ops with two operands and a result, all of the same type."""

    lhs = In(tensor | quantized_tensor)  # I1
    rhs = In(tensor | quantized_tensor)  # I2
    result = Out(tensor | quantized_tensor)

    syntax: ClassVar[Syntax] = "operands attr-dict : same_type"

    infer = type_of("lhs")

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, rhs: TensorType, result: TensorType) -> None:
        C(1, compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result)))

    @classmethod
    def plan(cls, mode: Mode, lhs: TensorType) -> Run:
        return cls.kernel(lhs, mode)

    @classmethod
    def implementation_defined(cls, lhs: TensorType) -> FindChoices:
        return cls.choices(numpy_dtype(element_type(lhs))) if cls.choices else None


# --- arithmetic -----------------------------------------------------------------------------------------------------


class Abs(UnaryElementwise, op="abs", nans="moved", facts=SELECTS):
    """Compute the absolute value of each element, the modulus of complex numbers."""

    operand = In(signed_integer_tensor | float_tensor | complex_tensor | per_tensor_quantized)  # I1
    result = Out(signed_integer_tensor | float_tensor | per_tensor_quantized)

    integer = integers.abs
    floating = floats.abs
    complex = complexes.abs
    choices = implementation_defined.abs

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return real_type(operand)

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, shape(result) == shape(operand))
        C(2, baseline_element_type(result) == (complex_element_type(operand) if is_complex(operand)
                                               else baseline_element_type(operand)))  # fmt: skip


class Add(BinaryElementwise, op="add", commutative=True, facts=rounds(adds=True)):
    """Add `lhs` and `rhs` element by element."""

    scalar = operator.add
    boolean = same_kernel(np.logical_or)
    integer = integers.add
    floating = floats.add
    complex = complexes.add
    choices = implementation_defined.add

    @staticmethod
    def constraints(C: Checker, lhs: TensorType, rhs: TensorType, result: TensorType) -> None:
        if not any(map(is_quantized, (lhs, rhs, result))):
            C(1, compatible(lhs, rhs, result))
            return
        C(1, shape(lhs) == shape(rhs) == shape(result))
        C(2, all(map(is_quantized, (lhs, rhs, result))))
        C(3, storage_type(lhs) == storage_type(rhs) == storage_type(result))
        C(4, expressed_type(lhs) == expressed_type(rhs) == expressed_type(result))
        C(5, (is_per_axis_quantized(lhs) or is_per_axis_quantized(rhs)) == is_per_axis_quantized(result))
        if is_per_axis_quantized(lhs):
            C(6, quantization_dimension(lhs) == quantization_dimension(result))
        if is_per_axis_quantized(rhs):
            C(7, quantization_dimension(rhs) == quantization_dimension(result))


class BinaryArithmetic(BinaryElementwise):
    """Base of the ops on two operands of numbers."""

    lhs = In(number_tensor | per_tensor_quantized)  # I1
    rhs = In(number_tensor | per_tensor_quantized)  # I2
    result = Out(number_tensor | per_tensor_quantized)


class Divide(BinaryArithmetic, op="divide", facts=rounds(pole=divides_by_zero, underflow="unless zero")):
    """Divide `lhs` by `rhs`; integer division truncates toward zero."""

    integer = integers.divide
    floating = floats.divide
    complex = complexes.divide
    choices = implementation_defined.divide


class Power(BinaryArithmetic, op="power", facts=function(pole=power_of_zero, underflow="unless zero")):
    """Raise `lhs` to the power of `rhs`."""

    integer = integers.power
    floating = elementary.power
    complex = complex_elementary.power
    choices = implementation_defined.power


class Remainder(BinaryArithmetic, op="remainder", facts=EXACT):
    """Compute `lhs - d * rhs`, where `d` is the quotient truncated toward zero; the result has the sign of `lhs`."""

    integer = integers.remainder
    floating = floats.remainder
    choices = implementation_defined.remainder


class Subtract(BinaryArithmetic, op="subtract", facts=rounds(adds=True)):
    """Subtract `rhs` from `lhs` element by element."""

    scalar = operator.sub
    integer = integers.subtract
    floating = floats.subtract
    complex = complexes.subtract
    choices = implementation_defined.subtract


class BinaryOnAnything(BinaryElementwise, commutative=True):
    """Base of the commutative ops on two operands of any element type."""

    lhs = In(tensor | per_tensor_quantized)  # I1
    rhs = In(tensor | per_tensor_quantized)  # I2
    result = Out(tensor | per_tensor_quantized)


class Extremum(BinaryOnAnything, facts=SELECTS):
    """Base of `maximum` and `minimum`; `beats` compares the operand to return with the other one."""

    beats: ClassVar[Callable[[Array, Array], bool]]

    @classmethod
    def kernel(cls, x: Type, mode: Mode) -> Run:
        kernel, beats = super().kernel(x, mode), cls.beats
        if rank(x) > 0 or numpy_dtype(element_type(x)).kind not in "iuf":
            return kernel

        def run(lhs: Array, rhs: Array) -> Array:
            if lhs.ndim == rhs.ndim == 0:  # five times as fast as the kernel
                if beats(lhs, rhs):
                    return lhs
                if beats(rhs, lhs):
                    return rhs
                if lhs == rhs != 0:  # zeros may differ in sign
                    return lhs
            result: Array = kernel(lhs, rhs)
            return result

        return run


class Maximum(Extremum, op="maximum"):
    """Return the larger of `lhs` and `rhs`: NaN if either is NaN, complex numbers ordered by (real, imaginary)."""

    beats = operator.gt
    boolean = same_kernel(np.logical_or)
    integer = integers.maximum
    floating = floats.maximum
    complex = complexes.maximum


class Minimum(Extremum, op="minimum"):
    """Return the smaller of `lhs` and `rhs`: NaN if either is NaN, complex numbers ordered by (real, imaginary)."""

    beats = operator.lt
    boolean = same_kernel(np.logical_and)
    integer = integers.minimum
    floating = floats.minimum
    complex = complexes.minimum


class Multiply(BinaryOnAnything, op="multiply", facts=rounds(underflow="unless zero")):
    """Multiply `lhs` and `rhs` element by element."""

    scalar = operator.mul
    boolean = same_kernel(np.logical_and)
    integer = integers.multiply
    floating = floats.multiply
    complex = complexes.multiply
    choices = implementation_defined.multiply


class Negate(UnaryElementwise, op="negate", nans="moved", facts=SELECTS):
    """Negate each element; unsigned integers as signed integers with the same bits."""

    operand = In(number_tensor | per_tensor_quantized)  # I1
    result = Out(number_tensor | per_tensor_quantized)

    scalar = operator.neg
    integer = integers.negate
    floating = floats.negate
    complex = complexes.negate
    choices = implementation_defined.negate


class Sign(UnaryElementwise, op="sign", facts=STEPS):
    """Return the sign of each element: -1, 0 or 1, floating-point zeros and NaN unchanged.

    The sign of a complex number is the number divided by its modulus.
    """

    operand = In(signed_integer_tensor | float_tensor | complex_tensor | per_tensor_quantized)  # I1
    result = Out(signed_integer_tensor | float_tensor | complex_tensor | per_tensor_quantized)

    integer = integers.sign
    floating = floats.sign
    complex = complexes.sign


# --- map ------------------------------------------------------------------------------------------------------------

LANES = 1 << 14  # elements that an elementwise computation processes at a time, so that its values stay in the cache


class Map(Op, op="map", nans="computed", facts=FOLDS):
    """Apply `computation` to the elements of `inputs` at each index."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    dimensions = Attr(Dims)  # I2
    computation = Body()  # I3
    result = Out(tensor | per_tensor_quantized)

    @staticmethod
    def constraints(
        C: Checker, inputs: Sequence[TensorType], dimensions: Dims, computation: FunctionType, result: TensorType
    ) -> None:
        C(1, all(shape(x) == shape(result) for x in inputs))
        C(2, 0 < size(inputs))
        C(3, dimensions == tuple(axes(inputs[0])))
        C(4, computation == FunctionType(tuple(map(scalar, inputs)), (scalar(result),)))

    @staticmethod
    def plan(computation: RegionFunction, result: TensorType) -> Run:
        """Plan `result[result_index] = computation(inputs...[result_index])`.

        A computation of elementwise ops runs on whole arrays, block by block; any other one on arrays of lanes or, at
        worst, on one index after another (`RegionFunction.each`).
        """
        count, sizes, dtype = size(result), shape(result), numpy_dtype(element_type(result))

        def run(inputs: tuple[Array, ...]) -> Array:
            if count <= LANES or not computation.is_elementwise:
                whole: Array = computation.each(*inputs)[0]
                return whole
            flat = [x.reshape(-1) for x in inputs]
            out = np.empty(count, dtype)
            for start in range(0, count, LANES):
                block = slice(start, start + LANES)
                (out[block],) = computation.each(*[x[block] for x in flat])
            return out.reshape(sizes)

        return run
