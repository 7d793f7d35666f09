"""Where NaN and infinities come from, in programs whose findings are known by hand."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.debug.exceptions import ExceptionKind, Exceptions, Finding, Reach, exceptions, exceptions_parallel
from stablehlo_ref.diagnostics import ArgumentValueError

F32 = np.float32


def run(body: str, *inputs: Any, kinds: str = "nan,inf", types: str = "tensor<4xf32>", **options: Any) -> Exceptions:
    """Run the body of a function of %x, and of %y if there are two inputs, that returns %r."""
    names = ", ".join(f"%{name}: {types}" for name in "xy"[: len(inputs)])
    result = options.pop("result", types)
    program = sr.parse(f"func.func @main({names}) -> {result} {{\n{body}\n  return %r : {result}\n}}")
    return exceptions(program, *inputs, kinds=kinds, **options)


def only(found: Exceptions, kind: ExceptionKind) -> Finding:
    (finding,) = [f for f in found.findings if f.kind is kind]
    return finding


def test_nan_of_log_that_a_select_removes_is_harmless() -> None:
    found = run(
        """
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %log = stablehlo.log %x : tensor<4xf32>
  %is = stablehlo.compare GE, %x, %zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r = stablehlo.select %is, %log, %zero : tensor<4xi1>, tensor<4xf32>""",
        np.array([1, -1, 2, -3], F32),
    )
    (finding,) = found.findings
    assert found.is_harmless and finding.kind is ExceptionKind.NAN and finding.reach is Reach.MASKED
    assert (finding.place.name, finding.place.op, finding.elements) == ("%log", "stablehlo.log", 2)
    assert finding.first.index == (1,) and finding.first.operands == ("-1.000000e+00",)
    (kill,) = finding.removed
    assert (kill.place.name, kill.elements, kill.exact, kill.first) == ("%r", 2, True, ("%r", (1,)))
    assert [place.name for place in finding.slice.inputs] == ["%x"]


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "kind"),
    [
        ("divide", 0.0, 0.0, ExceptionKind.NAN),
        ("divide", 1.0, 0.0, ExceptionKind.DIVISION),
        ("divide", 3e38, 0.1, ExceptionKind.OVERFLOW),
        ("multiply", 3e38, 3e38, ExceptionKind.OVERFLOW),
        ("power", 0.0, -1.0, ExceptionKind.DIVISION),
        ("power", 10.0, 39.0, ExceptionKind.OVERFLOW),
        ("power", -2.0, 0.5, ExceptionKind.NAN),
        ("remainder", 1.0, 0.0, ExceptionKind.NAN),
    ],
)
def test_generations_of_binary_ops(op: str, lhs: float, rhs: float, kind: ExceptionKind) -> None:
    x, y = np.array([1, 1, lhs, 1], F32), np.array([1, 1, rhs, 1], F32)
    found = run(f"  %r = stablehlo.{op} %x, %y : tensor<4xf32>", x, y)
    (finding,) = found.findings
    assert (finding.kind, finding.reach, finding.outputs) == (kind, Reach.OUTPUT, (0,))
    assert (finding.elements, finding.first.index, finding.exact) == (1, (2,), True)


@pytest.mark.parametrize(
    ("op", "x", "kind"),
    [
        ("stablehlo.log", 0.0, ExceptionKind.DIVISION),
        ("stablehlo.log_plus_one", -1.0, ExceptionKind.DIVISION),
        ("stablehlo.rsqrt", 0.0, ExceptionKind.DIVISION),
        ("stablehlo.sqrt", -1.0, ExceptionKind.NAN),
        ("stablehlo.exponential", 89.0, ExceptionKind.OVERFLOW),
        ("chlo.atanh", 1.0, ExceptionKind.DIVISION),
        ("chlo.lgamma", -2.0, ExceptionKind.DIVISION),
    ],
)
def test_generations_of_unary_ops(op: str, x: float, kind: ExceptionKind) -> None:
    text = f"%r = {op} %x : tensor<4xf32>" + (" -> tensor<4xf32>" if op.startswith("chlo") else "")
    assert run(text, np.array([0.5, 0.5, 0.5, x], F32)).findings[0].kind is kind


def test_infinities_of_inputs_become_nan() -> None:
    inf = np.array([np.inf, 1, np.inf, 2], F32)
    found = run("  %r = stablehlo.subtract %x, %y : tensor<4xf32>", inf, np.array([np.inf, 1, 2, 2], F32))
    nan, inputs = only(found, ExceptionKind.NAN), [f for f in found.findings if f.kind is ExceptionKind.INPUT]
    assert nan.elements == 1 and nan.reach is Reach.OUTPUT
    assert [(f.place.name, f.elements, f.outputs) for f in inputs] == [("%x", 2, (0,)), ("%y", 1, (0,))]


def test_overflow_of_exp_vanishes_in_a_quotient() -> None:
    found = run(
        """
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %exp = stablehlo.exponential %x : tensor<4xf32>
  %r = stablehlo.divide %one, %exp : tensor<4xf32>""",
        np.array([0, 89, 1, 100], F32),
    )
    (finding,) = found.findings
    assert (finding.kind, finding.elements, finding.reach) == (ExceptionKind.OVERFLOW, 2, Reach.MASKED)
    assert [(kill.place.name, kill.elements) for kill in finding.removed] == [("%r", 2)]


SOFTMAX = """
func.func @main(%x: tensor<2x3xf32>, %keep: tensor<2x3xi1>) -> tensor<2x3xf32> {
  %minus = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %all = stablehlo.broadcast_in_dim %minus, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %masked = stablehlo.select %keep, %x, %all : tensor<2x3xi1>, tensor<2x3xf32>
  %max = stablehlo.reduce(%masked init: %minus) applies stablehlo.maximum across dimensions = [1]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %wide = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %shifted = stablehlo.subtract %masked, %wide : tensor<2x3xf32>
  %exp = stablehlo.exponential %shifted : tensor<2x3xf32>
  %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %r = stablehlo.divide %exp, %sums : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
"""


def test_masked_softmax_is_harmless() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], F32)
    found = exceptions(sr.parse(SOFTMAX), x, np.array([[True, True, False], [True, False, True]]))
    (finding,) = found.findings
    assert found.is_harmless and (finding.kind, finding.reach) == (ExceptionKind.CONSTANT, Reach.MASKED)
    assert [effect.place.name for effect in finding.propagated] == ["%all", "%masked", "%shifted"]
    removes = {kill.place.name: kill.elements for kill in finding.removed}
    assert removes == {
        "%masked": 4,
        "%max": 3,
        "%exp": 2,
    }  # 4 of %all are not chosen; 2 of %masked and the initial value


def test_softmax_of_a_row_that_is_all_masked_is_nan() -> None:
    found = exceptions(sr.parse(SOFTMAX), np.ones((2, 3), F32), np.array([[True] * 3, [False] * 3]))
    finding = only(found, ExceptionKind.NAN)
    assert not found.is_harmless and finding is found.findings[0]
    assert (finding.place.name, finding.elements, finding.first.index) == ("%shifted", 3, (1, 0))
    assert finding.first.operands == ("-inf", "-inf")


LOOP = """
func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:3 = stablehlo.while(%i = %n, %v = %x, %old = %x) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
    cond {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %more = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.subtract %i, %one : tensor<i32>
      %square = func.call @square(%v) : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %next, %square, %v : tensor<i32>, tensor<2xf32>, tensor<2xf32>
    }
  return %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>
}
func.func private @square(%v: tensor<2xf32>) -> tensor<2xf32> {
  %s = stablehlo.multiply %v, %v : tensor<2xf32>
  return %s : tensor<2xf32>
}
"""


def test_turns_of_loops_and_calls() -> None:
    program = sr.parse(LOOP)
    x = np.array([2, 1e10], F32)  # 1e10, 1e20, inf
    first = only(exceptions(program, x, 2, kinds="inf"), ExceptionKind.OVERFLOW)
    assert (first.first.address, first.first.turns, first.first.index) == ("%0[1]/%square/%s", (1,), (1,))
    assert (first.outputs, first.elements) == ((0,), 1)
    assert [place.name for place in first.slice.inputs] == ["%x"]
    later = only(exceptions(program, x, 3, kinds="inf"), ExceptionKind.OVERFLOW)
    assert later.outputs == (0, 1) and later.elements == 1  # inf * inf is passed on
    assert [(e.place.name, e.elements) for e in later.propagated] == [("@square/%s", 1)]


@pytest.mark.parametrize(("flag", "count"), [(True, 1), (False, 0)])
def test_branches(flag: bool, count: int) -> None:
    program = sr.parse("""
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %log = stablehlo.log %x : tensor<f32>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %log : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}""")
    found = exceptions(program, flag, F32(-1), kinds="nan")
    assert len(found.reaching(Reach.OUTPUT)) == count and only(found, ExceptionKind.NAN).elements == 1


def test_blocks_of_a_graph() -> None:
    program = sr.parse("""
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %log = stablehlo.log %x : tensor<f32>
  cf.br ^bb1(%log : tensor<f32>)
