"""Inputs as users give them: what is accepted, what errors say, and options that have the names of inputs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.frameworks.trees import TreeProgram

ADD = """\
func.func @main(%x: tensor<2xf32> loc("args[0]"), %y: tensor<2xf32> loc("args[1]")) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
ONE, TWO = np.float32([1, 2]), np.float32([10, 20])


def identity(type: str, name: str = "x") -> sr.Program:
    return sr.load(f"func.func @main(%{name}: {type}) -> {type} {{\n  return %{name} : {type}\n}}")


def error_of(program: sr.Program, *inputs: object, **named: object) -> str:
    with pytest.raises(sr.EvaluationError) as caught:
        program.run(*inputs, **named)
    return str(caught.value)


# --- dtypes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("tensor<2xi64>", np.int32([1, -2])),
        ("tensor<2xi16>", np.uint8([1, 255])),
        ("tensor<2xf64>", np.float32([0.1, 2])),
        ("tensor<2xf32>", np.array([0.1, 2], ml_dtypes.bfloat16)),
        ("tensor<2xf32>", np.array([0.5, 2], ml_dtypes.float8_e4m3fn)),
        ("tensor<2xi32>", np.array([7, -8], ml_dtypes.int4)),
        ("tensor<2xcomplex<f64>>", np.complex64([1j, 2])),
    ],
)
def test_wider_types_take_arrays_of_narrower_ones(type: str, value: np.ndarray) -> None:
    program = identity(type)
    (result,) = program.run(value)
    assert result.dtype == program.inputs["x"].dtype
    assert result.tolist() == value.tolist()


@pytest.mark.parametrize(
    ("type", "value", "cast"),
    [
        ("tensor<2xf32>", np.float64([1, 2]), "x.astype(np.float32)"),
        ("tensor<2xi32>", np.int64([1, 2]), "x.astype(np.int32)"),
        ("tensor<2xbf16>", np.float32([1, 2]), "x.astype(ml_dtypes.bfloat16)"),
        ("tensor<2xf32>", np.int8([1, 2]), "x.astype(np.float32)"),
        ("tensor<2xi8>", np.uint8([1, 2]), "x.astype(np.int8)"),
        ("tensor<2xi1>", np.int32([1, 0]), "x.astype(np.bool)"),
        ("tensor<2xi32>", np.bool([1, 0]), "x.astype(np.int32)"),
        ("tensor<2xcomplex<f32>>", np.float32([1, 0]), "x.astype(np.complex64)"),
        ("tensor<2xbf16>", np.zeros(2, "V2"), "x.view(ml_dtypes.bfloat16)"),  # as numpy loads what it saved
    ],
)
def test_refuses_other_types_with_the_cast_to_write(type: str, value: np.ndarray, cast: str) -> None:
    assert f"; to convert it, write {cast}\n" in error_of(identity(type), value)


def test_no_cast_for_what_is_no_number() -> None:
    assert "to convert it" not in error_of(identity("tensor<2xf32>"), ["a", "b"])
    assert "to convert it" not in error_of(identity("tensor<2xf32>"), np.zeros(2, "V3"))


# --- names -----------------------------------------------------------------------------------------------------------


def test_error_has_the_name_that_the_caller_used_and_the_caret_at_the_argument() -> None:
    program = sr.load(ADD)
    assert error_of(program, **{"x": ONE, "args[1]": [1, 2, 3]}) == (
        "<string>:1:51: error: argument 'args[1]': expected shape (2,) for tensor<2xf32>, got (3,)\n"
        + ADD.partition("\n")[0]
        + "\n"
        + " " * 50
        + "^\n  its other names: y"
    )


def test_errors_list_all_names() -> None:
    program = sr.load(ADD)
    assert "missing: y (args[1])" in error_of(program, ONE)
    assert "its arguments are x (args[0]), y (args[1])" in error_of(program, ONE)
    assert "it has x (args[0]), y (args[1]); did you mean 'args[0]'?" in error_of(program, **{"arg[0]": ONE})


def test_errors_list_the_first_names_of_many() -> None:
    inputs = ", ".join(f'%x{i}: tensor<2xf32> loc("inputs[0][{i}]")' for i in range(53))
    program = sr.load(f"func.func @main({inputs}) -> tensor<2xf32> {{\n  return %x0 : tensor<2xf32>\n}}")
    message = error_of(program, **{"args[7]": ONE})
    assert "x11 (inputs[0][11]), ... and 41 more; did you mean 'inputs[0][7]'?" in message
    assert "x12" not in message.partition("\n")[0]


def test_a_name_may_have_its_sigil() -> None:
    assert sr.load(ADD).run(ONE, **{"%y": TWO})[0].tolist() == [11, 22]


def test_misspelt_options_are_recognised() -> None:
    assert "did you mean the option 'limits'?" in error_of(sr.load(ADD), ONE, TWO, limit=sr.Limits())


def test_explains_arguments_that_jax_leaves_out() -> None:
    dropped = sr.load(ADD.replace("args[1]", "args[2]"))
    assert "JAX leaves out arguments that the function does not use" in error_of(dropped, ONE, ONE, TWO)
    jitted = sr.load(f"module @jit_f {{\n{ADD}}}")
    assert "keep_unused=True" in error_of(jitted, ONE, ONE, TWO)
    assert "JAX" not in error_of(sr.load(ADD), ONE, ONE, TWO)
    assert "JAX" not in error_of(jitted), "nothing is given: nobody has forgotten what JAX leaves out"


