"""Ops on quantized tensors, and ops on floats between `uniform_dequantize` and `uniform_quantize`, by each other."""

from __future__ import annotations

from stablehlo_ref.define.bound import bind_types, is_on_expressed
from stablehlo_ref.define.definition import OpDefinition, definition_of
from stablehlo_ref.define.spec import expressed, is_quantized
from stablehlo_ref.diagnostics import InvalidError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.passes.analysis import defined_by
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.patterns import erase_dead
from stablehlo_ref.passes.registry import transformation
from stablehlo_ref.verify import check_op


@transformation(
    "stablehlo-legalize-quantized-op-to-qdq",
    "compute ops on quantized tensors on floats between uniform_dequantize and uniform_quantize",
)
def quantized_op_to_qdq(module: Operation) -> None:
    """Dequantize the operands of each op that the spec defines on floats, compute it there, and quantize the results.

    Ops that move elements, `is_finite`, ops with regions and ops with effects keep their quantized types. Pure ops that
    nothing uses are erased.
    """
    erase_dead(module)
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            definition = definition_of(op)
            if definition is not None and is_legalized_on_floats(op, definition):
                _expand(Emitter(rewriter, op), op)


def is_legalized_on_floats(op: Operation, definition: OpDefinition) -> bool:
    """Return whether MLIR's passes compute an op on floats: all that the spec defines so, but `is_finite`."""
    return is_on_expressed(bind_types(op, definition)) and op.name != "stablehlo.is_finite"


def _expand(emit: Emitter, op: Operation) -> None:
    operands = [
        emit.value("stablehlo.uniform_dequantize", x, type=expressed(x.type)) if is_quantized(x.type) else x
        for x in op.operands
    ]
    results = [
        emit.value("stablehlo.uniform_quantize", result, type=old.type) if is_quantized(old.type) else result
        for result, old in zip(emit.copy(op, operands, list(map(expressed, op.result_types))), op.results)
    ]
    emit.rewriter.replace(op, results)


@transformation(
    "stablehlo-legalize-qdq-to-quantized-op",
    "let ops between uniform_dequantize and uniform_quantize take and return quantized tensors",
)
def qdq_to_quantized_op(module: Operation) -> None:
    """Let ops whose operands are dequantized, and whose result is quantized, take and return the quantized tensors.

    They do where an op of these types is valid, and the spec defines it as the same op on floats between dequantization
    and quantization, so that it computes the same.
    """
    with Rewriter(module) as rewriter:
        for quantize in [op for op in module.walk() if op.name == "stablehlo.uniform_quantize"]:
            fused = _fused(quantize)
            if fused is not None:
                rewriter.insert_before(quantize, fused)
                rewriter.replace(quantize, fused.results)
    erase_dead(module)


def _fused(quantize: Operation) -> Operation | None:
    """Return the op that computes a quantized result from quantized operands; None if there is none."""
    op = quantize.operands[0].producer
    if op is None or not op.operands or op.regions or len(op.results) != 1:
        return None
    sources = [defined_by(operand, "uniform_dequantize") for operand in op.operands]
    made = clone(op, {})
    made.operands = [source.operands[0] for source in sources if source]
    made.results[0].type = quantize.results[0].type
    definition = definition_of(made)
    if None in sources or definition is None or expressed(made.results[0].type) != op.results[0].type:
        return None
    try:
        check_op(made, definition)
    except InvalidError:
        return None
    return made if is_on_expressed(bind_types(made, definition)) else None
