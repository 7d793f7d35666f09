"""Weights by the names that exporters give to arguments: none ever becomes the value of another argument."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run

import stablehlo_ref as sr

A, B, X, Z = (np.float32([n, n + 1]) for n in (1, 3, 5, 7))


def text_of(*names: str) -> str:
    """Return a program that returns its arguments, which have these names in locations, all of one type."""
    inputs = ", ".join(f'%arg{i}: tensor<2xf32> loc("{name}")' for i, name in enumerate(names))
    values, types = ", ".join(f"%arg{i}" for i in range(len(names))), ", ".join(["tensor<2xf32>"] * len(names))
    return f"func.func @main({inputs}) -> ({types}) {{ return {values} : {types} }}"


def program(*names: str) -> sr.Program:
    return sr.load(text_of(*names))


def bound(names: Sequence[str], weights: Any) -> dict[str, list[float]]:
    """Return the values of the arguments that got one, by name."""
    given = program(*names)
    left = given.bind(weights)
    values = left.run(*[np.full(2, np.nan, np.float32)] * len(left.inputs))
    return {name: value.tolist() for name, value in zip(names, values) if not np.isnan(value).any()}


def problems(names: Sequence[str], weights: Any) -> tuple[str, ...]:
    """Return the notes of the error, or its message if it has none."""
    with pytest.raises(sr.EvaluationError) as caught:
        program(*names).bind(weights)
    first = caught.value.diagnostics[0]
    return first.notes or (first.message,)


# As torchax.extract_jax and jax.export name arguments: keys of a state_dict have dots.
STATES = ["states['0.weight']", "states['q.bias']", "args[0]"]
EXPECTED = {"states['0.weight']": [1, 2], "states['q.bias']": [3, 4]}


@pytest.mark.parametrize(
    "weights",
    [
        {"0.weight": A, "q.bias": B},
        OrderedDict({"q.bias": B, "0.weight": A}),
        {"0.weight": A, "q.bias": B, "unused.weight": X},
        {"states": {"0.weight": A, "q.bias": B}},
        {"states['0.weight']": A, "states['q.bias']": B},
        {"states/0/weight": A, "states.q.bias": B},
        {"0": {"weight": A}, "q": {"bias": B}},
        {"0": {"weight": A}, "q": {"bias": B, "unused": []}},
    ],
    ids=["state_dict", "another order", "unused", "nested", "as written", "paths", "modules", "unused module"],
)
def test_keys_with_dots(weights: Any) -> None:
    assert bound(STATES, weights) == EXPECTED


@pytest.mark.parametrize("kind", ["npz", "safetensors", "pt", "folder"])
def test_keys_with_dots_in_files(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, arrays = tmp_path / f"weights.{kind}", {"0.weight": A, "q.bias": B}
    match kind:
        case "npz":
            np.savez(path, **arrays)  # type: ignore[arg-type]
        case "safetensors":
            pytest.importorskip("safetensors.numpy").save_file(arrays, path)
        case "pt":
            torch = pytest.importorskip("torch")
            torch.save({name: torch.tensor(array) for name, array in arrays.items()}, path)
        case "folder":
            path.mkdir()
            for name, array in arrays.items():
                np.save(path / f"{name}.npy", array)
    assert bound(STATES, path) == EXPECTED
    model = tmp_path / "model.mlir"
    model.write_text(text_of(*STATES))
    for given in (["--input", "args[0]=[5, 6]"], ["--args", "[dense<[5.0, 6.0]> : tensor<2xf32>]"]):
        assert run(model, "--weights", path, *given, "--print-dense") == 0
        values = [line for line in capsys.readouterr().out.splitlines() if "dense" in line]
        assert values == [f"dense<[{n}.000000e+00, {n + 1}.000000e+00]> : tensor<2xf32>" for n in (1, 3, 5)]


def test_the_command_line_says_what_does_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, path = tmp_path / "model.mlir", tmp_path / "w.npz"
    model.write_text(text_of(*STATES))
    np.savez(path, **{"0.weight": A, "q.bais": B})  # type: ignore[arg-type]
    assert run(model, "--weights", path, "--input", "args[0]=1") == 2
    assert capsys.readouterr().err == (
        f"stablehlo-interp: error: --weights {path}: the weights do not fit the program\n"
        "  no argument 'q.bais'; did you mean 'states['q.bias']'?\n"
        "  no weight for 'states['q.bias']'; did you mean 'q.bais'?\n"
    )
    assert run(model, "--weights", tmp_path / "none.npz") == 2
    assert "error: --weights: cannot read" in capsys.readouterr().err
    np.savez(path, **{"0.weight": A, "q.bias": B})  # type: ignore[arg-type]
    assert run(model, "--weights", path, "--input", "q.bias=1") == 2
    assert "no input 'q.bias'\n  its inputs are arg2: tensor<2xf32> (args[0])" in capsys.readouterr().err
    assert run(model, "--weights", path, "--random-inputs", "0", "--output", path) == 2
    assert f"would overwrite --weights {path}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "weights", "expected"),
    [
        (STATES, {"weight": A}, "no argument 'weight'; did you mean 'states['0.weight']'?"),
        (STATES, {"first": A, "second": B}, "no argument 'first'"),
        (STATES, {"0": A}, "no argument '0'"),
        (["args[0]", "args[1]"], {"q.weight": A}, "no argument 'q.weight'"),
        (["args[0]"], {"0": A}, "no argument '0'; did you mean 'args[0]'?"),
        (["inputs[0]['w']", "x"], {"w": A}, "no argument 'w'"),
        (["kwargs['w']"], {"w": A}, "no argument 'w'; did you mean 'kwargs['w']'?"),
        (
            ["states[0]", "inputs[0][0]"],
            {"q.weight": A},
            "arguments in 'states' have numbers: give the weights in the list that the exporter returned",
        ),
        (["a['w']", "b['w']"], {"w": A}, "'w' may be 'a['w']' or 'b['w']': write one of these"),
        (["x", "x"], {"x": A}, "'x' may be 'arg0' or 'arg1': write one of these"),
        (["params['x']", "x"], {"x": A}, "'x' may be 'x' or 'params['x']': write one of these"),
        (["s['a.b']", "s['a']['b']"], {"a.b": A}, "'a.b' may be 's['a.b']' or 's['a']['b']': write one of these"),
        (["s['a']", "x"], {"a": A, "s.a": B}, "'a' and 's.a' are both the argument 's['a']'"),
        (["s['a.b']", "x"], {"a": {"b": A}, "a.b": B}, "'a['b']' and 'a.b' are both the argument 's['a.b']'"),
        (["s['a']", "s['b']"], {"a": A}, "no weight for 's['b']'"),
        (STATES, {"module.0.weight": A}, "no argument 'module.0.weight'; did you mean 'states['0.weight']'?"),
        (
            ["s['a']", "t['b']"],
            {"a": A, "b": B},
            "'a' is the argument 's['a']', but 'b' is the argument 't['b']': write whole names, or leave out the same "
            "first part of all",
        ),
        (
            ["params['w']", "x"],
            {"w": A, "x": B},  # the exporter may have dropped params['x']
            "'w' is the argument 'params['w']', but 'x' is the argument 'x': write whole names, or leave out the same "
            "first part of all",
        ),
    ],
)
def test_rejects_what_is_not_one_argument(names: Sequence[str], weights: Any, expected: str) -> None:
    assert expected in problems(names, weights)


@pytest.mark.parametrize(
    ("names", "weights", "expected"),
    [
        (["params['x']", "x"], {"x": A, "params['x']": B}, {"x": [1, 2], "params['x']": [3, 4]}),
        (["s['a.b']", "s['a']['b']"], {"s": {"a.b": A, "a": {"b": B}}}, {"s['a.b']": [1, 2], "s['a']['b']": [3, 4]}),
        (["s['w']", "kwargs['mask']"], {"w": A, "mask": B}, {"s['w']": [1, 2]}),  # s['mask'] is not used
        (["p[0]['w']", "p[1]['w']", "x"], [{"w": A}, {"w": B}], {"p[0]['w']": [1, 2], "p[1]['w']": [3, 4]}),
        (["p[0][0]", "p[0][1]", "x"], [(A, B)], {"p[0][0]": [1, 2], "p[0][1]": [3, 4]}),
        (["s[0]", "s[2]", "args[0]"], {"2": B, "0": A}, {"s[0]": [1, 2], "s[2]": [3, 4]}),
        (["x", "p[0]", "p[2]"], [A, Z, B], {"p[0]": [1, 2], "p[2]": [3, 4]}),
        (["s[0]", "s[2]", "inputs[0]", "inputs[1]", "inputs[2]"], [A, Z, B], {"s[0]": [1, 2], "s[2]": [3, 4]}),
        (["w", "b", "x"], [A, B], {"w": [1, 2], "b": [3, 4]}),
        (["args[0]", "args[2]"], [A, Z, B], {"args[0]": [1, 2], "args[2]": [3, 4]}),
        (["args[0]['w']", "args[1]"], {"args[0]['w']": A}, {"args[0]['w']": [1, 2]}),  # args[1] is an input
        (["args[0]['w']", "args[1]"], [{"w": A}], {"args[0]['w']": [1, 2]}),
        (["a", "b"], {}, {}),
    ],
)
def test_each_weight_gets_to_its_argument(names: Sequence[str], weights: Any, expected: dict[str, Any]) -> None:
    assert bound(names, weights) == expected


@pytest.mark.parametrize(
    ("names", "weights", "expected"),
    [
        (STATES, [A, B], "there are 'states['0.weight']': give names"),
        (["p[0]", "q[0]"], [A], "there are 'p[0]' and 'q[0]': give names"),
        (["p['a']", "q[0]"], [A], "there are 'p['a']' and 'q[0]': give names"),
        (["p[0]", "p[2]"], [A, B], "no weight for 'p[2]'"),
        (["w"], [A, B], "expected weights for 1 arguments, got 2"),
    ],
)
def test_rejects_weights_in_order_without_numbers(names: Sequence[str], weights: Any, expected: str) -> None:
    assert expected in problems(names, weights)[-1]


def test_inputs_by_name_follow_the_same_rule() -> None:
    given = program("params['w.a']", "params['w']['b']", "x")
    assert given.inputs["w.a"] is given.inputs["params['w.a']"] is given.inputs["arg0"]
    results = given.run({"w.a": A, "params.w.b": B, "x": X})
    assert [result.tolist() for result in results] == [A.tolist(), B.tolist(), X.tolist()]
    assert given.run_replicas([{"w/a": A, "w.b": B, "x": X}])[0][0].tolist() == A.tolist()
    with pytest.raises(sr.EvaluationError, match=r"argument 'w.a' of @main is given twice, also as 'arg0'"):
        given.run({"arg0": A, "w.a": A, "w.b": B, "x": X})
    with pytest.raises(sr.EvaluationError, match=r"no argument 'w.c'.*did you mean 'params\['w.a'\]'"):
        given.run({"w.c": A})
    twice = program("a['w']", "b['w']")
    with pytest.raises(KeyError, match=r"it may be 'a\['w'\]' or 'b\['w'\]'"):
        twice.inputs["w"]
    with pytest.raises(sr.EvaluationError, match=r"it may be 'a\['w'\]' or 'b\['w'\]'"):
        twice.run(w=A)


def test_integers_of_64_bits_become_those_of_the_program() -> None:
    """PyTorch keeps indices in int64 where JAX, and so torchax, has int32."""
    text = """func.func @main(%arg0: tensor<2xi32> loc("states['ids']")) -> tensor<2xi32> {
        return %arg0 : tensor<2xi32> }"""
    assert sr.load(text).bind({"ids": np.int64([0, -7])}).run()[0].tolist() == [0, -7]
    with pytest.raises(sr.EvaluationError, match="expected dtype int32"):
        sr.load(text).bind({"ids": np.int64([0, 1 << 31])})


def test_says_that_arguments_have_no_names() -> None:
    text = "func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> { return %arg0 : tensor<2xf32> }"
    with pytest.raises(sr.EvaluationError, match="an exporter's text has them if it is printed with debug info"):
        sr.load(text).bind({"q.weight": A})


def test_names_in_the_text_that_are_those_of_other_arguments_in_locations() -> None:
    t = "tensor<2xf32>"
    text = f"""func.func @main(%w: {t} loc("states['x']"), %x: {t} loc("states['w']")) -> {t} {{
      return %w : {t} }}"""
    with pytest.raises(sr.EvaluationError, match="'w' may be") as caught:
        sr.load(text).bind({"w": A, "x": B})
    assert "write one of these" in str(caught.value)
    left = sr.load(text).bind({"states['w']": A, "states['x']": B})
    np.testing.assert_array_equal(left.run()[0], B)


def test_a_misspelt_name_beside_a_right_one_is_an_error() -> None:
    (problem,) = problems(["w1", "w2"], {"w1": np.float32([1, 2]), "w22": np.float32([1, 2])})
    assert "'w22'" in problem
    assert "did you mean 'w2'" in problem
