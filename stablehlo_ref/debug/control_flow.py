"""Bounds through regions: the branch of a conditional that is taken, and loops whose condition is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import fed_to, is_constant, operands_of
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.rules import NOT_UNIQUE
from stablehlo_ref.debug.shadow import Shadow, dtype_of, exact, transfer, used
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Value
from stablehlo_ref.ir.types import BooleanType, IntegerType, TensorType
from stablehlo_ref.numerics.dtypes import kind

BRANCHES = ("stablehlo.if", "stablehlo.case")
LOOP = "stablehlo.while"
MOST_STEPS = 1024  # ops that are executed in a loop with bounds on its floating-point numbers
MOST_BYTES = 1 << 28  # of their results

Shadows = Mapping[Value, Shadow]


def of_branch(op: Operation, shadows: Shadows, contract: Contract, evaluate: Evaluator) -> list[Shadow] | None:
    """Return the shadows of the results of the branch that is taken; None if that is not known."""
    condition = shadows.get(op.operands[0])
    if condition is None or not condition.is_exact:
        return None
    taken = branch_of(op, condition.center)
    found = _through(op.regions[taken].block, dict(shadows), contract, evaluate)
    return [s or _unknown(value) for s, value in zip(found, op.results)]


def branch_of(op: Operation, index: Array) -> int:
    """Return the number of the region that is taken."""
    number, count = int(index), len(op.regions)
    if op.name == "stablehlo.if":
        return 1 - number
    return number if 0 <= number < count else count - 1


def of_loop(op: Operation, shadows: Shadows, contract: Contract, evaluate: Evaluator) -> list[Shadow] | None:
    """Return the shadows of the results of a loop; None if it is not known how often the body runs.

    Nothing is known of floating-point numbers in a loop that is long.
    """
    state: list[Shadow | None] = [_known(value, shadows, evaluate) for value in op.operands]
    condition, body = (region.block for region in op.regions)
    ops = [inner for block in (condition, body) for inner in block.operations]
    most = min(MOST_STEPS, MOST_BYTES // max(sum(map(_bytes_of, ops)), 1) * len(ops))
    for _ in range(0, max(most, 1), len(ops)):
        (goes_on,) = _through(condition, {**shadows, **_arguments(condition, state)}, contract, evaluate)
        if goes_on is None or not goes_on.is_exact:
            return None
        if not goes_on.center:
            return [s or _unknown(value) for s, value in zip(state, op.results)]
        state = _through(body, {**shadows, **_arguments(body, state)}, contract, evaluate)
    return _exact_results(op, state, shadows, evaluate)


def _arguments(block: Block, state: Sequence[Shadow | None]) -> dict[Value, Shadow]:
    return {argument: shadow for argument, shadow in zip(block.arguments, state) if shadow is not None}


def _through(
    block: Block, shadows: dict[Value, Shadow], contract: Contract, evaluate: Evaluator
) -> list[Shadow | None]:
    """Return the shadows of what a block returns, None where there is no bound; those of its values are added."""
    *ops, terminator = block.operations
    for inner in ops:
        if not inner.results or is_constant(inner.results[0]):
            continue
        feeds = fed_to(inner)
        found = [_known(value, shadows, evaluate) for value in feeds]
        known = [shadow for shadow in found if shadow is not None]
        made = transfer(inner, feeds, known, contract, evaluate) if len(known) == len(found) else None
        results = zip(inner.results, made or ())
        shadows.update((result, used(shadow, dtype_of(result))) for result, shadow in results)
    return [_known(value, shadows, evaluate) for value in terminator.operands]


def _known(value: Value, shadows: Shadows, evaluate: Evaluator) -> Shadow | None:
    return exact(evaluate.constant(value)) if is_constant(value) else shadows.get(value)


def _unknown(value: Value) -> Shadow:
    assert isinstance(value.type, TensorType)
    dtype = dtype_of(value)
    wide = {"floating": np.dtype(np.float64), "complex": np.dtype(np.complex128)}.get(kind(dtype), dtype)
    return Shadow(np.zeros([n or 0 for n in value.type.shape], wide), np.asarray(np.inf))


def _bytes_of(op: Operation) -> int:
    types = [type for type in op.result_types if isinstance(type, TensorType)]
    return 8 * sum(int(np.prod([n or 0 for n in type.shape])) for type in types)


# --- long loops: what rounding cannot change ------------------------------------------------------------------------


def _exact_results(
    op: Operation, state: Sequence[Shadow | None], shadows: Shadows, evaluate: Evaluator
) -> list[Shadow] | None:
    """Return what the interpreter computes for carries that depend on no rounding; None if the condition depends on it.

    `state` is that after a few turns: a carry of which nothing is certain then is not certain at the end.
    """
    first = [_known(value, shadows, evaluate) for value in op.operands]
    certain = {i for i, pair in enumerate(zip(first, state)) if all(s is not None and s.is_exact for s in pair)}
    kept = _exact_carries(op, certain, {value for value, shadow in shadows.items() if shadow.is_exact})
    ours = None if kept is None else evaluate(op, [shadows[v].center.astype(dtype_of(v)) for v in fed_to(op)])
    if kept is None or ours is None:
        return None
    return [exact(ours[i]) if i in kept else _unknown(value) for i, value in enumerate(op.results)]


def _exact_carries(op: Operation, certain: set[int], outside: set[Value]) -> set[int] | None:
    """Return the carries that depend on no rounding; None if the condition does."""
    condition, body = (region.block for region in op.regions)
    kept = certain
    while wrong := {i for i in kept if not _is_exact(body, body.operations[-1].operands[i], kept, outside)}:
        kept = kept - wrong
    return kept if _is_exact(condition, condition.operations[-1].operands[0], kept, outside) else None


def _is_exact(block: Block, value: Value, kept: set[int], outside: set[Value]) -> bool:
    """Return whether a value is a carry that is kept, certain from outside, or computed from such without rounding."""
    made = {result: op for op in block.operations for result in op.results}
    stack, seen = [value], set[Value]()
    while stack:
        top = stack.pop()
        if top in seen or is_constant(top):
            continue
        seen.add(top)
        if top in made:
            if not all(map(_is_integral, made[top].walk())):
                return False
            stack += operands_of(made[top])
        elif not (top.index in kept if top.owner is block else top in outside):
            return False
    return True


def _is_integral(op: Operation) -> bool:
    """Return whether an op has only one legal result: one of integers and booleans that is not random."""
    types = (*op.operand_types, *op.result_types)
    integral = (isinstance(t, TensorType) and isinstance(t.element_type, IntegerType | BooleanType) for t in types)
    return all(integral) and op.name.partition(".")[2] not in NOT_UNIQUE
