"""Products of matrices do not depend on whether their operands are in the same memory."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

MATRICES = [("8x64", "[1] x [1]", "8x8"), ("64x8", "[0] x [0]", "8x8")]


@pytest.mark.parametrize(("shape", "contracting", "result"), MATRICES)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_product_of_a_matrix_and_its_transpose(shape: str, contracting: str, result: str, element: str) -> None:
    x_type, y_type = f"tensor<{shape}x{element}>", f"tensor<{result}x{element}>"
    program = sr.parse(f"""
      func.func @main(%a: {x_type}, %b: {x_type}) -> ({y_type}, {y_type}) {{
        %x = stablehlo.dot_general %a, %b, contracting_dims = {contracting} : ({x_type}, {x_type}) -> {y_type}
        %y = stablehlo.dot_general %a, %a, contracting_dims = {contracting} : ({x_type}, {x_type}) -> {y_type}
        return %x, %y : {y_type}, {y_type}
      }}""")
    a = np.random.default_rng(0).standard_normal(program.inputs[0].shape).astype(program.inputs[0].dtype)
    expected = program.run(a, a.copy())[0].tobytes()
    assert [x.tobytes() for x in program.run(a, a)] == [expected, expected]
