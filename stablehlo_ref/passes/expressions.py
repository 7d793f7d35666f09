"""Decompositions of ops as Python expressions: `log_plus_one(x * x + 1)` emits the ops that compute it.

Operands are emitted from left to right and before the op that uses them, so an expression also says the order of ops. A
number next to an expression is a constant of its type, `like(x, 1)`; it is emitted where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import numpy as np

from stablehlo_ref.ir.core import Value
from stablehlo_ref.ir.types import (
    BOOLEAN,
    INDEX,
    ComplexType,
    FloatType,
    IntegerType,
    TensorType,
    Type,
    tensor_type,
)
from stablehlo_ref.numerics.dtypes import float_info, numpy_dtype
from stablehlo_ref.ops.comparison import ComparisonDirection
from stablehlo_ref.passes.emit import Emitter

Number = int | float | complex


class Expr:
    """A tensor value in an expression."""

    __slots__ = ("emit", "value")

    def __init__(self, emit: Emitter, value: Value) -> None:
        self.emit = emit
        self.value = value

    @property
    def type(self) -> TensorType:
        """Return the type of the value, which is a tensor."""
        assert isinstance(self.value.type, TensorType)
        return self.value.type

    @property
    def element(self) -> Type:
        return self.type.element_type

    def op(self, name: str, *others: Expr, type: Type | None = None, **members: object) -> Expr:
        """Emit an op of StableHLO on this value and others."""
        operands = [self.value, *(other.value for other in others)]
        return Expr(self.emit, self.emit.value(f"stablehlo.{name}", *operands, type=type, **members))

    def _lifted(self, other: Expr | Number) -> Expr:
        return other if isinstance(other, Expr) else like(self, other)

    def __add__(self, other: Expr | Number) -> Expr:
        return self.op("add", self._lifted(other), type=self.type)

    def __sub__(self, other: Expr | Number) -> Expr:
        return self.op("subtract", self._lifted(other), type=self.type)

    def __mul__(self, other: Expr | Number) -> Expr:
        return self.op("multiply", self._lifted(other), type=self.type)

    def __truediv__(self, other: Expr | Number) -> Expr:
        return self.op("divide", self._lifted(other), type=self.type)

    def __mod__(self, other: Expr | Number) -> Expr:
        return self.op("remainder", self._lifted(other), type=self.type)

    def __and__(self, other: Expr | Number) -> Expr:
        return self.op("and", self._lifted(other), type=self.type)

    def __or__(self, other: Expr | Number) -> Expr:
        return self.op("or", self._lifted(other), type=self.type)

    def __rsub__(self, other: Number) -> Expr:
        return like(self, other) - self

    def __rmul__(self, other: Number) -> Expr:
        return like(self, other) * self

    def __rtruediv__(self, other: Number) -> Expr:
        return like(self, other) / self

    def __neg__(self) -> Expr:
        return self.op("negate", type=self.type)

    def __invert__(self) -> Expr:
        return self.op("not", type=self.type)

    def __lt__(self, other: Expr | Number) -> Expr:
        return compare(self, self._lifted(other), ComparisonDirection.LT)

    def __le__(self, other: Expr | Number) -> Expr:
        return compare(self, self._lifted(other), ComparisonDirection.LE)

    def __gt__(self, other: Expr | Number) -> Expr:
        return compare(self, self._lifted(other), ComparisonDirection.GT)

    def __ge__(self, other: Expr | Number) -> Expr:
        return compare(self, self._lifted(other), ComparisonDirection.GE)


def with_element(type: TensorType, element: Type) -> TensorType:
    """Return a type with another element type, and the same shape and bounds."""
    return (
        TensorType(type.shape, element, type.bounds, type.encoding) if type.bounds else tensor_type(type.shape, element)
    )


# --- constants ------------------------------------------------------------------------------------------------------


def like(x: Expr, number: Number, element: Type | None = None) -> Expr:
    """Return a constant of the type of `x`, or of its shape; of dynamic types, one broadcast to the shape of `x`."""
    type = x.type if element is None else with_element(x.type, element)
    if type.is_static:
        return Expr(x.emit, x.emit.constant(type, number))
    constant = Expr(x.emit, x.emit.constant(tensor_type((), type.element_type), number))
    if type.bounds and all(n is not None or b is not None for n, b in zip(type.shape, type.bounds)):
        return _bounded(constant, x)
    return constant.op("dynamic_broadcast_in_dim", shape_of(x), type=type, broadcast_dimensions=())


def shape_of(x: Expr) -> Expr:
    """Return the sizes of all dimensions as a vector of index."""
    return Expr(x.emit, x.emit.value("shape.shape_of", x.value, type=tensor_type((x.type.rank,), INDEX)))


def size_of(x: Expr, axis: int) -> Expr:
    """Return the size of a dimension as a scalar of i32."""
    return x.op("get_dimension_size", type=tensor_type((), IntegerType(32)), dimension=axis)


def _bounded(constant: Expr, x: Expr) -> Expr:
    """Broadcast a scalar to the bounds of `x`, and cut it to the sizes of `x`."""
    assert x.type.bounds is not None
    sizes = tuple(b if n is None else n for n, b in zip(x.type.shape, x.type.bounds))
    result = constant.op("broadcast_in_dim", type=tensor_type(sizes, constant.element), broadcast_dimensions=())
    return cut_like(result, [(axis, x, axis) for axis, n in enumerate(x.type.shape) if n is None])


def cut_like(x: Expr, axes: Sequence[tuple[int, Expr, int]]) -> Expr:
    """Cut dimensions of `x` to sizes that others have: `axes` are those of `x`, the other, and its axis."""
    for axis, other, source in axes:
        bounds = list(x.type.bounds or (None,) * x.type.rank)
        shape = list(x.type.shape)
        bounds[axis], shape[axis] = shape[axis], None
        type = TensorType(tuple(shape), x.element, tuple(bounds))
        x = x.op("set_dimension_size", size_of(other, source), type=type, dimension=axis)
    return x


class Constants:
    """Constants of one type, each emitted when first used."""

    def __init__(self, of: Expr) -> None:
        self.of = of
        self.known: dict[Number, Expr] = {}

    def __call__(self, number: Number) -> Expr:
        if number not in self.known:
            self.known[number] = like(self.of, number)
        return self.known[number]


def largest(x: Expr) -> Expr:
    """Return the largest finite number of the element type of `x`."""
    return like(x, float(float_info(numpy_dtype(x.element)).max))


def smallest_normal(x: Expr) -> Expr:
    """Return the smallest positive normal number of the element type of `x`."""
    return like(x, float(float_info(numpy_dtype(x.element)).smallest_normal))


def smallest(x: Expr) -> Expr:
    """Return the smallest positive number of the element type of `x`."""
    return like(x, float(float_info(numpy_dtype(x.element)).smallest_subnormal))


def infinity(x: Expr) -> Expr:
    return like(x, np.inf)


# --- functions ------------------------------------------------------------------------------------------------------


def _unary(name: str) -> Callable[[Expr], Expr]:
    def apply(x: Expr) -> Expr:
        return x.op(name, type=x.type)

    apply.__name__ = name
    apply.__doc__ = f"Emit `{name}`."
    return apply


absolute = _unary("abs")
cosine = _unary("cosine")
exponential = _unary("exponential")
exponential_minus_one = _unary("exponential_minus_one")
floor = _unary("floor")
log = _unary("log")
log_plus_one = _unary("log_plus_one")
round_nearest_even = _unary("round_nearest_even")
sign = _unary("sign")
sine = _unary("sine")
sqrt = _unary("sqrt")
tanh = _unary("tanh")


def atan2(y: Expr, x: Expr) -> Expr:
    return y.op("atan2", x, type=y.type)


def power(x: Expr, y: Expr) -> Expr:
    return x.op("power", y, type=x.type)


def maximum(x: Expr, y: Expr) -> Expr:
    return x.op("maximum", y, type=x.type)


def minimum(x: Expr, y: Expr) -> Expr:
    return x.op("minimum", y, type=x.type)


def clamp(low: Expr, x: Expr, high: Expr) -> Expr:
    return low.op("clamp", x, high, type=x.type)


def select(condition: Expr, when_true: Expr, when_false: Expr) -> Expr:
    return condition.op("select", when_true, when_false, type=when_true.type)


def compare(x: Expr, y: Expr, direction: ComparisonDirection) -> Expr:
    return x.op("compare", y, type=with_element(x.type, BOOLEAN), comparison_direction=direction)


def equal(x: Expr, y: Expr | Number) -> Expr:
    return compare(x, y if isinstance(y, Expr) else like(x, y), ComparisonDirection.EQ)


def not_equal(x: Expr, y: Expr) -> Expr:
    return compare(x, y, ComparisonDirection.NE)


def is_finite(x: Expr) -> Expr:
    return x.op("is_finite", type=with_element(x.type, BOOLEAN))


def real(z: Expr) -> Expr:
    return z.op("real", type=with_element(z.type, _part(z)))


def imaginary(z: Expr) -> Expr:
    return z.op("imag", type=with_element(z.type, _part(z)))


def _part(z: Expr) -> Type:
    return z.element.element if isinstance(z.element, ComplexType) else z.element


def make_complex(re: Expr, im: Expr) -> Expr:
    return re.op("complex", im, type=with_element(re.type, ComplexType(re.element)))


def convert(x: Expr, element: Type) -> Expr:
    return x.op("convert", type=with_element(x.type, element))


def bitcast(x: Expr, element: Type) -> Expr:
    return x.op("bitcast_convert", type=with_element(x.type, element))


def shift_right_logical(x: Expr, y: Expr) -> Expr:
    return x.op("shift_right_logical", y, type=x.type)


def shift_right_arithmetic(x: Expr, y: Expr) -> Expr:
    return x.op("shift_right_arithmetic", y, type=x.type)


def polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    """Return a polynomial by Horner's rule; its coefficients start with that of the highest power."""
    result = like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def chebyshev(x: Expr, coefficients: Sequence[float]) -> Expr:
    """Return half of a series in Chebyshev polynomials of `x / 2`, by Clenshaw's recurrence, highest degree first."""
    b0, b1, b2 = like(x, 0.0), like(x, 0.0), like(x, 0.0)
    for coefficient in coefficients:
        b1, b2 = b0, b1
        b0 = x * b1 - b2 + coefficient
    return (b0 - b2) * 0.5


def is_complex(x: Expr) -> bool:
    return isinstance(x.element, ComplexType)


def at_least_f32(function: Callable[..., Expr]) -> Callable[..., Expr]:
    """Let a function of narrower floats compute in f32."""

    @wraps(function)
    def widened(*operands: Expr) -> Expr:
        element = operands[0].element
        if not (isinstance(element, FloatType) and numpy_dtype(element).itemsize < 4):
            return function(*operands)
        return convert(function(*[convert(x, FloatType("f32")) for x in operands]), element)

    return widened
