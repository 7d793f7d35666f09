"""Insert new operations in front of one that a pass replaces: one by one, or as Python expressions.

`log_plus_one(x * x + 1)` emits the ops that compute it. Operands are emitted from left to right and before the op that
uses them, so an expression also says the order of ops. A number next to an expression is a constant of its type,
`like(x, 1)`; it is emitted where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.spec import real_type, with_element_type
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import (
    BOOLEAN,
    INDEX,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    Shape,
    TensorType,
    Type,
    tensor_type,
)
from stablehlo_ref.numerics.dtypes import float_info, numpy_dtype
from stablehlo_ref.ops.comparison import ComparisonDirection
from stablehlo_ref.syntax.mhlo import name_of

Index: TypeAlias = "int | Expr"  # a size or an index: a number if it is known, else a vector of one i64
I64 = IntegerType(64)
INDEX_SCALAR, INDEX_VECTOR = tensor_type((), I64), tensor_type((1,), I64)
Body = Callable[["Emitter", Sequence[Value]], Sequence[Value]]  # emits a block: from its arguments to what it returns


class Emitter:
    """Makes operations, each put in front of `anchor` and with its location."""

    def __init__(self, rewriter: Rewriter, anchor: Operation) -> None:
        self.rewriter = rewriter
        self.anchor = anchor
        self.made: list[Operation] = []  # the operations that have been inserted

    def insert(self, op: Operation) -> None:
        """Insert an operation in front of the anchor."""
        self.rewriter.insert_before(self.anchor, op)
        self.made.append(op)

    def operation(
        self,
        name: str,
        operands: Iterable[Value],
        /,
        result_types: Sequence[Type] | None = None,
        regions: Sequence[Region] = (),
        **members: object,
    ) -> Operation:
        """Insert an op; its result types are inferred where they are left out. Members that are None are left out."""
        given = {key: value for key, value in members.items() if value is not None}
        op = build_operation(
            name,
            tuple(operands),
            result_types,
            self.anchor.location,
            members=given,
            regions=regions,
            debug_location=self.anchor.debug_location,
        )
        self.insert(op)
        return op

    def value(self, name: str, /, *operands: Value, type: Type | None = None, **members: object) -> Value:
        """Insert an op with one result and return the result."""
        return self.operation(name, operands, None if type is None else (type,), (), **members).results[0]

    def constant(self, type: TensorType, elements: ArrayLike) -> Value:
        """Insert a constant of a static type; elements broadcast to its shape."""
        name = "arith.constant" if isinstance(type.element_type, IndexType) else "stablehlo.constant"
        return self.value(name, type=type, value=dense(type, elements))

    def constants(self, types: Sequence[Type], arrays: Sequence[Array]) -> list[Value]:
        """Insert one constant for each of the types, all static tensor types, with the elements of its array."""
        tensors = [type for type in types if isinstance(type, TensorType)]
        return [self.constant(type, array) for type, array in zip(tensors, arrays, strict=True)]

    def inline(self, block: Block, arguments: Sequence[Value] = ()) -> list[Value]:
        """Insert copies of the ops of a block, with these values for its arguments; return what the block returns."""
        mapping = dict(zip(block.arguments, arguments))
        for op in block.operations[:-1]:
            self.insert(clone(op, mapping))
        return [mapping.get(value, value) for value in block.operations[-1].operands]

    def copy(self, op: Operation, operands: Iterable[Value], types: Sequence[Type], **members: object) -> list[Value]:
        """Insert a copy of an op on other operands, with results of other types, and with some other members."""
        made = clone(op, {})
        made.operands = list(operands)
        made.properties |= members
        for result, type in zip(made.results, types):
            result.name, result.type = "", type
        self.insert(made)
        return made.results

    def region(self, arguments: Sequence[Type], body: Body, terminator: str = "stablehlo.return") -> Region:
        """Return a region of one block, whose operations `body` emits."""
        block = Block([Value(type, None, index) for index, type in enumerate(arguments)], [])
        inner = _BlockEmitter(self.rewriter, self.anchor, block)
        inner.operation(terminator, body(inner, block.arguments), ())
        return Region([block])


class _BlockEmitter(Emitter):
    """Makes operations at the end of a block that is not part of the program yet."""

    def __init__(self, rewriter: Rewriter, anchor: Operation, block: Block) -> None:
        super().__init__(rewriter, anchor)
        self.block = block

    def insert(self, op: Operation) -> None:
        op.parent = self.block
        self.block.operations.append(op)


def replace_by_constants(rewriter: Rewriter, op: Operation, arrays: Sequence[Array]) -> None:
    """Replace the results of an op by constants."""
    rewriter.replace(op, Emitter(rewriter, op).constants(op.result_types, arrays))


def dense(type: TensorType, elements: ArrayLike) -> DenseElements:
    """Return a tensor constant, rounded to the element type; elements broadcast to the shape."""
    array = np.asarray(elements)
    with np.errstate(all="ignore"):
        array = array.astype(numpy_dtype(type.element_type), copy=False)
    return DenseElements(type, read_only(np.broadcast_to(array, static_shape(type))))


def static_shape(type: TensorType) -> tuple[int, ...]:
    """Return the shape of a type without unknown sizes; ValueError for any other."""
    if not type.is_static:
        raise ValueError(f"expected a static type, got {type}")
    return tuple(n for n in type.shape if n is not None)


def read_only(array: Array) -> Array:
    """Return a view of an array that cannot be written."""
    view = array.view()
    view.flags.writeable = False
    return view


def cannot_legalize(op: Operation) -> UnsupportedError:
    """Return the error of a pass whose output may not contain an op."""
    message = f"failed to legalize operation '{name_of(op)}' that was explicitly marked illegal"
    return UnsupportedError(message, op.location)


# --- expressions ------------------------------------------------------------------------------------------------------


Number = int | float | complex


def _operator(name: str) -> Callable[[Expr, Expr | Number], Expr]:
    return lambda x, y: x.op(name, x.lifted(y), type=x.type)


def _comparison(direction: ComparisonDirection) -> Callable[[Expr, Expr | Number], Expr]:
    return lambda x, y: compare(x, x.lifted(y), direction)


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

    def lifted(self, other: Expr | Number) -> Expr:
        """Return an expression, or a number as a constant of the type of this one."""
        return other if isinstance(other, Expr) else like(self, other)

    __add__ = _operator("add")
    __sub__ = _operator("subtract")
    __mul__ = _operator("multiply")
    __truediv__ = _operator("divide")
    __mod__ = _operator("remainder")
    __and__ = _operator("and")
    __or__ = _operator("or")
    __lt__ = _comparison(ComparisonDirection.LT)
    __le__ = _comparison(ComparisonDirection.LE)
    __gt__ = _comparison(ComparisonDirection.GT)
    __ge__ = _comparison(ComparisonDirection.GE)

    def __rmul__(self, other: Number) -> Expr:
        return like(self, other) * self

    def __rtruediv__(self, other: Number) -> Expr:
        return like(self, other) / self

    def __neg__(self) -> Expr:
        return self.op("negate", type=self.type)

    def __invert__(self) -> Expr:
        return self.op("not", type=self.type)


# --- constants of the type of an expression ---------------------------------------------------------------------------


def like(x: Expr, number: Number, element: Type | None = None) -> Expr:
    """Return a constant of the type of `x`, or of its shape; of dynamic types, one broadcast to the shape of `x`."""
    type = x.type if element is None else with_element_type(x.type, element)
    if type.is_static:
        return Expr(x.emit, x.emit.constant(type, number))
    constant = scalar_constant(x.emit, type.element_type, number)
    if is_known(type):
        return _bounded(constant, x)
    return constant.op("dynamic_broadcast_in_dim", shape_of(x), type=type, broadcast_dimensions=())


def is_known(type: TensorType) -> bool:
    """Return whether each size of a type is known, or has a bound."""
    bounds = type.bounds or (None,) * type.rank
    return all(size is not None or bound is not None for size, bound in zip(type.shape, bounds))


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


def _limit(name: str) -> Callable[[Expr], Expr]:
    return lambda x: like(x, float(getattr(float_info(numpy_dtype(x.element)), name)))


largest = _limit("max")  # the largest finite number of the element type of an expression
smallest_normal = _limit("smallest_normal")  # the smallest positive normal number
smallest = _limit("smallest_subnormal")  # the smallest positive number


def infinity(x: Expr) -> Expr:
    return like(x, np.inf)


# --- functions ------------------------------------------------------------------------------------------------------


def _unary(name: str) -> Callable[[Expr], Expr]:
    return lambda x: x.op(name, type=x.type)


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


atan2 = _operator("atan2")
power = _operator("power")
maximum = _operator("maximum")
minimum = _operator("minimum")
equal = _comparison(ComparisonDirection.EQ)
not_equal = _comparison(ComparisonDirection.NE)
shift_right_logical = _operator("shift_right_logical")
shift_right_arithmetic = _operator("shift_right_arithmetic")


def clamp(low: Expr, x: Expr, high: Expr) -> Expr:
    return low.op("clamp", x, high, type=x.type)


def select(condition: Expr, when_true: Expr, when_false: Expr) -> Expr:
    return condition.op("select", when_true, when_false, type=when_true.type)


def compare(x: Expr, y: Expr, direction: ComparisonDirection) -> Expr:
    return x.op("compare", y, type=with_element_type(x.type, BOOLEAN), comparison_direction=direction)


def is_finite(x: Expr) -> Expr:
    return x.op("is_finite", type=with_element_type(x.type, BOOLEAN))


def real(z: Expr) -> Expr:
    return z.op("real", type=real_type(z.type))


def imaginary(z: Expr) -> Expr:
    return z.op("imag", type=real_type(z.type))


def make_complex(re: Expr, im: Expr) -> Expr:
    return re.op("complex", im, type=with_element_type(re.type, ComplexType(re.element)))


def convert(x: Expr, element: Type) -> Expr:
    return x.op("convert", type=with_element_type(x.type, element))


def bitcast(x: Expr, element: Type) -> Expr:
    return x.op("bitcast_convert", type=with_element_type(x.type, element))


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


# --- sizes and indices ---------------------------------------------------------------------------------------------


def index_size_of(x: Expr, axis: int) -> Expr:
    """Return the size of a dimension as a vector of one i64."""
    return as_vector(size_of(x, axis).op("convert", type=INDEX_SCALAR))


def as_vector(index: Expr) -> Expr:
    """Return a scalar index as a vector."""
    return index.op("reshape", type=INDEX_VECTOR)


def scalar_constant(emit: Emitter, element: Type, number: Number) -> Expr:
    """Return a scalar constant of an element type."""
    return Expr(emit, emit.constant(tensor_type((), element), number))


def index_constant(emit: Emitter, number: int) -> Expr:
    """Return a scalar constant of i64."""
    return scalar_constant(emit, I64, number)


def index_vector(emit: Emitter, parts: Sequence[Index]) -> Expr:
    """Return indices as one vector of i64: a constant if all are known."""
    numbers = [part for part in parts if isinstance(part, int)]
    if len(numbers) == len(parts):
        return Expr(emit, emit.constant(tensor_type((len(parts),), I64), numbers))
    return joined([index_vector(emit, [part]) if isinstance(part, int) else part for part in parts])


def known_size_of(x: Expr, axis: int) -> Index:
    """Return the size of a dimension, as a vector of one i64 if it is not known."""
    size = x.type.shape[axis]
    return index_size_of(x, axis) if size is None else size


def shape_vector(x: Expr) -> Expr:
    """Return the sizes of all dimensions as a vector of i64."""
    return joined(
        [index_vector(x.emit, [n]) if n is not None else index_size_of(x, d) for d, n in enumerate(x.type.shape)]
    )


def joined(parts: Sequence[Expr]) -> Expr:
    """Return vectors of one index each as one vector."""
    return parts[0].op("concatenate", *parts[1:], type=tensor_type((len(parts),), I64), dimension=0)


def sliced(x: Expr, starts: Sequence[Index], limits: Sequence[Index], shape: Shape) -> Expr:
    """Return a slice of this shape: by `slice` if the type of `x` is static, else by `real_dynamic_slice`."""
    type, ones = tensor_type(shape, x.element), (1,) * x.type.rank
    if x.type.is_static:
        return x.op("slice", type=type, start_indices=tuple(starts), limit_indices=tuple(limits), strides=ones)
    return x.op("real_dynamic_slice", *(index_vector(x.emit, part) for part in (starts, limits, ones)), type=type)


def reshaped(x: Expr, sizes: Sequence[Index], shape: Shape) -> Expr:
    """Return the elements in another shape, which has these sizes: by `reshape` or `dynamic_reshape`."""
    type = tensor_type(shape, x.element)
    if x.type.is_static:
        return x.op("reshape", type=type)
    return x.op("dynamic_reshape", index_vector(x.emit, sizes), type=type)
