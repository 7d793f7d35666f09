"""Asynchronous ops (spec, "async_start", "async_done").

The spec lets `async_start` run its op at once, so a future is the tuple of the op's results.
"""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.define.bound import Site
from stablehlo_ref.define.computation import ControlFlow, PlanBlock, Run, Slots, Turns
from stablehlo_ref.define.constraints import Checker
from stablehlo_ref.define.facts import CALLS
from stablehlo_ref.define.op import Body, In, Ins, Op, Out, Outs
from stablehlo_ref.define.spec import size
from stablehlo_ref.define.type_constraints import future, per_tensor_quantized, tensor, tensor_or_token
from stablehlo_ref.ir.types import FunctionType, FutureType, TensorType, Type
from stablehlo_ref.ops.control_flow import all_compatible, move

COLLECTIVES = (
    "all_reduce", "all_gather", "all_to_all", "collective_permute", "reduce_scatter", "collective_broadcast",
)  # fmt: skip
SLICES = ("slice", "dynamic_slice", "dynamic_update_slice")
MAY_BE_ASYNCHRONOUS = tuple(f"stablehlo.{op}" for op in COLLECTIVES + SLICES)


class AsyncStart(Op, op="async_start", shadows_names=True, facts=CALLS):
    """Start the op in `body` and return a future of its results.

    The op takes the arguments of `body`, or, if `body` has no arguments, values from above as in the spec's example.
    """

    operands = Ins(tensor | per_tensor_quantized)  # I1
    body = Body()  # I2
    result = Out(future)

    @staticmethod
    def infer(body: FunctionType) -> FutureType:
        return FutureType(body.outputs)

    @staticmethod
    def constraints(
        C: Checker, site: Site, operands: Sequence[TensorType], body: FunctionType, result: FutureType
    ) -> None:
        operations, arguments = site.regions[0].block.operations, site.regions[0].block.arguments
        taken = operations[0].operands
        C(1, size(operations) == 2 and operations[1].operands == operations[0].results)
        C(2, operations[0].name in MAY_BE_ASYNCHRONOUS)
        C(3, all_compatible(operands, operations[0].operand_types))
        if arguments:
            C(3, taken == arguments and tuple(operands) == body.inputs)
        C(4, result.elements == body.outputs)

    @staticmethod
    def plan_control_flow(operands: tuple[int, ...], body: PlanBlock, result: int) -> ControlFlow:
        block = body()
        start = move(operands[: len(block.arguments)], block.arguments)

        def go(slots: Slots) -> Turns:
            start(slots)
            if block.communicates:
                yield from block.coroutine(slots)
            else:
                block.run(slots)
            slots[result] = tuple(slots[slot] for slot in block.results)

        return go


class AsyncDone(Op, op="async_done", computes_on_storage=True, facts=CALLS):
    """Return the results of an asynchronous op."""

    operand = In(future)  # I1
    result = Outs(tensor_or_token)

    @staticmethod
    def infer(operand: FutureType) -> Sequence[Type]:
        return operand.elements

    @staticmethod
    def constraints(C: Checker, operand: FutureType, result: Sequence[Type]) -> None:
        C(1, result == operand.elements)

    @staticmethod
    def plan(result: Sequence[Type]) -> Run:
        return (lambda values: values[0]) if len(result) == 1 else lambda values: values
