"""Shardy's mpmd dialect: a program of parts, each of which runs on a mesh of a topology of meshes.

Its tensors are whole tensors that a mesh holds, `!mpmd.mesh_tensor<"mesh", tensor<2xf32>>`, sharded or not. Where a
tensor is changes none of its elements: fragments run their region, and all moves between meshes return their operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from stablehlo_ref.define.attribute_codecs import Int, String, Symbol, UInt32
from stablehlo_ref.define.bound import ControlFlowSite, Site
from stablehlo_ref.define.computation import Callee, ControlFlow, PlanBlock, Run, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.define.op import Attr, Body, In, Ins, Op, Out, Outs, outputs_of, type_of
from stablehlo_ref.define.type_constraints import anything, token
from stablehlo_ref.dialects.mlir_types import SAME_TYPES, Yield, any_tensor, identity
from stablehlo_ref.dialects.mpmd_meshes import (
    FragmentForm,
    Origin,
    Origins,
    Reduction,
    ReductionType,
    are_on_mesh,
    check_mesh_tensors,
    is_in,
    is_replicated,
    mesh_tensor,
)
from stablehlo_ref.dialects.sdy import BodyWithArguments
from stablehlo_ref.dialects.sdy_shardings import ShardingsValue
from stablehlo_ref.ir.attributes import Attribute, IntegerAttribute
from stablehlo_ref.ir.types import FunctionType, IntegerType, MeshTensorType, TensorType, TokenType, Type
from stablehlo_ref.numerics.dtypes import numpy_dtype
from stablehlo_ref.ops.comparison import And, Or
from stablehlo_ref.ops.control_flow import call, carry, iterate, move, type_of_function
from stablehlo_ref.ops.elementwise import Add, Maximum, Minimum, Multiply

INDICES = tuple(IntegerType(32, signedness) for signedness in ("", "s", "u"))

# --- computations ---------------------------------------------------------------------------------------------------


class Return(Yield, op="return", dialect="mpmd"):
    """Terminate a region and return its results."""


class NamedComputation(Op, op="named_computation", dialect="mpmd", isolated_from_above=True, releases_operands=True):
    """Run `region` on the tensors: a computation with a name, which may be assigned to a mesh."""

    tensors = Ins(any_tensor | token)
    origin = Attr(Origin)
    region = Body()
    results = Outs(any_tensor | token)

    syntax = ("< $origin >(operands) attr-dict-apart", BodyWithArguments(), ": functional_type")

    infer = outputs_of("region")

    @staticmethod
    def constraints(
        C: Checker,
        tensors: Sequence[TensorType | TokenType],
        region: FunctionType,
        results: Sequence[TensorType | TokenType],
    ) -> None:
        C(1, region.inputs == tuple(tensors))
        C(2, region.outputs == tuple(results))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, tensors: tuple[int, ...], region: Callee, results: tuple[int, ...]
    ) -> ControlFlow:
        return call(tensors, "", results, lambda _: region, site.dying)


class Fragment(Op, op="fragment", dialect="mpmd", isolated_from_above=True, releases_operands=True):
    """Run `region` on the mesh `mesh_name`, which has the operands and the results; the region sees whole tensors."""

    inputs = Ins(mesh_tensor | token)
    origin = Attr(Origins)
    mesh_name = Attr(String)
    stage_id = Attr(Int, default=None)
    in_shardings = Attr(ShardingsValue, default=None)
    out_shardings = Attr(ShardingsValue, default=None)
    region = Body()
    results = Outs(mesh_tensor | token)

    syntax = (
        FragmentForm("stage_id", "in_shardings", "out_shardings"),
        "(operands) attr-dict",
        BodyWithArguments(),
        ": functional_type",
    )

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        inputs: Sequence[MeshTensorType | TokenType],
        mesh_name: String,
        region: FunctionType,
        results: Sequence[MeshTensorType | TokenType],
    ) -> None:
        C("parent", is_in(site.op, "func.func", "mpmd.for"))
        check_mesh_tensors(site.op, (*inputs, *results))
        C(1, are_on_mesh(inputs, region.inputs, mesh_name))
        C(2, are_on_mesh(results, region.outputs, mesh_name))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, inputs: tuple[int, ...], region: Callee, results: tuple[int, ...]
    ) -> ControlFlow:
        return call(inputs, "", results, lambda _: region, site.dying)


def function_type(site: Site, name: str) -> FunctionType | None:
    """Return the type of a function of the module; None if there is none of that name."""
    return type_of_function(site.symbol(name))


class FragmentCall(Op, op="fragment_call", dialect="mpmd", releases_operands=True):
    """Call the function `callee`, which is a fragment on the mesh `mesh_name`."""

    tensors = Ins(mesh_tensor)
    origin = Attr(Origins)
    mesh_name = Attr(String)
    callee = Attr(Symbol)
    results = Outs(mesh_tensor)

    syntax = (FragmentForm(also=("callee",)), "$callee ( operands ) attr-dict : functional_type")

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        tensors: Sequence[MeshTensorType],
        mesh_name: String,
        callee: Symbol,
        results: Sequence[MeshTensorType],
    ) -> None:
        C("parent", is_in(site.op, "func.func"))
        check_mesh_tensors(site.op, (*tensors, *results))
        type = function_type(site, callee)
        C(1, type is not None)
        if type is not None:
            C(2, are_on_mesh(tensors, type.inputs, mesh_name))
            C(3, are_on_mesh(results, type.outputs, mesh_name))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite, tensors: tuple[int, ...], callee: Symbol, results: tuple[int, ...]
    ) -> ControlFlow:
        return call(tensors, callee, results, site.function, site.dying)


class Call(Op, op="call", dialect="mpmd", releases_operands=True):
    """Call the function `callee`."""

    tensors = Ins(any_tensor | mesh_tensor)
    callee = Attr(Symbol)
    results = Outs(any_tensor | mesh_tensor)

    syntax = "$callee ( operands ) attr-dict : functional_type"

    @staticmethod
    def constraints(
        C: Checker,
        site: Site,
        tensors: Sequence[TensorType | MeshTensorType],
        callee: Symbol,
        results: Sequence[TensorType | MeshTensorType],
    ) -> None:
        C("parent", is_in(site.op, "func.func", "mpmd.for"))
        C(1, function_type(site, callee) == FunctionType(tuple(tensors), tuple(results)))
        C(2, is_counter(site.attributes.get("call_counter")))

    plan_control_flow = staticmethod(FragmentCall.plan_control_flow)


def is_counter(attribute: Attribute | None) -> bool:
    """Return whether an attribute is left out, or an integer of type ui32."""
    return attribute is None or (isinstance(attribute, IntegerAttribute) and attribute.type == IntegerType(32, "u"))


class For(Op, op="for", dialect="mpmd"):
    """Run `region` on the tensors, and on what it returns, `iterations` times; its last argument is the iteration.

    A compiler may unroll the loop by `unroll_factor`.
    """

    tensors = Ins(anything)
    iterations = Attr(UInt32)
    unroll_factor = Attr(UInt32, default=None)
    region = Body()
    results = Outs(anything)

    syntax = ("(operands) attr-dict", BodyWithArguments(), ": type(operands)", SAME_TYPES)

    infer = type_of("tensors")

    @staticmethod
    def constraints(
        C: Checker,
        tensors: Sequence[Type],
        iterations: UInt32,
        unroll_factor: UInt32 | None,
        region: FunctionType,
        results: Sequence[Type],
    ) -> None:
        C(1, tuple(results) == tuple(tensors) == region.inputs[:-1] == region.outputs)
        C(2, is_index(region.inputs))
        C(3, are_of_one_kind(tensors))
        C(4, 0 < iterations)
        C(5, unroll_factor is None or (unroll_factor != 0 and iterations % unroll_factor == 0))

    @staticmethod
    def plan_control_flow(
        site: ControlFlowSite,
        tensors: tuple[int, ...],
        iterations: UInt32,
        region: PlanBlock,
        results: tuple[int, ...],
    ) -> ControlFlow:
        block = region()
        *state, number = block.arguments
        start, next_state, finish = move(tensors, state), carry(block, state), move(state, results)
        index = site.op.regions[0].block.arguments[-1].type
        assert isinstance(index, TensorType)
        dtype = numpy_dtype(index.element_type)

        def go(slots: Slots) -> Turns:
            start(slots)
            numbers = (np.array(i, dtype) for i in range(iterations))
            yield from iterate(slots, block, number, numbers, next_state)
            finish(slots)
            for slot in state:
                slots[slot] = None

        return go


def is_index(types: Sequence[Type]) -> bool:
    """Return whether the last of some types is that of the number of an iteration: a scalar integer of 32 bits."""
    type = types[-1] if types else None
    return isinstance(type, TensorType) and type.rank == 0 and type.element_type in INDICES


def are_of_one_kind(types: Sequence[Type]) -> bool:
    """Return whether types are all those of tensors, or all those of mesh tensors, or the like."""
    kinds = {isinstance(type, MeshTensorType) + 2 * isinstance(type, TensorType) for type in types}
    return len(kinds) <= 1


# --- moves between meshes -------------------------------------------------------------------------------------------


class Identity(Op, dialect="mpmd", computes_on_storage=True, returns_views=True):
    """The base class of ops whose result is their operand, maybe elsewhere."""

    tensor = In(any_tensor)
    result = Out(any_tensor)

    syntax = "attr-dict operands : functional_type"

    plan = identity


class Unmoved(Identity):
    """The base class of those whose result has the type of their operand."""

    infer = type_of("tensor")

    @staticmethod
    def constraints(C: Checker, tensor: TensorType, result: TensorType) -> None:
        C(1, tensor == result)


class NamedTensor(Unmoved, op="named_tensor"):
    """Give a tensor a name, by which it may be assigned to a mesh."""

    name = Attr(String)

    syntax = "operands name=$name attr-dict : same_type"


class Broadcast(Unmoved, op="broadcast"):
    """Let a tensor be on every mesh where it is used."""

    syntax = "attr-dict operands : same_type"


class Transfer(Identity, op="transfer"):
    """Move a tensor to another mesh, another sharding, or another kind of memory."""

    tensor = In(mesh_tensor)
    result = Out(mesh_tensor)

    @staticmethod
    def constraints(C: Checker, site: Site, tensor: MeshTensorType, result: MeshTensorType) -> None:
        C("parent", is_in(site.op, "func.func"))
        check_mesh_tensors(site.op, (tensor, result))
        C(1, tensor.tensor == result.tensor)
        C(2, {tensor.memory_kind, result.memory_kind} <= {"", "device", "pinned_host"})


class Assign(Identity, op="assign"):
    """Put a tensor on all devices of a mesh."""

    result = Out(mesh_tensor)
    origin = Attr(String, default=None)

    @staticmethod
    def constraints(C: Checker, site: Site, tensor: TensorType, result: MeshTensorType) -> None:
        C("parent", is_in(site.op, "func.func", "mpmd.for"))
        check_mesh_tensors(site.op, (result,))
        C(1, is_replicated(result))
        C(2, tensor == result.tensor)


class Unassign(Identity, op="unassign"):
    """Take a tensor that all devices of a mesh have from that mesh."""

    tensor = In(mesh_tensor)
    origin = Attr(String, default=None)

    @staticmethod
    def infer(tensor: MeshTensorType) -> TensorType:
        return tensor.tensor

    @staticmethod
    def constraints(C: Checker, site: Site, tensor: MeshTensorType, result: TensorType) -> None:
        C("parent", is_in(site.op, "func.func", "mpmd.for"))
        check_mesh_tensors(site.op, (tensor,))
        C(1, is_replicated(tensor))
        C(2, tensor.tensor == result)


class Reduce(Op, op="reduce", dialect="mpmd"):
    """Combine tensors element by element, from the first to the last, wherever they are."""

    tensors = Ins(any_tensor)
    reduction = Attr(Reduction, default=ReductionType.NONE)
    result = Out(any_tensor)

    syntax = "< $reduction > attr-dict operands : functional_type"

    @staticmethod
    def infer(tensors: Sequence[TensorType]) -> TensorType:
        return tensors[0]

    @staticmethod
    def constraints(C: Checker, tensors: Sequence[TensorType], reduction: Reduction, result: TensorType) -> None:
        C(1, len(tensors) == 1 if reduction is ReductionType.NONE else len(tensors) >= 1)
        C(2, all(tensor == result for tensor in tensors))

    @staticmethod
    def plan(mode: Mode, reduction: Reduction, result: TensorType) -> Run:
        if reduction is ReductionType.NONE:
            return lambda tensors: tensors[0]
        combine = COMBINED[reduction].plan(mode, result)
        return lambda tensors: reduce(combine, tensors)


COMBINED = {
    ReductionType.ADD: Add,
    ReductionType.MAX: Maximum,
    ReductionType.MIN: Minimum,
    ReductionType.MUL: Multiply,
    ReductionType.OR: Or,
    ReductionType.AND: And,
}
