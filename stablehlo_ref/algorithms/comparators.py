"""Recognize comparators of sort that compare keys: `key(lhs) < key(rhs)`, or several keys lexicographically."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stablehlo_ref.define.computation import RegionFunction
from stablehlo_ref.define.spec import is_quantized
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import Type
from stablehlo_ref.numerics.kernels import ArrayKernel
from stablehlo_ref.numerics.quantized import dequantize


@dataclass(frozen=True)
class Order:
    """The order of the values of a key, which `numbers` converts from storage to the numbers that are compared.

    With `total_order`, zeros of different sign and NaNs with different bits are distinct.
    """

    numbers: ArrayKernel
    descending: bool
    total_order: bool


@dataclass(frozen=True)
class Keys:
    """The keys of a comparator, the most significant first, and the order of each.

    `of` computes them from the arguments of the comparator, of which it uses the left-hand sides only.
    """

    of: RegionFunction
    orders: list[Order]


def sort_keys(comparator: RegionFunction) -> Keys | None:
    """Return the keys that a comparator compares, or None if it does anything else."""
    block = comparator.region.block
    (result,) = block.operations[-1].operands
    left, seen = _values_of_lhs(block), set[tuple[Value, Value]]()
    keys, orders = [], []
    for comparison in _comparisons(result):
        if comparison is None:
            return None
        direction, total_order, lhs, rhs = comparison
        if lhs not in left:
            lhs, rhs, direction = rhs, lhs, {"LT": "GT", "GT": "LT"}[direction]
        if not _is_mirrored(lhs, rhs, block, seen):
            return None
        keys.append(lhs)
        orders.append(Order(_numbers(lhs.type), direction == "GT", total_order))
    return Keys(comparator.returning(keys), orders)


def _values_of_lhs(block: Block) -> set[Value]:
    """Return the values of a comparator that depend on left-hand sides."""
    found = set(block.arguments[::2])
    for op in block.operations:
        if not found.isdisjoint(op.operands):
            found.update(op.results)
    return found


def _numbers(type: Type) -> ArrayKernel:
    """Return the conversion from storage: different stored integers may be equal when rounded to the expressed type."""
    return dequantize(type) if is_quantized(type) else lambda stored: stored


Comparison: TypeAlias = tuple[str, bool, Value, Value]  # direction, whether in total order, lhs, rhs


def _comparisons(value: Value) -> Iterator[Comparison | None]:
    """Yield the comparisons of `a < b`, `a < b or (a == b and ...)`, in order, and None for anything else.

    `select(a == b, ..., a < b)` is the same as the latter.
    """
    while (op := value.owner) and isinstance(op, Operation) and op.name in ("stablehlo.or", "stablehlo.select"):
        comparison, tie = (_first_of_or if op.name == "stablehlo.or" else _first_of_select)(*op.operands)
        if tie is None:
            yield None
            return
        yield comparison
        value = tie
    yield _comparison(value, ("LT", "GT"))


def _first_of_or(lhs: Value, rhs: Value) -> tuple[Comparison | None, Value | None]:
    """Return the comparison of `a < b or (a == b and x)`, and `x`, which is None if it is anything else."""
    for less, rest in ((lhs, rhs), (rhs, lhs)):
        comparison = _comparison(less, ("LT", "GT"))
        if comparison and isinstance(op := rest.owner, Operation) and op.name == "stablehlo.and":
            for equal, tie in (op.operands, reversed(op.operands)):
                if _is_tie(equal, comparison):
                    return comparison, tie
    return None, None


def _first_of_select(equal: Value, tie: Value, less: Value) -> tuple[Comparison | None, Value | None]:
    """Return the comparison of `select(a == b, x, a < b)`, and `x`, which is None if it is anything else."""
    comparison = _comparison(less, ("LT", "GT"))
    return comparison, tie if comparison and _is_tie(equal, comparison) else None


def _is_tie(value: Value, comparison: Comparison) -> bool:
    """Return whether the value is `a == b` for the sides of a comparison."""
    _, total_order, *sides = comparison
    tie = _comparison(value, ("EQ",))
    return tie is not None and tie[1] == total_order and list(tie[2:]) in (sides, sides[::-1])


def _comparison(value: Value, directions: Sequence[str]) -> Comparison | None:
    if not isinstance(op := value.owner, Operation) or op.name != "stablehlo.compare":
        return None
    direction = op.properties["comparison_direction"].name
    kind = op.properties.get("compare_type")
    if direction not in directions:
        return None
    lhs, rhs = op.operands
    return direction, kind is not None and kind.name == "TOTALORDER", lhs, rhs


def _is_mirrored(lhs: Value, rhs: Value, block: Block, seen: set[tuple[Value, Value]]) -> bool:
    """Return whether `lhs` is the same function of left-hand sides as `rhs` of right-hand sides.

    `seen` contains pairs that are so, and is extended.
    """
    pending = [(lhs, rhs)]
    while pending:
        pair = a, b = pending.pop()
        if pair in seen:
            continue
        seen.add(pair)
        if isinstance(a.owner, Operation) and isinstance(b.owner, Operation) and a.owner.parent is block:
            if not _is_same_op(a.owner, b.owner) or a.index != b.index:
                return False
            pending += zip(a.owner.operands, b.owner.operands)
        elif a in block.arguments:
            if b not in block.arguments or not (a.index % 2 == 0 and b.index == a.index + 1):
                return False
        elif a is not b:  # a value from outside of the comparator
            return False
    return True


def _is_same_op(a: Operation, b: Operation) -> bool:
    return (
        a.name == b.name
        and a.properties == b.properties
        and len(a.operands) == len(b.operands)
        and a.result_types == b.result_types
        and not a.regions
        and not b.regions
    )
