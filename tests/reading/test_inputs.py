"""`read_inputs` and `random_inputs`: inputs from text and files, and random ones, in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr

PROGRAM = """
func.func @main(%x: tensor<?x2xf32> loc("args[0]"), %n: tensor<i32>) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
}
"""


def test_inputs_from_text_and_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "n.npz", n=np.int32(7))
    inputs = sr.load(PROGRAM).inputs
    found = sr.read_inputs(inputs, {"args[0]": "[[1, 2.5]]"}, [tmp_path / "n.npz"])
    assert {name: array.tolist() for name, array in found.items()} == {"n": 7, "x": [[1, 2.5]]}
    (result,) = sr.load(PROGRAM).run(found)
    assert result.tolist() == [[1, 2.5]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"y": "1"}, "the program has no input 'y'"),
        ({"x": "1" + "0" * 400}, "input 'x': an integer is too large for tensor<.x2xf32>"),
        ({"x": '[[1, 2], {"a": 1}]'}, "input 'x': expected numbers, got {\"a\": 1}"),
        ({"x": "[[1, 2], [3]]"}, "input 'x': the rows of the list differ in length"),
        ({"n": "1.5"}, "1.5 is not a number of tensor<i32>"),
        ({"n": "none.npy"}, "input 'n': no such file 'none.npy'"),
        ({"x": "[[1, 2]]", "args[0]": "[[1, 2]]"}, "input 'x' is given twice"),
    ],
)
def test_wrong_inputs_are_value_errors(values: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        sr.read_inputs(sr.load(PROGRAM).inputs, values)
    assert isinstance(caught.value, sr.StablehloError)


def test_random_inputs_are_those_of_the_seed() -> None:
    program = sr.load(PROGRAM)
    drawn = [sr.random_inputs(program.inputs, seed, sizes={"x:0": 100}) for seed in (1, 1, 2)]
    first, second, other = (found["x"] for found in drawn)
    assert first.shape == (100, 2) and first.dtype == np.float32  # type: ignore[union-attr]
    assert np.array_equal(first, second) and not np.array_equal(first, other)  # type: ignore[arg-type]


def test_distributions_by_name() -> None:
    drawn = sr.random_inputs(
        sr.load(PROGRAM).inputs, distributions={"args[0]": "uniform(5, 6)", "*": "constant(3)"}, sizes={"*": 100}
    )
    x = np.asarray(drawn["x"])
    assert 5 <= x.min() < x.max() <= 6 and drawn["n"] == 3
    with pytest.raises(ValueError, match=r"expected normal\(mean, stddev\), .*, got 'gauss\(0, 1\)'"):
        sr.random_inputs(sr.load(PROGRAM).inputs, distributions={"x": "gauss(0, 1)"})


def test_random_inputs_need_sizes() -> None:
    with pytest.raises(sr.EvaluationError, match="cannot draw argument 'x' of type tensor"):
        sr.random_inputs(sr.load(PROGRAM).inputs)


@pytest.mark.parametrize("count", [0, 2])
def test_an_npy_file_has_one_result(count: int, tmp_path: Path) -> None:
    outputs = sr.load(PROGRAM).outputs[:1] * count
    with pytest.raises(ValueError, match=f"an .npy file has one array, got {count}; use .npz"):
        sr.save_results(tmp_path / "out.npy", outputs, [np.ones(1)] * count)


def test_results_in_files_are_inputs_again(tmp_path: Path) -> None:
    program = sr.load(PROGRAM)
    results = program.run([[1, 2], [3, 4]], 0)
    for name in ("out.npz", "out.npy"):
        sr.save_results(str(tmp_path / name), program.outputs, results)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["result0"], [[1, 2], [3, 4]])
    found = sr.read_inputs(program.inputs, {"x": str(tmp_path / "out.npy")})
    np.testing.assert_array_equal(found["x"], results[0])