# --- options ---------------------------------------------------------------------------------------------------------


def test_a_mapping_has_inputs_by_name() -> None:
    assert sr.load(ADD).run({"x": ONE, "args[1]": TWO})[0].tolist() == [11, 22]
    assert sr.load(ADD).run({"x": ONE}, y=TWO)[0].tolist() == [11, 22]
    assert sr.load(ADD).trace({"x": ONE, "y": TWO})["%0"].tolist() == [11, 22]


@pytest.mark.parametrize("name", ["limits", "observer", "rng_seed", "overrides"])
def test_inputs_may_have_the_names_of_options(name: str) -> None:
    program = identity("tensor<2xf32>", name)
    options = sr.RunOptions(limits=sr.Limits(max_steps=5))
    assert program.run({name: ONE})[0].tolist() == [1, 2]
    assert program.run(options=options, **{name: ONE})[0].tolist() == [1, 2]  # type: ignore[arg-type]
    assert program.trace(options=options, **{name: ONE})[f"%{name}"].tolist() == [1, 2]


def test_says_how_to_pass_an_input_that_has_the_name_of_an_option() -> None:
    assert "pass such inputs in a mapping, run({'rng_seed': ...})" in error_of(
        identity("tensor<i64>", "rng_seed"), rng_seed=3
    )


def test_options_are_applied() -> None:
    text = """
    func.func @main(%n: tensor<i1>) -> tensor<i1> {
      %0 = stablehlo.while(%i = %n) : tensor<i1>
        cond { stablehlo.return %i : tensor<i1> } do { stablehlo.return %i : tensor<i1> }
      return %0 : tensor<i1>
    }"""
    options = sr.RunOptions(limits=sr.Limits(max_steps=5))
    with pytest.raises(sr.EvaluationError, match="limit of 5"):
        sr.load(text).run(True, options=options)
    with pytest.raises(sr.EvaluationError, match="limit of 5"):
        sr.load(text).run(True, limits=sr.Limits(max_steps=5))


def test_unknown_options_are_errors() -> None:
    with pytest.raises(TypeError, match=r"unknown option 'limit'; did you mean 'limits'\?"):
        sr.load(ADD).run(ONE, TWO, options={"limit": 1})  # type: ignore[typeddict-unknown-key]
    with pytest.raises(TypeError, match="options must be a RunOptions, got 3"):
        sr.load(ADD).run(ONE, TWO, options=3)  # type: ignore[arg-type]


# --- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_have_shape_dtype_type_names_and_place() -> None:
    text = ADD.replace("%y: tensor<2xf32>", "%y: tensor<?x3xbf16>").replace("%x, %y", "%x, %x")
    x, y = sr.load(text).inputs
    assert (x.shape, x.dtype, str(x.type), x.names) == ((2,), np.float32, "tensor<2xf32>", ("x", "args[0]"))
    assert (y.shape, y.dtype, str(y.location)) == ((None, 3), ml_dtypes.bfloat16, "<string>:1:51")
    assert repr(y) == "y: tensor<?x3xbf16> (args[1])"
    (output,) = sr.load(text).outputs
    assert (output.shape, output.dtype, repr(output)) == ((2,), np.float32, "result0: tensor<2xf32>")


def test_a_token_has_no_dtype() -> None:
    program = identity("!stablehlo.token")
    assert program.inputs["x"].dtype is None
    with pytest.raises(AttributeError, match=r"x is not a tensor but of type !stablehlo\.token"):
        _ = program.inputs["x"].shape


def test_unknown_parameter_is_a_key_error_with_the_names() -> None:
    with pytest.raises(KeyError, match=r"no 'z'; there are x \(args\[0\]\), y \(args\[1\]\)"):
        sr.load(ADD).inputs["z"]


def test_ops_and_values_show_themselves() -> None:
    value = sr.load(ADD).value("%0")
    assert repr(value) == "<Value %0: tensor<2xf32>>"
    assert repr(value.owner) == "<Operation stablehlo.add at <string>:2:8>"
    assert str(value.owner.location) == "<string>:2:8"  # type: ignore[union-attr]


# --- containers of frameworks ----------------------------------------------------------------------------------------


class Pairs:
    """Containers that are one dictionary of inputs, and a list of results."""

    def flatten(self, arguments: Any, named: Any) -> list[Any]:
        return [arguments[0]["x"], arguments[0]["y"], arguments[0]["unused"]]

    def unflatten(self, results: Any) -> list[Any]:
        return list(results)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda program: pickle.loads(pickle.dumps(program))])
def test_programs_of_frameworks_take_containers(duplicate: Any) -> None:
    program = duplicate(TreeProgram(sr.load(ADD).module, Pairs(), kept=[0, 1]))
    inputs = {"x": ONE, "y": TWO, "unused": None}
    (result,) = program.run(inputs)
    assert isinstance(program.run(inputs), list) and result.tolist() == [11, 22]
    assert program.trace(inputs)["%0"].tolist() == [11, 22]
    assert program.run(inputs, until="%0")[0].tolist() == [11, 22]


def test_nan_in_a_list_is_no_integer() -> None:
    program = sr.load("func.func @main(%x: tensor<1xi8>) -> tensor<1xi8> { return %x : tensor<1xi8> }")
    with pytest.raises(sr.EvaluationError, match="nan has no exact int8"):
        program.run([float("nan")])
