"""Unusual programs and inputs: the answer is a result, or an error with a location and a reason."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.arrays.descriptions import value_text
from stablehlo_ref.debug.traces.observe import Profile
from stablehlo_ref.ir.types import FloatType, tensor_type

NEGATE = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
READ = """
func.func @main() -> tensor<f32> {
  %token = stablehlo.create_token : !stablehlo.token
  %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  return %0#0 : tensor<f32>
}
"""
ONES = np.ones(2, np.float32)
LARGE = 40_000_000_000  # more elements than fit into memory, if they were not all the same


def rejection(text: str, *arrays: Any, error: type[sr.StablehloError] = sr.InvalidError) -> str:
    """Return the message of the error, which must have a location."""
    with pytest.raises(error) as caught:
        sr.load(text).run(*arrays)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.line is not None
    return diagnostic.message


# --- arguments from Python --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"limits": 3},
        {"limits": {}},
        {"observer": "x"},
        {"custom_calls": 5},
        {"custom_calls": []},
        {"overrides": [("my.op", len)]},
        {"check_overrides": ONES},
    ],
    ids=str,
)
def test_rejects_options_of_another_type(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(TypeError, match=f"^{name} must be "):
        sr.load(NEGATE).run(ONES, **options)
    with pytest.raises(TypeError, match=f"^{name} must be "):
        sr.load(NEGATE).run_parallel([[ONES]], **options)


def test_option_none_is_the_default() -> None:
    none: Any = dict.fromkeys(("limits", "observer", "custom_calls", "overrides", "check_overrides"))
    np.testing.assert_array_equal(sr.load(NEGATE).run(ONES, **none), [-ONES])
    np.testing.assert_array_equal(sr.load(NEGATE).run_parallel([[ONES]], **none), [[-ONES]])


@pytest.mark.parametrize(
    "options",
    [
        {"infeed": 5},
        {"outfeed": ()},
        {"inputs_per_process": 5},
        {"inputs_per_process": {0: [ONES]}},
        {"num_replicas": 1.0},
        {"num_partitions": "1"},
    ],
    ids=str,
)
def test_rejects_grid_options_of_another_type(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(TypeError, match=f"^{name} must be "):
        sr.load(NEGATE).run_parallel(**{"inputs_per_process": [[ONES]]} | options)


@pytest.mark.parametrize("given", [5, None, ONES[0]])
def test_inputs_of_a_process_of_another_type(given: Any) -> None:
    with pytest.raises(TypeError, match=r"inputs_per_process must be Sequence\[Sequence\["):
        sr.load(NEGATE).run_replicas([given])


@pytest.mark.parametrize("count", [0, -1])
def test_rejects_grids_without_processes(count: int) -> None:
    with pytest.raises(sr.EvaluationError, match="expected a grid of 1 to "):
        sr.load(NEGATE).run_parallel([[ONES]], num_partitions=count)
    program = sr.load(f"module attributes {{mhlo.num_replicas = {count} : i32}} {{{NEGATE}}}")
    with pytest.raises(sr.EvaluationError, match="expected a grid of 1 to ") as caught:
        program.run_parallel([[ONES]])
    assert caught.value.diagnostics[0].line == 2


def test_ignores_grid_size_attributes_that_are_not_integers() -> None:
    program = sr.load(f"module attributes {{mhlo.num_replicas = 2.5 : f32}} {{{NEGATE}}}")
    assert len(program.run_replicas([[ONES], [ONES]])) == 2


def test_reports_exceptions_of_the_infeed() -> None:
    def values() -> Iterator[Any]:
        yield from ()
        raise KeyError("no more")

    with pytest.raises(sr.EvaluationError, match="the infeed raised KeyError: 'no more'"):
        sr.load(READ).run_parallel([[]], infeed=values())


@pytest.mark.parametrize("name", ["max_bytes", "max_depth", "max_steps", "max_seconds"])
def test_limits_are_positive_numbers(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} must be a number"):
        sr.Limits(**{name: "1"})  # type: ignore[arg-type]
    for value in (0, -1, float("nan")):
        with pytest.raises(ValueError, match=f"^{name} must be a positive number"):
            sr.Limits(**{name: value})  # type: ignore[arg-type]


def test_limit_reached_while_planning_is_reported_at_the_op() -> None:
    with pytest.raises(sr.EvaluationError, match="takes longer") as caught:
        sr.load(NEGATE).run(ONES, limits=sr.Limits(max_seconds=1e-9))
    assert caught.value.diagnostics[0].line == 3


def test_text_of_another_type() -> None:
    with pytest.raises(TypeError, match=r"text must be str \| bytes \| bytearray \| memoryview, got 5"):
        sr.parse(5)  # type: ignore[arg-type]


# --- extreme numbers and sizes ----------------------------------------------------------------------------------------


def constant(type: str, op: str) -> str:
    one = "1.0" if "f" in type else "1"
    return f"func.func @main() {{\n  %c = stablehlo.constant dense<{one}> : {type}\n  {op}\n  return\n}}"


def test_rejects_integers_of_more_than_64_bits() -> None:
    close = "check.expect_close %c, %c, max_ulp_difference = 18446744073709551616 : tensor<f32>, tensor<f32>"
    with pytest.raises(sr.MalformedError, match="integer value too large"):
        sr.load(constant("tensor<f32>", close))
    for attribute in ("18446744073709551616 : i64", "-9223372036854775809", "[18446744073709551616]"):
        custom_call = f"stablehlo.custom_call @f(%c) {{a = {attribute}}} : (tensor<f32>) -> ()"
        with pytest.raises(sr.MalformedError, match="integer constant out of range for attribute"):
            sr.load(constant("tensor<f32>", custom_call))


def test_rejects_attributes_of_more_than_64_bits() -> None:
    close = '"check.expect_close"(%c, %c) {max_ulp_difference = 18446744073709551616 : i128}'
    text = constant("tensor<f32>", f"{close} : (tensor<f32>, tensor<f32>) -> ()")
    assert rejection(text).endswith("attribute 'max_ulp_difference' must be a 64-bit integer")
    listed = '%0 = "stablehlo.reverse"(%c) {dimensions = [18446744073709551616 : i128]}'
    text = constant("tensor<2xf32>", f"{listed} : (tensor<2xf32>) -> tensor<2xf32>")
    assert rejection(text).endswith("attribute 'dimensions' must be a list of 64-bit integers")


def test_rejects_booleans_as_dimensions() -> None:
    reverse = '%0 = "stablehlo.reverse"(%c) {dimensions = array<i1: false>} : (tensor<2xf32>) -> tensor<2xf32>'
    assert rejection(constant("tensor<2xf32>", reverse)).endswith("must be a list of 64-bit integers")


@pytest.mark.parametrize(
    "op",
    [
        f'"stablehlo.reverse"(%c) {{dimensions = dense<0> : tensor<{LARGE}xi64>}}',
        f'"stablehlo.collective_permute"(%c) {{source_target_pairs = dense<0> : tensor<{LARGE}x2xi64>}}',
        f'"stablehlo.collective_permute"(%c) {{source_target_pairs = dense<> : tensor<{LARGE}x0xi64>}}',
    ],
)
def test_rejects_splats_as_long_lists(op: str) -> None:
    text = constant("tensor<2xf32>", f"%0 = {op} : (tensor<2xf32>) -> tensor<2xf32>")
    assert rejection(text).endswith("elements, more than the limit of 1048576 for a list")


@pytest.mark.parametrize("shape", ["arguments", "constant"])
def test_rejects_shapes_of_too_many_dimensions(shape: str) -> None:
    sizes = f"tensor<{LARGE}xi64>"
    reshape = f"%0 = stablehlo.dynamic_reshape %a, %s : (tensor<f32>, {sizes}) -> tensor<?xf32>"
    given = f", %s: {sizes}" if shape == "arguments" else ""
    made = f"%s = stablehlo.constant dense<1> : {sizes}" if shape == "constant" else ""
    text = f"func.func @main(%a: tensor<f32>{given}) {{\n  {made}\n  {reshape}\n  return\n}}"
    assert "(C4): size(output_shape) == rank(result)" in rejection(text)


def test_messages_omit_the_elements_of_large_literals() -> None:
    type = f"tensor<{'2x' * 40}f32>"
    text = f"ml_program.global private @g(dense<0.0> : {type}) : tensor<2xf32>\n"
    assert rejection(text).startswith("'ml_program.global' op (")


def test_runs_on_any_number_of_empty_matrices() -> None:
    type = f"tensor<{1 << 40}x0x0xf32>"
    text = f"func.func @main(%a: {type}) -> {type} {{\n  %0 = stablehlo.cholesky %a, lower = true : {type}\n"
    a = np.empty((1 << 40, 0, 0), np.float32)
    assert sr.load(f"{text}  return %0 : {type}\n}}").run(a)[0].shape == a.shape


def test_limits_the_size_of_constants() -> None:
    size = 1 << 50
    fold = "stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0]"
    zero = "%z = stablehlo.constant dense<0> : tensor<i8>"
    text = constant(f"tensor<{size}xi8>", f"{zero}\n  %0 = {fold} : (tensor<{size}xi8>, tensor<i8>) -> tensor<i8>")
    assert "is larger than the limit" in rejection(text, error=sr.EvaluationError)


def test_rejects_huge_literals_of_empty_lists() -> None:
    type = f"tensor<0x{LARGE}xi64>"
    text = f"func.func @main() -> {type} {{\n  %0 = stablehlo.constant dense<[]> : {type}\n  return %0 : {type}\n}}"
    assert sr.load(text).run()[0].shape == (0, LARGE)


@pytest.mark.parametrize("word", [".-0", ".5", "-.5", "+.5"])
@pytest.mark.parametrize("others", ["0.25", "4.9e-324"])
def test_rejects_literals_without_digits_before_the_point(word: str, others: str) -> None:
    text = constant("tensor<f32>", f"%0 = stablehlo.constant dense<[{others}, {word}]> : tensor<2xf64>")
    assert f"'{word}'" in rejection(text, error=sr.MalformedError)


def test_prints_arrays_of_60_dimensions() -> None:
    type = f"tensor<{'2x' * 60}i32>"
    program = sr.load(f"func.func @main() {{\n  %0 = stablehlo.constant dense<7> : {type}\n  return\n}}")
    assert f"dense<7> : {type}" in str(program)


def test_prints_many_empty_arrays() -> None:
    type = tensor_type((LARGE, 0), FloatType("f32"))
    assert value_text(type, np.empty((LARGE, 0), np.float32)) == f"{type} {{...}}"


def test_prints_signaling_nans() -> None:
    text = constant("tensor<f32>", "%0 = stablehlo.constant dense<[0x7F89, 1.0]> : tensor<2xbf16>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "dense<[0x7F89, 1.000000e+00]> : tensor<2xbf16>" in str(sr.load(text))


def test_accepts_the_largest_index() -> None:
    text = "func.func @main() {\n  %0 = arith.constant 18446744073709551615 : index\n  return\n}"
    assert sr.load(text).run() == ()


# --- run-time sizes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["broadcast_add", "broadcast_select"])
def test_reports_runtime_sizes_that_do_not_broadcast(op: str) -> None:
    types = "tensor<?xf32>, tensor<3xf32>"
    name, condition = ("%c, ", "tensor<1xi1>, ") if op == "broadcast_select" else ("", "")
    text = f"""func.func @main(%a: tensor<?xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {{
  %c = stablehlo.constant dense<true> : tensor<1xi1>
  %0 = "chlo.{op}"({name}%a, %b) : ({condition}{types}) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""
    message = rejection(text, np.ones(4, np.float32), np.ones(3, np.float32), error=sr.EvaluationError)
    assert "do_broadcast(" in message


def test_checks_sizes_before_implementation_defined_choices() -> None:
    text = """
func.func @main(%a: tensor<?xi32>, %b: tensor<3xi32>) -> tensor<?xi32> {
  %0 = stablehlo.divide %a, %b : (tensor<?xi32>, tensor<3xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
"""
    with pytest.raises(sr.EvaluationError, match=r"\(C1\)"):
        sr.load(text).run(np.ones(4, np.int32), np.ones(3, np.int32), on_implementation_defined="error")


def test_rejects_gather_with_too_few_result_dimensions() -> None:
    gather = (
        '%0 = "stablehlo.gather"(%c, %c) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], '
        "collapsed_slice_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> "
        ": (tensor<2xi32>, tensor<2xi32>) -> tensor<2x1x1xi32>"
    )
    assert "(C22): shape(result) == shape(infer())" in rejection(constant("tensor<2xi32>", gather))


# --- element types without numpy views --------------------------------------------------------------------------------


def test_reduces_long_windows_of_f8E5M2() -> None:
    type = "tensor<3000xf8E5M2>"
    text = f"""func.func @main(%a: {type}) -> tensor<2xf8E5M2> {{
  %low = stablehlo.constant dense<-1.0> : tensor<f8E5M2>
  %0 = "stablehlo.reduce_window"(%a, %low) ({{
  ^bb0(%x: tensor<f8E5M2>, %y: tensor<f8E5M2>):
    %s = stablehlo.maximum %x, %y : tensor<f8E5M2>
    stablehlo.return %s : tensor<f8E5M2>
  }}) {{window_dimensions = array<i64: 2999>}} : ({type}, tensor<f8E5M2>) -> tensor<2xf8E5M2>
  return %0 : tensor<2xf8E5M2>
}}"""
    a = np.zeros(3000, ml_dtypes.float8_e5m2)
    a[0], a[-1] = 3, 2
    assert sr.load(text).run(a)[0].tolist() == [3, 2]


def test_einsum_takes_the_diagonal_of_f8E5M2() -> None:
    types = "(tensor<2x2xf8E5M2>, tensor<f8E5M2>) -> tensor<2xf8E5M2>"
    text = f"""func.func @main(%a: tensor<2x2xf8E5M2>, %b: tensor<f8E5M2>) -> tensor<2xf8E5M2> {{
  %0 = stablehlo.einsum %a, %b, config = "aa,->a" : {types}
  return %0 : tensor<2xf8E5M2>
}}"""
    a = np.array([[1, 2], [3, 4]], ml_dtypes.float8_e5m2)
    assert sr.load(text).run(a, a.dtype.type(2))[0].tolist() == [2, 8]


# --- observers --------------------------------------------------------------------------------------------------------


def test_statistics_count_ops_of_a_grid() -> None:
    text = """
func.func @each(%a: tensor<1xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<1xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @main(%a: tensor<1xf32>) {
  %0:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@each], [@each]]}
    : (tensor<1xf32>, tensor<1xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
"""
    profile = Profile()
    sr.load(text).run(ONES[:1], observer=profile)
    counts = {op: count for op, (_, count) in profile.by_op().items()}
    assert counts == {"stablehlo.all_gather": 2, "interpreter.run_parallel": 1}


# --- large grids ------------------------------------------------------------------------------------------------------


def test_grid_time_is_not_quadratic_in_processes() -> None:
    count = 1 << 14
    sharding = f'mhlo.sharding = "{{devices=[2,{count // 2}]<=[{count}] last_tile_dim_replicate}}"'
    text = f"""
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = stablehlo.custom_call @Sharding(%a) {{{sharding}}} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) : (tensor<2xf32>) -> tensor<1xf32>
  %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {{{sharding}}} : (tensor<1xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}}
"""
    start = perf_counter()
    np.testing.assert_array_equal(sr.load(text).run(np.array([1, 2], np.float32))[0], [1, 2])
    assert perf_counter() - start < 20  # it takes one, and took minutes


@pytest.mark.parametrize("when", ["before", "after"])
def test_reports_exceptions_of_the_observer(when: str) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("mine")

    observer = sr.Observer()
    setattr(observer, when, fail)
    with pytest.raises(sr.EvaluationError, match="the observer raised KeyError: 'mine'") as raised:
        sr.load(NEGATE).run(ONES, observer=observer)
    assert raised.value.diagnostics[0].location is not None
