"""Ops that the spec left out or dropped, which older programs still hold. Most are another op in other words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from stablehlo_ref.choices import Choice
from stablehlo_ref.define import Attr, In, Op, Out
from stablehlo_ref.diagnostics import EvaluationError, Location
from stablehlo_ref.ir.types import TOKEN, tensor_type
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
from stablehlo_ref.numerics.layout import opaque
from stablehlo_ref.ops.collectives import Collective, Turns
from stablehlo_ref.ops.dot_general import DotGeneral, PrecisionConfig
from stablehlo_ref.ops.elementwise import Add
from stablehlo_ref.ops.process_groups import CROSS_REPLICA, ProcessGroups, ReplicaGroups, id_groups
from stablehlo_ref.processes import Meeting, Rendezvous
from stablehlo_ref.spec import (
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


# --- products -------------------------------------------------------------------------------------------------------


Pair = tuple[Sequence[int], Sequence[int]]  # dimensions of both sides


def contraction(lhs: Any, rhs: Any, batching: Pair, contracting: Pair, result: Any, constants: Any) -> Run:
    """A `dot_general` without an algorithm."""
    lhs_batching, rhs_batching = map(tuple, batching)
    lhs_contracting, rhs_contracting = map(tuple, contracting)
    return DotGeneral.plan(
        lhs, rhs, lhs_batching, rhs_batching, lhs_contracting, rhs_contracting, lhs_precision_type=None,
        rhs_precision_type=None, accumulation_type=None, lhs_component_count=None, rhs_component_count=None,
        num_primitive_operations=None, result=result, constants=constants,
    )  # fmt: skip


class Dot(Op, op="dot"):
    """A product of vectors or matrices; `dot_general` took its place."""

    lhs = In(tensor | quantized_tensor)
    rhs = In(tensor | quantized_tensor)
    precision_config = Attr(PrecisionConfig, default=())
    result = Out(tensor | quantized_tensor)

    syntax = "operands custom(precision) attr-dict : functional_type"

    @staticmethod
    def infer(lhs: Any, rhs: Any) -> Any:
        return make_tensor_type(shape(lhs)[:-1] + shape(rhs)[1:], element_type(lhs))

    @staticmethod
    def constraints(C: Any, infer: Any, lhs: Any, rhs: Any, result: Any) -> None:
        C(1, 1 <= rank(lhs) <= 2 and 1 <= rank(rhs) <= 2)
        C(2, dim(lhs, rank(lhs) - 1) == dim(rhs, 0))
        C(3, shape(result) == shape(infer()))
        C(4, is_complex(lhs) == is_complex(rhs) == is_complex(result))

    @staticmethod
    def plan(lhs: Any, rhs: Any, result: Any, constants: Any) -> Run:
        return contraction(lhs, rhs, ((), ()), ([rank(lhs) - 1], [0]), result, constants)


class Einsum(Op, op="einsum"):
    """A sum of products by Einstein's notation; `dot_general` took its place."""

    lhs = In(tensor)
    rhs = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"

    @staticmethod
    def infer(lhs: Any, rhs: Any, einsum_config: str) -> Any:
        *names, kept = split_config(einsum_config)
        sizes = {name: n for part, x in zip(names, (lhs, rhs)) for name, n in zip(part, shape(x))}
        return make_tensor_type([sizes[name] for name in kept], element_type(lhs))

    @staticmethod
    def constraints(C: Any, infer: Any, lhs: Any, rhs: Any, einsum_config: str, result: Any) -> None:
        C(1, re.fullmatch(r"\w*,\w*->\w*", einsum_config))
        lhs_names, rhs_names, kept = split_config(einsum_config)
        C(2, size(lhs_names) == rank(lhs) and size(rhs_names) == rank(rhs))
        C(3, is_unique([*kept]) and set(kept) <= {*lhs_names, *rhs_names})
        C(4, same_sizes(lhs_names + rhs_names, shape(lhs) + shape(rhs)))
        C(5, shape(result) == shape(infer()))
        C(6, is_complex(lhs) == is_complex(rhs) == is_complex(result))

    @staticmethod
    def plan(lhs: Any, rhs: Any, einsum_config: str, result: Any, constants: Any) -> Run:
        lhs_names, rhs_names, kept = split_config(einsum_config)
        reduce_lhs, lhs_names, lhs = summed(lhs, lhs_names, keep=rhs_names + kept)
        reduce_rhs, rhs_names, rhs = summed(rhs, rhs_names, keep=lhs_names + kept)
        batching = [name for name in lhs_names if name in rhs_names and name in kept]
        contracting = [name for name in lhs_names if name in rhs_names and name not in kept]
        others = [name for name in lhs_names + rhs_names if name not in batching + contracting]
        order = [(batching + others).index(name) for name in kept]
        dot_type = tensor_type(tuple(dim(result, kept.index(name)) for name in batching + others), element_type(result))
        pairs = [(places(names, lhs_names), places(names, rhs_names)) for names in (batching, contracting)]
        product = contraction(lhs, rhs, pairs[0], pairs[1], dot_type, {})
        return lambda lhs, rhs: product(reduce_lhs(lhs), reduce_rhs(rhs)).transpose(order)


