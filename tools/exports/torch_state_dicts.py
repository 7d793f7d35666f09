"""Export PyTorch modules by torchax.extract_jax and jax.export, bind their state_dicts, and compare with PyTorch.

    python tools/exports/torch_state_dicts.py

Programs are read from the object, the text, the bytecode and the file that `jax.export` makes; weights are the
state_dict, what torchax returns, and files of all kinds, also on the command line. Attention stays a composite, for
which a run takes a kernel of the user. The exit code is 1 if anything differs. Needs the extra `torch`.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import safetensors.torch
import torch
from compare import difference
from torch import Tensor, nn

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main as command_line
from stablehlo_ref.frameworks.torch import export_program, from_torch, import_torchax

torchax = import_torchax()

HEADS, SIZE = 4, 8
SDPA = "test.sdpa"


def attention(q: jax.Array, k: jax.Array, v: jax.Array, *, scale: float) -> jax.Array:
    return jax.nn.softmax(q @ k.mT * jnp.float32(scale)) @ v


class Attention(nn.Module):
    """Attention that a compiler is to see as one op, and a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(HEADS * SIZE, HEADS * SIZE, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (y(x).reshape(*x.shape[:2], HEADS, SIZE).transpose(1, 2) for y in (self.q, self.k, self.v))
        if isinstance(x, torchax.tensor.Tensor):
            y = torchax.interop.call_jax(jax.lax.composite(attention, SDPA), q, k, v, scale=0.25)
        else:
            y = nn.functional.scaled_dot_product_attention(q, k, v, scale=0.25)
        return x + y.transpose(1, 2).reshape(x.shape)


class Language(nn.Module):
    """Embeddings that are also the last layer, positions in a buffer of int64, and a layer that is not used."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places, self.unused = nn.Embedding(11, 8), nn.Embedding(5, 8), nn.Linear(8, 8)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("positions", torch.arange(5).flip(0))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.tokens(x) + self.places(self.positions))


class Masked(nn.Module):
    """A layer, and a buffer that is not used and is called as an input is."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("mask", torch.full((4, 4), 3.0))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.layer(x) * mask


def modules() -> Iterator[tuple[str, nn.Module, tuple[Tensor, ...], dict[str, Tensor]]]:
    """Yield modules, with the inputs of a call."""
    torch.manual_seed(0)
    yield "square", nn.Sequential(nn.Linear(4, 4, bias=False)), (torch.randn(4, 4),), {}
    yield "attention", Attention(), (torch.randn(2, 6, HEADS * SIZE),), {}
    norm = nn.BatchNorm2d(6)
    norm(torch.randn(8, 6, 5, 5))  # statistics other than 0 and 1
    image = nn.Sequential(nn.Conv2d(3, 6, 3), norm, nn.ReLU(), nn.Flatten(), nn.Linear(6 * 16, 5))
    yield "image", image, (torch.randn(2, 3, 6, 6),), {}
    yield "language", Language(), (torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]]),), {}
    yield "masked", Masked(), (torch.randn(4, 4),), {"mask": torch.randn(4, 4)}


def programs(exported: Any) -> dict[str, sr.Program]:
    """Return the program of an export, by what it is read from."""
    return {
        "object": sr.load(exported),
        "text": sr.load(exported.mlir_module()),
        "bytecode": sr.load(exported.mlir_module_serialized),
        "file": sr.load(exported.serialize()),
    }


