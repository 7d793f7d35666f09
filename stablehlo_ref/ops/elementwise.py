"""Ops that work element by element: what all of them share, arithmetic, and `map`.

Each class is the spec's list of bullets: what the op does for which element types.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from stablehlo_ref.define import Attr, Body, In, Ins, Op, Out
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.types import FunctionType
from stablehlo_ref.kinds import (
    Dims,
    complex_tensor,
    float_tensor,
    integer_tensor,
    per_tensor_quantized,
    quantized_tensor,
    signed_integer_tensor,
    tensor,
)
from stablehlo_ref.numerics import complex_elementary, complexes, elementary, floats, integers, open_cases
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.numerics.integers import same
from stablehlo_ref.spec import (
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

Array = Any  # numpy arrays and scalars
Kernel = Callable[..., Array]
Bullet = Any  # a factory from the dtype to the kernel; None where the spec has no such bullet

number_tensor = integer_tensor | float_tensor | complex_tensor


class Elementwise(Op):
    """The spec's bullets, one for each kind of element type.

    `scalar` is an operator of Python that does the same on numpy's own types, on scalars in a tenth of a kernel's time.
    """

    elementwise = True
    scalar: Any = None
    boolean: Bullet = None
    integer: Bullet = None
    floating: Bullet = None
    complex: Bullet = None
    open: Bullet = None  # from the dtype to a function that finds the operands of which the spec leaves the result open

    @classmethod
    def kernel(cls, x: Any) -> Kernel:
        """The bullet for this element type, rounded to it."""
        dtype = numpy_dtype(element_type(x))
        if cls.scalar is not None and rank(x) == 0 and dtype.kind in "biuf":
            return cls.scalar  # type: ignore[no-any-return]
        bullet: Bullet = getattr(cls, kind(dtype))
        if bullet is None:
            raise UnsupportedError(f"'{cls.name}' op has no meaning for {element_type(x)}")
        return bullet(dtype)


class UnaryElementwise(Elementwise):
    """One operand, and a result of the same type."""

    operand = In(tensor | quantized_tensor)  # I1
    result = Out(tensor | quantized_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, compatible(baseline_type(operand), baseline_type(result)))

    @classmethod
    def plan(cls, operand: Any) -> Kernel:
        return cls.kernel(operand)

    @classmethod
    def open_cases(cls, operand: Any) -> Any:
        return cls.open and cls.open(numpy_dtype(element_type(operand)))


class BinaryElementwise(Elementwise):
    """Two operands and a result, all of the same type."""

    lhs = In(tensor | quantized_tensor)  # I1
    rhs = In(tensor | quantized_tensor)  # I2
    result = Out(tensor | quantized_tensor)

    syntax = "operands attr-dict : same_type"

    @staticmethod
    def infer(lhs: Any, rhs: Any) -> Any:
        return lhs

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, compatible(baseline_type(lhs), baseline_type(rhs), baseline_type(result)))

    @classmethod
    def plan(cls, lhs: Any) -> Kernel:
        return cls.kernel(lhs)

    @classmethod
    def open_cases(cls, lhs: Any) -> Any:
        return cls.open and cls.open(numpy_dtype(element_type(lhs)))


# --- arithmetic -----------------------------------------------------------------------------------------------------


class Abs(UnaryElementwise, op="abs"):
    """The absolute value of each element; of a complex number its modulus."""

    operand = In(signed_integer_tensor | float_tensor | complex_tensor | per_tensor_quantized)  # I1
    result = Out(signed_integer_tensor | float_tensor | per_tensor_quantized)

    integer = integers.abs
    floating = floats.abs
    complex = complexes.abs
    open = open_cases.abs

    @staticmethod
    def infer(operand: Any) -> Any:
        return real_type(operand)

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, shape(result) == shape(operand))
        C(2, baseline_element_type(result) == (complex_element_type(operand) if is_complex(operand)
                                               else baseline_element_type(operand)))  # fmt: skip


class Add(BinaryElementwise, op="add"):
    """The sum of `lhs` and `rhs`."""

    commutative = True
    scalar = operator.add
    boolean = same(np.logical_or)
    integer = integers.add
    floating = floats.add
    complex = complexes.add
    open = open_cases.add

    @staticmethod
    def constraints(C: Any, lhs: Any, rhs: Any, result: Any) -> None:
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
    lhs = In(number_tensor | per_tensor_quantized)  # I1
    rhs = In(number_tensor | per_tensor_quantized)  # I2
    result = Out(number_tensor | per_tensor_quantized)


class Divide(BinaryArithmetic, op="divide"):
    """The quotient of `lhs` and `rhs`; of integers, its fraction discarded."""

    integer = integers.divide
    floating = floats.divide
    complex = complexes.divide
    open = open_cases.divide


class Power(BinaryArithmetic, op="power"):
    """`lhs` to the power of `rhs`."""

    integer = integers.power
    floating = elementary.power
    complex = complex_elementary.power
    open = open_cases.power


class Remainder(BinaryArithmetic, op="remainder"):
    """`lhs - d * rhs`, `d` being their quotient rounded toward zero; it has the sign of `lhs`."""

    integer = integers.remainder
    floating = floats.remainder
    open = open_cases.remainder


class Subtract(BinaryArithmetic, op="subtract"):
    """The difference of `lhs` and `rhs`."""

    scalar = operator.sub
    integer = integers.subtract
    floating = floats.subtract
    complex = complexes.subtract
    open = open_cases.subtract


class BinaryOnAnything(BinaryElementwise):
    lhs = In(tensor | per_tensor_quantized)  # I1
    rhs = In(tensor | per_tensor_quantized)  # I2
    result = Out(tensor | per_tensor_quantized)

    commutative = True


class Extremum(BinaryOnAnything):
    beyond: Any = None  # the operator that holds for the operand to pick and the other one

    @classmethod
    def kernel(cls, x: Any) -> Kernel:
        kernel, beyond = super().kernel(x), cls.beyond
        if rank(x) > 0 or numpy_dtype(element_type(x)).kind not in "iuf":
            return kernel

        def run(lhs: Array, rhs: Array) -> Array:
            if lhs.ndim == rhs.ndim == 0:  # scalars are compared in a fifth of the kernel's time
                if beyond(lhs, rhs):
                    return lhs
                if beyond(rhs, lhs):
                    return rhs
                if lhs == rhs != 0:  # zeros may differ in sign
                    return lhs
            return kernel(lhs, rhs)

        return run


class Maximum(Extremum, op="maximum"):
    """The larger of `lhs` and `rhs`: NaN if one of them is, complex numbers in the order of (real, imaginary)."""

    beyond = operator.gt
    boolean = same(np.logical_or)
    integer = integers.maximum
    floating = floats.maximum
    complex = complexes.maximum


class Minimum(Extremum, op="minimum"):
    """The smaller of `lhs` and `rhs`: NaN if one of them is, complex numbers in the order of (real, imaginary)."""

    beyond = operator.lt
    boolean = same(np.logical_and)
    integer = integers.minimum
    floating = floats.minimum
    complex = complexes.minimum


class Multiply(BinaryOnAnything, op="multiply"):
    """The product of `lhs` and `rhs`."""

    scalar = operator.mul
    boolean = same(np.logical_and)
    integer = integers.multiply
    floating = floats.multiply
    complex = complexes.multiply
    open = open_cases.multiply


class Negate(UnaryElementwise, op="negate"):
    """The negative of each element; of unsigned integers, that of the same bits as a signed one."""

    operand = In(number_tensor | per_tensor_quantized)  # I1
    result = Out(number_tensor | per_tensor_quantized)

    scalar = operator.neg
    integer = integers.negate
    floating = floats.negate
    complex = complexes.negate
    open = open_cases.negate


class Sign(UnaryElementwise, op="sign"):
    """-1, 0 or 1; zeros of either sign and NaN stay as they are; a complex number divided by its modulus."""

    operand = In(signed_integer_tensor | float_tensor | complex_tensor | per_tensor_quantized)  # I1
    result = Out(signed_integer_tensor | float_tensor | complex_tensor | per_tensor_quantized)

    integer = integers.sign
    floating = floats.sign
    complex = complexes.sign


# --- map ------------------------------------------------------------------------------------------------------------

LANES = 1 << 14  # elements that an elementwise computation is given at a time, so that its values stay in the cache


class Map(Op, op="map"):
    """`computation` of the elements of `inputs` at each index."""

    inputs = Ins(tensor | per_tensor_quantized)  # I1
    dimensions = Attr(Dims)  # I2
    computation = Body()  # I3
    result = Out(tensor | per_tensor_quantized)

    @staticmethod
    def constraints(C: Any, inputs: Any, dimensions: Any, computation: Any, result: Any) -> None:
        C(1, all(shape(x) == shape(result) for x in inputs))
        C(2, 0 < size(inputs))
        C(3, dimensions == tuple(axes(inputs[0])))
        C(4, computation == FunctionType(tuple(map(scalar, inputs)), (scalar(result),)))

    @staticmethod
    def plan(computation: Any, result: Any) -> Kernel:
        count, sizes, dtype = size(result), shape(result), numpy_dtype(element_type(result))

        def run(inputs: tuple[Array, ...]) -> Array:
            if count <= LANES or not computation.is_elementwise:
                return computation.each(*inputs)[0]
            lines = [x.reshape(-1) for x in inputs]
            out = np.empty(count, dtype)
            for start in range(0, count, LANES):
                block = slice(start, start + LANES)
                (out[block],) = computation.each(*[line[block] for line in lines])
            return out.reshape(sizes)

        return run
