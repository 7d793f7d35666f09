"""What debugging knows of each op: a new op must be listed here, or get a rule."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug import contract_of
from stablehlo_ref.debug.bounds import complexes, transfer
from stablehlo_ref.debug.bounds.transfer import BRANCHES, LOOP
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.explain import sensitivities
from stablehlo_ref.debug.judge import Judge
from stablehlo_ref.define.definition import REGISTRY

INLINED = {"composite", "return", "func.return"}
OF_INTEGERS = {
    "and", "or", "xor", "not", "shift_left", "shift_right_arithmetic", "shift_right_logical", "popcnt", "mulhi",
    "count_leading_zeros", "get_dimension_size", "compute_reshape_shape", "cstr_reshapable", "replica_id",
}  # fmt: skip
QUANTIZED = {"uniform_quantize", "uniform_dequantize"}
WITHOUT_A_BOUND = {  # of floating-point numbers: a result that is not the interpreter's is not judged
    "_asin_acos_kernel", "constant_like", "polygamma", "ragged_dot", "scan", "square", "top_k", "zeta", "after_all",
    "all_gather", "all_reduce", "all_to_all", "async_done", "async_start", "collective_broadcast", "collective_permute",
    "collective_reduce", "create_token", "cross-replica-sum", "dynamic_conv", "dynamic_iota", "einsum",
    "get_tuple_element", "map", "outfeed", "reduce_scatter", "send", "set_dimension_size", "torch_index_select",
    "trace", "tuple", "unary_einsum",
}  # fmt: skip


def known() -> set[str]:
    of_values = {*transfer.MOVES, *transfer._FOR_ALL, *transfer._RULES, *complexes.RULES, *transfer.NOT_UNIQUE}
    return {*of_values, *INLINED, *OF_INTEGERS, *QUANTIZED, *(name.partition(".")[2] for name in (LOOP, *BRANCHES))}


def test_every_op_has_a_rule_or_is_listed() -> None:
    names = {name.partition(".")[2] for name in REGISTRY if name.startswith(("stablehlo.", "chlo."))}
    assert {name for name in names - known() if not name.startswith("broadcast_")} == WITHOUT_A_BOUND


@pytest.mark.parametrize(
    "op", ["chlo.erf", "chlo.tan", "chlo.acos", "chlo.lgamma", "stablehlo.tan", "stablehlo.logistic"]
)
def test_every_function_rounds_at_random(op: str) -> None:
    type = "tensor<64xf32>"
    program = sr.load(f"""func.func @main(%x: {type}) -> {type} {{
      %0 = {op} %x : {f"{type} -> {type}" if op.startswith("chlo") else type}
      return %0 : {type} }}""")
    x = [np.linspace(0.1, 0.9, 64, dtype=np.float32)]
    ours = program.run(*x)
    (found,) = sensitivities(program, x, ours, ours, contract_of("strict"))
    assert found.noise > 1e-9


@pytest.mark.parametrize("types", ["bf16 f32", "f16 f32", "f32 f64", "f16 f16", "f8E5M2 f32"])
def test_conversions_to_types_that_have_all_numbers_do_not_round(types: str) -> None:
    assert not np.any(radius_of_conversion(*types.split()))


@pytest.mark.parametrize("types", ["f64 f32", "bf16 f16", "f16 bf16", "f8E5M2 f8E4M3FN", "i32 f32"])
def test_conversions_to_other_types_round(types: str) -> None:
    assert np.all(radius_of_conversion(*types.split()) > 0)


def radius_of_conversion(source: str, target: str) -> np.ndarray:
    """Return the bound on the error of 1 where it is converted."""
    program = sr.load(f"""func.func @main(%x: tensor<1x{source}>) -> tensor<1x{target}> {{
      %0 = stablehlo.convert %x : (tensor<1x{source}>) -> tensor<1x{target}>
      return %0 : tensor<1x{target}> }}""")
    flat, x = Flat(program), np.ones(1, program.inputs[0].dtype)
    judge = Judge({flat.arguments[0]: x, flat.outputs[0]: program.run(x)[0]}, contract_of("strict"), Evaluator(flat))
    (bound,) = judge.known_bounds(flat.ops[0]) or ()
    return bound.radius
