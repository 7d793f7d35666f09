"""Ops of MLIR's and Shardy's dialects: errors at run time, invalid ops, printing, and variables."""

from __future__ import annotations

import re

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.ir.types import BOOLEAN, FLOATS, tensor_type


def body(text: str, head: str = "") -> sr.Program:
    return sr.load(f"{head}\nfunc.func @main() {{\n{text}\n  func.return\n}}\n")


@pytest.mark.parametrize(
    "text, message",
    [
        ('%p = arith.constant false\ncf.assert %p, "n > 3"', "assertion failed: n > 3"),
        ('%p = arith.constant false\n%w = shape.cstr_require %p, "n > 3"', "n > 3"),
        ("%w = shape.const_witness false", "the constant witness is false"),
        (
            "%a = shape.const_shape [2, 3] : tensor<2xindex>\n%b = shape.const_shape [3] : tensor<1xindex>\n"
            "%c = shape.const_shape [2] : tensor<1xindex>\n"
            "%w = shape.cstr_broadcastable %a, %b, %c : tensor<2xindex>, tensor<1xindex>, tensor<1xindex>",
            r"shapes \[2, 3\], \[3\], \[2\] do not broadcast",
        ),
        (
            "%a = shape.const_shape [2] : tensor<1xindex>\n%b = shape.const_shape [3] : tensor<1xindex>\n"
            "%w = shape.cstr_eq %a, %b : tensor<1xindex>, tensor<1xindex>",
            r"shapes \[2\], \[3\] are not equal",
        ),
        (
            "%x = stablehlo.constant dense<0> : tensor<3xi32>\n%i = arith.constant 3 : index\n"
            "%0 = tensor.extract %x[%i] : tensor<3xi32>",
            "index 3 is out of bounds for size 3",
        ),
        (
            "%n = arith.constant 12 : index\n%s = stablehlo.constant dense<[5, -1]> : tensor<2xi32>\n"
            "%w = stablehlo.cstr_reshapable %n, %s : (index, tensor<2xi32>) -> !shape.witness",
            r"cannot reshape 12 elements to \[5, -1\]",
        ),
    ],
)
def test_false_conditions_are_evaluation_errors(text: str, message: str) -> None:
    with pytest.raises(sr.EvaluationError, match=message):
        body(text).run()


def test_cast_rejects_other_shapes_at_run_time() -> None:
    program = sr.load("""
    func.func @main(%x: tensor<?xi32>) -> tensor<2xi32> {
      %0 = tensor.cast %x : tensor<?xi32> to tensor<2xi32>
      return %0 : tensor<2xi32>
    }
    """)
    assert program.run(np.array([1, 2], np.int32))[0].tolist() == [1, 2]
    with pytest.raises(sr.EvaluationError, match="expected a result of type tensor<2xi32>, got tensor<3xi32>"):
        program.run(np.array([1, 2, 3], np.int32))


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "%a = arith.constant 1 : i32\n%b = arith.addf %a, %a : i32",
            "must be floating-point number or tensor, but is i32",
        ),
        ("%x = stablehlo.constant dense<0> : tensor<3xi32>\n%0 = tensor.extract %x[] : tensor<3xi32>", r"\(C1\)"),
        ("%0 = ml_program.global_load @none : tensor<i32>", r"\(C1\)"),
        (
            "%x = stablehlo.constant dense<0> : tensor<4xi32>\n"
            '%0 = sdy.manual_computation(%x) in_shardings=[<@none, [{"a"}]>] out_shardings=[<@none, [{"a"}]>] '
            'manual_axes={"a"} (%p: tensor<2xi32>) {\nsdy.return %p : tensor<2xi32>\n} '
            ": (tensor<4xi32>) -> tensor<4xi32>",
            "unknown mesh @none",
        ),
    ],
)
def test_verifier_rejects(text: str, message: str) -> None:
    with pytest.raises(sr.InvalidError, match=message):
        body(text)


@pytest.mark.parametrize(
    "mesh, message",
    [
        ('sdy.mesh @mesh = <["a"=2]>', r"\(C2\)"),  # parts must have the types of the body
        ("func.func private @mesh()", "unknown mesh @mesh"),
    ],
)
def test_manual_computation_rejects_mesh(mesh: str, message: str) -> None:
    with pytest.raises(sr.InvalidError, match=message):
        body(
            "%x = stablehlo.constant dense<0> : tensor<4xi32>\n"
            '%0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] '
            'manual_axes={"a"} (%p: tensor<4xi32>) {\nsdy.return %p : tensor<4xi32>\n} '
            ": (tensor<4xi32>) -> tensor<4xi32>",
            mesh,
        )


