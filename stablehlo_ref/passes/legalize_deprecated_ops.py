"""Replace deprecated ops by those that took their place."""

from __future__ import annotations

from stablehlo_ref.define.spec import element_type, scalar
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.passes.emit import Emitter, cannot_legalize
from stablehlo_ref.passes.registry import PassOption, flag, transformation

WITHOUT_SUCCESSOR = ("stablehlo.map", "stablehlo.rng")


@transformation(
    "stablehlo-legalize-deprecated-ops",
    "replace deprecated ops by those that took their place",
    PassOption("fail-on-unused", flag, "whether ops that nothing replaces are errors (default true)"),
)
def legalize_deprecated_ops(module: Operation, fail_on_unused: bool = True) -> None:
    """Replace `broadcast`, `create_token`, `cross-replica-sum`, `dot` and `unary_einsum` by newer ops.

    UnsupportedError for `map` and `rng`, which nothing replaces, unless `fail_on_unused` is false.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            if op.name in WITHOUT_SUCCESSOR and fail_on_unused:
                raise cannot_legalize(op)
            if (new := _successor(Emitter(rewriter, op), op)) is not None:
                new.attributes = dict(op.attributes)
                rewriter.replace(op, new.results)


def _successor(emit: Emitter, op: Operation) -> Operation | None:
    """Emit the op that took the place of a deprecated one; None for others."""
    operands, types, members = op.operands, op.result_types, op.properties
    match op.name:
        case "stablehlo.broadcast":
            dimensions = tuple(range(len(members["broadcast_sizes"]), _rank(op.results[0])))
            return emit.operation("stablehlo.broadcast_in_dim", operands, types, broadcast_dimensions=dimensions)
        case "stablehlo.create_token":
            return emit.operation("stablehlo.after_all", (), types)
        case "stablehlo.cross-replica-sum":
            arguments, groups = [scalar(element_type(types[0]))] * 2, members.get("replica_groups")
            computation = emit.region(arguments, lambda inner, xs: [inner.value("stablehlo.add", *xs)])
            return emit.operation("stablehlo.all_reduce", operands, types, [computation], replica_groups=groups)
        case "stablehlo.dot":
            return emit.operation(
                "stablehlo.dot_general", operands, types, lhs_batching_dimensions=(), rhs_batching_dimensions=(),
                lhs_contracting_dimensions=(_rank(operands[0]) - 1,), rhs_contracting_dimensions=(0,),
                precision_config=members.get("precision_config"),
            )  # fmt: skip
        case "stablehlo.unary_einsum":
            one = emit.constant(scalar(element_type(operands[0].type)), 1)
            config = f",{members['einsum_config']}"
            return emit.operation("stablehlo.einsum", (one, *operands), types, einsum_config=config)
    return None


def _rank(value: Value) -> int:
    assert isinstance(value.type, TensorType)
    return value.type.rank
