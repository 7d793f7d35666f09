"""Verdicts where types lack NaN, zero or precision, on integers, einsums and the largest elements, and on gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.explain import _by_ulps, _can_be_nan, limits_of
from stablehlo_ref.debug.judge import Verdict
from stablehlo_ref.reading.loading import load
from tests.debug.test_judge import F32, binary, unary, verdict

F6 = ml_dtypes.float6_e3m2fn
E8M0 = ml_dtypes.float8_e8m0fnu
LEGAL = (Verdict.SAME, Verdict.LEGAL, Verdict.PERMITTED)


def test_a_type_without_nan_may_have_any_number_instead() -> None:
    text = unary("sqrt", "tensor<2xf6E3M2FN>")
    assert verdict(text, [np.array([-4, 4], F6)], np.array([28, 2], F6)) is not Verdict.WRONG
    assert verdict(text, [np.array([-4, 4], F6)], np.array([28, 3], F6)) is Verdict.WRONG


def test_a_type_without_zero_may_have_nan_instead() -> None:
    """2^-127, squared, is rounded to the smallest number, or to zero, which is NaN; 2^-60, squared, is a number."""
    text = binary("multiply", "tensor<2xf8E8M0FNU>")
    x = np.array([2.0**-127, 2.0**-60], E8M0)
    assert verdict(text, [x, x], np.array([np.nan, 2.0**-120], E8M0)) is not Verdict.WRONG
    assert verdict(text, [x, x], np.array([2.0**-127, np.nan], E8M0)) is Verdict.WRONG


def test_one_subnormal_operand_leaves_the_bounds_of_other_elements() -> None:
    """The shapes are broadcast: 1e-40 of the first operand may be zero, and 2 may not."""
    text = """func.func @main(%x: tensor<2x1xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
      %0 = chlo.broadcast_add %x, %y : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32> }"""
    x, y = F32([[1e-40], [2]]), F32([0, 1, 3])
    flushed = np.where(x < 1, F32(0), x) + y
    assert verdict(text, [x, y], flushed, contract="xla-cpu") is Verdict.PERMITTED
    assert verdict(text, [x, y], flushed) is Verdict.WRONG  # `strict` keeps subnormal numbers
    assert verdict(text, [x, y], flushed + F32([[0], [1e-5]]), contract="xla-cpu") is Verdict.WRONG


def test_a_scatter_of_extremes_keeps_the_error_of_its_operands() -> None:
    text = """func.func @main(%x: tensor<3xf32>, %u: tensor<3xf32>) -> tensor<3xf32> {
      %i = stablehlo.constant dense<0> : tensor<1xi32>
      %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers =
          #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %1 = stablehlo.maximum %a, %b : tensor<f32>
          stablehlo.return %1 : tensor<f32>
      }) : (tensor<3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<3xf32>
      return %0 : tensor<3xf32> }"""
    x, u = F32([1e-40, 1, -1]), F32([-2, 2, -3])
    assert verdict(text, [x, u], F32([0, 2, -1]), contract="xla-cpu") is Verdict.PERMITTED
    assert verdict(text, [x, u], F32([0, 2, -3]), contract="xla-cpu") is Verdict.WRONG


def test_reduce_precision_of_f8_may_be_computed_in_a_wider_type() -> None:
    """0.375 is halfway between 2^-2 and 2^-1, whose exponents are even and odd with the bias 8, and not with 127."""
    text = """func.func @main(%x: tensor<2xf8E4M3FNUZ>) -> tensor<2xf8E4M3FNUZ> {
      %0 = stablehlo.reduce_precision %x, format = e4m0 : tensor<2xf8E4M3FNUZ>
      return %0 : tensor<2xf8E4M3FNUZ> }"""
    x, legal, wrong = (np.array(a, ml_dtypes.float8_e4m3fnuz) for a in ([0.375, 1.25], [0.5, 1], [0.5, 2]))
    assert verdict(text, [x], legal) in LEGAL
    assert verdict(text, [x], wrong) is Verdict.WRONG


# --- random rounding --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [F6, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, E8M0, ml_dtypes.float4_e2m1fn])
def test_narrow_numbers_round_at_random_too(dtype: type) -> None:
    every = np.array([1, 2, 4] * 100, dtype)
    made = _by_ulps(np.random.default_rng(0), every, 1.0)
    assert made.dtype == every.dtype and np.mean(made != every) > 0.2
    apart = np.abs(made.astype(np.float64) - every.astype(np.float64))
    assert np.all(apart <= every.astype(np.float64) * float(ml_dtypes.finfo(dtype).eps))
    zeros = np.array([0, 0], F6)
    np.testing.assert_array_equal(_by_ulps(np.random.default_rng(0), zeros, 8.0), zeros)


def test_operands_of_dots_are_rounded_as_the_algorithm_says() -> None:
    """1 + 2^-8 is 1 in bf16; a backend that does not round it is right, too, if sums may be imprecise."""
    text = """func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [], algorithm = <lhs_precision_type = bf16,
        rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
        num_primitive_operations = 1, allow_imprecise_accumulation = true>
        : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32> }"""
    x, y = F32(1 + 2.0**-8), F32(0.3)
    assert limits_of(load(text), [x, y], [y], contract_of("strict"))[0] > 2.0**-8


@pytest.mark.parametrize(("lhs", "rhs"), [("i32", "f32"), ("f32", "i32"), ("i32", "i32")])
def test_integer_operands_of_dots_are_rounded_too(lhs: str, rhs: str) -> None:
    """257 is 256 in bf16; 65792 is the product if one of them is not rounded."""
    text = f"""func.func @main(%x: tensor<{lhs}>, %y: tensor<{rhs}>) -> tensor<f32> {{
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [], algorithm = <lhs_precision_type = bf16,
        rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
        num_primitive_operations = 1, allow_imprecise_accumulation = false>
        : (tensor<{lhs}>, tensor<{rhs}>) -> tensor<f32>
      return %0 : tensor<f32> }}"""
    operands = [np.array(257, {"i32": np.int32, "f32": np.float32}[t]) for t in (lhs, rhs)]
    assert verdict(text, operands, F32(65536)) is Verdict.SAME
    assert verdict(text, operands, F32(65792)) in LEGAL
    assert verdict(text, operands, F32(70000)) is Verdict.WRONG


def test_sums_of_one_operand_round_at_random() -> None:
    """Sums of an einsum of one operand may be in any order: 2^-23 is how far sums of two terms near 1 may be off."""
    text = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
      %0 = stablehlo.unary_einsum %x, config = "ab->a" : (tensor<2x3xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32> }"""
    x = F32([[0.3, 0.7, 0.1], [0.1, -0.7, 0.4]])
    assert limits_of(load(text), [x], [x.sum(axis=1)], contract_of("strict"))[0] > 2.0**-23


