"""Deprecated ops that the spec does not define but older programs still contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce
from math import prod

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import exactly_added, sum_of_arrays
from stablehlo_ref.define.attribute_codecs import Dims, Int, String
from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import Kernel, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.facts import EXACT, FOLDS, KEEPS, MOVES, SUMS
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out, returns, type_of
from stablehlo_ref.define.processes import Contributions
from stablehlo_ref.define.spec import (
    compatible,
    dim,
    dims,
    element_type,
    is_complex,
    is_unique,
    make_tensor_type,
    rank,
    shape,
    size,
)
from stablehlo_ref.define.type_constraints import (
    index,
    integer_tensor,
    quantized_tensor,
    size_vector,
    tensor,
    token,
    witness,
)
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.distribution.process_groups import CROSS_REPLICA, ProcessGroups, ReplicaGroups
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.types import TOKEN, TensorType, tensor_type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.numerics.layout import raw_view
from stablehlo_ref.ops.collectives import Exchange, meeting
from stablehlo_ref.ops.dot_general import PrecisionConfig, PrecisionForm, dot_products
from stablehlo_ref.ops.dot_products import DotDimensions
from stablehlo_ref.ops.elementwise import Add


class CreateToken(Op, op="create_token", facts=EXACT):
    """Create a token. Superseded by `after_all` without inputs."""

    output = Out(token)

    syntax = "attr-dict : type(results)"

    infer = returns(TOKEN)

    plan = returns(lambda: None)


class Broadcast(Op, op="broadcast", computes_on_storage=True, returns_views=True, nans="moved", facts=KEEPS):
    """Add leading dimensions of sizes `broadcast_sizes` to `operand`. Superseded by `broadcast_in_dim`."""

    operand = In(tensor | quantized_tensor)
    broadcast_sizes = Attr(Dims)
    result = Out(tensor | quantized_tensor)

    syntax = "operands, sizes = $broadcast_sizes attr-dict : functional_type"

    @staticmethod
    def infer(operand: TensorType, broadcast_sizes: Dims) -> TensorType:
        return make_tensor_type(broadcast_sizes + shape(operand), element_type(operand))

    @staticmethod
    def constraints(C: Checker, infer: Callable[[], TensorType], broadcast_sizes: Dims, result: TensorType) -> None:
        C(1, all(0 <= n for n in broadcast_sizes))
        C(2, compatible(result, infer()))

    @staticmethod
    def plan(result: TensorType) -> Run:
        return lambda operand: np.broadcast_to(operand, shape(result))


class Trace(Op, op="trace", facts=EXACT):
    """Report `operand` under `tag` to a tracer. The interpreter has no tracer and ignores it."""

    operand = In(tensor)
    tag = Attr(String)

    syntax = "operands, $tag attr-dict : type(operands)"

    implementation_defined = returns(lambda operand: [Choice.TRACE])

    plan = returns(lambda operand: ())


class CrossReplicaSum(
    Op, op="cross-replica-sum", effects=True, communicates=True, computes_on_storage=True, nans="computed", facts=FOLDS
):
    """Sum the operands of the replicas of each group. Superseded by `all_reduce`."""

    operand = In(tensor)
    replica_groups = Attr(ReplicaGroups)
    result = Out(tensor)

    infer = type_of("operand")

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, compatible(operand, result))

    @staticmethod
    def plan(site: PlanSite, mode: Mode, operand: TensorType, replica_groups: ReplicaGroups) -> Run:
        groups = ProcessGroups(site.op, CROSS_REPLICA, replica_groups, size_label=1, range_label=1)
        meet = meeting(site, operand=operand)
        add, exact = Add.plan(mode, operand), exactly_added(operand, mode)

        def total(contributions: Contributions) -> Array:
            arrays = list(contributions.by_process.values())
            return sum_of_arrays(exact, arrays) if exact and len(arrays) > 1 else reduce(add, arrays)

        def run(context: Context, operand: Array) -> Exchange:
            contributions: Contributions = yield meet(groups.around(context.process), operand)
            return contributions.once("total", lambda: total(contributions))

        return run


# --- indices and shapes ---------------------------------------------------------------------------------------------


class TorchIndexSelect(Op, op="torch_index_select", computes_on_storage=True, nans="moved", facts=MOVES):
    """Take slices of `operand` along `dim` at the positions in `index`, clamped to its range. Superseded by `gather`.

    The first `batch_dims` dimensions of both are batch dimensions. A negative `dim` counts from the end of the
    dimensions of `operand`, a negative `batch_dims` from the end of those of `index`.
    """

    operand = In(tensor | quantized_tensor)
    index = In(integer_tensor)
    dim = Attr(Int)
    batch_dims = Attr(Int)
    result = Out(tensor | quantized_tensor)

    @staticmethod
    def infer(operand: TensorType, index: TensorType, dim: Int, batch_dims: Int) -> TensorType:
        dim, batch_dims = counted_from_the_first(operand, index, dim, batch_dims)
        sizes = shape(operand)[:dim] + shape(index)[batch_dims:] + shape(operand)[dim + 1 :]
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def preconditions(
        C: Checker, operand: TensorType, index: TensorType, dim: Int, batch_dims: Int, result: TensorType
    ) -> None:
        inferred = TorchIndexSelect.infer(operand, index, dim, batch_dims)
        dim, batch_dims = counted_from_the_first(operand, index, dim, batch_dims)
        C(1, 0 <= batch_dims <= rank(index))
        C(2, batch_dims <= dim < rank(operand))
        C(3, dims(operand, range(batch_dims)) == dims(index, range(batch_dims)))
        C(4, compatible(result, inferred))
        C(5, 0 < shape(operand)[dim] or size(result) == 0)

    @staticmethod
    def plan(operand: TensorType, index: TensorType, dim: Int, batch_dims: Int, result: TensorType) -> Run:
        dim, batch_dims = counted_from_the_first(operand, index, dim, batch_dims)
        last = shape(operand)[dim] - 1
        batch = shape(index)[:batch_dims]
        along = (*batch, *[1] * (dim - batch_dims), prod(shape(index)[batch_dims:]), *[1] * (rank(operand) - dim - 1))

        def run(operand: Array, index: Array) -> Array:
            if last < 0:  # then the result is empty
                return np.empty(shape(result), operand.dtype)
            positions = clamp_index(np.asarray(index), last)
            if not batch_dims:
                return operand.take(positions, dim)
            taken: Array = np.take_along_axis(operand, positions.reshape(along), dim)
            return taken.reshape(shape(result))

        return run


def counted_from_the_first(operand: TensorType, index: TensorType, dim: int, batch_dims: int) -> tuple[int, int]:
    """Return `dim` and `batch_dims` counted from the first dimension, also where they are negative."""
    return dim + rank(operand) * (dim < 0), batch_dims + rank(index) * (batch_dims < 0)


class Reshapable(Op, facts=EXACT):
    """Base of ops on a `dynamic_shape` for `num_elements` elements, in which -1 is a size to be computed."""

    num_elements = In(index)
    dynamic_shape = In(size_vector)

    syntax = "operands attr-dict : functional_type"


class ComputeReshapeShape(Reshapable, op="compute_reshape_shape"):
    """Return `dynamic_shape` with -1 replaced by the size that `num_elements` elements require."""

    result = Out(size_vector)

    infer = type_of("dynamic_shape")

    @staticmethod
    def constraints(C: Checker, dynamic_shape: TensorType, result: TensorType) -> None:
        C(1, shape(dynamic_shape) == shape(result))

    @staticmethod
    def plan(result: TensorType) -> Run:
        dtype = numpy_dtype(element_type(result))

        def run(num_elements: Array, dynamic_shape: Array) -> Array:
            given = dynamic_shape.tolist()
            rest = int(num_elements) // max(-prod(given), 1)
            sizes = [rest if n == -1 else n for n in given]
            computed = np.array(sizes).astype(dtype)
            if computed.tolist() != sizes:
                raise EvaluationError(f"{result} cannot represent the sizes {sizes}")
            return computed

        return run


class CstrReshapable(Reshapable, op="cstr_reshapable"):
    """Check that `num_elements` elements can be reshaped to `dynamic_shape`, and return a witness."""

    result = Out(witness)

    @staticmethod
    def plan() -> Run:
        def run(num_elements: Array, dynamic_shape: Array) -> None:
            sizes = dynamic_shape.tolist()
            known = prod(n for n in sizes if n != -1)
            count, unknown = int(num_elements), sizes.count(-1)
            fits = count % known == 0 if unknown and known else count == known
            if unknown > 1 or min(sizes, default=0) < -1 or not fits:
                raise EvaluationError(f"cannot reshape {count} elements to {sizes}")

        return run


# --- dot products, which dot_general superseded: dot, einsum, unary_einsum -------------------------------------------


class Dot(Op, op="dot", row_major=True, rows_apart=True, prepares_constants=True, nans="computed", facts=SUMS):
    """Multiply vectors or matrices. Superseded by `dot_general`."""

    lhs = In(tensor | quantized_tensor)
    rhs = In(tensor | quantized_tensor)
    precision_config = Attr(PrecisionConfig, default=())
    result = Out(tensor | quantized_tensor)

    syntax = ("operands", PrecisionForm(), "attr-dict : functional_type")

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType) -> TensorType:
        return make_tensor_type(shape(lhs)[:-1] + shape(rhs)[1:], element_type(lhs))

    @staticmethod
    def constraints(
        C: Checker,
        infer: Callable[[], TensorType],
        lhs: TensorType,
        rhs: TensorType,
        precision_config: PrecisionConfig,
        result: TensorType,
    ) -> None:
        C(1, 1 <= rank(lhs) <= 2 and 1 <= rank(rhs) <= 2)
        C(2, dim(lhs, rank(lhs) - 1) == dim(rhs, 0))
        C(3, shape(result) == shape(infer()))
        C(4, is_complex(lhs) == is_complex(rhs) == is_complex(result))
        C(5, size(precision_config) <= 2)  # it may be left out, or for both operands

    @staticmethod
    def plan(site: PlanSite, mode: Mode, lhs: TensorType, rhs: TensorType, result: TensorType) -> Kernel:
        return dot_products(lhs, rhs, DotDimensions((), (), (rank(lhs) - 1,), (0,)), result, mode, site.constants)


class Einsum(Op, op="einsum", row_major=True, nans="computed", facts=SUMS):
    """Compute a sum of products in Einstein notation. Superseded by `dot_general`.

    `...` stands for any number of dimensions, which are matched from the last one.
    """

    lhs = In(tensor)
    rhs = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"

    @staticmethod
    def infer(lhs: TensorType, rhs: TensorType, einsum_config: String) -> TensorType:
        *names, kept = split_config(einsum_config, rank(lhs), rank(rhs))
        sizes = {name: n for part, x in zip(names, (lhs, rhs)) for name, n in zip(part, shape(x))}
        return make_tensor_type([sizes[name] for name in kept], element_type(lhs))

    @staticmethod
    def preconditions(C: Checker, lhs: TensorType, rhs: TensorType, einsum_config: String, result: TensorType) -> None:
        C(1, re.fullmatch(r"\w*(\.{3})?\w*,\w*(\.{3})?\w*->\w*(\.{3})?\w*", einsum_config))
        lhs_names, rhs_names, kept = split_config(einsum_config, rank(lhs), rank(rhs))
        C(2, size(lhs_names) == rank(lhs) and size(rhs_names) == rank(rhs))
        C(3, is_unique([*kept]) and set(kept) <= {*lhs_names, *rhs_names})
        C(4, same_sizes(lhs_names + rhs_names, shape(lhs) + shape(rhs)))
        C(5, shape(result) == shape(Einsum.infer(lhs, rhs, einsum_config)))
        C(6, is_complex(lhs) == is_complex(rhs) == is_complex(result))

    @staticmethod
    def plan(mode: Mode, lhs: TensorType, rhs: TensorType, einsum_config: String, result: TensorType) -> Kernel:
        lhs_names, rhs_names, kept = split_config(einsum_config, rank(lhs), rank(rhs))
        reduce_lhs, lhs_names, lhs = summed(lhs, lhs_names, keep=rhs_names + kept, mode=mode)
        reduce_rhs, rhs_names, rhs = summed(rhs, rhs_names, keep=lhs_names + kept, mode=mode)
        batching = [name for name in lhs_names if name in rhs_names and name in kept]
        contracting = [name for name in lhs_names if name in rhs_names and name not in kept]
        others = [name for name in lhs_names + rhs_names if name not in batching + contracting]
        order = [(batching + others).index(name) for name in kept]
        dot_type = tensor_type(tuple(dim(result, kept.index(name)) for name in batching + others), element_type(result))
        numbers = [positions(names, among) for names in (batching, contracting) for among in (lhs_names, rhs_names)]
        product = dot_products(lhs, rhs, DotDimensions(*numbers), dot_type, mode)
        arranged = sum(size(x) * numpy_dtype(element_type(x)).itemsize for x in (lhs, rhs))  # in the order of matrices
        return Kernel(
            lambda lhs, rhs: product(reduce_lhs(lhs), reduce_rhs(rhs)).transpose(order),
            temporaries=arranged + product.temporaries,
        )


class UnaryEinsum(Op, op="unary_einsum", row_major=True, nans="computed", facts=SUMS):
    """Compute a sum or a transposition in Einstein notation. Superseded by `reduce` and `transpose`.

    `...` stands for any number of dimensions.
    """

    operand = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"

    @staticmethod
    def infer(operand: TensorType, einsum_config: String) -> TensorType:
        names, kept = split_config(einsum_config, rank(operand))
        return make_tensor_type([dim(operand, names.index(name)) for name in kept], element_type(operand))

    @staticmethod
    def preconditions(C: Checker, operand: TensorType, einsum_config: String, result: TensorType) -> None:
        C(1, re.fullmatch(r"\w*(\.{3})?\w*->\w*(\.{3})?\w*", einsum_config))
        names, kept = split_config(einsum_config, rank(operand))
        C(2, size(names) == rank(operand))
        C(3, is_unique([*kept]) and set(kept) <= set(names))
        C(4, same_sizes(names, shape(operand)))
        C(5, compatible(result, UnaryEinsum.infer(operand, einsum_config)))

    @staticmethod
    def plan(mode: Mode, operand: TensorType, einsum_config: String) -> Run:
        names, kept = split_config(einsum_config, rank(operand))
        reduce, names, _ = summed(operand, names, keep=kept, mode=mode)
        order = positions(kept, names)
        return lambda operand: reduce(operand).transpose(order)


def split_config(config: str, *ranks: int) -> list[str]:
    """Return the names of the dimensions of each operand, of these ranks, and of the result.

    The dimensions of an ellipsis have names from the private use area of Unicode.
    """
    *operands, kept = re.split(",|->", config.replace(" ", ""))
    counts = [max(0, n + 3 - len(names)) * ("..." in names) for names, n in zip(operands, ranks)]
    ellipsis = "".join(chr(0xE000 + i) for i in range(max(counts)))
    expanded = [names.replace("...", ellipsis[len(ellipsis) - n :]) for names, n in zip(operands, counts)]
    return [*expanded, kept.replace("...", ellipsis)]


def same_sizes(names: str, sizes: Sequence[int]) -> bool:
    """Return whether dimensions with the same name have the same size."""
    return all(n == sizes[names.index(name)] for name, n in zip(names, sizes))


def positions(names: Sequence[str], among: str) -> Dims:
    """Return the position of each name among the names of an operand."""
    return tuple(among.index(name) for name in names)


def summed(x: TensorType, names: str, keep: str, mode: Mode) -> tuple[Run, str, TensorType]:
    """Plan the diagonals of repeated names and the sums over the names that are not in `keep`.

    Sums are products with ones. Return a function of an array, the names of its result's dimensions and the type.
    """
    unique = "".join(dict.fromkeys(names))
    kept = "".join(name for name in unique if name in keep)
    element, sizes = element_type(x), [dim(x, names.index(name)) for name in unique]
    result = tensor_type(tuple(sizes[unique.index(name)] for name in kept), element)
    if unique == kept:
        return (lambda x: diagonals(x, names)), kept, result
    reduced = tuple(position for position, name in enumerate(unique) if name not in kept)
    ones = np.ones([sizes[position] for position in reduced]).astype(numpy_dtype(element))
    types = tensor_type(tuple(sizes), element), tensor_type(ones.shape, element)
    numbers = DotDimensions((), (), reduced, tuple(range(len(reduced))))
    product = dot_products(*types, numbers, result, mode, {"rhs": ones})
    return (lambda x: product(diagonals(x, names), ones)), kept, result


def diagonals(x: Array, names: str) -> Array:
    """Return a view with one dimension per name, the diagonal of all dimensions with that name."""
    unique = list(dict.fromkeys(names))
    strides = [sum(s for s, other in zip(x.strides, names) if other == name) for name in unique]
    sizes = [x.shape[names.index(name)] for name in unique]
    return np.lib.stride_tricks.as_strided(raw_view(x), sizes, strides, writeable=False).view(x.dtype)