^bb1(%a: tensor<f32>):
  %twice = stablehlo.add %a, %a : tensor<f32>
  return %twice : tensor<f32>
}""")
    assert only(exceptions(program, F32(-1)), ExceptionKind.NAN).reach is Reach.OUTPUT


def test_elements_that_a_slice_drops_are_followed_one_by_one() -> None:
    body = """
  %log = stablehlo.log %x : tensor<4xf32>
  %root = stablehlo.sqrt %y : tensor<4xf32>
  %both = stablehlo.concatenate %log, %root, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %turned = stablehlo.reverse %both, dims = [0] : tensor<8xf32>
  %r = stablehlo.slice %turned [0:4] : (tensor<8xf32>) -> tensor<4xf32>"""
    found = run(body, np.array([-1, 1, 1, 1], F32), np.array([1, 1, -1, 1], F32))
    reach = {finding.place.name: finding.reach for finding in found.findings}
    assert reach == {"%root": Reach.OUTPUT, "%log": Reach.MASKED}
    (kill,) = found.findings[1].removed
    assert (kill.place.name, kill.elements) == ("%r", 1)


MOVES = """
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<3xf32>) {
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %log = stablehlo.log %x : tensor<4xf32>
  %part = stablehlo.dynamic_slice %log, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %new = stablehlo.dynamic_update_slice %log, %zero, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %at = stablehlo.constant dense<[[0], [0]]> : tensor<2x1xi32>
  %taken = "stablehlo.gather"(%log, %at) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>, indices_are_sorted = false
  }> : (tensor<4xf32>, tensor<2x1xi32>) -> tensor<2xf32>
  %padded = stablehlo.pad %log, %nan, low = [-2], high = [1], interior = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
  return %part, %new, %taken, %padded : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<3xf32>
}
"""


def test_count_removed_of_moves_are_counted_element_by_element() -> None:
    found = exceptions(sr.parse(MOVES), np.array([-1, -1, -1, 1], F32), 1, kinds="nan")
    log, constant = only(found, ExceptionKind.NAN), only(found, ExceptionKind.CONSTANT)
    passed = {effect.place.name: effect.elements for effect in log.propagated}
    removed = {effect.place.name: (effect.elements, effect.first[1], effect.exact) for effect in log.removed}
    assert passed == {"%part": 2, "%new": 1, "%taken": 2, "%padded": 2}  # one of %padded is the padding
    assert removed == {"%part": (1, (0,), True), "%new": (2, (1,), True), "%taken": (2, (1,), True),
                      "%padded": (2, (0,), True)}  # fmt: skip
    assert constant.outputs == (3,) and log.outputs == (0, 1, 2, 3)


def test_rows_of_a_dot_are_followed_one_by_one() -> None:
    body = """
  %log = stablehlo.log %x : tensor<2x2xf32>
  %root = stablehlo.sqrt %y : tensor<2x2xf32>
  %dot = stablehlo.dot_general %log, %root, contracting_dims = [1] x [0]
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = stablehlo.slice %dot [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>"""
    x, y = np.array([[1, 1], [-1, 1]], F32), np.array([[1, 1], [1, -1]], F32)
    found = run(body, x, y, types="tensor<2x2xf32>", result="tensor<1x2xf32>")
    reach = {finding.place.name: finding.reach for finding in found.findings}
    assert reach == {"%root": Reach.OUTPUT, "%log": Reach.MASKED}


def test_dot_overflows_and_a_maximum_count_removed() -> None:
    body = """
  %dot = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0]
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %most = stablehlo.constant dense<6.0> : tensor<f32>
  %r = stablehlo.minimum %dot, %most : tensor<f32>"""
    finding = only(run(body, np.full(4, 1.8e19, F32), result="tensor<f32>"), ExceptionKind.OVERFLOW)
    assert (finding.reach, finding.exact, finding.first.index) == (Reach.MASKED, False, ())
    assert finding.removed[0].place.op == "stablehlo.minimum"


def test_underflow() -> None:
    found = run("  %r = stablehlo.multiply %x, %x : tensor<4xf32>", np.array([1e-20, 0, 1e-30, 1], F32), kinds="all")
    (finding,) = found.findings
    assert (finding.kind, finding.elements, finding.reach) == (ExceptionKind.UNDERFLOW, 2, Reach.NOT_FOLLOWED)
    assert run(
        "  %r = stablehlo.exponential %x : tensor<4xf32>", np.array([0, -200, 0, -np.inf], F32), kinds="underflow"
    )
    x = np.array([1, 1, -200, 1], ml_dtypes.bfloat16)
    found = run("  %r = stablehlo.exponential %x : tensor<4xbf16>", x, kinds="all", types="tensor<4xbf16>")
    assert only(found, ExceptionKind.UNDERFLOW).first.index == (2,)


def test_cancellation_of_differences_and_sums() -> None:
    body = "  %r = stablehlo.subtract %x, %y : tensor<4xf32>"
    x, y = np.array([1, 2, 1 + 2**-20, 4], F32), np.array([3, 2, 1, 4 - 2**-5], F32)
    (finding,) = run(body, x, y, kinds="cancellation").findings  # 2 - 2 is exactly zero
    assert finding.kind is ExceptionKind.CANCELLATION
    assert (finding.elements, finding.lost_bits, finding.first.index) == (1, 20, (2,))
    assert not run(body, x, y, kinds="cancellation", threshold=21).findings
    assert run(body, x, y, kinds="cancellation", threshold=7).findings[0].elements == 2
    reduce = """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>"""
    given = np.array([2**20, 1, -(2**20), 0], F32)
    (finding,) = run(reduce, given, kinds="cancellation", result="tensor<f32>").findings
    assert (finding.lost_bits, finding.exact) == (21, False)


def test_cancellation_in_dots() -> None:
    draw = np.random.default_rng(0)
    x, y = draw.standard_normal((2, 3, 8)).astype(F32), draw.standard_normal((2, 8, 5)).astype(F32)
    program = sr.parse("""