def sources(module: nn.Module, weights: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the weights of a module in all forms that `bind` takes."""
    states = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
    arrays = {name: tensor.numpy() for name, tensor in states.items()}
    torch.save(states, folder / "weights.pt")
    safetensors.torch.save_file(states, folder / "weights.safetensors")
    np.savez(folder / "weights.npz", **arrays)  # type: ignore[arg-type]
    (folder / "weights").mkdir()
    for name, array in arrays.items():
        np.save(folder / "weights" / f"{name}.npy", array)
    files = {name: folder / name for name in ("weights.pt", "weights.safetensors", "weights.npz", "weights")}
    return {"state_dict": module.state_dict(), "extract_jax": weights, "nested": {"states": arrays}, **files}


def problems(module: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor], folder: Path) -> Iterator[str]:
    """Yield how runs of a module's program, with its weights from everywhere, differ from PyTorch's results."""
    due = module(*args, **kwargs).detach().numpy()
    weights, function = torchax.extract_jax(module)
    arrays = [x.numpy().astype(np.int32) if x.dtype == torch.int64 else x.numpy() for x in (*args, *kwargs.values())]
    call = [weights, tuple(arrays[: len(args)]), dict(zip(kwargs, arrays[len(args) :]))]
    exported = jax.export.export(jax.jit(function))(*call)
    first = None
    for source, given in sources(module, weights, folder).items():
        for form, program in programs(exported).items():
            (y,) = program.bind(given).run(*arrays)
            first = y if first is None else first
            if what := difference(y, due) or (
                "" if y.tobytes() == first.tobytes() else "has other bits than the first"
            ):
                yield f"{form} with {source}: {what}"
    yield from on_the_command_line(exported.mlir_module(), arrays, list(kwargs), due, folder)
    if isinstance(module, Attention):
        yield from as_composite(sr.load(exported.mlir_module()).bind(weights), arrays, due)


def on_the_command_line(
    text: str, arrays: list[np.ndarray], named: list[str], due: np.ndarray, folder: Path
) -> Iterator[str]:
    """Yield what the command says if it does not return what PyTorch does."""
    (folder / "model.mlir").write_text(text, encoding="utf-8")
    np.save(folder / "expected.npy", due)
    inputs = []
    for name, array in zip(["args[0]", *(f"kwargs['{name}']" for name in named)], arrays, strict=True):
        np.save(folder / f"{len(inputs)}.npy", array)
        inputs += ["--input", f"{name}={folder / f'{len(inputs)}.npy'}"]
    for weights in ("weights.safetensors", "weights.pt", "weights.npz", "weights"):
        output = io.StringIO()
        arguments = [str(folder / "model.mlir"), "--weights", str(folder / weights), *inputs]
        with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
            code = command_line([*arguments, "--expect", str(folder / "expected.npy"), "--rtol=1e-4", "--atol=1e-5"])
        if code:
            yield f"the command with {weights}: {output.getvalue()}"


def as_composite(program: sr.Program, arrays: list[np.ndarray], due: np.ndarray) -> Iterator[str]:
    """Yield what is wrong with runs that take kernels for the composite."""

    def kernel(q: np.ndarray, k: np.ndarray, v: np.ndarray, *, scale: Any, error: float = 0.0) -> np.ndarray:
        scores = np.exp(q @ k.swapaxes(-1, -2) * np.float32(scale))
        return (scores / scores.sum(-1, keepdims=True) @ v * (1 + error)).astype(np.float32)

    if SDPA not in str(program):
        yield f"the program has no composite {SDPA}"
    (y,) = program.run(*arrays, overrides={SDPA: kernel}, check_overrides=True)
    if what := difference(y, due):
        yield f"with a kernel: {what}"
    try:
        program.run(
            *arrays, overrides={SDPA: lambda *x, **scale: kernel(*x, **scale, error=0.01)}, check_overrides=True
        )
        yield "a kernel with an error of 1% passes the check"
    except sr.EvaluationError:
        pass


def problems_of_numbers(module: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor]) -> Iterator[str]:
    """Yield what is wrong with the program of torch.export, whose weights have numbers instead of names."""
    due = module(*args, **kwargs)
    if what := difference(from_torch(module, args, kwargs).run(*args, **kwargs).numpy(), due.detach().numpy()):
        yield f"from_torch: {what}"
    weights, exported = export_program(torch.export.export(module, args, kwargs))
    arrays = [x.numpy().astype(np.int32) if x.dtype == torch.int64 else x.numpy() for x in (*args, *kwargs.values())]
    for form, program in programs(exported).items():
        (y,) = program.bind(weights).run(*arrays)
        if what := difference(y, due.detach().numpy()):
            yield f"{form} of torch.export: {what}"
        try:
            program.bind(module.state_dict())
            yield f"{form} of torch.export: a state_dict is bound to arguments with numbers"
        except sr.EvaluationError:
            pass


def main() -> int:
    """Check all modules, print what is wrong, and return the exit code."""
    wrong = 0
    for name, module, args, kwargs in modules():
        module.eval()
        with tempfile.TemporaryDirectory() as folder:
            found = list(problems(module, args, kwargs, Path(folder)))
        if not isinstance(module, Attention):  # torch.export takes the module apart
            found += problems_of_numbers(module, args, kwargs)
        wrong += bool(found)
        print("\n".join(f"{name}: {what}" for what in found or ["agrees with PyTorch"]), flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
