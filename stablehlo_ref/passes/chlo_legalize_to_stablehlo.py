"""Decompose CHLO's ops into StableHLO's, or make composites of them for portable artifacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.constraints import check_preconditions
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.spec import with_element_type
from stablehlo_ref.ir.attributes import FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import INDEX, WITNESS, FloatType, Shape, TensorType, tensor_type
from stablehlo_ref.passes.chlo import elementary, special_functions
from stablehlo_ref.passes.chlo.structured import ragged_dot, scan, top_k
from stablehlo_ref.passes.composites import wrap_in_composite
from stablehlo_ref.passes.emit import Emitter, Expr, cannot_legalize, cut_like, is_known, like, shape_of
from stablehlo_ref.passes.registry import transformation

FUNCTIONS: Mapping[str, Callable[..., Expr]] = {
    "_asin_acos_kernel": elementary.asin_acos_kernel,
    **{function.__name__: function for function in (
        elementary.acos, elementary.acosh, elementary.asin, elementary.asinh, elementary.atan, elementary.atanh,
        elementary.conj, elementary.cosh, elementary.is_inf, elementary.is_neg_inf, elementary.is_pos_inf,
        elementary.mulhi, elementary.next_after, elementary.sinh, elementary.square, elementary.tan,
        special_functions.bessel_i1e, special_functions.digamma, special_functions.erf, special_functions.erf_inv,
        special_functions.erfc, special_functions.lgamma, special_functions.polygamma, special_functions.zeta,
    )},
}  # fmt: skip
Combine = Callable[[Sequence[Expr]], Expr]  # from broadcast operands to the result
Dimension = tuple[int, Expr | None, int]  # a size or bound; for a bound, whose it is and which axis

WIDE_FLOATS = ("f64", "f32", "f16", "bf16")
SUPPORTED_FLOATS = {
    "bessel_i1e": WIDE_FLOATS,
    "erf": WIDE_FLOATS,
    "erfc": WIDE_FLOATS,
    "next_after": (*WIDE_FLOATS, "f8E4M3", "f8E3M4", "f8E5M2", "f8E4M3FN"),  # whose bits are in order
}


@transformation("chlo-legalize-to-stablehlo", "decompose CHLO's ops into StableHLO's")
def chlo_legalize_to_stablehlo(module: Operation) -> None:
    """Replace each CHLO op by StableHLO ops that compute it.

    Functions such as `lgamma` become approximations, whose results are near those of the op but not the same: within 3
    ULP for `bessel_i1e`, 8 for `cosh` and `sinh`, 15 for `erf_inv`, 55 for `lgamma`; near their zeros `lgamma` and
    `digamma`, and `zeta` and `polygamma`, have larger relative errors, and may differ for infinite and huge arguments.
    So the pass changes bits, since the ops themselves are correctly rounded or nearly so. `top_k`, `scan`,
    `ragged_dot` (of finite numbers, in groups whose sizes add up to no more than there is) and ops that broadcast
    compute what they did. For sizes that are known only when the program runs, ops of the shape dialect compute them.
    UnsupportedError for ops without a decomposition.
    """
    with Rewriter(module) as rewriter:
        for op in [op for op in module.walk() if op.name.startswith("chlo.")]:
            rewriter.replace(op, _decomposed(Emitter(rewriter, op), op))


def _decomposed(emit: Emitter, op: Operation) -> list[Value]:
    check_preconditions(bind_types(op, REGISTRY[op.name]))
    name = op.name.removeprefix("chlo.")
    operands = [Expr(emit, operand) for operand in op.operands]
    if name in FUNCTIONS:
        supported, element = SUPPORTED_FLOATS.get(name), operands[0].element
        if supported is not None and not (isinstance(element, FloatType) and element.name in supported):
            raise cannot_legalize(op)
        return [FUNCTIONS[name](*operands).value]
    match name:
        case "constant":
            return [emit.value("stablehlo.constant", type=op.results[0].type, value=op.properties["value"])]
        case "constant_like":
            return [_constant_like(op, operands[0]).value]
        case "broadcast_select":
            return [broadcast_select(emit, op).value]
        case "ragged_dot":
            return [ragged_dot(emit, op).value]
        case "scan":
            return scan(emit, op)
        case "top_k":
            return top_k(emit, op)
    if name.startswith("broadcast_"):
        return [broadcast_binary(emit, op).value]
    raise cannot_legalize(op)


def _constant_like(op: Operation, operand: Expr) -> Expr:
    value = op.properties["value"]
    number = value.value if isinstance(value, IntegerAttribute | FloatAttribute) else value
    return like(operand, number, Expr(operand.emit, op.results[0]).element)


# --- ops that broadcast their operands --------------------------------------------------------------------------------


def broadcast_binary(emit: Emitter, op: Operation) -> Expr:
    """Return the op on operands that are broadcast: by static ops as far as sizes or bounds are known."""
    name = op.name.removeprefix("chlo.broadcast_")
    result = Expr(emit, op.results[0]).type
    members = {key: value for key, value in op.properties.items() if key != "broadcast_dimensions"}

    def combine(operands: Sequence[Expr]) -> Expr:
        if name in FUNCTIONS:
            return FUNCTIONS[name](*operands)
        return operands[0].op(name, *operands[1:], type=result, **members)

    operands = [Expr(emit, operand) for operand in op.operands]
    axes = op.properties.get("broadcast_dimensions")
    if axes is not None and not _is_prefix_padding(operands, axes):
        return combine(_explicitly_broadcast(op, operands, axes, result))
    return combine_broadcast(emit, operands, result, combine)


def broadcast_select(emit: Emitter, op: Operation) -> Expr:
    """Return `select` of operands that are broadcast, except for a scalar predicate, which needs not be."""
    result = Expr(emit, op.results[0]).type
    operands = [Expr(emit, operand) for operand in op.operands]
    kept = 1 if operands[0].type.rank == 0 else 0
    return combine_broadcast(emit, operands, result, lambda xs: xs[0].op("select", *xs[1:], type=result), kept)


def combine_broadcast(
    emit: Emitter, operands: Sequence[Expr], result: TensorType, combine: Combine, kept: int = 0
) -> Expr:
    """Combine operands broadcast to their common shape, as in NumPy; the first `kept` stay as they are."""
    if all(is_known(x.type) for x in operands) and is_known(result):
        return combine([*operands[:kept], *numpy_broadcast(operands[kept:])])
    return _combine_dynamic(emit, operands, result, combine, kept)


# --- explicit dimensions --------------------------------------------------------------------------------------------


def _is_prefix_padding(operands: Sequence[Expr], axes: Sequence[int]) -> bool:
    """Return whether the dimensions of the operand of lower rank are the last ones of the other."""
    low, high = sorted(x.type.rank for x in operands)
    return low == high or list(axes) == list(range(high - low, high))


def _explicitly_broadcast(
    op: Operation, operands: Sequence[Expr], axes: Sequence[int], result: TensorType
) -> list[Expr]:
    """Broadcast the operand of lower rank along the given dimensions."""
    if not result.is_static or not all(x.type.is_static for x in operands):
        raise cannot_legalize(op)
    rank = max(x.type.rank for x in operands)
    broadcast = []
    for x in operands:
        dimensions = tuple(range(rank)) if x.type.rank == rank else tuple(axes)
        type = with_element_type(result, x.element)
        is_same = x.type.shape == type.shape
        broadcast.append(x if is_same else x.op("broadcast_in_dim", type=type, broadcast_dimensions=dimensions))
    return broadcast


# --- sizes and bounds -----------------------------------------------------------------------------------------------


def numpy_broadcast(operands: Sequence[Expr]) -> list[Expr]:
    """Broadcast operands to their common shape; dimensions with bounds are cut to the sizes that others have."""
    shapes = [_dimensions(x) for x in operands]
    common = shapes[0]
    for shape in shapes[1:]:
        common = _common_shape(common, shape)
    return [_broadcast_to(x, common) for x in operands]


def _dimensions(x: Expr) -> list[Dimension]:
    bounds = x.type.bounds or (None,) * x.type.rank
    return [
        (size, None, axis) if size is not None else (bound or 0, x, axis)
        for axis, (size, bound) in enumerate(zip(x.type.shape, bounds))
    ]


def _common_shape(a: list[Dimension], b: list[Dimension]) -> list[Dimension]:
    rank = max(len(a), len(b))
    one: Dimension = (1, None, 0)
    a, b = [one] * (rank - len(a)) + a, [one] * (rank - len(b)) + b
    return [y if x[0] == 1 else x for x, y in zip(a, b)]


def _broadcast_to(x: Expr, shape: list[Dimension]) -> Expr:
    """Broadcast to sizes, and to bounds where the operand has none; then cut the latter to the sizes of others."""
    target = _type_of(shape, x)
    if target == x.type:
        return x
    offset = len(shape) - x.type.rank
    own = [None] * offset + [bound for _, bound, _ in _dimensions(x)]
    padded = [(size, bound if mine else None, axis) for (size, bound, axis), mine in zip(shape, own)]
    result = x.op("broadcast_in_dim", type=_type_of(padded, x), broadcast_dimensions=tuple(range(offset, len(shape))))
    cuts = [(i, bound, axis) for i, ((_, bound, axis), mine) in enumerate(zip(shape, own)) if bound and not mine]
    return cut_like(result, cuts)


def _type_of(shape: list[Dimension], x: Expr) -> TensorType:
    sizes: Shape = tuple(None if bound else size for size, bound, _ in shape)
    bounds = tuple(size if bound else None for size, bound, _ in shape)
    has_bounds = any(bound is not None for bound in bounds)
    return TensorType(sizes, x.element, bounds) if has_bounds else tensor_type(sizes, x.element)


# --- dynamic shapes -------------------------------------------------------------------------------------------------


def _combine_dynamic(emit: Emitter, operands: Sequence[Expr], result: TensorType, combine: Combine, kept: int) -> Expr:
    """Combine operands under the assumption that their shapes, known when the program runs, broadcast."""
    shapes = [shape_of(x).value for x in operands]
    witness = emit.value("shape.cstr_broadcastable", *shapes, type=WITNESS)
    rank = max(x.type.rank for x in operands)

    def body(inner: Emitter) -> Expr:
        extents = Expr(inner, inner.value("shape.broadcast", *shapes, type=tensor_type((rank,), INDEX)))
        inside = [Expr(inner, x.value) for x in operands]
        return combine([*inside[:kept], *(_dynamic_broadcast(x, extents, result) for x in inside[kept:])])

    region = emit.region((), lambda inner, _: [body(inner).value], terminator="shape.assuming_yield")
    return Expr(emit, emit.operation("shape.assuming", (witness,), (result,), [region]).results[0])


def _dynamic_broadcast(x: Expr, extents: Expr, result: TensorType) -> Expr:
    rank = result.rank
    return x.op(
        "dynamic_broadcast_in_dim", extents, type=tensor_type(result.shape, x.element),
        broadcast_dimensions=tuple(range(rank - x.type.rank, rank)),
    )  # fmt: skip


# --- passes -----------------------------------------------------------------------------------------------------------

# Ops that consumers may have a function of their own for.
HIGH_LEVEL = frozenset(
    f"chlo.{name}" for name in ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh", "top_k")
)
VERSION = 1  # of the composites


@transformation(
    "chlo-pre-serialization-pipeline", "replace CHLO's ops by ops and composites that portable artifacts have"
)
def chlo_pre_serialization(module: Operation) -> None:
    """Replace CHLO's ops by ops that portable artifacts have.

    `acos`, `acosh`, `asin`, `asinh`, `atanh`, `cosh`, `erf`, `sinh` and `top_k` become composites of the same name, so
    that a consumer can still tell them: with the op's attributes, and a function that `--chlo-legalize-to-stablehlo`
    makes as their decomposition. That pass decomposes all other ops.
    """
    wrap_in_composite(module, HIGH_LEVEL, VERSION)
    chlo_legalize_to_stablehlo(module)
