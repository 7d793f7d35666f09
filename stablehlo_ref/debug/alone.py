"""Ops that no bound rules out where they may be fused, run alone: there, nothing before them can be computed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stablehlo_ref.debug.cut import Flat, single
from stablehlo_ref.debug.judge import NO_BOUND, Judge, Judgement, Verdict
from stablehlo_ref.debug.session import Session
from stablehlo_ref.debug.values import checked

MOST = 3  # ops that are run alone


def wrong_alone(flat: Flat, judge: Judge, judgements: Sequence[Judgement], session: Session) -> Iterator[Judgement]:
    """Yield the verdicts on ops that only fused code may explain, and that are wrong alone, on the same operands.

    An op in a program of its own has nothing before it that could be computed again or left unrounded, so that the
    bounds on its operands as the backend returned them hold.
    """
    suspect = [j for j in judgements if _is_open(j) and judge.unknown_excess(j.op)]
    for judgement in suspect[:MOST]:
        made = single(flat, judgement.op)
        feeds = [judge.operand(value) for value in made.feeds]
        outcome = checked(session.run(made.text, feeds), [value.type for value in made.wanted])
        if not outcome.failure and (found := judge.known_excess(judgement.op, outcome.results)):
            yield replace(judgement, verdict=Verdict.WRONG, permissions=(), excess=found, reason="")


def _is_open(judgement: Judgement) -> bool:
    return judgement.verdict is Verdict.PERMITTED or judgement.reason == NO_BOUND
