"""Ops that no bound rules out where they may be fused, run alone: there, nothing before them can be computed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stablehlo_ref.debug.cut import Flat, is_constant, single
from stablehlo_ref.debug.judge import NO_BOUND, Excess, Judge, Judgement, Verdict, excess_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.debug.values import checked
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Operation

MOST = 3  # ops that are run alone


def wrong_alone(flat: Flat, judge: Judge, judgements: Sequence[Judgement], session: Session) -> Iterator[Judgement]:
    """Yield the verdicts on ops without a bound that are beyond that on their operands alone, also run alone."""
    unjudged = (j for j in judgements if j.verdict is Verdict.NOT_JUDGED and j.reason == NO_BOUND and not j.op.regions)
    suspect = [j for j in unjudged if _excess(judge, j.op, [judge.values.get(r) for r in j.op.results])]
    for judgement in suspect[:MOST]:
        op = judgement.op
        made = single(flat, op)
        feeds = [judge.operand(value) for value in made.feeds]
        outcome = checked(session.run(str(made.program), feeds), [value.type for value in made.wanted])
        found = None if outcome.failure else _excess(judge, op, outcome.results)
        if found:
            yield replace(judgement, verdict=Verdict.WRONG, excess=found, reason="")


def _excess(judge: Judge, op: Operation, results: Sequence[Array | None]) -> Excess | None:
    """Return where results exceed the bounds on the operands as the backend returned them; None without bounds."""
    if any(v not in judge.values and not is_constant(v) for v in op.operands):
        return None
    for result, shadow in zip(results, judge.known_bounds(op) or ()):
        if result is not None and (found := excess_of(result, shadow, judge.contract)):
            return found
    return None
