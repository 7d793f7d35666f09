"""Replace composites by calls of their decompositions."""

from __future__ import annotations

from collections.abc import Collection

from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.registry import Pass, PassOption, names


def composite_to_call(module: Operation, kept: Collection[str] = ()) -> None:
    """Replace each `stablehlo.composite` whose name is not in `kept` by a `func.call` of its decomposition."""
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            if op.name != "stablehlo.composite" or op.properties["name"] in kept:
                continue
            emit, callee = Emitter(rewriter, op), op.properties["decomposition"]
            rewriter.replace(op, emit.operation("func.call", op.operands, op.result_types, callee=callee).results)


def run(module: Operation, **options: Collection[str]) -> None:
    """Make each `stablehlo.composite` a `func.call` of its decomposition, unless its name is among `except`."""
    composite_to_call(module, options.get("except", ()))


PASS = Pass(
    "stablehlo-legalize-composite-to-call",
    "replace composites by calls of their decompositions",
    run,
    (PassOption("except", names, "names of composites to keep"),),
)
