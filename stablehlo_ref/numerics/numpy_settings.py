"""The settings of numpy that programs run with."""

from __future__ import annotations

import numpy as np

BUFFER = 1024  # elements
_DEFAULT_BUFFER = 8192  # numpy's


class computing(np.errstate):
    """Compute without warnings of floating-point errors, and with buffers of `BUFFER` elements.

    If an operand is broadcast along short rows, numpy copies it into a buffer, to compute several rows at a time. Rows
    of 600 elements or more take less time without that, up to a half, and those of half a buffer a sixth.
    """

    def __init__(self) -> None:
        super().__init__(all="ignore")

    def __enter__(self) -> None:
        super().__enter__()
        np.setbufsize(BUFFER)  # until the end, as errors are ignored


class default_buffers(np.errstate):
    """Compute with numpy's own size of buffers: large reductions, code of users, and sums that depend on the size."""

    def __enter__(self) -> None:
        super().__enter__()
        np.setbufsize(_DEFAULT_BUFFER)
