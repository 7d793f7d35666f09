"""Replace composites by calls of their decompositions, and ops by composites of them."""

from __future__ import annotations

from collections.abc import Collection

from stablehlo_ref.define.builder import build_function
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.ir.core import Operation, Value, symbol_name
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.passes.emit import Emitter
from stablehlo_ref.passes.registry import PassOption, count, names, transformation
from stablehlo_ref.passes.symbols import unused_name


@transformation(
    "stablehlo-legalize-composite-to-call",
    "replace composites by calls of their decompositions",
    PassOption("except", names, "names of composites to keep"),
)
def composite_to_call(module: Operation, **options: Collection[str]) -> None:
    """Make each `stablehlo.composite` a `func.call` of its decomposition, unless its name is among `except`."""
    kept = options.get("except", ())
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            if op.name != "stablehlo.composite" or op.properties["name"] in kept:
                continue
            emit, callee = Emitter(rewriter, op), op.properties["decomposition"]
            rewriter.replace(op, emit.operation("func.call", op.operands, op.result_types, callee=callee).results)


@transformation(
    "stablehlo-wrap-in-composite",
    "replace ops by composites of them",
    PassOption("op-names", names, "names of the ops: stablehlo.add,stablehlo.reduce"),
    PassOption("version", count, "the version of the composites (default 0)"),
)
def wrap_in_composite(module: Operation, op_names: Collection[str] = (), version: int = 0) -> None:
    """Replace each op whose name is among `op-names` by a composite of that name and version.

    The composite has the op's attributes; its decomposition is a new private function with the op. Ops in regions that
    use values from around them stay as they are, and so do terminators. The functions stand after the one that they
    were in, the last first.
    """
    block = module.regions[0].block
    taken = {name for op in block.operations if (name := symbol_name(op)) is not None}
    with Rewriter(module) as rewriter:
        for function in list(block.operations):
            for op in [op for op in function.walk() if op.name in op_names and _can_be_wrapped(op)]:
                name = unused_name(f"{op.name}.impl", taken)
                rewriter.insert_after(function, _decomposition(op, name))
                rewriter.replace(op, _composite(Emitter(rewriter, op), op, name, version).results)


def _can_be_wrapped(op: Operation) -> bool:
    definition = definition_of(op)
    if definition is None or definition.traits.terminator or op.parent_op is None:
        return False
    inside = {value for inner in op.walk() for value in (*inner.results, *inner.block_arguments)}
    return all(operand in inside for inner in op.walk() if inner is not op for operand in inner.operands)


def _composite(emit: Emitter, op: Operation, decomposition: str, version: int) -> Operation:
    definition = definition_of(op)
    assert definition is not None
    made = emit.operation(
        "stablehlo.composite", op.operands, op.result_types, name=op.name, decomposition=decomposition, version=version,
        composite_attributes=definition.encode(op.properties) or None,
    )  # fmt: skip
    made.attributes = dict(op.attributes)
    return made


def _decomposition(op: Operation, name: str) -> Operation:
    """Return a private function that computes an op."""
    arguments = [Value(type, None, index) for index, type in enumerate(op.operand_types)]
    inner = clone(op, {})
    inner.operands = list(arguments)
    return build_function(
        name, arguments, [inner], inner.results, op.location, visibility="private", debug_location=op.debug_location
    )
