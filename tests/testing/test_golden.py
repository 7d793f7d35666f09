"""Golden functions."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref import golden

X = np.float32([[1, 2, 3], [4, 5, 6]])
Q = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
MAXIMUM = """^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %0 = stablehlo.maximum %a, %b : tensor<f32>
  stablehlo.return %0 : tensor<f32>"""
SUM = """func.func @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}"""


def test_operands_are_arrays_lists_and_numbers() -> None:
    assert golden.add(X[0], [0.5, 0.25, 0]).tolist() == [1.5, 2.25, 3.0]
    assert golden.add([1, 2], np.int8([127, 1])).tolist() == [-128, 3]  # integers wrap
    assert golden.select([True, False, True], X[0], [7, 8, 9]).tolist() == [1.0, 8.0, 3.0]
    assert golden.gather(
        X, [[1]], offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1, slice_sizes=[1, 3]
    ).tolist() == [[4.0, 5.0, 6.0]]  # indices stay integers


def test_operands_of_other_libraries() -> None:
    jnp = pytest.importorskip("jax.numpy")
    made = golden.negate(jnp.array([1, 2], jnp.bfloat16))
    assert made.dtype == ml_dtypes.bfloat16 and made.tolist() == [-1, -2]

    class OnlyDLPack:
        def __dlpack__(self, **options: object) -> object:
            return X.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return X.__dlpack_device__()

    assert golden.abs(OnlyDLPack()).tolist() == X.tolist()


@pytest.mark.parametrize(
    ("body", "expected"),
    [("add", [5, 7, 9]), (MAXIMUM, [4, 5, 6]), (f"{{{MAXIMUM}\n}}", [4, 5, 6]), (sr.parse(SUM), [5, 7, 9])],
)
def test_regions(body: str | sr.Program, expected: list[int]) -> None:
    (result,) = golden.reduce([X], [0], dimensions=[0], body=body)
    assert result.tolist() == expected


def test_regions_of_comparisons_and_of_scalars() -> None:
    keys, values = golden.sort([np.int32([3, 1, 2]), np.int32([0, 1, 2])], comparator="LT", dimension=0)
    assert (keys.tolist(), values.tolist()) == ([1, 2, 3], [1, 2, 0])
    assert (
        golden.map([X, X], computation="multiply", dimensions=[0, 1], result="tensor<2x3xf32>").tolist()
        == (X * X).tolist()
    )
    one, two = (f"%0 = stablehlo.constant dense<{n}> : tensor<i32>\nstablehlo.return %0 : tensor<i32>" for n in (1, 2))
    assert golden.if_(False, true_branch=one, false_branch=two)[0] == 2
    assert golden.case(np.int32(0), branches=[one, two])[0] == 1


def test_results_are_a_list_if_an_op_may_have_several() -> None:
    assert [r.tolist() for r in golden.top_k(np.float32([3, 1, 2]), k=2)] == [[3, 2], [0, 2]]
    assert isinstance(golden.reverse(X, dimensions=[0]), np.ndarray)


def test_agrees_with_jax() -> None:
    lax = pytest.importorskip("jax.lax")
    kernel = np.float32(np.arange(8).reshape(1, 2, 2, 2))
    image = np.float32(np.arange(24).reshape(1, 2, 3, 4))
    expected = lax.conv(image, kernel, (1, 1), "VALID")
    numbers = {
        "input_batch_dimension": 0, "input_feature_dimension": 1, "input_spatial_dimensions": [2, 3],
        "kernel_output_feature_dimension": 0, "kernel_input_feature_dimension": 1, "kernel_spatial_dimensions": [2, 3],
        "output_batch_dimension": 0, "output_feature_dimension": 1, "output_spatial_dimensions": [2, 3],
    }  # fmt: skip
    found = golden.convolution(image, kernel, **numbers, feature_group_count=1, batch_group_count=1)
    assert found.tolist() == np.asarray(expected).tolist()
    assert (
        golden.dot_general(X, X, lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[1]).tolist()
        == (X @ X.T).tolist()
    )


def test_an_op_as_text() -> None:
    assert golden.op("stablehlo.add %0, %1 : tensor<3xf32>", X[0], X[1]).tolist() == [5, 7, 9]
    saturated = golden.op(f'"stablehlo.add"(%0, %1) : ({Q}, {Q}) -> {Q}', np.int8([100, 1]), np.int8([100, 2]))
    assert saturated.tolist() == [127, 3]
    two = "%a = stablehlo.negate %0 : tensor<3xf32>\nstablehlo.add %a, %a : tensor<3xf32>"
    assert golden.op(two, X[0]).tolist() == [-2, -4, -6]
    with pytest.raises(sr.MalformedError, match=r"<text>:1:1: error: unknown op 'stablehlo.ad'; did you mean"):
        golden.op('"stablehlo.ad"(%0) : (tensor<3xf32>) -> tensor<3xf32>', X[0])
    with pytest.raises(sr.MalformedError, match="<text>:1:"):
        golden.op("stablehlo.add %0, %2 : tensor<3xf32>", X[0])


def test_numbers_without_a_type_are_rounded_to_that_of_an_array() -> None:
    assert golden.add(np.float16([0, 1]), [0.1, 1e9]).tolist() == [float(np.float16(0.1)), np.inf]


def test_errors_have_constraints_and_values() -> None:
    with pytest.raises(sr.InvalidError, match=r"\(C10\)[\s\S]*dims\(rhs, rhs_contracting_dimensions\) = \(2,\)"):
        golden.dot_general(X, X, lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])
    with pytest.raises(sr.InvalidError, match=r"\(C4\)[\s\S]*dimensions = \(5,\)"):
        golden.reduce([X], [0], dimensions=[5], body="add")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: golden.add(X), "add: missing a required argument: 'rhs'"),
        (lambda: golden.add(X, X, X), "add: too many positional arguments"),
        (lambda: golden.add(X, X, lhs=X), "add: multiple values for argument 'lhs'"),
        (lambda: golden.reverse(X, dimension=[0]), "reverse has no parameter 'dimension'; did you mean 'dimensions'"),
        (lambda: golden.reverse(X), "argument: 'dimensions'"),
        (lambda: golden.reverse(X, dimensions="a"), "expected dimensions to be a list of 64-bit integers, got 'a'"),
        (lambda: golden.compare(X, X, comparison_direction="LX"), "one of EQ, NE, GE, GT, LE, LT, got 'LX'"),
        (lambda: golden.reshape(X), "argument: 'result'"),
        (lambda: golden.reduce([X], [0], dimensions=[0], body="addd"), "there is no op 'addd'; did you mean 'add'"),
        (lambda: golden.add("ab", X), "expected an array of numbers or booleans, got 'ab'"),
        (lambda: golden.add([[1], [2, 3]], X), "expected an array of numbers or booleans, got [[1], [2, 3]]"),
        (lambda: golden.add(np.longdouble(1), X), "expected an array of numbers or booleans, got"),
        (lambda: golden.add(np.int8([1]), [300]), "add: rhs: "),
        (lambda: golden.add(np.int8([1]), [float("nan")]), "add: rhs: "),
        (lambda: golden.reduce(5, [0], dimensions=[0], body="add"), "expected inputs to be a list of arrays"),
        (lambda: golden.reshape(X, result=5), "expected result to be a type, or a list of types, got 5"),
        (lambda: golden.op(b"", X), "text must be str, got b''"),
    ],
)
def test_wrong_arguments(call: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()  # type: ignore[operator]
    assert message in str(caught.value)
    assert isinstance(caught.value, sr.StablehloError)


def test_each_function_has_a_signature_and_documentation() -> None:
    assert "dynamic_conv" in dir(golden) and "and_" in dir(golden) and "return" not in dir(golden)
    for name in dir(golden):
        function = getattr(golden, name)
        assert function.__doc__ and inspect.signature(function).parameters
    assert "(C10) dims(lhs" in golden.dot_general.__doc__
    assert "lhs: tensor or per-tensor quantized tensor" in golden.dot_general.__doc__
    with pytest.raises(AttributeError, match="no attribute 'ad'"):
        golden.ad  # noqa: B018


def test_the_types_of_functions_are_up_to_date() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, root / "tools" / "check_golden.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
