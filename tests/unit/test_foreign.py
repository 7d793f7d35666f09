"""Ops of other dialects: what they refuse, how they are written, variables from run to run, meshes that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr


def body(text: str, head: str = "") -> sr.Program:
    return sr.load(f"{head}\nfunc.func @main() {{\n{text}\n  func.return\n}}\n")


@pytest.mark.parametrize(
    "text, message",
    [
        ('%p = arith.constant false\ncf.assert %p, "n > 3"', "assertion failed: n > 3"),
        ('%p = arith.constant false\n%w = shape.cstr_require %p, "n > 3"', "n > 3"),
        ("%w = shape.const_witness false", "a witness that does not hold"),
        (
            "%a = shape.const_shape [2, 3] : tensor<2xindex>\n%b = shape.const_shape [3] : tensor<1xindex>\n"
            "%c = shape.const_shape [2] : tensor<1xindex>\n"
            "%w = shape.cstr_broadcastable %a, %b, %c : tensor<2xindex>, tensor<1xindex>, tensor<1xindex>",
            r"shapes \[2, 3\], \[3\], \[2\] don't broadcast",
        ),
        (
            "%a = shape.const_shape [2] : tensor<1xindex>\n%b = shape.const_shape [3] : tensor<1xindex>\n"
            "%w = shape.cstr_eq %a, %b : tensor<1xindex>, tensor<1xindex>",
            r"shapes \[2\], \[3\] are not the same",
        ),
        (
            "%x = stablehlo.constant dense<0> : tensor<3xi32>\n%i = arith.constant 3 : index\n"
            "%0 = tensor.extract %x[%i] : tensor<3xi32>",
            "index 3 is out of bounds: there are 3",
        ),
        (
            "%n = arith.constant 12 : index\n%s = stablehlo.constant dense<[5, -1]> : tensor<2xi32>\n"
            "%w = stablehlo.cstr_reshapable %n, %s : (index, tensor<2xi32>) -> !shape.witness",
            r"12 elements can't be reshaped to \[5, -1\]",
        ),
    ],
)
def test_what_does_not_hold(text: str, message: str) -> None:
    with pytest.raises(sr.EvaluationError, match=message):
        body(text).run()


def test_a_cast_to_a_shape_that_the_tensor_does_not_have() -> None:
    program = sr.load("""
    func.func @main(%x: tensor<?xi32>) -> tensor<2xi32> {
      %0 = tensor.cast %x : tensor<?xi32> to tensor<2xi32>
      return %0 : tensor<2xi32>
    }
    """)
    assert program.run(np.array([1, 2], np.int32))[0].tolist() == [1, 2]
    with pytest.raises(sr.EvaluationError, match=r"tensor<3xi32>.*tensor<2xi32>"):
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
            "there is no mesh @none",
        ),
        (
            "%x = stablehlo.constant dense<0> : tensor<4xi32>\n"
            '%0 = sdy.manual_computation(%x) in_shardings=[<@a, [{"a"}]>] out_shardings=[<@b, [{"a"}]>] '
            'manual_axes={"a"} (%p: tensor<2xi32>) {\nsdy.return %p : tensor<2xi32>\n} '
            ": (tensor<4xi32>) -> tensor<4xi32>",
            "shardings are on different meshes, @a and @b",
        ),
    ],
)
def test_what_is_invalid(text: str, message: str) -> None:
    with pytest.raises(sr.InvalidError, match=message):
        body(text)


@pytest.mark.parametrize(
    "mesh, message",
    [
        ('sdy.mesh @mesh = <["a"=2]>', r"\(C2\)"),  # parts must have the types of the body
        ('sdy.mesh @mesh = <["a"=2, "b"=1048576]>', "mesh @mesh: more than 1048576 devices"),
        ('sdy.mesh @mesh = <["a"=2], device_ids=[0, 1, 2]>', "mesh @mesh: 3 device_ids for 2 devices"),
        ('sdy.mesh @mesh = <["a"=2, "a"=2]>', "mesh @mesh: two of its axes have one name"),
        ("func.func private @mesh()", "there is no mesh @mesh"),
    ],
)
def test_parts_must_fit_the_mesh(mesh: str, message: str) -> None:
    with pytest.raises(sr.InvalidError, match=message):
        body(
            "%x = stablehlo.constant dense<0> : tensor<4xi32>\n"
            '%0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] '
            'manual_axes={"a"} (%p: tensor<4xi32>) {\nsdy.return %p : tensor<4xi32>\n} '
            ": (tensor<4xi32>) -> tensor<4xi32>",
            mesh,
        )


def test_variables_start_anew_in_each_run() -> None:
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
    func.func @unset_is_an_error() -> tensor<i64> {
      %0 = ml_program.global_load @unset : tensor<i64>
      return %0 : tensor<i64>
    }
    """)
    assert [int(program.run()[0]) for _ in range(2)] == [1, 1]
    with pytest.raises(sr.EvaluationError, match="@unset has no value yet"):
        program.with_entry("unset_is_an_error").run()


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
        "%r = sdy.propagation_barrier %t allowed_direction = BACKWARD : tensor<2xi32>",
    ],
)
def test_pretty_forms_are_printed_as_they_are_read(line: str) -> None:
    head = (
        "%i = arith.constant 3 : i32\n%f = arith.constant 1.5 : f32\n%p = arith.constant true\n"
        "%n = arith.constant 2 : index\n"
        "%t = stablehlo.constant dense<1> : tensor<2xi32>"
    )
    program = body(f"{head}\n{line}", 'sdy.mesh @mesh = <["a"=2]>')
    assert line in str(program)
    program.run()