func.func @main(%x: tensor<2x3x8xf32>, %y: tensor<2x8x5xf32>) -> tensor<2x3x5xf32> {
  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x3x8xf32>, tensor<2x8x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}""")
    ratio = np.log2((np.abs(x).astype(float) @ np.abs(y)) / np.abs(x.astype(float) @ y))
    assert not exceptions(program, x, y, threshold=int(ratio.max()) + 1).findings
    finding = only(exceptions(program, x, y, threshold=3), ExceptionKind.CANCELLATION)
    assert (finding.elements, finding.lost_bits) == ((ratio >= 3).sum(), int(ratio.max()))
    assert finding.first.index == tuple(np.argwhere(ratio >= 3)[0])


def test_folded_constants_and_returned_inputs() -> None:
    found = run(
        """
  %minus = stablehlo.constant dense<-1.0> : tensor<f32>
  %r = stablehlo.log %minus : tensor<f32>""",
        np.zeros(4, F32),
        result="tensor<f32>",
    )
    assert (found.findings[0].place.name, found.findings[0].slice.constants[0].name) == ("%r", "%minus")
    program = sr.parse("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}")
    finding = only(exceptions(program, np.array([1, np.nan], F32)), ExceptionKind.INPUT)
    assert (finding.reach, finding.place.name) == (Reach.OUTPUT, "%x")


def test_processes_of_a_grid() -> None:
    program = sr.parse("""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %log = stablehlo.log %x : tensor<2xf32>
  %sum = "stablehlo.all_reduce"(%log) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %sum : tensor<2xf32>
}""")
    inputs = [[np.array([1, 2], F32)], [np.array([1, -2], F32)]]
    found = exceptions_parallel(program, inputs, num_replicas=2)
    (finding,) = found.findings  # in process (0, 0), NaN comes from the other
    assert (finding.kind, finding.reach, finding.processes) == (ExceptionKind.NAN, Reach.OUTPUT, ((1, 0),))
    assert finding.first.process == (1, 0)
    assert [(e.place.name, e.elements, e.runs) for e in finding.propagated] == [("%sum", 2, 2)]


def test_sharded_regions() -> None:
    program = sr.parse("""
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>]
      manual_axes={"a"} (%part: tensor<2xf32>) {
    %log = stablehlo.log %part : tensor<2xf32>
    sdy.return %log : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}""")
    finding = only(exceptions(program, np.array([1, 2, 3, -4], F32)), ExceptionKind.NAN)
    assert (finding.place.name, finding.reach, finding.elements) == ("%log", Reach.OUTPUT, 1)
    assert finding.first.process == (0, 1) and finding.first.index == (1,)


def test_more_sources_than_bits() -> None:
    logs = "".join(f"  %l{i} = stablehlo.log %x : tensor<4xf32>\n" for i in range(70))
    sums = "  %s0 = stablehlo.add %l0, %l1 : tensor<4xf32>\n" + "".join(
        f"  %s{i} = stablehlo.add %s{i - 1}, %l{i + 1} : tensor<4xf32>\n" for i in range(1, 69)
    )
    found = run(f"{logs}{sums}  %r = stablehlo.negate %s68 : tensor<4xf32>", np.array([-1, 1, 1, 1], F32))
    assert len(found.reaching(Reach.OUTPUT)) == 70


def test_nothing_is_found_in_an_ordinary_run() -> None:
    found = run("  %r = stablehlo.add %x, %x : tensor<4xf32>", np.ones(4, F32), kinds="all")
    assert found.findings == [] and str(found).startswith("no exceptions; looked for nan, overflow")


def test_json_and_text() -> None:
    found = run("  %r = stablehlo.log %x : tensor<4xf32>", np.array([1, -1, 0, 1], F32))
    made = json.loads(found.to_json())
    assert [finding["kind"] for finding in made["findings"]] == ["nan", "division-by-zero"]
    assert made["schema"] == 1 and not made["harmless"]
    text = str(found)
    assert text.startswith("2 sources of exceptions: 2 to an output; looked for nan,")
    assert "generates NaN: 1 element\n" in text and "log(-1.000000e+00) = nan" in text


def test_unknown_kinds_are_errors() -> None:
    with pytest.raises(sr.EvaluationError, match="unknown kind of exception 'nam'"):
        run("  %r = stablehlo.log %x : tensor<4xf32>", np.ones(4, F32), kinds="nam")


def test_a_threshold_is_not_negative() -> None:
    program = sr.parse("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }")
    with pytest.raises(ArgumentValueError, match="threshold must not be negative, got -1"):
        exceptions(program, F32(1), threshold=-1)
    with pytest.raises(ArgumentValueError, match="threshold must not be negative, got -1"):
        exceptions_parallel(program, [[F32(1)]], threshold=-1)


def test_elements_are_followed_through_loops_of_other_dialects() -> None:
    program = sr.parse("""
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %n: index) -> tensor<1xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %log = stablehlo.log %x : tensor<2xf32>
  %root = stablehlo.sqrt %y : tensor<2xf32>
  %sum = stablehlo.add %log, %root : tensor<2xf32>
  %last = scf.for %i = %zero to %n step %one iter_args(%a = %sum) -> (tensor<2xf32>) {
    %half = stablehlo.add %a, %a : tensor<2xf32>
    scf.yield %half : tensor<2xf32>
  }
  %r = stablehlo.slice %last [1:2] : (tensor<2xf32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}""")
    found = exceptions(program, np.array([-1, 1], F32), np.array([1, -1], F32), 3)
    reach = {finding.place.name: finding.reach for finding in found.findings}
    assert reach == {"%root": Reach.OUTPUT, "%log": Reach.MASKED}


def test_many_scalars_of_a_loop_are_followed() -> None:
    program = sr.parse("""
func.func @main(%x: tensor<f32>, %n: index) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %log = stablehlo.log %x : tensor<f32>
  %last = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<f32>) {
    %root = stablehlo.sqrt %x : tensor<f32>
    scf.yield %root : tensor<f32>
  }
  %r = stablehlo.negate %log : tensor<f32>
  return %last, %r : tensor<f32>, tensor<f32>
}""")
    found = exceptions(program, F32(-1), 1500, kinds="nan")
    assert [(f.place.name, f.elements, f.outputs) for f in found.findings] == [("%log", 1, (1,)), ("%root", 1500, (0,))]
