"""Rewrite ops for earlier versions of StableHLO, and replace deprecated ops by newer ones."""

from __future__ import annotations

from collections.abc import Sequence

from stablehlo_ref.bytecode.vhlo.artifact import target_version
from stablehlo_ref.bytecode.vhlo.versions import CURRENT, Version
from stablehlo_ref.define.spec import element_type, is_sorted, scalar
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.distribution.process_groups import MeshAxes, id_groups
from stablehlo_ref.ir.attributes import EnumAttribute, StructAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.locations import without_ranges
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import IntegerType, TensorType, tensor_type
from stablehlo_ref.passes.emit import (
    Emitter,
    Expr,
    cannot_legalize,
    cosine,
    imaginary,
    is_complex,
    like,
    make_complex,
    real,
    sine,
    tanh,
)
from stablehlo_ref.passes.patterns import hoist_all_constants
from stablehlo_ref.passes.registry import PassOption, flag, transformation

BATCHING, TANGENT, RANGES, MESH_AXES = (Version(1, minor) for minor in (1, 4, 9, 16))  # which introduced these


def version(text: str) -> Version:
    """Parse the version of a portable artifact; ValueError if there is none."""
    try:
        return target_version(text)
    except UnsupportedError as error:
        raise ValueError(error.diagnostics[0].message) from None


@transformation(
    "stablehlo-compatibility-expander",
    "replace what earlier versions do not have",
    PassOption("target", version, "the version, such as 1.0.0, that the program is for (default: the newest)"),
)
def compatibility_expander(module: Operation, target: Version = CURRENT) -> None:
    """Replace ops and attributes that the target does not have, where that is possible.

    Batching dimensions of `gather` and `scatter` become indices, and groups along the axes of a mesh lists of ids;
    these compute the same. `tan` becomes `sine(x) / cosine(x)`, of complex numbers `(tan a + i tanh b) / (1 - i tan a
    tanh b)`, whose results may differ in the last digits. Ranges of columns in locations become their starts. Batching
    dimensions of unknown sizes, `tan` with a `result_accuracy`, and the axes of `all_to_all`, whose lists are not of
    devices but of replicas or partitions, stay.
    """
    with Rewriter(module) as rewriter:
        for op in list(module.walk()):
            emit = Emitter(rewriter, op)
            if op.name in INDICES and target < BATCHING:
                _without_batching(emit, op)
            elif op.name == "stablehlo.tan" and target < TANGENT and is_default(op.properties.get("result_accuracy")):
                rewriter.replace(op, [_tan(Expr(emit, op.operands[0])).value])
            groups = op.properties.get("replica_groups")
            if target < MESH_AXES and isinstance(groups, MeshAxes) and op.name != "stablehlo.all_to_all":
                op.properties["replica_groups"] = id_groups(groups, op) or groups
            if target < RANGES:
                op.debug_location = without_ranges(op.debug_location)
                for argument in op.block_arguments:
                    argument.location = without_ranges(argument.location)
    hoist_all_constants(module)


def is_default(accuracy: object) -> bool:
    """Return whether a `result_accuracy` asks for nothing special."""
    mode = accuracy.fields.get("mode") if isinstance(accuracy, StructAttribute) else None
    return accuracy is None or (isinstance(mode, EnumAttribute) and mode.value == "DEFAULT")


def _tan(x: Expr) -> Expr:
    if not is_complex(x):
        return sine(x) / cosine(x)
    tangent = _tan(real(x))
    hyperbolic = tanh(imaginary(x))
    numerator = make_complex(tangent, hyperbolic)
    one = like(tangent, 1)
    return numerator / make_complex(one, -(tangent * hyperbolic))


# --- batching dimensions --------------------------------------------------------------------------------------------

# By op: the operand from behind that has indices; members with batching dimensions of the operand and of the indices,
# those that have size 1 in a slice, and those that indices are for.
INDICES = {
    "stablehlo.gather": (
        "operand_batching_dims", "start_indices_batching_dims", "collapsed_slice_dims", "start_index_map"
    ),
    "stablehlo.scatter": (
        "input_batching_dims", "scatter_indices_batching_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"
    ),
}  # fmt: skip


def _without_batching(emit: Emitter, op: Operation) -> None:
    """Make batching dimensions dimensions with an index, which is the one in the batch."""
    batching, of_indices, collapsed, mapped = INDICES[op.name]
    members = op.properties
    position = 1 if op.name == "stablehlo.gather" else len(op.results)
    indices = op.operands[position]
    if not members[batching] or not isinstance(indices.type, TensorType) or not indices.type.is_static:
        return
    index_map = (*members[batching], *members[mapped])
    are_sorted = members.get("indices_are_sorted", False) and is_sorted(members[of_indices]) and is_sorted(index_map)
    new = clone(op, {indices: _with_batch(emit, indices, members["index_vector_dim"], members[of_indices])})
    new.properties |= {
        batching: (), of_indices: (), mapped: index_map, "indices_are_sorted": are_sorted,
        collapsed: tuple(sorted((*members[batching], *members[collapsed]))),
    }  # fmt: skip
    emit.insert(new)
    emit.rewriter.replace(op, new.results)


def _with_batch(emit: Emitter, indices: Value, axis: int, batch: Sequence[int]) -> Value:
    """Put the positions along dimensions of a tensor of indices in front of the indices, which are along `axis`."""
    assert isinstance(indices.type, TensorType)
    sizes = [n or 0 for n in indices.type.shape]
    element = indices.type.element_type
    if isinstance(element, IntegerType):
        largest = max(sizes[dimension] for dimension in batch)
        types = (element, IntegerType(32), IntegerType(64))
        element = next(t for t in types if largest < 1 << (t.width - (t.signedness != "u")))
    if element != indices.type.element_type:
        indices = emit.value("stablehlo.convert", indices, type=tensor_type(tuple(sizes), element))
    if axis == len(sizes):
        sizes.append(1)
        indices = emit.value("stablehlo.reshape", indices, type=tensor_type(tuple(sizes), element))
    sizes[axis] = 1
    positions = [emit.value("stablehlo.iota", type=tensor_type(tuple(sizes), element), iota_dimension=d) for d in batch]
    return emit.value("stablehlo.concatenate", *positions, indices, dimension=axis)


# --- deprecated ops ---------------------------------------------------------------------------------------------------


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
