"""All passes, by name, and how pipelines of them are applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import limited
from stablehlo_ref.limits.stack import FRAMES, on_enough_stack
from stablehlo_ref.passes import (  # noqa: F401  # which register themselves
    canonicalize,
    canonicalize_dynamism,
    chlo_legalize_to_stablehlo,
    compatibility_expander,
    complex_math_expander,
    composites,
    element_types,
    inline,
    inspection,
    instrument_with_probe,
    legalize_quant_to_math,
    quantized_op_to_qdq,
    refine_shapes,
    refinements,
    shape_legalize_to_stablehlo,
    simplify,
    spellings,
    symbols,
)
from stablehlo_ref.passes.registry import REGISTRY, Pass, parse_pipeline
from stablehlo_ref.passes.sdy import convert_global_to_local, drop_sharding_and_mesh, propagate_shardings  # noqa: F401
from stablehlo_ref.verify import verify

PASSES: Mapping[str, Pass] = MappingProxyType(dict(sorted(REGISTRY.items())))


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
