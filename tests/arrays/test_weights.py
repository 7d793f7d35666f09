"""Weights bound to arguments: where they come from, which argument each is, what is reported."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.ir.signature import parts

# y = x * a + b, with names as JAX gives them to a nested dict of parameters.
NESTED = """
func.func @main(%arg0: tensor<2xf32> loc("params['layer'][0]"), %arg1: tensor<2xf32> loc("params['bias']"),
                %arg2: tensor<2xf32> loc("x")) -> tensor<2xf32> {
  %0 = stablehlo.multiply %arg2, %arg0 : tensor<2xf32>
  %1 = stablehlo.add %0, %arg1 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""
# As torchax names them: state 1 is not used, so that it has no argument.
NUMBERED = NESTED.replace("params['layer'][0]", "states[0]").replace("params['bias']", "states[2]")
A, B, X = np.float32([2, 3]), np.float32([10, 20]), np.float32([1, 1])
Y = [12, 23]


def save_npz(folder: Path) -> Path:
    np.savez(folder / "weights.npz", **{"params.layer.0": A, "params.bias": B})
    return folder / "weights.npz"


def save_safetensors(folder: Path) -> Path:
    pytest.importorskip("safetensors.numpy").save_file({"layer.0": A, "bias": B}, folder / "weights.safetensors")
    return folder / "weights.safetensors"


def save_folder(folder: Path) -> Path:
    (folder / "layer").mkdir()
    np.save(folder / "layer" / "0.npy", A)
    np.save(folder / "bias.npy", B)
    return folder


def save_torch(folder: Path) -> Path:
    torch = pytest.importorskip("torch")
    torch.save({"layer.0": torch.tensor(A), "bias": torch.tensor(B)}, folder / "weights.pt")
    return folder / "weights.pt"


@pytest.mark.parametrize(
    "weights",
    [
        {"params['layer'][0]": A, "params['bias']": B},
        {"params.layer.0": A, "params/bias": B},
        {"layer.0": A, "bias": B},
        {"params": {"layer": [A], "bias": B}},
        {"arg0": A, "arg1": B},
        {0: A, 1: B},
    ],
    ids=["as written", "dots and slashes", "without the root", "nested", "names in the text", "numbers"],
)
def test_mappings(weights: Any) -> None:
    program = sr.load(NESTED).bind(weights)
    assert [p.name for p in program.inputs] == ["arg2"]
    assert program.run(X)[0].tolist() == Y
    assert program.run(x=X)[0].tolist() == Y


@pytest.mark.parametrize("save", [save_npz, save_safetensors, save_folder, save_torch])
def test_files(save: Any, tmp_path: Path) -> None:
    assert sr.load(NESTED).bind(save(tmp_path)).run(X)[0].tolist() == Y


NARROW = """
func.func @main(%a: tensor<2xbf16>, %b: tensor<2xf8E5M2>) -> (tensor<2xbf16>, tensor<2xf8E5M2>) {
  return %a, %b : tensor<2xbf16>, tensor<2xf8E5M2>
}
"""


def test_narrow_floats_in_safetensors(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    header = b"""{"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]},
        "b": {"dtype": "F8_E5M2", "shape": [2], "data_offsets": [4, 6]}}"""
    path = tmp_path / "weights.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes.fromhex("803f0040 3c40"))
    a, b = sr.load(NARROW).bind(path).run()
    assert (a.dtype.name, a.tolist(), b.dtype.name, b.tolist()) == ("bfloat16", [1, 2], "float8_e5m2", [1, 2])


def test_narrow_floats_as_numpy_saves_them(tmp_path: Path) -> None:
    np.savez(tmp_path / "weights.npz", a=np.array([1, 2], ml_dtypes.bfloat16), b=np.uint8([0x3C, 0x40]))
    a, b = sr.load(NARROW).bind(tmp_path / "weights.npz").run()
    assert (a.tolist(), b.tolist()) == ([1, 2], [1, 2])


def test_weights_in_order_skip_dropped_arguments() -> None:
    assert sr.load(NUMBERED).bind([A, np.zeros(7), B]).run(X)[0].tolist() == Y


def test_all_problems_are_listed_at_once() -> None:
    with pytest.raises(sr.EvaluationError) as caught:
        sr.load(NESTED).bind({"params.layer.0": np.float32([1]), "params.biass": B})
    assert caught.value.diagnostics[0].notes == (
        "no argument 'params.biass'; did you mean 'params['bias']'?",
        "no weight for 'params['bias']'; did you mean 'params.biass'?",
        "'params['layer'][0]' is tensor<2xf32>, the weight has the shape (1,)",
    )


def test_weights_of_dropped_arguments_are_ignored() -> None:
    for root in ("params.", ""):
        weights = {f"{root}layer.0": A, f"{root}bias": B, f"{root}layer.1": X, "other": X}
        assert sr.load(NESTED).bind(weights).run(X)[0].tolist() == Y


def test_reports_numbers_of_no_input() -> None:
    with pytest.raises(sr.EvaluationError, match="@main has no input 3"):
        sr.load(NESTED).bind({3: A})


def test_reports_other_dtypes() -> None:
    with pytest.raises(sr.EvaluationError, match="'arg0': expected dtype float32 for tensor<2xf32>, got float64"):
        sr.load(NESTED).bind({"layer.0": A.astype(np.float64), "bias": B})


@pytest.mark.parametrize("names", [("layer.0", "bias"), (0, 1)])
def test_reports_all_that_have_other_dtypes(names: tuple[Any, Any]) -> None:
    with pytest.raises(sr.EvaluationError) as caught:
        sr.load(NESTED).bind(dict(zip(names, (A.astype(np.float64), B.astype(np.int64)))))
    assert [d.message.partition(";")[0] for d in caught.value.diagnostics] == [
        "argument 'arg0': expected dtype float32 for tensor<2xf32>, got float64",
        "argument 'arg1': expected dtype float32 for tensor<2xf32>, got int64",
    ]


def test_reports_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "weights.npz").write_bytes(b"PK\x03\x04 and no more")
    for name in ("weights.npz", "missing.npz", "weights.txt"):
        with pytest.raises(sr.EvaluationError, match="cannot read"):
            sr.load(NESTED).bind(tmp_path / name)


def test_the_program_itself_stays_unbound() -> None:
    program = sr.load(NESTED)
    bound = program.bind({"layer.0": A, "bias": B})
    assert len(program.inputs) == 3
    assert bound.bind({2: X}).run()[0].tolist() == Y
    assert A.tolist() == [2, 3]


def test_bound_programs_run_in_grids_and_can_be_pickled() -> None:
    bound = pickle.loads(pickle.dumps(sr.load(NESTED).bind({"layer.0": A, "bias": B})))
    assert [results[0].tolist() for results in bound.run_replicas([[X], [X * 2]])] == [Y, [14, 26]]


def test_weights_do_not_change_between_runs() -> None:
    """An update of an input in place must not reach the bound array."""
    text = """
    func.func @main(%w: tensor<4xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> tensor<4xf32> {
      %0 = stablehlo.dynamic_update_slice %w, %u, %i : (tensor<4xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    program = sr.load(text).bind({"w": np.zeros(4, np.float32)})
    assert program.run([1.0], 0)[0].tolist() == [1, 0, 0, 0]
    assert program.run([1.0], 3)[0].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("params['layer'][0]", ("params", "layer", "0")),
        ("params.layer.0", ("params", "layer", "0")),
        ("a/b.c", ("a", "b", "c")),
        ("states['q.0.weight']", ("states", "q", "0", "weight")),
        ("['a']", ("a",)),
    ],
)
def test_parts_of_names(name: str, expected: tuple[str, ...]) -> None:
    assert parts(name) == expected


def test_errors_name_the_file_of_a_weight(tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    np.savez(path, arg0=np.float64([1, 2]))
    text = "func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> { return %arg0 : tensor<2xf32> }"
    with pytest.raises(sr.EvaluationError, match=r"its value is from .*weights\.npz"):
        sr.load(text).bind(path)
