"""Export PyTorch functions and models through torch-mlir, run them, and compare the results with PyTorch's.

    python tools/exports/torch_mlir_functions.py [--only REGEX] [--save FOLDER]

The exit code is 1 if a result differs. Needs the extra `exports`, and torch-mlir, whose wheels are on its project page.
torch-mlir prints on standard error why it cannot export a sample.
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
    """Export a program; its weights become constants."""
    return Case(str(fx.export_and_import(program, output_type="stablehlo")), operands, due)


MISTAKEN = {
    # The remainder has the sign of the dividend, which should be that of the divisor.
    "remainder.float32": torch.fmod,
    "remainder.int32": torch.fmod,
    # The maximum of unsigned integers starts from 128, the bits of the lowest signed integer.
    "amax.uint8": lambda x: x.amax().clamp(min=128),
    # A complex number is converted to its real part before its absolute value is computed.
    "abs.complex64": lambda x: x.real.abs(),
    # The padding for `ceil_mode` is added on both sides instead of one.
    "max_pool2d": lambda x: F.max_pool2d(F.pad(x, (1, 1, 2, 2), value=-torch.inf), 3, 2),
}

if __name__ == "__main__":
    sys.exit(main(Exporter(export, MISTAKEN).samples(), "PyTorch"))
