"""Products of small matrices of floats: machine code calls the loop that np.matmul calls, so the bits are the same.

That loop calls BLAS, which chooses the order of sums by sizes and strides. The operands are row-major, as those of the
kernel are, and get the strides that the kernel gives them. Before a product is written, the loop multiplies random
numbers, and the kernel has to have the same result.

A ufunc is a struct of numpy's C API, with an array of functions, one for each list of types (`ufuncobject.h`,
`PyUFuncGenericFunction`). They need no interpreter lock.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from math import prod

import numpy as np

from stablehlo_ref.accelerate.ir import NotCompiled, dtype_of, shape_of
from stablehlo_ref.accelerate.machine.assembly import INDEX, Assembly, Kind
from stablehlo_ref.accelerate.machine.compiler import address
from stablehlo_ref.accelerate.machine.tensors import Memory
from stablehlo_ref.define.computation import Run
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.numerics.contraction import arithmetic, matrices
from stablehlo_ref.numerics.dtypes import FLOAT32, FLOAT64
from stablehlo_ref.ops.dot_products import in_memory_order

MAX_PRODUCT = 1 << 22  # multiplications: less than a millisecond
_TYPES = {FLOAT32: "ff->f", FLOAT64: "dd->d"}
_CHECKED: set[object] = set()  # products whose results are those of their kernels
_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class _Ufunc(ctypes.Structure):
    """The fields of `PyUFuncObject` after the header of an object, up to `types`."""

    _fields_ = (
        *[(name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")],
        *[(name, ctypes.POINTER(ctypes.c_void_p)) for name in ("functions", "data")],
        *[(name, ctypes.c_int) for name in ("ntypes", "flags")],
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char)),
    )


@cache
def matmul_loop(types: str) -> tuple[int, int]:
    """Return the addresses of matmul's loop for types, such as "ff->f", and of its data.

    It is `void f(char **args, npy_intp const *sizes, npy_intp const *strides, void *data)`. NotCompiled if the
    struct is not as expected.
    """
    ufunc = np.matmul
    if sys.implementation.name == "cpython":
        struct, number = _Ufunc.from_address(id(ufunc) + object.__basicsize__), ufunc.types.index(types)
        counts = (struct.nin, struct.nout, struct.nargs, struct.ntypes)
        is_known = counts == (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes) and struct.name == b"matmul"
        numbers = list(struct.types[3 * number : 3 * number + 3]) if is_known else []
        if numbers == [np.dtype(letter).num for letter in types.replace("->", "")] and struct.functions[number]:
            return struct.functions[number] or 0, (struct.data[number] if struct.data else None) or 0
    raise NotCompiled("the loops of matmul are not known")


class Product:
    """A product of two matrices, two stacks of them, or vectors, as np.matmul computes it. NotCompiled for others."""

    def __init__(self, op: Operation, reproducible: bool) -> None:
        lhs, rhs = (v.type for v in op.operands)
        self.dtype, p = dtype_of(op.results[0]), op.properties
        lhs_dims, rhs_dims = tuple(p["lhs_contracting_dimensions"]), tuple(p["rhs_contracting_dimensions"])
        stacks = tuple(p["lhs_batching_dimensions"]), tuple(p["rhs_batching_dimensions"])
        self.shapes = [shape_of(x) for x in (*op.operands, *op.results)]
        terms = prod(self.shapes[0][d] for d in lhs_dims)
        self.work = terms * prod(self.shapes[2])  # multiplications
        is_known = {dtype_of(v) for v in (*op.operands, *op.results)} == {self.dtype} and self.dtype in _TYPES
        if not is_known or len(stacks[0]) > 1 or not 0 < self.work <= MAX_PRODUCT or p.get("num_primitive_operations"):
            raise NotCompiled(op.name)
        if arithmetic(self.dtype, self.dtype, self.dtype, terms, reproducible).matmul is not np.matmul:
            raise NotCompiled(op.name)
        self.loop = matmul_loop(_TYPES[self.dtype])
        assert isinstance(lhs, TensorType) and isinstance(rhs, TensorType)
        contracting = in_memory_order(lhs, rhs, lhs_dims, rhs_dims)
        left, right = (self._matrix(op, side, stacks[side], contracting[side]) for side in (0, 1))
        self.sizes = [*left.shape, right.shape[2]]  # the number of products, and of rows, terms and columns of each
        result = np.empty((left.shape[0], left.shape[1], right.shape[2]), self.dtype)
        # The distances in bytes of matrices, and of rows and columns: 0 for a dimension of size 1, as in numpy.
        steps = [[stride if n > 1 else 0 for n, stride in zip(x.shape, x.strides)] for x in (left, right, result)]
        self.strides = [*(x[0] for x in steps), *(stride for x in steps for stride in x[1:])]

    def _matrix(self, op: Operation, side: int, stack: tuple[int, ...], contracting: tuple[int, ...]) -> Array:
        """Return an array of an operand's shape as a stack of matrices, which must be a view."""
        x: Array = np.empty(self.shapes[side], self.dtype)
        arrange = matrices(x.shape, stack, contracting, rows_first=side == 0)
        matrix = x if arrange is None else arrange(x)
        if not np.may_share_memory(matrix, x):
            raise NotCompiled(op.name)
        if matrix.ndim == 1:
            matrix = matrix[:, None] if side else matrix[None]
        return matrix if matrix.ndim == 3 else matrix[None]

    @property
    def may_be_transposes(self) -> bool:
        """Whether operands at one address would be a matrix and its transpose, which numpy multiplies otherwise."""
        _, rows, _, columns = self.sizes
        left, right = self.strides[3:5], self.strides[5:7]
        return rows == columns > 1 and left == right[::-1]

    @property
    def depends_on_addresses(self) -> bool:
        """Whether operands must start where new arrays do: see `is_aligned` in numerics/layout.py."""
        return self.dtype == FLOAT64 and self.sizes[1] == 1 == self.sizes[3]

    def check(self, run: Run | None) -> None:
        """Multiply random numbers, as the kernel does; NotCompiled if the results differ."""
        if run is None:
            raise NotCompiled("a product without a kernel")
        key = (self.dtype, *self.shapes, *self.sizes, *self.strides)
        if key in _CHECKED:
            return
        generator = np.random.default_rng(0)
        x, y = (generator.random(shape, self.dtype) - self.dtype.type(0.5) for shape in self.shapes[:2])
        result: Array = np.empty(self.shapes[2], self.dtype)
        arguments = np.array([address(z) for z in (x, y, result)], INDEX)
        sizes, strides = np.array(self.sizes, INDEX), np.array(self.strides, INDEX)
        function, data = self.loop
        _FUNCTION(function)(*(address(z) for z in (arguments, sizes, strides)), data)
        if result.tobytes() != np.asarray(run(x, y), self.dtype).tobytes():
            raise NotCompiled("a product that numpy's loop computes otherwise")
        _CHECKED.add(key)

    def write(self, code: Assembly, x: Memory, y: Memory, result: Memory) -> None:
        """Append the call of the loop."""
        pointers = f"%{code.name('p')}"
        code.entry.append(f"  {pointers} = alloca [3 x ptr]")
        for number, memory in enumerate((x, y, result)):
            place = code.let(f"getelementptr ptr, ptr {pointers}, i64 {number}", Kind(INDEX))
            code.do(f"store ptr {memory.pointer}, ptr {place}")
        sizes, strides = (code.integers(numbers) for numbers in (self.sizes, self.strides))
        function, data = (f"inttoptr (i64 {n} to ptr)" for n in self.loop)
        code.do(f"call void {function}(ptr {pointers}, ptr {sizes}, ptr {strides}, ptr {data})")
