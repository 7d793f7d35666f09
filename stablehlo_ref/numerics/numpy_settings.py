"""The settings of numpy that programs run with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

BUFFER = 512  # elements
_DEFAULT_BUFFER = 8192  # numpy's


class computing(np.errstate):
    """Compute without warnings of floating-point errors, and with buffers of `BUFFER` elements.

    If an operand is broadcast along short rows, numpy copies it into a buffer, to compute several rows at a time. Rows
    of 300 elements or more take less time without that, up to a half, and those of half a buffer a sixth.
    """

    def __init__(self) -> None:
        super().__init__(all="ignore")

    def __enter__(self) -> None:
        super().__enter__()
        np.setbufsize(BUFFER)  # until the end, as errors are ignored


@contextmanager
def default_buffers() -> Iterator[None]:
    """Compute with numpy's own size of buffers, on which the order of its sums may depend."""
    with np.errstate():
        np.setbufsize(_DEFAULT_BUFFER)
        yield
