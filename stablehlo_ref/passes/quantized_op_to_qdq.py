"""Replace ops on quantized tensors by ops on floats between `uniform_dequantize` and `uniform_quantize`."""

from __future__ import annotations

from stablehlo_ref.define.bound import bind_types, is_on_expressed
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.define.spec import expressed, is_quantized
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.registry import Pass


def quantized_op_to_qdq(module: Operation) -> None:
    """Dequantize the operands of each op that the spec defines on floats, compute it there, and quantize the results.

    Ops that move elements, ops with regions and ops with effects keep their quantized types.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            definition = definition_of(op)
            if definition is not None and is_on_expressed(bind_types(op, definition)):
                _expand(Emitter(rewriter, op), op)


def _expand(emit: Emitter, op: Operation) -> None:
    made = clone(op, {})
    made.operands = [
        emit.value("stablehlo.uniform_dequantize", value, type=expressed(value.type))
        if is_quantized(value.type)
        else value
        for value in op.operands
    ]
    for result in made.results:
        result.name, result.type = "", expressed(result.type)
    emit.insert(made)
    results = [
        emit.value("stablehlo.uniform_quantize", result, type=old.type) if is_quantized(old.type) else result
        for result, old in zip(made.results, op.results)
    ]
    emit.rewriter.replace(op, results)


PASS = Pass(
    "stablehlo-legalize-quantized-op-to-qdq",
    "compute ops on quantized tensors on floats between uniform_dequantize and uniform_quantize",
    quantized_op_to_qdq,
)
