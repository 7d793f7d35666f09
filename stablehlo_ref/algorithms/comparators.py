"""Comparators of sort that compare keys: `key(lhs) < key(rhs)`, or one key after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.numerics.quantized import dequantize
from stablehlo_ref.spec import is_quantized

Body = Any  # execute.regions.PlannedBody


@dataclass(frozen=True)
class Order:
    """How values are ordered: as what `numbers` makes of them from how they are stored, `descending` or not.

    By `total_order` each NaN and each zero has a place of its own.
    """

    numbers: Callable[[Any], Any]
    descending: bool
    total_order: bool


@dataclass(frozen=True)
class Keys:
    """What `of`, a function of all left sides and right sides in turn, gives of the left sides, the most significant
    key first, and the order of each."""

    of: Body
    orders: list[Order]


def sort_keys(comparator: Body) -> Keys | None:
    """The keys that a comparator compares; None where it does anything else."""
    block = comparator.region.block
    (result,) = block.operations[-1].operands
    left, seen = _of_left_sides(block), set[tuple[Value, Value]]()
    keys, orders = [], []
    for comparison in _comparisons(result):
        if comparison is None:
            return None
        direction, total_order, lhs, rhs = comparison
        if lhs not in left:
            lhs, rhs, direction = rhs, lhs, {"LT": "GT", "GT": "LT"}[direction]
        if not _mirrored(lhs, rhs, block, seen):
            return None
        keys.append(lhs)
        orders.append(Order(_numbers(lhs.type), direction == "GT", total_order))
    return Keys(comparator.returning(keys), orders)


def _of_left_sides(block: Block) -> set[Value]:
    """The values of a comparator that depend on left sides."""
    found = set(block.arguments[::2])
    for op in block.operations:
        if not found.isdisjoint(op.operands):
            found.update(op.results)
    return found


def _numbers(type: Any) -> Callable[[Any], Any]:
    """What is compared: stored integers may differ where, rounded to the expressed type, they stand for one float."""
    return dequantize(type) if is_quantized(type) else lambda stored: stored


def partially_ordered(block: Block) -> set[int]:
    """The numbers of the inputs that a comparator compares by an order in which NaNs have no place."""
    values = [
        operand
        for op in block.operations
        if op.name == "stablehlo.compare" and getattr(op.properties.get("compare_type"), "name", "") != "TOTALORDER"
        for operand in op.operands
    ]
    seen: set[Value] = set()
    while values:
        value = values.pop()
        if value not in seen and isinstance(value.owner, Operation) and value.owner.parent is block:
            values += value.owner.operands
        seen.add(value)
    return {argument.index // 2 for argument in seen.intersection(block.arguments)}


Comparison = tuple[str, bool, Value, Value]


def _comparisons(value: Value) -> Iterator[Comparison | None]:
    """The comparisons of `a < b`, `a < b or (a == b and ...)`, in order; None where there is anything else."""
    while (op := value.owner) and isinstance(op, Operation) and op.name == "stablehlo.or":
        for less, rest in (op.operands, reversed(op.operands)):
            comparison = _comparison(less, ("LT", "GT"))
            if comparison and (tie := _after_tie(rest, comparison)):
                break
        else:
            yield None
            return
        yield comparison
        value = tie
    yield _comparison(value, ("LT", "GT"))


def _after_tie(value: Value, comparison: Comparison) -> Value | None:
    """What is asked if the two sides of a comparison are equal: `x` of `a == b and x`."""
    if not isinstance(op := value.owner, Operation) or op.name != "stablehlo.and":
        return None
    _, total_order, *sides = comparison
    for equal, rest in (op.operands, reversed(op.operands)):
        tie = _comparison(equal, ("EQ",))
        if tie and tie[1] == total_order and (list(tie[2:]) in (sides, sides[::-1])):
            return rest
    return None


def _comparison(value: Value, directions: Sequence[str]) -> Comparison | None:
    if not isinstance(op := value.owner, Operation) or op.name != "stablehlo.compare":
        return None
    direction = op.properties["comparison_direction"].name
    kind = op.properties.get("compare_type")
    if direction not in directions:
        return None
    return direction, kind is not None and kind.name == "TOTALORDER", *op.operands  # type: ignore[return-value]


def _mirrored(lhs: Value, rhs: Value, block: Block, seen: set[tuple[Value, Value]]) -> bool:
    """Whether `lhs` is of left sides alone what `rhs` is of the right sides, as all pairs `seen` before are."""
    pending = [(lhs, rhs)]
    while pending:
        pair = a, b = pending.pop()
        if pair in seen:
            continue
        seen.add(pair)
        if isinstance(a.owner, Operation) and isinstance(b.owner, Operation) and a.owner.parent is block:
            if not _same_op(a.owner, b.owner) or a.index != b.index:
                return False
            pending += zip(a.owner.operands, b.owner.operands)
        elif a in block.arguments:
            if b not in block.arguments or not (a.index % 2 == 0 and b.index == a.index + 1):
                return False
        elif a is not b:  # a value from above
            return False
    return True


def _same_op(a: Operation, b: Operation) -> bool:
    return (
        a.name == b.name
        and a.properties == b.properties
        and len(a.operands) == len(b.operands)
        and a.result_types == b.result_types
        and not a.regions
        and not b.regions
    )