def test_integers_are_off_where_the_contract_permits_more_than_rounding() -> None:
    """The square root of 1 may be off by 4 ULP."""
    program, one = load(unary("sqrt", "tensor<2xf32>")), F32([1, 1])
    assert limits_of(program, [one], [one], contract_of("xla-cpu"))[0] > 4 * 2.0**-23
    assert limits_of(program, [one], [one], contract_of("strict"))[0] == 0


@pytest.mark.parametrize(("element", "has_nan"), [("f4E2M1FN", False), ("f6E3M2FN", False), ("f8E4M3FN", True)])
def test_rounding_at_random_says_nothing_of_types_without_nan(element: str, has_nan: bool) -> None:
    program = load(unary("negate", f"tensor<2x{element}>"))
    (result,) = next(op.results for op in program.module.walk() if op.mnemonic == "negate")
    assert _can_be_nan(result) is has_nan


@pytest.mark.parametrize(
    ("op", "types", "inputs", "right", "wrong"),
    [
        ('stablehlo.einsum %x, %y, config = "ab,b->a"', ("2x3xf8E5M2", "3xf8E5M2", "2xf8E5M2"),
         ([[1, 2, 1], [4, 0, 1]], [1, 1, 2]), [5, 6], [5, 7]),
        ('stablehlo.unary_einsum %x, config = "ab->b"', ("2x2xf4E2M1FN", "2xf4E2M1FN"),
         ([[1, 2], [2, 1]],), [3, 3], [3, 4]),
    ],
)  # fmt: skip
def test_einsums_have_a_bound(
    op: str, types: Sequence[str], inputs: Sequence[Any], right: Sequence[float], wrong: Sequence[float]
) -> None:
    *operands, result = (f"tensor<{type}>" for type in types)
    arguments = ", ".join(f"{name}: {type}" for name, type in zip(("%x", "%y"), operands))
    text = f"""func.func @main({arguments}) -> {result} {{
      %r = {op} : ({", ".join(operands)}) -> {result}
      return %r : {result} }}"""
    dtype = ml_dtypes.float8_e5m2 if "f8" in result else ml_dtypes.float4_e2m1fn
    given = [np.array(x, dtype) for x in inputs]
    assert verdict(text, given, np.array(right, dtype)) is Verdict.SAME
    assert verdict(text, given, np.array(wrong, dtype)) is Verdict.WRONG


def test_the_largest_elements_have_an_order_if_it_is_stable() -> None:
    def text(is_stable: str) -> str:
        return f"""func.func @main(%x: tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>) {{
          %r:2 = chlo.top_k(%x, k = 2{is_stable}) : tensor<3xf32> -> (tensor<2xf32>, tensor<2xi32>)
          return %r#0, %r#1 : tensor<2xf32>, tensor<2xi32> }}"""

    values, indices = F32([3, 3]), np.int32([0, 2])
    assert verdict(text(""), [F32([3, 1, 3])], values, indices) is Verdict.SAME
    assert verdict(text(""), [F32([3, 1, 3])], values, indices[::-1]) is Verdict.WRONG
    assert verdict(text(", is_stable = false"), [F32([3, 1, 3])], values, indices[::-1]) is Verdict.NOT_JUDGED


