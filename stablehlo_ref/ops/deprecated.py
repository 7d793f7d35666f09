"""Ops that the spec left out or dropped, which older programs still hold. Most are another op in other words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.diagnostics import EvaluationError, Location
from stablehlo_ref.ir.types import TOKEN
from stablehlo_ref.kinds import (
    Dims,
    Int,
    String,
    index,
    integer_tensor,
    integer_vector,
    quantized_tensor,
    tensor,
    token,
    witness,
)
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.numerics.integers import clamp_index
from stablehlo_ref.ops.collectives import Collective, Turns
from stablehlo_ref.ops.elementwise import Add
from stablehlo_ref.ops.process_groups import CROSS_REPLICA, ProcessGroups, ReplicaGroups, id_groups
from stablehlo_ref.processes import Meeting, Rendezvous
from stablehlo_ref.spec import (
    compatible,
    dims,
    element_type,
    make_tensor_type,
    rank,
    shape,
    size,
)

Array = Any
Run = Callable[..., Array]


class CreateToken(Op, op="create_token"):
    """A token; `after_all` without inputs took its place."""

    output = Out(token)

    syntax = "attr-dict : type(results)"

    @staticmethod
    def infer() -> Any:
        return TOKEN

    @staticmethod
    def plan() -> Run:
        return lambda: None


class Broadcast(Op, op="broadcast"):
    """Adds major dimensions of sizes `broadcast_sizes`; `broadcast_in_dim` took its place."""

    on_storage = True

    operand = In(tensor | quantized_tensor)
    broadcast_sizes = Attr(Dims)
    result = Out(tensor | quantized_tensor)

    syntax = "operands, sizes = $broadcast_sizes attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, broadcast_sizes: Any) -> Any:
        return make_tensor_type(broadcast_sizes + shape(operand), element_type(operand))

    @staticmethod
    def constraints(C: Any, infer: Any, broadcast_sizes: Any, result: Any) -> None:
        C(1, all(0 <= n for n in broadcast_sizes))
        C(2, compatible(result, infer()))

    @staticmethod
    def plan(result: Any) -> Run:
        return lambda operand: np.broadcast_to(operand, shape(result))


class Trace(Op, op="trace"):
    """Shows `operand` to whoever traces the program, under `tag`; here nobody does."""

    operand = In(tensor)
    tag = Attr(String)

    syntax = "operands, $tag attr-dict : type(operands)"

    @staticmethod
    def open_cases() -> Callable[[Array], Sequence[Choice]]:
        return lambda operand: [Choice.TRACE]

    @staticmethod
    def plan() -> Run:
        return lambda operand: ()


class CrossReplicaSum(Collective, op="cross-replica-sum"):
    """The sum of the operands of the replicas of each group; `all_reduce` took its place."""

    operand = In(tensor)
    replica_groups = Attr(ReplicaGroups)
    result = Out(tensor)

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, compatible(operand, result))

    @classmethod
    def plan(cls, operand: Any, replica_groups: Any, symbols: Any, location: Location) -> Any:
        ids = id_groups(replica_groups, symbols, location)
        groups = ProcessGroups(cls.name, location, CROSS_REPLICA, ids, size_label=1, range_label=1)
        tag = (("operand", operand),)
        add = Add.plan(operand)

        def total(meeting: Meeting) -> Array:
            first, *others = meeting.brought.values()
            for other in others:
                first = add(first, other)
            return first

        def run(context: Any, operand: Array) -> Turns:
            meeting = yield Rendezvous(cls.name, tag, groups.around(context.process), operand, location)
            return meeting.once("total", lambda: total(meeting))

        return run


# --- indices and shapes ---------------------------------------------------------------------------------------------


class TorchIndexSelect(Op, op="torch_index_select"):
    """The slices of `operand` along `dim` at the numbers in `index`, which are clamped; `gather` took its place.

    The first `batch_dims` dimensions of both run along with one another.
    """

    on_storage = True

    operand = In(tensor | quantized_tensor)
    index = In(integer_tensor)
    dim = Attr(Int)
    batch_dims = Attr(Int)
    result = Out(tensor | quantized_tensor)

    @staticmethod
    def infer(operand: Any, index: Any, dim: int, batch_dims: int) -> Any:
        sizes = shape(operand)[:dim] + shape(index)[batch_dims:] + shape(operand)[dim + 1 :]
        return make_tensor_type(sizes, element_type(operand))

    @staticmethod
    def constraints(C: Any, infer: Any, operand: Any, index: Any, dim: int, batch_dims: int, result: Any) -> None:
        C(1, 0 <= batch_dims <= rank(index))
        C(2, batch_dims <= dim < rank(operand))
        C(3, dims(operand, range(batch_dims)) == dims(index, range(batch_dims)))
        C(4, compatible(result, infer()))
        C(5, 0 < shape(operand)[dim] or size(result) == 0)

    @staticmethod
    def plan(operand: Any, index: Any, dim: int, batch_dims: int, result: Any) -> Run:
        last = shape(operand)[dim] - 1
        batch = shape(index)[:batch_dims]
        along = (*batch, *[1] * (dim - batch_dims), prod(shape(index)[batch_dims:]), *[1] * (rank(operand) - dim - 1))

        def run(operand: Array, index: Array) -> Array:
            numbers = clamp_index(np.asarray(index), last)
            if not batch_dims:
                return operand.take(numbers, dim)
            return np.take_along_axis(operand, numbers.reshape(along), dim).reshape(shape(result))

        return run


class Reshapable(Op):
    """What a dynamic shape, in which one size may be -1, makes of `num_elements` elements."""

    num_elements = In(index)
    dynamic_shape = In(integer_vector)

    syntax = "operands attr-dict : functional_type"


class ComputeReshapeShape(Reshapable, op="compute_reshape_shape"):
    """`dynamic_shape` with the size that -1 stands for, as `dynamic_reshape` takes it."""

    result = Out(integer_vector)

    @staticmethod
    def infer(dynamic_shape: Any) -> Any:
        return dynamic_shape

    @staticmethod
    def constraints(C: Any, dynamic_shape: Any, result: Any) -> None:
        C(1, shape(dynamic_shape) == shape(result))

    @staticmethod
    def plan(result: Any) -> Run:
        dtype = numpy_dtype(element_type(result))

        def run(num_elements: Array, dynamic_shape: Array) -> Array:
            given = dynamic_shape.tolist()
            rest = int(num_elements) // max(-prod(given), 1)
            sizes = [rest if n == -1 else n for n in given]
            held = np.array(sizes).astype(dtype)
            if held.tolist() != sizes:
                raise EvaluationError(f"{result} can't hold the sizes {sizes}")
            return held

        return run


class CstrReshapable(Reshapable, op="cstr_reshapable"):
    """A witness that `compute_reshape_shape` makes sense of its operands."""

    result = Out(witness)

    @staticmethod
    def plan() -> Run:
        def run(num_elements: Array, dynamic_shape: Array) -> None:
            sizes = dynamic_shape.tolist()
            known = prod(n for n in sizes if n != -1)
            count, unknown = int(num_elements), sizes.count(-1)
            fits = count % known == 0 if unknown and known else count == known
            if unknown > 1 or min(sizes, default=0) < -1 or not fits:
                raise EvaluationError(f"{count} elements can't be reshaped to {sizes}")

        return run
