"""Which LAPACK routines have the same results on every machine in a reproducible mode.

These compute in f64 by additions, divisions, square roots and exact sums of products, in a fixed order, and round once.
The others compute by numpy's LAPACK, or with complex products whose rounding depends on the processor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ops.extensibility import CustomCall

REAL = frozenset({
    "potrf", "trsm", "getrf", "gtsv", "gtsv2", "perturbed", "geqrf", "geqp3", "orgqr", "ormqr", "gehrd", "sytrd",
    "lu_decomposition", "qr", "householder_product",
})  # fmt: skip
COMPLEX = frozenset({"potrf", "trsm"})


def is_reproducible(call: CustomCall, routine: object, operands: Sequence[Array]) -> bool:
    """Return whether results must be reproducible; UnsupportedError if those of the routine cannot be."""
    if not call.reproducible:
        return False
    has_complex = any(np.iscomplexobj(x) for x in operands)
    name = getattr(routine, "__name__", "")
    if name not in (COMPLEX if has_complex else REAL):
        types = ", ".join(dict.fromkeys(map(str, call.operand_types)))
        reason = (
            "the rounding of its complex products depends on the processor"
            if name in REAL
            else "it is computed by LAPACK, whose results depend on the machine"
        )
        message = f"custom call @{call.target} has no reproducible implementation for {types}: {reason}"
        raise UnsupportedError(message, call.location)
    return True
