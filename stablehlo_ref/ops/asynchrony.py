"""Asynchronous ops: async_start runs its op at once, which the spec allows, so a future is just what the op gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stablehlo_ref.define import Body, In, Ins, Op, Out, Outs
from stablehlo_ref.ir.types import FutureType
from stablehlo_ref.kinds import anything, future, per_tensor_quantized, tensor
from stablehlo_ref.ops.control_flow import Go, PlanBlock, Slots, Turns, all_compatible, move
from stablehlo_ref.spec import size

COLLECTIVES = (
    "all_reduce", "all_gather", "all_to_all", "collective_permute", "reduce_scatter", "collective_broadcast",
)  # fmt: skip
SLICES = ("slice", "dynamic_slice", "dynamic_update_slice")
MAY_BE_ASYNCHRONOUS = tuple(f"stablehlo.{op}" for op in COLLECTIVES + SLICES)


class AsyncStart(Op, op="async_start"):
    """Starts the op in `body`; its results are in the future.

    The op takes the arguments of `body`, or, where there are none, values from above, as in the spec's example.
    """

    shadows = True  # MLIR has the region isolated, and gives names in it anew

    operands = Ins(tensor | per_tensor_quantized)  # type: ignore[assignment]  # I1
    body = Body()  # I2
    result = Out(future)

    @staticmethod
    def infer(body: Any) -> Any:
        return FutureType(body.outputs)

    @staticmethod
    def constraints(C: Any, operands: Any, body: Any, result: Any, regions: Any) -> None:
        operations, arguments = regions[0].block.operations, regions[0].block.arguments
        taken = operations[0].operands
        C(1, size(operations) == 2 and operations[1].operands == operations[0].results)
        C(2, operations[0].name in MAY_BE_ASYNCHRONOUS)
        C(3, (not arguments or taken == arguments) and all_compatible(operands, operations[0].operand_types))
        C(4, result.elements == body.outputs)

    @staticmethod
    def inline(operands: tuple[int, ...], body: PlanBlock, result: int) -> Go:
        block = body()
        start = move(operands[: len(block.arguments)], block.arguments)

        def go(slots: Slots) -> Turns:
            start(slots)
            if block.communicates:
                yield from block.go(slots)
            else:
                block.run(slots)
            slots[result] = tuple(slots[slot] for slot in block.results)

        return go


class AsyncDone(Op, op="async_done"):
    """Waits for the results of an asynchronous op."""

    on_storage = True
    operand = In(future)  # I1
    result = Outs(anything)

    @staticmethod
    def infer(operand: Any) -> Any:
        return operand.elements

    @staticmethod
    def constraints(C: Any, operand: Any, result: Any) -> None:
        C(1, result == operand.elements)

    @staticmethod
    def plan(result: Any) -> Callable[[Sequence[Any]], Any]:
        return (lambda values: values[0]) if len(result) == 1 else lambda values: values
