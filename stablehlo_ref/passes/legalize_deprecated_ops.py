"""Replace deprecated ops by those that took their place."""

from __future__ import annotations

from collections.abc import Callable

from stablehlo_ref.define.spec import element_type, scalar
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.passes.emit import Emitter, cannot_legalize
from stablehlo_ref.passes.registry import Pass, PassOption, flag

WITHOUT_SUCCESSOR = ("stablehlo.map", "stablehlo.rng")


def legalize_deprecated_ops(module: Operation, fail_on_unused: bool = True) -> None:
    """Replace `broadcast`, `create_token`, `cross-replica-sum`, `dot` and `unary_einsum` by newer ops.

    UnsupportedError for `map` and `rng`, which nothing replaces, unless `fail_on_unused` is false.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            if op.name in WITHOUT_SUCCESSOR and fail_on_unused:
                raise cannot_legalize(op)
            if op.name in SUCCESSORS:
                new = SUCCESSORS[op.name](Emitter(rewriter, op), op)
                new.attributes = dict(op.attributes)
                rewriter.replace(op, new.results)


def _broadcast(emit: Emitter, op: Operation) -> Operation:
    added, rank = len(op.properties["broadcast_sizes"]), _tensor(op.results[0]).rank
    return emit.operation(
        "stablehlo.broadcast_in_dim", op.operands, op.result_types, broadcast_dimensions=tuple(range(added, rank))
    )


def _create_token(emit: Emitter, op: Operation) -> Operation:
    return emit.operation("stablehlo.after_all", (), op.result_types)


def _cross_replica_sum(emit: Emitter, op: Operation) -> Operation:
    arguments = [scalar(element_type(op.results[0].type))] * 2
    computation = emit.region(arguments, lambda inner, xs: [inner.value("stablehlo.add", *xs)])
    return emit.operation(
        "stablehlo.all_reduce",
        op.operands,
        op.result_types,
        [computation],
        replica_groups=op.properties.get("replica_groups"),
    )


def _dot(emit: Emitter, op: Operation) -> Operation:
    return emit.operation(
        "stablehlo.dot_general",
        op.operands,
        op.result_types,
        lhs_batching_dimensions=(),
        rhs_batching_dimensions=(),
        lhs_contracting_dimensions=(_tensor(op.operands[0]).rank - 1,),
        rhs_contracting_dimensions=(0,),
        precision_config=op.properties.get("precision_config"),
    )


def _unary_einsum(emit: Emitter, op: Operation) -> Operation:
    (operand,) = op.operands
    one = emit.constant(scalar(element_type(operand.type)), 1)
    config = f",{op.properties['einsum_config']}"
    return emit.operation("stablehlo.einsum", (one, operand), op.result_types, einsum_config=config)


def _tensor(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type


SUCCESSORS: dict[str, Callable[[Emitter, Operation], Operation]] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.create_token": _create_token,
    "stablehlo.cross-replica-sum": _cross_replica_sum,
    "stablehlo.dot": _dot,
    "stablehlo.unary_einsum": _unary_einsum,
}
PASS = Pass(
    "stablehlo-legalize-deprecated-ops",
    "replace deprecated ops by those that took their place",
    legalize_deprecated_ops,
    (PassOption("fail-on-unused", flag, "whether ops that nothing replaces are errors (default true)"),),
)
