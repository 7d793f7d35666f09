"""Strategies of dot_general: what is converted and multiplied at a time. The first that applies is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from stablehlo_ref.define.attribute_codecs import Dims
from stablehlo_ref.define.computation import Run
from stablehlo_ref.define.spec import dim, dims, element_type, make_tensor_type, rank, shape, size
from stablehlo_ref.ir.arrays import Array, DType
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits.budget import keep, within_time
from stablehlo_ref.numerics.contraction import (
    PREPARED_BYTES,
    Arithmetic,
    converted_bytes,
    for_products,
    identity,
    matrices,
    of_near_rows,
    of_separate,
)
from stablehlo_ref.numerics.dtypes import kind, numpy_dtype
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.product_parts import (
    BLOCK,
    PART_BYTES,
    STEP_ROWS,
    converts_to_floats,
    is_wide,
    multiplies_in_parts,
    product_by_rows,
    product_in_parts,
    wide_product,
)

STACK_BYTES = 1 << 22  # of converted matrices of a stack at a time


@dataclass(frozen=True, slots=True)
class DotDimensions:
    """The attribute `dot_dimension_numbers`: which dimensions of `lhs` and `rhs` are paired."""

    lhs_batching_dimensions: Dims
    rhs_batching_dimensions: Dims
    lhs_contracting_dimensions: Dims
    rhs_contracting_dimensions: Dims


@dataclass(frozen=True)
class Dot:
    """Dot products of slices of `lhs` and `rhs`, and their arithmetic; `constants` are operands that are constant."""

    lhs: TensorType
    rhs: TensorType
    numbers: DotDimensions
    result: TensorType
    sums: Arithmetic
    constants: Mapping[str, Array]

    @property
    def dtypes(self) -> list[DType]:
        return [numpy_dtype(element_type(x)) for x in (self.lhs, self.rhs, self.result)]

    @property
    def terms(self) -> int:
        """The number of products in a sum."""
        return prod(dims(self.lhs, self.numbers.lhs_contracting_dimensions))

    def converted_bytes(self, operands: int) -> int:
        """Return the bytes of copies of so many elements of operands, and of the sums."""
        return converted_bytes(self.dtypes, operands, size(self.result), self.sums.is_exact)


# --- stacks of matrices ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InGroups:
    """Convert and multiply a group of matrices of large stacks at a time."""

    dot: Dot

    @cached_property
    def step(self) -> int:
        """How many matrices to multiply at a time, a divisor of their number; 0 for all."""
        dot, d = self.dot, self.dot.numbers
        is_stack = d.lhs_batching_dimensions[:1] == d.rhs_batching_dimensions[:1] == (0,)
        if dot.constants or not is_stack:
            return 0
        needed, count = dot.converted_bytes(size(dot.lhs) + size(dot.rhs)), dim(dot.result, 0)
        if needed <= STACK_BYTES:
            return 0
        most = max(1, STACK_BYTES * count // needed)
        step = max(n for n in range(1, most + 1) if count % n == 0)
        return step if step < count else 0

    @property
    def applies(self) -> bool:
        return self.step > 0

    @property
    def of_group(self) -> ByMatrices:
        """The strategy for one group."""
        lhs, rhs, result = (
            make_tensor_type((self.step, *shape(x)[1:]), element_type(x))
            for x in (self.dot.lhs, self.dot.rhs, self.dot.result)
        )
        return of_matrices(replace(self.dot, lhs=lhs, rhs=rhs, result=result))

    @property
    def temporaries(self) -> int:
        return self.of_group.temporaries + STACK_BYTES // 4  # the results of a group, and a term of sums (measured)

    def plan(self) -> Run:
        multiply, step, sizes, dtype = self.of_group.plan(), self.step, shape(self.dot.result), self.dot.dtypes[2]

        def run(lhs: Array, rhs: Array) -> Array:
            result = np.empty(sizes, dtype)
            for start in within_time(range(0, sizes[0], step)):
                some = slice(start, start + step)
                result[some] = multiply(lhs[some], rhs[some])
            return result

        return run


# --- matrices -------------------------------------------------------------------------------------------------------


def in_memory_order(lhs: TensorType, rhs: TensorType, lhs_dims: Dims, rhs_dims: Dims) -> tuple[Dims, Dims]:
    """Reorder the pairs of contracting dimensions so that those of the larger operand ascend."""
    leading = lhs_dims if prod(shape(lhs)) >= prod(shape(rhs)) else rhs_dims
    pairs = [pair for _, pair in sorted(zip(leading, zip(lhs_dims, rhs_dims)))]
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


@dataclass(frozen=True)
class ByMatrices:
    """Arrange operands as matrices, or stacks of them, convert them and multiply."""

    dot: Dot

    @cached_property
    def arrange(self) -> tuple[Run | None, Run | None]:
        """Functions to matrices from both operands, None for those that are matrices already."""
        dot, d = self.dot, self.dot.numbers
        left, right = in_memory_order(dot.lhs, dot.rhs, d.lhs_contracting_dimensions, d.rhs_contracting_dimensions)
        as_lhs = matrices(shape(dot.lhs), d.lhs_batching_dimensions, left, rows_first=True)
        return as_lhs, matrices(shape(dot.rhs), d.rhs_batching_dimensions, right, rows_first=False)

    @cached_property
    def sums(self) -> Arithmetic:
        return for_products(self.dot.sums, self.dot.terms * prod(shape(self.dot.result)))

    @property
    def applies(self) -> bool:
        """Whether the strategy is right, and worth while, for these dot products."""
        return True

    @property
    def are_matrices(self) -> bool:
        """Whether both operands are single matrices, neither stacks nor vectors."""
        dot, d = self.dot, self.dot.numbers
        pairs = ((dot.lhs, d.lhs_contracting_dimensions), (dot.rhs, d.rhs_contracting_dimensions))
        return not d.lhs_batching_dimensions and all(rank(x) > len(contracting) for x, contracting in pairs)

    @property
    def temporaries(self) -> int:
        """The bytes that are allocated beside the result."""
        return self.dot.converted_bytes(size(self.dot.lhs) + size(self.dot.rhs))

    def plan(self) -> Run:
        """Return a function of the operands."""
        dot, sums, sizes = self.dot, self.sums, shape(self.dot.result)
        multiply = self.multiply()

        def run(lhs: Array, rhs: Array) -> Array:
            return multiply(lhs, rhs).reshape(sizes)

        is_by_blas = sums.is_plain and not sums.is_exact and kind(sums.dtype) in ("floating", "complex")
        may_be_transposes = any(self.arrange) and size(dot.lhs) == size(dot.rhs)
        separate: Run = of_separate(run) if is_by_blas and may_be_transposes else run
        first = rank(dot.lhs) - len(dot.numbers.lhs_contracting_dimensions)  # of the dimensions of `rhs` in the result
        rows, columns = prod(sizes[len(dot.numbers.lhs_batching_dimensions) : first]), prod(sizes[first:])
        if 1 not in (rows, columns):
            return separate
        left, right = ((shape(x), dtype) for x, dtype in zip((dot.lhs, dot.rhs), dot.dtypes))
        return of_near_rows(separate, left, right, rows == columns)

    def multiply(self) -> ArrayKernel:
        """Return a function from operands to the product, as a matrix or a stack of matrices."""
        sums, constants, (as_lhs, as_rhs) = self.sums, self.dot.constants, self.arrange
        prepare_lhs = _preparation(sums.load_lhs, as_lhs, constants.get("lhs"))
        prepare_rhs = _preparation(sums.load_rhs, as_rhs, constants.get("rhs"))
        matmul, store = sums.matmul, sums.store
        if prepare_lhs is identity and prepare_rhs is identity and store is identity:
            return matmul
        return lambda lhs, rhs: store(matmul(prepare_lhs(lhs), prepare_rhs(rhs)))


class InIntegerBlocks(ByMatrices):
    """Convert and multiply large integer matrices block by block."""

    @property
    def applies(self) -> bool:
        sizes = [size(x) for x in (self.dot.lhs, self.dot.rhs, self.dot.result)]
        is_large = all(sizes) and multiplies_in_parts(self.dot.dtypes, sum(sizes))
        return self.are_matrices and is_large and not self.dot.constants

    @property
    def temporaries(self) -> int:
        return min(PART_BYTES, super().temporaries)

    def multiply(self) -> ArrayKernel:
        (as_lhs, as_rhs), dtype = self.arrange, self.dot.dtypes[2]
        left, right = as_lhs or identity, as_rhs or identity
        return lambda lhs, rhs: product_in_parts(left(lhs), right(rhs), dtype)


class ByRows(ByMatrices):
    """Convert the rows of a large `lhs`, and of the result, group by group."""

    @property
    def applies(self) -> bool:
        is_tall = self.are_matrices and rank(self.dot.result) == 2 and dim(self.dot.result, 0) >= 2 * STEP_ROWS
        return is_tall and self.arrange[0] is None and converts_to_floats(self.sums) and not self.dot.constants

    def multiply(self) -> ArrayKernel:
        sums, dtype, prepare = self.sums, self.dot.dtypes[2], _preparation(self.sums.load_rhs, self.arrange[1], None)
        return lambda lhs, rhs: product_by_rows(sums, lhs, prepare(rhs), dtype)


class InWideBlocks(ByMatrices):
    """Convert a large `rhs` block by block, which few rows are multiplied with."""

    @property
    def applies(self) -> bool:
        rows, is_prepared = size(self.dot.lhs) // max(1, self.dot.terms), _is_prepared(self.dot.constants.get("rhs"))
        is_large = self.are_matrices and is_wide(rows, self.dot.terms, size(self.dot.rhs))
        return is_large and converts_to_floats(self.sums) and not is_prepared

    @property
    def temporaries(self) -> int:
        return self.dot.converted_bytes(size(self.dot.lhs) + BLOCK)

    def multiply(self) -> ArrayKernel:
        sums, (as_lhs, as_rhs) = self.sums, self.arrange
        left, right = _preparation(sums.load_lhs, as_lhs, self.dot.constants.get("lhs")), as_rhs or identity
        return lambda lhs, rhs: sums.store(wide_product(sums, left(lhs), right(rhs)))


def _preparation(load: Run, arrange: Run | None, constant: Array | None) -> Run:
    """Return a function that converts an operand and arranges it as matrices, once and now if it is a constant."""
    prepare = load if arrange is None else arrange if load is identity else _both(arrange, load)
    if prepare is identity or constant is None or not _is_prepared(constant):
        return prepare
    keep(constant.size * 4)
    prepared = prepare(constant)
    return lambda _: prepared


def _both(second: Callable[[Array], Array], first: Callable[[Array], Array]) -> Run:
    return lambda x: second(first(x))


def _is_prepared(constant: Array | None) -> bool:
    return constant is not None and constant.size * 4 <= PREPARED_BYTES


STRATEGIES = (InIntegerBlocks, ByRows, InWideBlocks, ByMatrices)


def of_matrices(dot: Dot) -> ByMatrices:
    """Return the first strategy for matrices that applies."""
    return next(found for strategy in STRATEGIES if (found := strategy(dot)).applies)


def choose(dot: Dot) -> InGroups | ByMatrices:
    """Return the first strategy that applies."""
    return in_groups if (in_groups := InGroups(dot)).applies else of_matrices(dot)
