"""Export PyTorch functions and models through torchax, run them, and compare the results with PyTorch's.

    python tools/exports/torchax_functions.py [--only REGEX] [--save FOLDER]

The exit code is 1 if a result differs. Needs the extra `exports`.
"""

from __future__ import annotations

import sys

import jax
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from compare import Case, main
from torch.export import ExportedProgram
from torch_exports import Exporter

from stablehlo_ref.frameworks.torch import import_torchax


def export(program: ExportedProgram, operands: list[np.ndarray], due: list[np.ndarray]) -> Case:
    """Export a program; its weights become arguments, and unused arguments are dropped.

    Some results have other types than in PyTorch: indices, for example, are 32-bit. The expected values are converted.
    """
    weights, exported = import_torchax().export.exported_program_to_stablehlo(program)
    arguments = [*map(np.asarray, jax.tree.leaves(weights)), *operands]
    expected = [x.astype(aval.dtype) for x, aval in zip(due, exported.out_avals, strict=True)]
    return Case(exported.mlir_module(), [arguments[i] for i in exported.module_kept_var_idx], expected)


def transposed(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Compute the sample as torchax does, which reshapes weights instead of reordering groups."""
    return F.conv_transpose2d(x, k[[0, 2, 1, 3]], stride=2, padding=1, output_padding=1, groups=2)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(Exporter(export, {"conv_transpose2d": transposed}).samples(), "PyTorch"))
