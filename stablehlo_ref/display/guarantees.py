"""What a run guarantees for the bits of results, by op and element type; docs/accuracy.md explains it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.define.facts import Arithmetic
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import ComplexType, FloatType, QuantizedType, TensorType, Type

_FACTORIZATIONS = frozenset({"cholesky", "triangular_solve"})
_STATISTICS = frozenset({"batch_norm_training", "batch_norm_grad"})
_IN_ORDER = frozenset({"batch_norm_inference", "map", "scan"})
_OF_COMPLEX = frozenset({"asin_acos_kernel", "abs", "divide", "div", "sign", "sqrt", "square"})


@dataclass(frozen=True)
class Guarantee:
    """What holds for the results of an op of a dialect on one element type."""

    op: str
    element_type: str
    statement: str
    is_same_everywhere: bool  # bit for bit, on every machine

    def __str__(self) -> str:
        mark = "same everywhere" if self.is_same_everywhere else "may differ between machines"
        return f"{self.op} {self.element_type}: {self.statement}; {mark}"


class Guarantees(tuple[Guarantee, ...]):
    """The guarantees for the floating-point ops of a program, one line each when printed."""

    __slots__ = ()

    @property
    def is_same_everywhere(self) -> bool:
        """Whether all results of the program are the same on every machine, bit for bit."""
        return all(row.is_same_everywhere for row in self)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no floating-point ops: the same results everywhere"


def guarantees(module: Operation, mode: Mode) -> Guarantees:
    """Return what a run of the program guarantees, sorted by op and element type."""
    kinds = {(op.name, element) for op in module.walk() for element in _element_types(op)}
    rows = (Guarantee(name, str(element), *_statement(name, element, mode)) for name, element in kinds)
    return Guarantees(sorted(rows, key=lambda row: (row.op, row.element_type)))


def _element_types(op: Operation) -> Iterator[Type]:
    if op.name.startswith(("func.", "builtin.")) or op.name.endswith((".return", ".constant")):
        return
    for type in (*op.result_types, *op.operand_types):
        element = type.element_type if isinstance(type, TensorType) else type
        element = element.expressed_type if isinstance(element, QuantizedType) else element
        if isinstance(element, FloatType | ComplexType):
            yield element


def _statement(name: str, element: Type, mode: Mode) -> tuple[str, bool]:
    op, reproducible = name.partition(".")[2].removeprefix("broadcast_"), mode.reproducible
    facts = REGISTRY[name].facts if name in REGISTRY else None
    arithmetic = None if facts is None else facts.arithmetic
    is_complex, is_double = isinstance(element, ComplexType), str(element) in ("f64", "complex<f64>")
    if arithmetic is Arithmetic.SUMS:
        if reproducible:
            return "the exact sum of products, rounded once", True
        return "sums in the order of BLAS", False
    if op in _FACTORIZATIONS:
        if reproducible:
            return "correctly rounded sums of products, divisions and roots in a fixed order", True
        return "LAPACK and BLAS in f64, rounded once", False
    if op in _IN_ORDER:
        return "a fixed order of operations", True
    if arithmetic is Arithmetic.FOLDS and mode.exact_sums:
        return "sums exact, rounded once; else a fixed order of operations", True
    if op in _STATISTICS and mode.exact_sums:
        return "sums exact, rounded once to f64; else a fixed order of operations", True
    if op in _STATISTICS and not reproducible:
        return "sums in the order of BLAS", False
    if arithmetic is Arithmetic.FOLDS or op in _STATISTICS:
        return "a fixed order of operations", True
    if op == "rng":
        return "numbers of numpy's generator, whose normal ones use the C library", False
    if op == "fft":
        return "a fixed order of operations in f64, rounded once", True
    if op == "custom_call":
        return (
            ("that of its handler; LAPACK in a fixed order", False) if reproducible else ("that of its handler", False)
        )
    if arithmetic is Arithmetic.FUNCTION or (is_complex and op in _OF_COMPLEX):
        return _of_function(op, is_complex, is_double, reproducible)
    if is_complex and op == "multiply" and is_double:
        return ("exact, rounded once", True) if reproducible else ("rounded from long double", False)
    return "exact or correctly rounded", True


def _of_function(op: str, is_complex: bool, is_double: bool, reproducible: bool) -> tuple[str, bool]:
    if not is_double:
        return ("within 0.501 ULP" if is_complex else "correctly rounded"), True
    if not reproducible:
        return "within an ULP or two, by numpy and the C library", False
    return "correctly rounded", True
