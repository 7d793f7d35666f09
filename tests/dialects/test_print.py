"""interpreter.print: values are printed under their SSA names, each time the op runs."""

from __future__ import annotations

import pytest

import stablehlo_ref as sr


def printed(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    sr.load(f"func.func @main() {{\n{text}\nreturn\n}}\n").run()
    return capsys.readouterr().out


def test_prints_values_with_ssa_names(capsys: pytest.CaptureFixture[str]) -> None:
    text = """
      %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
      %0 = stablehlo.constant dense<(1.0, -0.5)> : tensor<complex<f32>>
      interpreter.print %x : tensor<2x2xi32>
      interpreter.print %0 : tensor<complex<f32>>
      interpreter.print %x : tensor<2x2xi32>
    """
    matrix = "%x = tensor<2x2xi32> {\n  [\n    [1, 2],\n    [3, 4]\n  ]\n}\n"
    number = "%0 = tensor<complex<f32>> {[1.000000e+00, -5.000000e-01]}\n"
    assert printed(text, capsys) == matrix + number + matrix


def test_prints_in_each_iteration_of_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    text = """
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %0 = stablehlo.while(%i = %zero) : tensor<i32>
        cond {
          %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          interpreter.print %i : tensor<i32>
          %1 = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %1 : tensor<i32>
        }
    """
    assert printed(text, capsys) == "".join(f"%i = tensor<i32> {{{i}}}\n" for i in range(3))
