"""Export a model with a batch of unknown size from PyTorch through torch-mlir: `dynamic_batch.mlir`.

    pip install torch torch-mlir
    python examples/export_dynamic_batch.py
    stablehlo-interp examples/dynamic_batch.mlir

torch-mlir computes shapes at run time with ops of the `shape` and `arith` dialects, and broadcasts with
`stablehlo.dynamic_broadcast_in_dim`. `@main` calls the function with batches of 2 and of 5.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import torch
from self_check import check, constant, tensor_type, with_main, write
from torch import nn
from torch_mlir import fx

BATCHES, FEATURES, CLASSES = (2, 5), 6, 4


def call(batch: int, x: np.ndarray, expected: np.ndarray) -> list[str]:
    """Return lines that call the function with one batch and compare."""
    dynamic, result = tensor_type(x, 0), tensor_type(expected, 0)
    name = f"{batch}"
    return [
        constant(f"%x{name}", x),
        constant(f"%expected{name}", expected),
        f"    %dynamic{name} = tensor.cast %x{name} : {tensor_type(x)} to {dynamic}",
        f"    %result{name} = call @forward(%dynamic{name}) : ({dynamic}) -> {result}",
        f"    %static{name} = tensor.cast %result{name} : {result} to {tensor_type(expected)}",
        # Sums of 10 products below 1 in f32: errors of 1e-6 at most.
        check(f"%static{name}", f"%expected{name}", expected, 2e-6),
    ]


def main() -> None:
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(FEATURES, 10), nn.LayerNorm(10), nn.SiLU(), nn.Linear(10, CLASSES), nn.Softmax(1))
    model.eval()
    size = torch.export.Dim("batch", min=1, max=64)
    example = (torch.ones(BATCHES[0], FEATURES),)
    program = torch.export.export(model, example, dynamic_shapes=({0: size},))
    lines = []
    for batch in BATCHES:
        x = torch.rand(batch, FEATURES) - 0.5
        lines += call(batch, x.numpy(), model(x).detach().numpy())
    function = ["  func.func public @main() {", *lines, "    return", "  }"]
    exported = str(fx.export_and_import(program, output_type="stablehlo"))
    write(__file__, with_main(exported, "forward", function), f"torch-mlir {version('torch-mlir')}")


if __name__ == "__main__":
    main()
