"""Export a convolutional network from PyTorch through torchax: `convnet.mlir`.

    pip install '.[torch]'
    python examples/export_convnet.py
    stablehlo-interp examples/convnet.mlir

Weights are arguments of the exported function. The expected results are PyTorch's own.
"""

from __future__ import annotations

import jax
import numpy as np
import torch
from self_check import self_checking, write
from torch import nn

from stablehlo_ref.frameworks.torch import export_program


def network() -> nn.Module:
    """Return convolutions with batch norm, padding, stride and groups, pooling, and a linear layer."""
    torch.manual_seed(3)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    )
    norm = model[1]
    norm.running_mean.uniform_(-0.5, 0.5)
    norm.running_var.uniform_(0.5, 2)
    return model.eval()


def main() -> None:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no directories in locations
    model, image = network(), torch.rand(2, 1, 12, 12)
    weights, exported = export_program(torch.export.export(model, (image,)))
    arguments = [*map(np.asarray, jax.tree.leaves(weights)), image.numpy()]
    inputs = [arguments[i] for i in exported.module_kept_var_idx]
    with torch.no_grad():
        expected = [model(image).numpy()]
    # Sums of 18 products below 2 in f32, and the mean of 9 of them: errors of 1e-6 at most.
    text = self_checking(exported.mlir_module(), "convnet", inputs, expected, 5e-6)
    write(__file__, text, f"PyTorch {torch.__version__}, torchax and JAX {jax.__version__}")


if __name__ == "__main__":
    main()
