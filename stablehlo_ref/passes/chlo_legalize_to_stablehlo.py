"""Decompose CHLO's ops into StableHLO's, and prepare them for portable artifacts, which have none of CHLO."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stablehlo_ref.define.bound import bind_types
from stablehlo_ref.define.constraints import check_preconditions
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.attributes import FloatAttribute, IntegerAttribute
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter
from stablehlo_ref.ir.types import FloatType
from stablehlo_ref.passes.chlo import elementary, error_functions, gamma_functions, inverse_trigonometric
from stablehlo_ref.passes.chlo.broadcasting import broadcast_binary, broadcast_select
from stablehlo_ref.passes.chlo.ragged_dot import ragged_dot
from stablehlo_ref.passes.chlo.structured import scan, top_k
from stablehlo_ref.passes.composites import wrap
from stablehlo_ref.passes.emit import Emitter, cannot_legalize
from stablehlo_ref.passes.expressions import Expr, like
from stablehlo_ref.passes.registry import Pass

FUNCTIONS: Mapping[str, Callable[..., Expr]] = {
    "_asin_acos_kernel": inverse_trigonometric.asin_acos_kernel,
    "acos": inverse_trigonometric.acos,
    "acosh": inverse_trigonometric.acosh,
    "asin": inverse_trigonometric.asin,
    "asinh": inverse_trigonometric.asinh,
    "atan": inverse_trigonometric.atan,
    "atanh": inverse_trigonometric.atanh,
    "bessel_i1e": gamma_functions.bessel_i1e,
    "conj": elementary.conj,
    "cosh": elementary.cosh,
    "digamma": gamma_functions.digamma,
    "erf": error_functions.erf,
    "erf_inv": error_functions.erf_inv,
    "erfc": error_functions.erfc,
    "is_inf": elementary.is_inf,
    "is_neg_inf": elementary.is_neg_inf,
    "is_pos_inf": elementary.is_pos_inf,
    "lgamma": gamma_functions.lgamma,
    "mulhi": elementary.mulhi,
    "next_after": elementary.next_after,
    "polygamma": gamma_functions.polygamma,
    "sinh": elementary.sinh,
    "square": elementary.square,
    "tan": elementary.tan,
    "zeta": gamma_functions.zeta,
}
WIDE_FLOATS = ("f64", "f32", "f16", "bf16")
SUPPORTED_FLOATS = {
    "bessel_i1e": WIDE_FLOATS,
    "erf": WIDE_FLOATS,
    "erfc": WIDE_FLOATS,
    "next_after": (*WIDE_FLOATS, "f8E4M3", "f8E3M4", "f8E5M2", "f8E4M3FN"),  # whose bits are in order
}


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
        _check_element_type(op, name, operands)
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


def _check_element_type(op: Operation, name: str, operands: list[Expr]) -> None:
    element, supported = operands[0].element, SUPPORTED_FLOATS.get(name)
    if supported is not None and not (isinstance(element, FloatType) and element.name in supported):
        raise cannot_legalize(op)


def _constant_like(op: Operation, operand: Expr) -> Expr:
    value = op.properties["value"]
    number = value.value if isinstance(value, IntegerAttribute | FloatAttribute) else value
    return like(operand, number, Expr(operand.emit, op.results[0]).element)


PASS = Pass("chlo-legalize-to-stablehlo", "decompose CHLO's ops into StableHLO's", chlo_legalize_to_stablehlo)


# Ops that consumers may have a function of their own for.
HIGH_LEVEL = frozenset(
    f"chlo.{name}" for name in ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh", "top_k")
)
VERSION = 1  # of the composites


def chlo_pre_serialization(module: Operation) -> None:
    """Replace CHLO's ops by ops that portable artifacts have.

    `acos`, `acosh`, `asin`, `asinh`, `atanh`, `cosh`, `erf`, `sinh` and `top_k` become composites of the same name, so
    that a consumer can still tell them: with the op's attributes, and a function that `--chlo-legalize-to-stablehlo`
    makes as their decomposition. That pass decomposes all other ops.
    """
    wrap(module, HIGH_LEVEL, VERSION)
    chlo_legalize_to_stablehlo(module)


PRE_SERIALIZATION = Pass(
    "chlo-pre-serialization-pipeline",
    "replace CHLO's ops by ops and composites that portable artifacts have",
    chlo_pre_serialization,
)
