"""Apply pipelines of passes to a copy of a module."""

from __future__ import annotations

from collections.abc import Iterable

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.limits.stack import FRAMES, on_enough_stack
from stablehlo_ref.passes.catalog import PASSES
from stablehlo_ref.passes.registry import parse_pipeline
from stablehlo_ref.verify import verify


@checks_arguments
def transformed(module: Operation, pipelines: Iterable[str], limits: Limits) -> Operation:
    """Return a copy of a module after the passes of all pipelines, in order, verified after each.

    MalformedError, before any pass runs, for an unknown pass or option; LimitError if it takes too long.
    """
    with limited(limits):
        return on_enough_stack(module.location, FRAMES, _transformed, module, pipelines)


def _transformed(module: Operation, pipelines: Iterable[str]) -> Operation:
    passes = [bound for pipeline in pipelines for bound in parse_pipeline(pipeline, PASSES)]
    made = clone(module, {})
    for bound in passes:
        bound(made)
        verify(made)
    return made
