"""Overflow and zeros: what must be infinite or finite, the sign of zero, and what is open."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.judge import Verdict
from tests.debug.test_judge import binary, reduction, unary, verdict

BF16 = ml_dtypes.bfloat16
F32 = np.float32
TOP = np.finfo(F32).max


def test_a_sum_beyond_the_largest_number_is_infinite() -> None:
    inputs = [np.float16([60000]), np.float16([60000])]
    text = binary("add", "tensor<1xf16>")
    assert verdict(text, inputs, np.float16([np.inf])) is Verdict.SAME
    for wrong in (5, -np.inf, np.nan):
        assert verdict(text, inputs, np.float16([wrong])) is Verdict.WRONG


@pytest.mark.parametrize(("type", "dtype", "low"), [("f16", np.float16, 0.9995), ("bf16", BF16, 0.999)])
def test_near_the_largest_number_either_rounding_is_legal(type: str, dtype: Any, low: float) -> None:
    top = float(ml_dtypes.finfo(dtype).max)
    x = [np.array([low * np.log(top) + (1 - low) * np.log(top)], dtype)]
    text = unary("exponential", f"tensor<1x{type}>")
    contract = "strict,elementary_ulps=512,narrow_ulps=512"
    for legal in (top, np.inf):
        assert verdict(text, x, np.array([legal], dtype), contract=contract) is not Verdict.WRONG


@pytest.mark.parametrize("contract", ["strict", "xla-cpu", "tpu"])
@pytest.mark.parametrize(
    ("op", "x", "y", "right"),
    [
        ("multiply", np.inf, 2, np.inf),
        ("multiply", 3e38, 2, np.inf),
        ("multiply", 3e38, -2, -np.inf),
        ("add", 3e38, 3e38, np.inf),
        ("add", np.inf, 1, np.inf),
        ("maximum", np.inf, 1, np.inf),
        ("power", 10, 39, np.inf),
    ],
)
def test_the_largest_number_is_no_infinity(op: str, x: float, y: float, right: float, contract: str) -> None:
    text, inputs = binary(op, "tensor<1xf32>"), [F32([x]), F32([y])]
    assert verdict(text, inputs, F32([right]), contract=contract) is not Verdict.WRONG
    for wrong in (np.copysign(TOP, right), -right, np.nan):
        assert verdict(text, inputs, F32([wrong]), contract=contract) is Verdict.WRONG


def test_what_is_below_the_largest_number_is_finite() -> None:
    for op, x, y in (("multiply", 1e38, 3), ("add", 1e38, 2e38), ("divide", 3e38, 1), ("power", 10, 38)):
        text, inputs = binary(op, "tensor<1xf32>"), [F32([x]), F32([y])]
        for contract in ("strict", "xla-cpu"):
            for wrong in (np.inf, np.nan):
                assert verdict(text, inputs, F32([wrong]), contract=contract) is Verdict.WRONG


def test_division_by_zero_and_poles_are_infinite() -> None:
    divided = binary("divide", "tensor<1xf32>")
    assert verdict(divided, [F32([1]), F32([0])], F32([TOP])) is Verdict.WRONG
    for op, x, right in (("log", 0, -np.inf), ("rsqrt", 0, np.inf), ("exponential", 100, np.inf)):
        text = unary(op, "tensor<1xf32>")
        assert verdict(text, [F32([x])], F32([right])) is Verdict.SAME
        assert verdict(text, [F32([x])], F32([np.copysign(TOP, right)])) is Verdict.WRONG


def test_conversions_to_narrow_types_overflow() -> None:
    for type, dtype in (("f16", np.float16), ("f8E5M2", ml_dtypes.float8_e5m2)):
        text, top = unary("convert", "tensor<1xf32>", f"tensor<1x{type}>"), float(ml_dtypes.finfo(dtype).max)
        assert verdict(text, [F32([1e6])], np.array([np.inf], dtype)) is Verdict.SAME
        assert verdict(text, [F32([1e6])], np.array([top], dtype)) is Verdict.WRONG
        assert verdict(text, [F32([top])], np.array([np.inf], dtype)) is Verdict.WRONG


def test_types_without_infinities_may_saturate() -> None:
    """The spec leaves it open: XLA returns NaN, hardware the largest number."""
    dtype = ml_dtypes.float8_e4m3fn
    text, inputs = binary("multiply", "tensor<1xf8E4M3FN>"), [np.array([400], dtype)] * 2
    for legal in (np.nan, 448):
        assert verdict(text, inputs, np.array([legal], dtype)) is not Verdict.WRONG
    for wrong in (-448, 1, 416):
        assert verdict(text, inputs, np.array([wrong], dtype)) is Verdict.WRONG
    text = unary("convert", "tensor<1xf32>", "tensor<1xf8E4M3FN>")
    assert verdict(text, [F32([400])], np.array([np.nan], dtype)) is Verdict.WRONG


@pytest.mark.parametrize("contract", ["strict", "xla-cpu", "tpu"])
def test_sums_that_overflow_in_each_order_are_infinite(contract: str) -> None:
    text, x = reduction("add", "f32", "0.0"), F32([3e38, 2e38, -1e38])
    assert verdict(text, [x], F32(np.inf), contract=contract) is Verdict.SAME
    assert verdict(text, [x], F32(TOP), contract=contract) is Verdict.WRONG
    assert verdict(text, [-x], F32(-TOP), contract=contract) is Verdict.WRONG
    for legal in (np.inf, 1e38):  # in one order, and in another
        found = verdict(text, [F32([3e38, 1e38, -3e38])], F32(legal), contract=contract)
        assert found is not Verdict.WRONG
    dot = """func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<f32> {
      %r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
      return %r : tensor<f32> }"""
    assert verdict(dot, [F32([3e38, 3e38]), F32([1, 2])], F32(TOP), contract=contract) is Verdict.WRONG
    assert verdict(dot, [F32([np.inf, 3e38]), F32([1, 2])], F32(TOP), contract=contract) is Verdict.WRONG
    apart = F32([1e38, 3e38, -3e38, -np.inf]), F32([3, 2, 3e38, 1])  # +inf first, and -inf: the sum is -inf or NaN
    wide = dot.replace("tensor<2xf32>", "tensor<4xf32>")
    for legal in (-np.inf, np.nan):
        assert verdict(wide, list(apart), F32(legal), contract=contract) is not Verdict.WRONG
    product = reduction("multiply", "f32", "1.0")
    assert verdict(product, [F32([1e30, 1e30, 2])], F32(TOP), contract=contract) is Verdict.WRONG


def test_padding_need_not_be_multiplied() -> None:
    """The spec pads with zeros, of which a product with an infinity is NaN; XLA leaves such products out."""
    text = """func.func @main(%x: tensor<1x3x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x4x1xf32> {
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
          window = {pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x3x1xf32>, tensor<2x1x1xf32>) -> tensor<1x4x1xf32>
      return %0 : tensor<1x4x1xf32> }""".replace("1x4x1", "1x3x1")
    x, k = np.ones((1, 3, 1), F32), F32([np.inf, 1]).reshape(2, 1, 1)
    (ours,) = sr.load(text).run(x, k)
    assert np.isnan(ours[0, 0, 0]) and np.isinf(ours[0, 1:, 0]).all()
    for first, wrong in ((1, False), (np.nan, False)):
        made = ours.copy()
        made[0, 0, 0] = first
        assert (verdict(text, [x, k], made) is Verdict.WRONG) == wrong
    made[0, 1, 0] = 1
    assert verdict(text, [x, k], made) is Verdict.WRONG


@pytest.mark.parametrize(
    ("op", "x", "y", "zero"),
    [("multiply", -0.0, 3, -0.0), ("multiply", 0.0, -3, -0.0), ("add", -0.0, -0.0, -0.0), ("divide", 0.0, -3, -0.0),
     ("subtract", 3, 3, 0.0), ("divide", 3, np.inf, 0.0)],
)  # fmt: skip
def test_zeros_have_the_sign_of_the_exact_result(op: str, x: float, y: float, zero: float) -> None:
    text, inputs = binary(op, "tensor<1xf32>"), [F32([x]), F32([y])]
    assert verdict(text, inputs, F32([zero])) is Verdict.SAME
    assert verdict(text, inputs, F32([-zero])) is Verdict.WRONG
    assert verdict(text, inputs, F32([-zero]), contract="xla-cpu") is not Verdict.WRONG
    tiny = [F32([1e-30]), F32([1e-30])]
    assert verdict(binary("multiply", "tensor<1xf32>"), tiny, F32([0])) is Verdict.SAME  # rounded, and not exact


def test_other_elements_than_those_that_are_open_are_judged() -> None:
    text, inputs = binary("divide", "tensor<3xi32>"), [np.int32([7, 8, 9]), np.int32([0, 2, 0])]
    for first, second, is_wrong in ((5, 4, False), (-1, 5, True), (7, 3, True)):
        found = verdict(text, inputs, np.int32([first, second, 1]))
        assert found is (Verdict.WRONG if is_wrong else Verdict.NOT_JUDGED)
    text = unary("convert", "tensor<3xf32>", "tensor<3xi8>")
    for last, is_wrong in ((3, False), (4, True)):
        found = verdict(text, [F32([300, np.nan, 3])], np.int8([1, 2, last]))
        assert (found is Verdict.WRONG) == is_wrong


@pytest.mark.parametrize(("op", "right"), [("maximum", 0), ("minimum", 0)])
def test_the_extreme_of_nothing_is_the_init_value(op: str, right: float) -> None:
    text = f"""
    func.func @main(%x: tensor<0x3xf32>) -> tensor<3xf32> {{
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) applies stablehlo.{op} across dimensions = [0]
        : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }}"""
    nothing = [np.zeros((0, 3), F32)]
    assert verdict(text, nothing, np.full(3, right, F32)) is Verdict.SAME
    assert verdict(text, nothing, np.full(3, 123456, F32)) is Verdict.WRONG