def test_an_overflow_in_an_op_that_broadcasts_leaves_only_its_element_open() -> None:
    """-2^31 - 1 overflows; 5 - 1 and 7 - 1 do not."""
    text = """func.func @main(%x: tensor<3xi32>, %y: tensor<i32>) -> tensor<3xi32> {
      %r = chlo.broadcast_subtract %x, %y : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
      return %r : tensor<3xi32> }"""
    operands = [np.int32([-(2**31), 5, 7]), np.int32(1)]
    assert verdict(text, operands, np.int32([0, 4, 6])) is Verdict.NOT_JUDGED
    assert verdict(text, operands, np.int32([2**31 - 1, 4, 5])) is Verdict.WRONG


def test_large_numbers_are_integers_that_were_rounded() -> None:
    made = _by_ulps(np.random.default_rng(0), np.full(100, 2.0**20 + 2.0**13, ml_dtypes.bfloat16), 1.0)
    assert len(np.unique(made)) == 3


def test_ops_that_do_not_round_may_lose_subnormal_numbers() -> None:
    """1e-40 to the power of 1e-40 is 1, and 0 if the base is flushed; `negate` may return zero."""
    contract, x = contract_of("xla-cpu"), F32([1e-40, 1])
    for text, result in ((unary("negate", "tensor<2xf32>"), -x), (binary("power", "tensor<2xf32>"), F32([1, 1]))):
        program = load(text)
        inputs = [x] * len(program.inputs)
        (limit,) = limits_of(program, inputs, [result], contract)
        assert limit >= x[0]
        assert limits_of(program, inputs, [result], contract_of("strict"))[0] < 1e-4


# --- gradients --------------------------------------------------------------------------------------------------------

GRADIENTS = """func.func @main(%x: tensor<NxCxf32>, %s: tensor<Cxf32>, %m: tensor<Cxf32>, %v: tensor<Cxf32>,
    %g: tensor<NxCxf32>) -> (tensor<NxCxf32>, tensor<Cxf32>, tensor<Cxf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 0.5 : f32, feature_index = 1 : i64}>
    : (tensor<NxCxf32>, tensor<Cxf32>, tensor<Cxf32>, tensor<Cxf32>, tensor<NxCxf32>)
    -> (tensor<NxCxf32>, tensor<Cxf32>, tensor<Cxf32>)
  return %0#0, %0#1, %0#2 : tensor<NxCxf32>, tensor<Cxf32>, tensor<Cxf32> }"""


def gradients(x: np.ndarray, s: np.ndarray, m: np.ndarray, v: np.ndarray, g: np.ndarray) -> list[np.ndarray]:
    """Return the results of the spec's formulas, each op rounded to f32, with sums from the last row to the first."""
    total, centered = v + F32(0.5), x - m
    stddev = np.sqrt(total)
    offset, third, scale = (
        np.add.accumulate(a[::-1], 0, dtype=F32)[-1] for a in (g, g * centered, g * (centered / stddev))
    )
    inner = g * F32(len(x)) - offset - third * centered / total
    return [s / stddev / F32(len(x)) * inner, scale, offset]


def test_gradients_in_another_order_are_legal() -> None:
    """Sums of gradients are far larger than means: a ULP of them is more than the errors of means."""
    draw = np.random.default_rng(0)
    text = GRADIENTS.replace("NxC", "40x3").replace("<Cx", "<3x")
    for size in (1e-3, 1.0, 1e6):
        x, g = (draw.standard_normal((40, 3)).astype(F32) for _ in range(2))
        s, m, v = draw.standard_normal(3).astype(F32), F32([0, 1e-3, 3]), draw.random(3).astype(F32)
        results = gradients(x, s, m, v, g * F32(size))
        inputs = [x, s, m, v, g * F32(size)]
        assert verdict(text, inputs, *results) in LEGAL
        for wrong in range(3):
            changed = [r * F32(1.01) if i == wrong else r for i, r in enumerate(results)]
            assert verdict(text, inputs, *changed) is Verdict.WRONG


def test_choices_on_constants_are_found() -> None:
    program = load("""
      func.func @main() -> tensor<1x1xf8E8M0FNU> {
        %0 = stablehlo.constant dense<1> : tensor<2xi32>
        %1 = stablehlo.dynamic_iota %0, dim = 1 : (tensor<2xi32>) -> tensor<1x1xf8E8M0FNU>
        return %1 : tensor<1x1xf8E8M0FNU>
      }""").verify()  # 0, which the type lacks
    flat = Flat(program)
    (choice,) = Evaluator(flat).choices(flat.ops[-1], [])
    assert "a type that cannot represent it" in choice
