"""All passes, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablehlo_ref.passes import (
    canonicalize,
    canonicalize_dynamism,
    chlo_legalize_to_stablehlo,
    compatibility_expander,
    complex_math_expander,
    composites,
    element_types,
    fold,
    hlo_legalize_to_stablehlo,
    inline,
    instrument_with_probe,
    legalize_deprecated_ops,
    legalize_quant_to_math,
    quantized_op_to_qdq,
    refine_arguments,
    refine_shapes,
    shape_legalize_to_stablehlo,
    simplify,
    strip,
    symbols,
    vhlo_legalize_to_stablehlo,
)
from stablehlo_ref.passes.registry import Pass
from stablehlo_ref.passes.sdy import convert_global_to_local, drop_sharding_and_mesh, propagate_shardings

ALL = (
    inline.PASS,
    symbols.DCE,
    canonicalize.PASS,
    canonicalize.CSE,
    fold.SCCP,
    simplify.FOLDER,
    simplify.PASS,
    simplify.OPTIMIZATION,
    composites.TO_CALL,
    composites.INTO_COMPOSITE,
    strip.STRIP_DEBUGINFO,
    chlo_legalize_to_stablehlo.PASS,
    chlo_legalize_to_stablehlo.PRE_SERIALIZATION,
    legalize_deprecated_ops.PASS,
    compatibility_expander.PASS,
    complex_math_expander.PASS,
    legalize_quant_to_math.PASS,
    quantized_op_to_qdq.PASS,
    quantized_op_to_qdq.FUSE,
    element_types.SIGNLESS,
    instrument_with_probe.PASS,
    refine_arguments.PASS,
    refine_shapes.PASS,
    refine_shapes.ASSERTIONS,
    canonicalize_dynamism.PASS,
    shape_legalize_to_stablehlo.PASS,
    hlo_legalize_to_stablehlo.PASS,
    vhlo_legalize_to_stablehlo.LEGALIZE,
    vhlo_legalize_to_stablehlo.TO_VERSION,
    vhlo_legalize_to_stablehlo.PASS,
    vhlo_legalize_to_stablehlo.DESERIALIZE,
    convert_global_to_local.PASS,
    drop_sharding_and_mesh.PASS,
    propagate_shardings.PASS,
)
PASSES: Mapping[str, Pass] = MappingProxyType({p.name: p for p in ALL})
