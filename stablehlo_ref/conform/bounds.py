"""Where the results of a whole program lie under a contract, and whether given results do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from stablehlo_ref.debug.bounds.ball import UNKNOWN, Ball, exact
from stablehlo_ref.debug.bounds.transfer import Propagation, propagation
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.cut import Flat, is_constant, is_observable
from stablehlo_ref.debug.evaluate import Evaluator, same_bits
from stablehlo_ref.debug.explain import sensitivities
from stablehlo_ref.debug.judge import excess_of
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Value
from stablehlo_ref.program import Program

NO_BOUND = "of which no bound is known"


class Bounds:
    """The bounds of the results of a program: those of its ops, composed. They hold for each legal way of rounding."""

    def __init__(self, program: Program, contract: Contract) -> None:
        self.program = program
        self.contract = contract

    @cached_property
    def flat(self) -> Flat | None:
        """The program as a list of ops; None if an input or output is no static tensor, or it cannot be flattened."""
        try:
            flat = Flat(self.program)
        except StablehloError:
            return None
        return flat if all(map(is_observable, (*flat.arguments, *flat.outputs))) else None

    @cached_property
    def _evaluate(self) -> Evaluator:
        assert self.flat is not None
        return Evaluator(self.flat)

    def __call__(self, inputs: Sequence[Array]) -> list[Ball | None]:
        """Return the bound of each result, for these inputs; None where that is not known."""
        if self.flat is None:
            return [None] * len(self.program.entry.outputs)
        composed = propagation(dict(zip(self.flat.arguments, inputs)), self.contract, self._evaluate)
        composed.extend(self.flat.ops)
        return [self._of(value, inputs, composed) for value in self.flat.outputs]

    def _of(self, value: Value, inputs: Sequence[Array], composed: Propagation) -> Ball | None:
        assert self.flat is not None
        if value in self.flat.arguments:
            return exact(inputs[self.flat.arguments.index(value)])
        found = composed.balls.get(value, UNKNOWN)
        if found is not UNKNOWN:
            return found
        return exact(self._evaluate.constant(value)) if is_constant(value) else None


def is_known(bound: Ball | None) -> bool:
    """Return whether all elements have a bound."""
    return bound is not None and not np.isinf(bound.radius).any()


def unexplained(program: Program, inputs: Sequence[Array], results: Sequence[Array], contract: Contract) -> list[str]:
    """Return a message for each result that is beyond its bound, or without a bound, beyond what rounding explains."""
    ours = [np.asarray(result) for result in program.run(*inputs)]
    if len(results) != len(ours):
        return [f"expected {len(ours)} results, got {len(results)}"]
    messages = []
    for index, (bound, x, y) in enumerate(zip(Bounds(program, contract)(inputs), results, ours)):
        if x.dtype != y.dtype or x.shape != y.shape:
            messages.append(f"result {index}: expected {y.dtype}{list(y.shape)}, got {x.dtype}{list(x.shape)}")
        elif not same_bits(x, y):
            excess = excess_of(x, bound, contract) if bound is not None else None
            if excess is not None:
                messages.append(f"result {index}: {excess}")
            elif not is_known(bound):
                made = sensitivities(program, inputs, ours, results, contract)
                if not made or not made[index].is_explained:
                    reason = made[index] if made else excess_of(x, exact(y), contract)
                    messages.append(f"result {index}, {NO_BOUND}: {reason}")
    return messages
