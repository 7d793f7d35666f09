"""Numerical contracts: what a backend may do beyond the arithmetic of the spec. Every verdict is relative to one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from stablehlo_ref.argument_types import check_fields, checks_arguments
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError


class ProductRounding(NamedTuple):
    """How operands of products of dots and convolutions are rounded: to sums of narrower numbers.

    `roundoff` is the unit roundoff that each operand may be taken to have, 0 if operands are not rounded. It includes
    the products of low parts that the algorithm leaves out. `products` is how many replace one product.
    """

    roundoff: float
    products: int = 1


DOT_ALGORITHMS = {
    "ieee": ProductRounding(0.0),
    "tf32": ProductRounding(2.0**-11),
    "bf16": ProductRounding(2.0**-8),
    "bf16x3": ProductRounding(2.0**-15, 3),
    "bf16x6": ProductRounding(2.0**-22, 6),
}
ACCUMULATORS = ("f32", "operand")
_CHOICES = {"dot_algorithm": tuple(DOT_ALGORITHMS), "accumulator": ACCUMULATORS}
_BY_OP = {"ulps": "ulp", "errors": "error"}  # fields of bounds by op, and how single ones are called


@dataclass(frozen=True)
class Contract:
    """What is legal. Sums may be computed in any order under each contract, since the spec leaves it open.

    `excess_precision`: an operand may be used before it is rounded, or computed again in fused code.
    `fma`: a product may be used unrounded by an addition.
    `flush_subnormals`: subnormal operands and results may be zero.
    `signed_zeros`: data movement keeps the sign of zero.
    `nan_propagation`: a result that is NaN must be NaN, also of minimum and maximum.
    `dot_algorithm`: how operands of products of dots and convolutions are rounded, one of `DOT_ALGORITHMS`.
    `accumulator`: the least precise type of partial sums: f32, or the element type itself (`operand`).
    `elementary_ulps`: how far results of elementary functions may be off, in ULPs; `ulps` are those of single ops,
    0.5 for add, subtract, multiply, divide, sqrt and convert unless given. `narrow_ulps` is the most for types of 16
    bits and fewer. `errors` are absolute errors of single ops that are legal too, as near zeros of the function.
    """

    name: str
    excess_precision: bool = False
    fma: bool = False
    flush_subnormals: bool = False
    signed_zeros: bool = True
    nan_propagation: bool = True
    dot_algorithm: str = "ieee"
    accumulator: str = "f32"
    elementary_ulps: float = 1.0
    narrow_ulps: float = 1.0
    ulps: tuple[tuple[str, float], ...] = field(default=())
    errors: tuple[tuple[str, float], ...] = field(default=())

    def __post_init__(self) -> None:
        check_fields(self)
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise ArgumentValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
        bounds = [("elementary_ulps", self.elementary_ulps), ("narrow_ulps", self.narrow_ulps)]
        bounds += [(f"{_BY_OP[name]}.{op}", bound) for name in _BY_OP for op, bound in getattr(self, name)]
        for name, bound in bounds:
            if not bound >= 0:
                raise ArgumentValueError(f"{name} must be a number that is not negative, got {bound:g}")

    @property
    def fuses(self) -> bool:
        """Whether an operand may be another value than the one that the backend returned."""
        return self.excess_precision or self.fma

    def ulps_of(self, op: str, default: float, itemsize: int = 4) -> float:
        """Return the bound of an op in ULPs, by its name without the dialect and the bytes of a result's part."""
        bound = dict(self.ulps).get(op, default)
        return min(bound, max(self.narrow_ulps, 0.5)) if itemsize <= 2 else bound

    def error_of(self, op: str) -> float:
        """Return the absolute error that is legal for an op."""
        return dict(self.errors).get(op, 0.0)

    def __str__(self) -> str:
        parts = [f"{f.name}={_text(getattr(self, f.name))}" for f in fields(self) if f.name not in ("name", *_BY_OP)]
        parts += [f"{_BY_OP[name]}.{op}={bound:g}" for name in _BY_OP for op, bound in getattr(self, name)]
        return f"{self.name} ({', '.join(parts)})"

    def permissions(self) -> Iterator[tuple[str, Contract]]:
        """Yield what this contract permits and `strict` does not: the strict contract with one permission each."""
        strict = PRESETS["strict"]
        for f in fields(self):
            if f.name != "name" and getattr(self, f.name) != getattr(strict, f.name):
                value = getattr(self, f.name)
                text = f.name if f.name in _BY_OP else f"{f.name}={_text(value)}"
                changed: dict[str, Any] = {f.name: value}
                yield text, replace(strict, **changed)


