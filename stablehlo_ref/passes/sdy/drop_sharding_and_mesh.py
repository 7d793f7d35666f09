"""Remove all that says how tensors are sharded."""

from __future__ import annotations

from collections.abc import Mapping

from stablehlo_ref.ir.attributes import Attribute
from stablehlo_ref.ir.core import Operation, symbol_name
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.registry import transformation
from stablehlo_ref.passes.symbols import symbols_used_by

ATTRIBUTES = ("sharding", "propagation_edges", "result_propagation_edges", "block_arg_propagation_edges")
KEPT = ("sdy.mesh", "sdy.return", "sdy.manual_computation")


@transformation("sdy-drop-sharding-and-mesh", "remove shardings, ops that change them, and meshes")
def drop_sharding_and_mesh(module: Operation) -> None:
    """Remove shardings, the ops that change shardings only, and meshes that nothing needs then.

    What remains computes on whole tensors, as the program did before it was partitioned. Manual computations stay, as
    they say what each device computes, and so do meshes next to them. Meshes that replica groups name stay, too.
    """
    with Rewriter(module) as rewriter:
        for op in [op for op in module.walk() if op.name.startswith("sdy.") and op.name not in KEPT]:
            if op.name == "sdy.constant":
                constant = Emitter(rewriter, op).value(
                    "stablehlo.constant", type=op.results[0].type, value=op.properties["value"]
                )
                rewriter.replace(op, [constant])
            elif op.name == "sdy.named_computation":
                rewriter.inline(op, op.regions[0].block, op.operands)
            else:
                rewriter.replace(op, op.operands[: len(op.results)])
    if any(op.name == "sdy.manual_computation" for op in module.walk()):
        return
    for op in module.walk():
        op.attributes = _without(op.attributes)
        for name in ("arg_attrs", "res_attrs"):
            if attributes := op.properties.get(name):
                op.properties[name] = tuple(map(_without, attributes))
    block, used = module.regions[0].block, set(symbols_used_by(module))
    block.operations = [op for op in block.operations if op.name != "sdy.mesh" or symbol_name(op) in used]


def _without(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    dropped = {f"sdy.{name}" for name in ATTRIBUTES}
    return {name: value for name, value in attributes.items() if name not in dropped}