class UnaryEinsum(Op, op="unary_einsum"):
    """A sum or transposition by Einstein's notation; `reduce` and `transpose` took its place."""

    operand = In(tensor)
    einsum_config = Attr(String)
    result = Out(tensor)

    syntax = "operands, config = $einsum_config attr-dict : functional_type"

    @staticmethod
    def infer(operand: Any, einsum_config: str) -> Any:
        names, kept = split_config(einsum_config)
        return make_tensor_type([dim(operand, names.index(name)) for name in kept], element_type(operand))

    @staticmethod
    def constraints(C: Any, infer: Any, operand: Any, einsum_config: str, result: Any) -> None:
        C(1, re.fullmatch(r"\w*->\w*", einsum_config))
        names, kept = split_config(einsum_config)
        C(2, size(names) == rank(operand))
        C(3, is_unique([*kept]) and set(kept) <= set(names))
        C(4, same_sizes(names, shape(operand)))
        C(5, compatible(result, infer()))

    @staticmethod
    def plan(operand: Any, einsum_config: str) -> Run:
        names, kept = split_config(einsum_config)
        reduce, names, _ = summed(operand, names, keep=kept)
        order = places(kept, names)
        return lambda operand: reduce(operand).transpose(order)


def split_config(config: str) -> list[str]:
    """The dimensions' names of each operand and of the result."""
    return re.split(",|->", config.replace(" ", ""))


def same_sizes(names: str, sizes: Sequence[int]) -> bool:
    """Whether dimensions of one name have one size."""
    return all(n == sizes[names.index(name)] for name, n in zip(names, sizes))


def places(names: Sequence[str], among: str) -> list[int]:
    return [among.index(name) for name in names]


def summed(x: Any, names: str, keep: str) -> tuple[Run, str, Any]:
    """Takes diagonals where names repeat, and sums over dimensions that nobody needs, as products with ones.

    Returns a function of arrays, the names of the dimensions that are left, and the type of what it returns.
    """
    unique = "".join(dict.fromkeys(names))
    left = "".join(name for name in unique if name in keep)
    element, sizes = element_type(x), [dim(x, names.index(name)) for name in unique]
    result = tensor_type(tuple(sizes[unique.index(name)] for name in left), element)
    if unique == left:
        return (lambda x: diagonals(x, names)), left, result
    gone = [place for place, name in enumerate(unique) if name not in left]
    ones = np.ones([sizes[place] for place in gone]).astype(numpy_dtype(element))
    types = tensor_type(tuple(sizes), element), tensor_type(ones.shape, element)
    product = contraction(*types, ((), ()), (gone, range(len(gone))), result, {"rhs": ones})
    return (lambda x: product(diagonals(x, names), ones)), left, result


def diagonals(x: Array, names: str) -> Array:
    """A view with one dimension for each name; along it all dimensions of that name run together."""
    unique = list(dict.fromkeys(names))
    strides = [sum(s for s, other in zip(x.strides, names) if other == name) for name in unique]
    sizes = [x.shape[names.index(name)] for name in unique]
    return np.lib.stride_tricks.as_strided(opaque(x), sizes, strides, writeable=False).view(x.dtype)


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