# XLA's exhaustive tests (xla/tests/exhaustive: exhaustive_unary_test_functions.cc, exhaustive_binary_test_functions.cc,
# exhaustive_op_test_utils.h) allow relative errors of 20 eps by default, 5 in f16 and 2 in bf16, and those below for
# single functions. An eps is up to 2 ULPs. Larger bounds are of ops that its algebraic simplifier rewrites: division by
# a constant to a product, and powers to roots, products and quotients. On CPUs, the largest errors of 400,000 random
# operands in f32 (jaxlib 0.10.2, x86-64) are 1.0 ULP for exponential, 1.1 for log, 1.6 for rsqrt, 2.4 for log_plus_one
# and logistic, 4.0 for tanh, 4.9 for exponential_minus_one, and below 1.4 for sine, cosine, tan, cbrt and atan2.
_XLA_ULPS = (
    ("divide", 2.5), ("sqrt", 4.0), ("rsqrt", 4.0), ("sine", 4.0), ("cosine", 4.0), ("tan", 8.0), ("cbrt", 32.0),
    ("power", 16.0), ("atan2", 6.0), ("erfc", 70.0), ("erf_inv", 100.0), ("acosh", 100.0), ("lgamma", 300.0),
)  # fmt: skip
_XLA_ERRORS = (("lgamma", 1e-5), ("digamma", 2e-5), ("acosh", 1e-7), ("acos", 1e-6))
_XLA = Contract(
    "xla", excess_precision=True, fma=True, flush_subnormals=True, signed_zeros=False, nan_propagation=True,
    elementary_ulps=40.0, narrow_ulps=10.0, ulps=_XLA_ULPS, errors=_XLA_ERRORS,
)  # fmt: skip
PRESETS = {
    "strict": Contract("strict"),
    "xla-cpu": replace(_XLA, name="xla-cpu", ulps=(("exponential", 4.0), *_XLA_ULPS)),
    "xla-gpu": replace(_XLA, name="xla-gpu", dot_algorithm="tf32"),
    "tpu": replace(_XLA, name="tpu", dot_algorithm="bf16", elementary_ulps=128.0),
}


@checks_arguments
def contract_of(text: str | Contract) -> Contract:
    """Return the contract of `NAME[,FIELD=VALUE]*`, where `ulp.OP=N` sets the ULPs of an op, `error.OP=X` its error.

    A contract is returned as it is. EvaluationError for an unknown preset, field or value.
    """
    if isinstance(text, Contract):
        return text
    name, *overrides = text.split(",")
    if name not in PRESETS:
        raise EvaluationError(f"unknown contract {name!r}; expected one of {', '.join(PRESETS)}")
    contract = PRESETS[name]
    for override in overrides:
        contract = _overridden(contract, override)
    return replace(contract, name=text) if overrides else contract


def _overridden(contract: Contract, override: str) -> Contract:
    key, equals, text = override.partition("=")
    if not equals:
        raise EvaluationError(f"expected FIELD=VALUE in a contract, got {override!r}")
    for name, prefix in _BY_OP.items():
        if key.startswith(f"{prefix}."):
            bounds = dict(getattr(contract, name)) | {key.partition(".")[2]: _number(key, text)}
            by_op: dict[str, Any] = {name: tuple(sorted(bounds.items()))}
            return replace(contract, **by_op)
    known = {f.name for f in fields(contract)} - {"name", *_BY_OP}
    if key not in known:
        raise EvaluationError(f"unknown field {key!r} of a contract; expected one of {', '.join(sorted(known))}")
    if isinstance(getattr(contract, key), float):
        changed: dict[str, Any] = {key: _number(key, text)}
    else:
        choices: dict[str, object] = {str(c).lower(): c for c in _CHOICES.get(key, (True, False))}
        if text not in choices:
            raise EvaluationError(f"expected {key} to be one of {', '.join(choices)}, got {text!r}")
        changed = {key: choices[text]}
    return replace(contract, **changed)


def _number(key: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise EvaluationError(f"expected {key} to be a number that is not negative, got {text!r}")
    return number


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()
