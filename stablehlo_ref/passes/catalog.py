"""All passes, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from stablehlo_ref.passes import (
    canonicalize,
    canonicalize_dynamism,
    chlo_legalize_to_stablehlo,
    chlo_pre_serialization,
    compatibility_expander,
    complex_math_expander,
    composite_to_call,
    convert_to_signless,
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
    strip_debuginfo,
    symbol_dce,
    vhlo_legalize_to_stablehlo,
    wrap_in_composite,
)
from stablehlo_ref.passes.registry import Pass
from stablehlo_ref.passes.sdy import convert_global_to_local, drop_sharding_and_mesh, propagate_shardings

ALL = (
    inline.PASS,
    symbol_dce.PASS,
    canonicalize.PASS,
    canonicalize.CSE,
    fold.SCCP,
    simplify.FOLDER,
    simplify.PASS,
    simplify.OPTIMIZATION,
    composite_to_call.PASS,
    wrap_in_composite.PASS,
    strip_debuginfo.PASS,
    chlo_legalize_to_stablehlo.PASS,
    chlo_pre_serialization.PASS,
    legalize_deprecated_ops.PASS,
    compatibility_expander.PASS,
    complex_math_expander.PASS,
    legalize_quant_to_math.PASS,
    quantized_op_to_qdq.PASS,
    quantized_op_to_qdq.FUSE,
    convert_to_signless.PASS,
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
