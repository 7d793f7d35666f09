"""Deprecated ops that the spec does not define but older programs still contain."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from stablehlo_ref.algorithms.exact_reductions import exactly_added, sum_of_arrays
from stablehlo_ref.define.attribute_codecs import Dims, Int, String
from stablehlo_ref.define.bound import PlanSite
from stablehlo_ref.define.choices import Choice
from stablehlo_ref.define.computation import FindChoices, Run
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.context import Context
from stablehlo_ref.define.facts import EXACT, FOLDS, KEEPS, MOVES
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, In, Op, Out
from stablehlo_ref.define.processes import Contributions
from stablehlo_ref.define.spec import compatible, dims, element_type, make_tensor_type, rank, shape, size
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
from stablehlo_ref.ir.types import TOKEN, TensorType, TokenType
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.ops.collectives import Exchange, meeting
from stablehlo_ref.ops.elementwise import Add


class CreateToken(Op, op="create_token", facts=EXACT):
    """Create a token. Superseded by `after_all` without inputs."""

    output = Out(token)

    syntax = "attr-dict : type(results)"

    @staticmethod
    def infer() -> TokenType:
        return TOKEN

    @staticmethod
    def plan() -> Run:
        return lambda: None


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

    @staticmethod
    def implementation_defined() -> FindChoices:
        return lambda operand: [Choice.TRACE]

    @staticmethod
    def plan() -> Run:
        return lambda operand: ()


class CrossReplicaSum(
    Op, op="cross-replica-sum", effects=True, communicates=True, computes_on_storage=True, nans="computed", facts=FOLDS
):
    """Sum the operands of the replicas of each group. Superseded by `all_reduce`."""

    operand = In(tensor)
    replica_groups = Attr(ReplicaGroups)
    result = Out(tensor)

    @staticmethod
    def infer(operand: TensorType) -> TensorType:
        return operand

    @staticmethod
    def constraints(C: Checker, operand: TensorType, result: TensorType) -> None:
        C(1, compatible(operand, result))

    @staticmethod
    def plan(site: PlanSite, mode: Mode, operand: TensorType, replica_groups: ReplicaGroups) -> Run:
        groups = ProcessGroups(site.op, CROSS_REPLICA, replica_groups, size_label=1, range_label=1)
        meet = meeting(site, operand=operand)
        add, exact = Add.plan(mode, operand), exactly_added(operand, mode)

        def total(contributions: Contributions) -> Array:
            result: Array
            result, *others = contributions.by_process.values()
            if exact and others:
                return sum_of_arrays(exact, [result, *others])
            for other in others:
                result = add(result, other)
            return result

        def run(context: Context, operand: Array) -> Exchange:
            contributions: Contributions = yield meet(groups.around(context.process), operand)
            result: Array = contributions.once("total", lambda: total(contributions))
            return result

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

    @staticmethod
    def infer(dynamic_shape: TensorType) -> TensorType:
        return dynamic_shape

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
