"""Verdicts on single ops: what is certainly wrong, and what the contract or the spec leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.cut import Flat
from stablehlo_ref.debug.evaluate import Evaluator
from stablehlo_ref.debug.judge import Judge, Judgement, Verdict

BF16 = ml_dtypes.bfloat16
F32 = np.float32


def judged(text: str, inputs: Sequence[Any], *values: Any, contract: str = "strict") -> Judgement:
    """Return the verdict on the last op of a program, whose ops returned `values` in order of their results."""
    flat = Flat(sr.load(text))
    results = [result for op in flat.ops for result in op.results if op.name != "stablehlo.constant"]
    arrays = [np.asarray(array) for array in (*inputs, *values)]
    judge = Judge(dict(zip([*flat.arguments, *results], arrays, strict=True)), contract_of(contract), Evaluator(flat))
    return judge(flat.ops[-1])


def verdict(*arguments: Any, **options: Any) -> Verdict:
    return judged(*arguments, **options).verdict


def unary(op: str, type: str, result: str = "") -> str:
    return f"""func.func @main(%x: {type}) -> {result or type} {{
      %r = stablehlo.{op} %x : {f"({type}) -> {result}" if result else type}
      return %r : {result or type} }}"""


def binary(op: str, type: str) -> str:
    return f"""func.func @main(%x: {type}, %y: {type}) -> {type} {{
      %r = stablehlo.{op} %x, %y : {type}
      return %r : {type} }}"""


def chain(first: str, second: str, type: str) -> str:
    return f"""func.func @main(%x: {type}) -> {type} {{
      %0 = stablehlo.{first} %x : {type}
      %1 = stablehlo.{second} %0 : {type}
      return %1 : {type} }}"""


def reduction(op: str, type: str, init: str, size: int = 3) -> str:
    return f"""func.func @main(%x: tensor<{size}x{type}>) -> tensor<{type}> {{
      %i = stablehlo.constant dense<{init}> : tensor<{type}>
      %r = stablehlo.reduce(%x init: %i) applies stablehlo.{op} across dimensions = [0]
        : (tensor<{size}x{type}>, tensor<{type}>) -> tensor<{type}>
      return %r : tensor<{type}> }}"""


# --- overflow -------------------------------------------------------------------------------------------------------


def test_an_overflow_need_not_happen_in_fused_code() -> None:
    """tanh(exp(x)) is 1 where exp(x) overflows, and log(exp(x)) may be x."""
    x, overflow = [np.float16([20])], np.float16([np.inf])
    logs = chain("exponential", "log", "tensor<1xf16>")
    assert verdict(logs, x, overflow, np.float16([20]), contract="strict") is Verdict.WRONG
    assert verdict(logs, x, overflow, np.float16([20]), contract="xla-cpu") is Verdict.NOT_JUDGED
    sines = chain("exponential", "sine", "tensor<1xf16>")  # NaN of an infinity, a number of what does not overflow
    assert verdict(sines, x, overflow, np.float16([0.3]), contract="strict") is Verdict.WRONG
    assert verdict(sines, x, overflow, np.float16([0.3]), contract="xla-cpu") is Verdict.NOT_JUDGED


def test_infinities_of_data_are_certain_in_fused_code() -> None:
    text = chain("negate", "exponential", "tensor<1xf32>")
    for contract in ("strict", "xla-cpu"):
        assert verdict(text, [F32([np.inf])], F32([-np.inf]), F32([1.0]), contract=contract) is Verdict.WRONG


# --- functions that are not monotone, in fused code -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "x", "legal"),
    [
        ("tan", 1.570796, [1e9, -1e9]),  # next to a pole
        ("sine", 3e38, [0.7, -0.7]),
        ("cosine", 1.0, []),
        ("sign", 0.0, [1.0, -1.0]),
    ],
)
def test_functions_of_operands_that_were_computed_again(op: str, x: float, legal: list[float]) -> None:
    """What the operand may have been in fused code may have quite another value."""
    text = f"""func.func @main(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {{
      %0 = stablehlo.divide %x, %y : tensor<1xf32>
      %1 = stablehlo.{op} %0 : tensor<1xf32>
      return %1 : tensor<1xf32> }}"""
    y = 3.0 if x else 1e-3
    inputs = [F32([x * y]) if x < 1e38 else F32([x]), F32([y]) if x < 1e38 else F32([1.0])]
    quotient = inputs[0] / inputs[1]
    for value in legal:
        if op != "sign":
            assert verdict(text, inputs, quotient, F32([value]), contract="xla-cpu") is not Verdict.WRONG
    if op == "cosine":
        assert verdict(text, inputs, quotient, F32([0.7]), contract="xla-cpu") is Verdict.WRONG


def test_angles_at_the_branch_cut_are_not_known_in_fused_code() -> None:
    text = """func.func @main(%a: tensor<1xf32>, %b: tensor<1xf32>, %x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.multiply %a, %b : tensor<1xf32>
      %1 = stablehlo.subtract %0, %b : tensor<1xf32>
      %2 = stablehlo.atan2 %1, %x : tensor<1xf32>
      return %2 : tensor<1xf32> }"""
    a, b = F32([1.0]), F32([3.0])
    product, pi = a * b, F32(np.pi)
    values = [product, product - b]
    for x, wrong in ((-1, False), (1, True)):
        found = verdict(text, [a, b, F32([x])], *values, F32([-pi]), contract="strict,excess_precision=true")
        assert (found is Verdict.WRONG) == wrong


def test_powers_of_computed_bases() -> None:
    text = """func.func @main(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.divide %x, %x : tensor<1xf32>
      %1 = stablehlo.power %0, %y : tensor<1xf32>
      return %1 : tensor<1xf32> }"""
    inputs = [F32([3]), F32([1e6])]  # an error of 2^-24 in the base is one of 6 % in the power
    assert verdict(text, inputs, F32([1]), F32([1.05]), contract="strict") is Verdict.WRONG
    assert verdict(text, inputs, F32([1]), F32([1.05]), contract="xla-cpu") is Verdict.PERMITTED
    assert verdict(text, inputs, F32([1]), F32([9.0]), contract="xla-cpu") is Verdict.WRONG


def test_ops_on_operands_without_a_bound_are_not_judged_in_fused_code() -> None:
    text = """func.func @main(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.remainder %x, %y : tensor<1xf32>
      %1 = stablehlo.add %0, %x : tensor<1xf32>
      %2 = stablehlo.remainder %1, %y : tensor<1xf32>
      %3 = stablehlo.negate %2 : tensor<1xf32>
      return %3 : tensor<1xf32> }"""
    inputs = [F32([3]), F32([2])]
    assert verdict(text, inputs, F32([1]), F32([4]), F32([0]), F32([-2]), contract="xla-cpu") is Verdict.NOT_JUDGED


def test_the_sign_of_zero_decides_only_where_it_is_kept() -> None:
    text = binary("divide", "tensor<1xf32>")
    inputs = [F32([1]), F32([0])]
    assert verdict(text, inputs, F32([-np.inf]), contract="strict") is Verdict.WRONG
    assert verdict(text, inputs, F32([-np.inf]), contract="xla-cpu") is Verdict.NOT_JUDGED


def test_long_chains_are_computed_again_as_a_whole() -> None:
    """Twenty products in bf16, each of which fused code leaves unrounded."""
    ops = "\n".join(f"%{i + 1} = stablehlo.multiply %{i}, %s : tensor<1xbf16>" for i in range(20))
    text = f"""func.func @main(%x: tensor<1xbf16>, %s: tensor<1xbf16>) -> tensor<1xbf16> {{
      %0 = stablehlo.multiply %x, %s : tensor<1xbf16>
      {ops}
      return %20 : tensor<1xbf16> }}"""
    x, s = np.array([1.0], BF16), np.array([1.0078125], BF16)
    values, unrounded = [x * s], float(x[0]) * float(s[0])
    for _ in range(20):
        values.append(values[-1] * s)
        unrounded *= float(s[0])
    last = np.array([unrounded], BF16)
    assert last != values[-1]
    assert verdict(text, [x, s], *values[:-1], last, contract="xla-cpu") is Verdict.PERMITTED
    assert verdict(text, [x, s], *values[:-1], last, contract="strict") is Verdict.WRONG


# --- reductions -----------------------------------------------------------------------------------------------------


def test_init_values_may_be_inserted_any_number_of_times() -> None:
    x = [F32([1, 2, 3])]
    for total in (6, 16, 26, 36):
        found = verdict(reduction("add", "f32", "10.0"), x, F32(total))
        assert found in (Verdict.SAME, Verdict.NOT_JUDGED)
    assert verdict(reduction("add", "f32", "0.0"), x, F32(16)) is Verdict.WRONG
    integers = [np.int32([1, 2, 3])]
    assert verdict(reduction("add", "i32", "10"), integers, np.int32(26)) is Verdict.NOT_JUDGED
    assert verdict(reduction("add", "i32", "0"), integers, np.int32(26)) is Verdict.WRONG


def test_extremes_are_with_or_without_the_init_value() -> None:
    text, x = reduction("maximum", "f32", "0.0"), [F32([-1, -2, -3])]
    assert verdict(text, x, F32(-1)) is Verdict.LEGAL
    assert verdict(text, x, F32(0.0)) is Verdict.SAME
    assert verdict(text, x, F32(-4)) is Verdict.WRONG
    assert verdict(reduction("maximum", "f32", "0xFF800000"), x, F32(0)) is Verdict.WRONG
    assert verdict(reduction("maximum", "f32", "0x7FC00000"), x, F32(-1)) is Verdict.NOT_JUDGED  # NaN, or left out


def test_products_are_bounded_unless_they_may_overflow() -> None:
    text = reduction("multiply", "f32", "1.0")
    assert verdict(text, [F32([1.1, 1.3, 1.7])], np.nextafter(F32(2.431), F32(3))) is not Verdict.WRONG
    assert verdict(text, [F32([1.1, 1.3, 1.7])], F32(2.44)) is Verdict.WRONG
    assert verdict(text, [F32([1e30, 1e30, 1e-30])], F32(np.inf)) is not Verdict.WRONG


def test_sums_in_the_type_of_the_body_are_legal() -> None:
    text = reduction("add", "bf16", "0.0", 512)
    assert verdict(text, [np.ones(512, BF16)], np.array(256, BF16)) is not Verdict.WRONG


# --- what the spec leaves open --------------------------------------------------------------------------------------


def test_choices_of_the_spec_are_not_judged() -> None:
    found = judged(binary("divide", "tensor<1xi32>"), [np.int32([1]), np.int32([0])], np.int32([7]))
    assert found.verdict is Verdict.NOT_JUDGED and "divided by zero" in found.reason
    text = unary("convert", "tensor<2xf32>", "tensor<2xi8>")
    assert verdict(text, [F32([300, 1])], np.int8([44, 1])) is not Verdict.WRONG
    assert verdict(text, [F32([100, 1])], np.int8([44, 1])) is Verdict.WRONG


def test_the_order_of_updates_is_open() -> None:
    text = """func.func @main(%x: tensor<2xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> tensor<2xf32> {
      %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          stablehlo.return %b : tensor<f32>
      }) : (tensor<2xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32> }"""
    same, apart = np.int32([[0], [0]]), np.int32([[0], [1]])
    assert verdict(text, [F32([0, 0]), same, F32([1, 2])], F32([1, 0])) is Verdict.NOT_JUDGED
    assert verdict(text, [F32([0, 0]), apart, F32([1, 2])], F32([2, 1])) is Verdict.WRONG


def sort(compare: str, stable: bool) -> str:
    return f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %r = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = {str(stable).lower()}}}> ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          {compare}
          stablehlo.return %c : tensor<i1>
      }}) : (tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32> }}"""


BY_VALUE = "%c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>"
BY_SIZE = """%s = stablehlo.abs %a : tensor<f32>
  %t = stablehlo.abs %b : tensor<f32>
  %c = stablehlo.compare LT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>"""


def test_elements_that_a_comparator_cannot_tell_apart_have_no_order() -> None:
    x, wrong = [F32([2, -2, 1, 0])], F32([1, 0, 2, -2])
    assert verdict(sort(BY_SIZE, False), x, F32([0, 1, -2, 2])) is Verdict.NOT_JUDGED
    assert verdict(sort(BY_SIZE, True), x, F32([0, 1, -2, 2])) is Verdict.WRONG
    assert verdict(sort(BY_VALUE, False), x, wrong) is Verdict.WRONG
    zeros = [F32([0.0, -0.0, 1, -1])]
    assert verdict(sort(BY_VALUE, False), zeros, F32([-1, -0.0, 0.0, 1])) is Verdict.LEGAL
    assert verdict(sort(BY_VALUE, True), zeros, F32([-1, -0.0, 0.0, 1])) is Verdict.WRONG
    assert verdict(sort(BY_VALUE, True), [F32([np.nan, 1, 0, 2])], F32([0, 1, np.nan, 2])) is Verdict.NOT_JUDGED


BY_TOTAL_ORDER = """%n = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %p = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %s = stablehlo.select %p, %n, %a : tensor<i1>, tensor<f32>
  %q = stablehlo.compare NE, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %t = stablehlo.select %q, %n, %b : tensor<i1>, tensor<f32>
  %c = stablehlo.compare LT, %s, %t, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>"""


def test_a_comparator_may_order_nan() -> None:
    """As JAX's does, which compares a number with itself to find NaN."""
    x = [F32([np.nan, 1, 0, 2])]
    assert verdict(sort(BY_TOTAL_ORDER, True), x, F32([0, 1, 2, 0])) is Verdict.WRONG
    assert verdict(sort(BY_TOTAL_ORDER, True), x, F32([0, 1, 2, np.nan])) is Verdict.SAME


def test_complex_results_at_infinities_are_open() -> None:
    text = binary("multiply", "tensor<1xcomplex<f32>>")
    x, y = np.complex64([complex(np.inf, 0)]), np.complex64([1j])
    assert verdict(text, [x, y], np.complex64([complex(np.nan, np.inf)])) in (Verdict.SAME, Verdict.NOT_JUDGED)
    assert verdict(text, [x, y], np.complex64([complex(0, np.inf)])) is Verdict.NOT_JUDGED
    large = np.complex64([3e38 + 3e38j])
    assert verdict(text, [large, large.conj()], np.complex64([complex(np.inf, np.nan)])) is Verdict.NOT_JUDGED
    assert verdict(text, [y, y], np.complex64([-1.001])) is Verdict.WRONG
    divided = binary("divide", "tensor<1xcomplex<f32>>")
    assert verdict(divided, [large, large], np.complex64([complex(np.nan, 0)])) is Verdict.NOT_JUDGED
    assert verdict(divided, [y, y], np.complex64([1.001])) is Verdict.WRONG


def test_parts_of_complex_numbers_have_its_error() -> None:
    text = """func.func @main(%x: tensor<1xcomplex<f32>>, %y: tensor<1xcomplex<f32>>) -> tensor<1xf32> {
      %0 = stablehlo.multiply %x, %y : tensor<1xcomplex<f32>>
      %1 = stablehlo.imag %0 : (tensor<1xcomplex<f32>>) -> tensor<1xf32>
      return %1 : tensor<1xf32> }"""
    x, y = np.complex64([1.1 + 2.3j]), np.complex64([0.7 - 1.3j])
    legal = np.nextafter((x * y).imag, F32(9))
    assert verdict(text, [x, y], x * y, legal, contract="xla-cpu") is Verdict.PERMITTED


def test_labels_of_special_values() -> None:
    cases = [
        (unary("abs", "tensor<1xf32>"), [1.0], [np.nan], "NaN"),
        (unary("abs", "tensor<1xf32>"), [1.0], [np.inf], "infinity"),
        (unary("negate", "tensor<1xf32>"), [0.0], [0.0], "sign of zero"),
        (unary("abs", "tensor<1xf32>"), [1e-40], [0.0], "subnormal"),
        (unary("abs", "tensor<1xf32>"), [1.0], [2.0], ""),
    ]
    for text, x, wrong, label in cases:
        excess = judged(text, [F32(x)], F32(wrong)).excess
        assert excess is not None and excess.special == label


# --- quantized ops, branches ----------------------------------------------------------------------------------------


def test_quantized_results_may_be_off_by_a_step() -> None:
    text = binary("add", "tensor<2x!quant.uniform<i8:f32, 0.1>>")
    inputs = [np.int8([10, 20]), np.int8([1, 2])]
    assert verdict(text, inputs, np.int8([11, 22])) is Verdict.SAME
    assert verdict(text, inputs, np.int8([12, 21])) is Verdict.LEGAL
    assert verdict(text, inputs, np.int8([13, 22])) is Verdict.WRONG
    moved = unary("negate", "tensor<2x!quant.uniform<i8:f32, 0.1>>").replace("negate %x", "reverse %x, dims = [0]")
    assert verdict(moved, inputs[:1], np.int8([20, 11])) is Verdict.WRONG


def test_conditionals_are_judged_by_the_branch_that_is_taken() -> None:
    text = """func.func @main(%p: tensor<i1>, %x: tensor<1xf32>) -> tensor<1xf32> {
      %r = "stablehlo.if"(%p) ({
        %0 = stablehlo.tanh %x : tensor<1xf32>
        %1 = stablehlo.add %0, %x : tensor<1xf32>
        stablehlo.return %1 : tensor<1xf32>
      }, {
        stablehlo.return %x : tensor<1xf32>
      }) : (tensor<i1>) -> tensor<1xf32>
      return %r : tensor<1xf32> }"""
    x = F32([0.3])
    legal = np.nextafter(np.tanh(x) + x, F32(1))
    assert verdict(text, [np.array(True), x], legal, contract="strict,elementary_ulps=4") is not Verdict.WRONG
    assert verdict(text, [np.array(True), x], x) is Verdict.WRONG
    assert verdict(text, [np.array(False), x], legal) is Verdict.WRONG


def test_random_numbers_are_not_judged() -> None:
    text = """func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>) {
      %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY
        : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
      return %0#0, %0#1 : tensor<2xui64>, tensor<4xui32> }"""
    state = np.uint64([1, 2])
    assert verdict(text, [state], state, np.zeros(4, np.uint32)) is Verdict.NOT_JUDGED
    assert verdict(text, [state], *sr.load(text).run(state)) is Verdict.SAME


def test_products_of_f64_may_be_fused_into_sums() -> None:
    text = """func.func @main(%x: tensor<1xf64>, %y: tensor<1xf64>, %z: tensor<1xf64>) -> tensor<1xf64> {
      %0 = stablehlo.multiply %x, %y : tensor<1xf64>
      %1 = stablehlo.add %0, %z : tensor<1xf64>
      return %1 : tensor<1xf64> }"""
    x = np.array([1 + 2.0**-30])
    z = -(x * x)  # 1 + 2^-29 + 2^-60, rounded
    once = np.array([2.0**-60])
    assert verdict(text, [x, x, z], x * x, once, contract="strict") is Verdict.WRONG
    for contract in ("strict,fma=true", "xla-cpu"):
        assert verdict(text, [x, x, z], x * x, once, contract=contract) is Verdict.PERMITTED
        assert verdict(text, [x, x, z], x * x, 2**20 * once, contract=contract) is Verdict.WRONG


def test_sorts_and_scatters_of_computed_operands_have_a_bound() -> None:
    """The order of what is sorted is not certain, but the n-th element is."""
    text = sort(BY_VALUE, False).replace("%r =", "%m = stablehlo.multiply %x, %x : tensor<4xf32>\n%r =", 1)
    text = text.replace('sort"(%x)', 'sort"(%m)')
    x = F32([1.1, 1.3, 1.7, 1.2])
    product, ordered = x * x, np.sort(x * x)
    assert verdict(text, [x], product, np.nextafter(ordered, F32(9)), contract="xla-cpu") is Verdict.PERMITTED
    assert verdict(text, [x], product, ordered[::-1].copy(), contract="xla-cpu") is Verdict.WRONG
    scatter = """func.func @main(%x: tensor<2xf32>, %i: tensor<1x1xi32>, %u: tensor<1xf32>) -> tensor<2xf32> {
      %v = stablehlo.multiply %u, %u : tensor<1xf32>
      %r = "stablehlo.scatter"(%x, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          stablehlo.return %b : tensor<f32>
      }) : (tensor<2xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32> }"""
    given, square = [F32([5, 6]), np.int32([[1]]), F32([1.1])], F32([1.1]) * F32([1.1])
    assert verdict(scatter, given, square, F32([5, 6]), contract="xla-cpu") is Verdict.WRONG


ARGMAX = """func.func @main(%x: tensor<3x4xi1>, %i: tensor<3x4xi32>) -> tensor<3xi32> {
  %f = stablehlo.constant dense<false> : tensor<i1>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %f), (%i init: %z) across dimensions = [1]
    : (tensor<3x4xi1>, tensor<3x4xi32>, tensor<i1>, tensor<i32>) -> (tensor<3xi1>, tensor<3xi32>)
    reducer(%a: tensor<i1>, %b: tensor<i1>) (%c: tensor<i32>, %d: tensor<i32>) {
      %gt = stablehlo.compare GT, %a, %b : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %eq = stablehlo.compare EQ, %a, %b : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %lt = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %tie = stablehlo.and %eq, %lt : tensor<i1>
      %first = stablehlo.or %gt, %tie : tensor<i1>
      %v = stablehlo.select %gt, %a, %b : tensor<i1>, tensor<i1>
      %n = stablehlo.select %first, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %v, %n : tensor<i1>, tensor<i32>
    }
  return %r#1 : tensor<3xi32> }"""


@pytest.mark.parametrize("contract", ["strict", "xla-cpu"])
def test_the_first_of_several_largest_elements(contract: str) -> None:
    """The init value (false, 0) is no identity: (false, 2) is less. It may win where a row has no element 0."""
    x = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
    whole = np.broadcast_to(np.arange(4, dtype=np.int32), (3, 4))
    for wrong in ([3, 0, 0], [2, 1, 0], [2, 0, 3]):
        assert verdict(ARGMAX, [x, whole], x.any(1), np.int32(wrong), contract=contract) is Verdict.WRONG
    later = whole + 1  # there is no element 0, so that 0 and 1 are legal in the row that has no largest element
    for legal in ([3, 0, 1], [3, 1, 1]):
        assert verdict(ARGMAX, [x, later], x.any(1), np.int32(legal), contract=contract) is not Verdict.WRONG
    assert verdict(ARGMAX, [x, later], x.any(1), np.int32([4, 0, 1]), contract=contract) is Verdict.WRONG


def test_outer_products_may_be_fused_as_multiplications() -> None:
    """XLA rewrites a dot product without contracted dimensions to `multiply`, which a sum may use unrounded."""
    text = """func.func @main(%x: tensor<1xf64>, %y: tensor<1xf64>, %z: tensor<1x1xf64>) -> tensor<1x1xf64> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<1xf64>, tensor<1xf64>) -> tensor<1x1xf64>
      %1 = stablehlo.add %0, %z : tensor<1x1xf64>
      return %1 : tensor<1x1xf64> }"""
    x = np.array([1 + 2.0**-30])
    product = np.outer(x, x)
    inputs = [x, x, -product]
    assert verdict(text, inputs, product, np.array([[2.0**-60]]), contract="strict") is Verdict.WRONG
    assert verdict(text, inputs, product, np.array([[2.0**-60]]), contract="xla-cpu") is Verdict.PERMITTED
    assert verdict(text, inputs, product, np.array([[1e-9]]), contract="xla-cpu") is Verdict.WRONG


def test_the_errors_of_a_row_do_not_count_in_others() -> None:
    """A mask of -1e9, whose ULP is 64, is in the first row only; no conversion to the same type rounds it."""
    text = """func.func @main(%p: tensor<2x2xi1>, %x: tensor<2x2xf32>, %y: tensor<f32>) -> tensor<2x2xf32> {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.convert %y : (tensor<f32>) -> tensor<f32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
      %2 = stablehlo.add %x, %x : tensor<2x2xf32>
      %3 = stablehlo.select %p, %2, %1 : tensor<2x2xi1>, tensor<2x2xf32>
      %4 = stablehlo.reduce(%3 init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
      %6 = stablehlo.subtract %3, %5 : tensor<2x2xf32>
      %7 = stablehlo.exponential %6 : tensor<2x2xf32>
      return %7 : tensor<2x2xf32> }"""
    mask, x, y = np.array([[True, False], [True, True]]), F32([[1, 2], [3, 4]]), F32(-1e9)
    twice, masked = x + x, np.where(mask, x + x, y)
    most = masked.max(1, keepdims=True)
    apart = masked - most
    values = [y, np.full_like(x, y), twice, masked, most[:, 0], most + np.zeros_like(x), apart]
    for legal in (np.exp(apart), np.exp(apart) * F32(1 + 2.0**-21)):
        assert verdict(text, [mask, x, y], *values, legal, contract="xla-cpu") is not Verdict.WRONG
    wrong = np.exp(apart) * [[1], [0]]
    assert verdict(text, [mask, x, y], *values, wrong.astype(F32), contract="xla-cpu") is Verdict.WRONG
