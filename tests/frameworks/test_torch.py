"""Programs from PyTorch: their inputs and outputs are those of `forward`, their values are PyTorch's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.arrays.interop import to_array, to_tensor
from stablehlo_ref.frameworks.torch import export_program, from_torch

torch = pytest.importorskip("torch")
pytest.importorskip("jax")


class Model(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Layers with parameters and buffers, one of which has no effect."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.unused = torch.nn.Linear(4, 4)
        self.norm = torch.nn.BatchNorm1d(2)

    def forward(self, x: Any, *, scale: Any) -> dict[str, Any]:
        return {"y": torch.relu(self.norm(self.linear(x))) * scale, "sums": (x.sum(),)}


X, SCALE = torch.linspace(-1, 2, 12).reshape(4, 3), torch.tensor(2.0)


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    return Model().eval()


def assert_as_torch(model: Any, results: Any, x: Any) -> None:
    expected = model(x, scale=SCALE)
    assert results.keys() == expected.keys() and isinstance(results["sums"], tuple)
    # Dot products of 3 numbers and a handful of operations: some ULPs of numbers of the size of 1.
    torch.testing.assert_close(results, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("is_exported", [False, True])
def test_takes_and_returns_what_forward_does(model: Any, is_exported: bool) -> None:
    if is_exported:
        program = from_torch(torch.export.export(model, (X,), {"scale": SCALE}))
    else:
        program = from_torch(model, (X,), {"scale": SCALE})
    assert_as_torch(model, program.run(X, scale=SCALE), X)
    assert_as_torch(model, program.run(X * 3, scale=SCALE), X * 3)
    with pytest.raises(sr.EvaluationError, match="expected arguments of structure"):
        program.run(X)


def test_loads_archives_of_pytorch(model: Any, tmp_path: Path) -> None:
    torch.export.save(torch.export.export(model, (X,), {"scale": SCALE}), tmp_path / "model.pt2")
    assert_as_torch(model, sr.load(tmp_path / "model.pt2").run(X, scale=SCALE), X)


@pytest.mark.parametrize("is_file", [False, True])
def test_binds_the_weights_of_an_export(model: Any, is_file: bool, tmp_path: Path) -> None:
    weights, exported = export_program(torch.export.export(model, (X,), {"scale": SCALE}))
    program = sr.load(exported)
    with pytest.raises(sr.EvaluationError, match="arguments in 'states' have numbers"):
        program.bind(model.state_dict())  # in another order: buffers are between parameters
    if is_file:
        path = tmp_path / "weights.pt"
        torch.save({str(number): torch.from_numpy(np.array(weight)) for number, weight in enumerate(weights)}, path)
        weights = path
    program = program.bind(weights)
    assert len(program.inputs) == 2
    y = program.run(X.numpy(), SCALE.numpy())[0]
    np.testing.assert_allclose(y, model(X, scale=SCALE)["y"].detach().numpy(), rtol=1e-5, atol=1e-6)


def test_takes_indices_of_64_bits() -> None:
    """PyTorch's indices are int64; torchax makes them int32."""
    table, indices = torch.nn.Embedding(5, 3), torch.tensor([4, 0, 1])
    program = from_torch(table, (indices,))
    assert str(program.inputs[-1].type) == "tensor<3xi32>"
    torch.testing.assert_close(program.run(indices), table(indices).detach(), rtol=0, atol=0)
    with pytest.raises(sr.EvaluationError, match="expected dtype int32"):
        program.run(indices + 2**40)


def test_rejects_other_objects() -> None:
    with pytest.raises(TypeError, match=r"expected a torch\.nn\.Module or ExportedProgram, got int"):
        from_torch(3)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e5m2", "int8", "bool", "complex64"])
def test_tensors_become_arrays_and_tensors_again(name: str) -> None:
    tensor = torch.tensor([0.0, 1.0, 2.0]).to(getattr(torch, name))
    array = to_array(tensor)
    assert array.dtype == (getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else np.dtype(name))
    assert array.astype(np.float32).tolist() == tensor.to(torch.float32).tolist()
    again = to_tensor(array)
    assert again.dtype == tensor.dtype and torch.equal(again.to(torch.float32), tensor.to(torch.float32))


def test_torch_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, stablehlo_ref, stablehlo_ref.frameworks.torch; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