@pytest.mark.parametrize(
    "first, second, axes",
    [
        ("@a", "@b", ('"x"=2', '"x"=4')),
        ("@a", 'mesh<["x"=2]>', ('"x"=4', '"x"=2')),
        ("@a", "@b", ('"x"=2', '"x"=2, "y"=1')),
    ],
)
def test_manual_computation_rejects_different_meshes(first: str, second: str, axes: tuple[str, str]) -> None:
    message = f"shardings are on different meshes, {first} and {second}"
    with pytest.raises(sr.InvalidError, match=re.escape(message)):
        body(
            "%x = stablehlo.constant dense<0> : tensor<4xi32>\n"
            f'%0 = sdy.manual_computation(%x) in_shardings=[<{first}, [{{"x"}}]>] '
            f'out_shardings=[<{second}, [{{"x"}}]>] manual_axes={{"x"}} (%p: tensor<2xi32>) {{\n'
            "sdy.return %p : tensor<2xi32>\n} : (tensor<4xi32>) -> tensor<4xi32>",
            f"sdy.mesh @a = <[{axes[0]}]>\nsdy.mesh @b = <[{axes[1]}]>",
        )


def test_variables_have_their_initial_value_in_each_run() -> None:
    program = sr.load("""
    ml_program.global private mutable @count(dense<0> : tensor<i64>) : tensor<i64>
    ml_program.global private mutable @unset : tensor<i64>
    func.func @main() -> tensor<i64> {
      %0 = ml_program.global_load @count : tensor<i64>
      %one = stablehlo.constant dense<1> : tensor<i64>
      %1 = stablehlo.add %0, %one : tensor<i64>
      ml_program.global_store @count = %1 : tensor<i64>
      %2 = ml_program.global_load @count : tensor<i64>
      return %2 : tensor<i64>
    }
    func.func @loads_unset() -> tensor<i64> {
      %0 = ml_program.global_load @unset : tensor<i64>
      return %0 : tensor<i64>
    }
    """)
    assert [int(program.run()[0]) for _ in range(2)] == [1, 1]
    with pytest.raises(sr.EvaluationError, match="@unset is loaded before a value is stored"):
        program.with_entry("loads_unset").run()


@pytest.mark.parametrize(
    "line",
    [
        "%r = arith.addi %i, %i overflow<nsw, nuw> : i32",
        "%r = arith.cmpf ult, %f, %f fastmath<nnan> : f32",
        "%r = arith.select %p, %f, %f : f32",
        "%r = arith.sitofp %i : i32 to f32",
        "%r = tensor.from_elements %i, %i : tensor<2xi32>",
        "%r = shape.from_extents %n, %n : index, index",
        '%r = sdy.sharding_constraint %t <@mesh, [{"a", ?}]> : tensor<2xi32>',
        "%r = sdy.propagation_barrier %t allowed_direction=BACKWARD : tensor<2xi32>",
    ],
)
def test_pretty_form_round_trips(line: str) -> None:
    head = (
        "%i = arith.constant 3 : i32\n%f = arith.constant 1.5 : f32\n%p = arith.constant true\n"
        "%n = arith.constant 2 : index\n"
        "%t = stablehlo.constant dense<1> : tensor<2xi32>"
    )
    program = body(f"{head}\n{line}", 'sdy.mesh @mesh = <["a"=2]>')
    assert line in str(program)
    program.run()


@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan", "isnormal"])
def test_predicates_have_boolean_results(name: str) -> None:
    x = tensor_type((2,), FLOATS["f32"])
    assert REGISTRY[f"math.{name}"].roles["infer"].function(x) == tensor_type((2,), BOOLEAN)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("arith.addi %i, %i overflow<wrap> : i32", "must be a #arith.overflow<...> of none, nsw, nuw"),
        ("arith.addf %f, %f fastmath<slow> : f32", "must be a #arith.fastmath<...> of none, reassoc, nnan"),
    ],
)
def test_rejects_unknown_flags(op: str, message: str) -> None:
    program = sr.parse(f"func.func @main(%i: i32, %f: f32) {{\n  %0 = {op}\n  return\n}}")
    with pytest.raises(sr.InvalidError, match=re.escape(message)) as error:
        program.verify()
    assert (error.value.diagnostics[0].location.line, error.value.diagnostics[0].location.column) == (2, 26)
