"""Exports functions and models of PyTorch through torch-mlir, runs them here and compares with what PyTorch computes.

    python tools/exports/torch_mlir_functions.py [--only REGEX] [--save FOLDER]

Exits with 1 if one is wrong. Needs the extra `torch`, and torch-mlir, whose wheels its own project keeps. On standard
error it says why it does not export a sample.
"""

from __future__ import annotations

import sys

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from compare import Case, main
from torch.export import ExportedProgram
from torch_exports import Exporter
from torch_mlir import fx


def export(program: ExportedProgram, operands: list[np.ndarray], due: list[np.ndarray]) -> Case:
    """Weights are constants of the program."""
    return Case(str(fx.export_and_import(program, output_type="stablehlo")), operands, due)


MISTAKEN = {
    # The sign of a remainder should be that of the divisor, but is that of the dividend.
    "remainder.float32": torch.fmod,
    "remainder.int32": torch.fmod,
    # A maximum of unsigned integers starts from 128, the least of the signed ones.
    "amax.uint8": lambda x: x.amax().clamp(min=128),
    # A complex number is converted to a real one, which drops the imaginary part, and its absolute value is taken then.
    "abs.complex64": lambda x: x.real.abs(),
    # What `ceil_mode` adds to one side stands on both.
    "max_pool2d": lambda x: F.max_pool2d(F.pad(x, (1, 1, 2, 2), value=-torch.inf), 3, 2),
}

if __name__ == "__main__":
    sys.exit(main(Exporter(export, MISTAKEN).samples(), "PyTorch"))
