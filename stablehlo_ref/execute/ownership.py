"""Whether an array may be overwritten, or returned to the caller without a copy: decided by counting references.

CPython counts the references to each object, and all that can read the memory of a numpy array later holds such a
reference: a variable, a container, a closure or a generator that has the array; each view, in its `base`; and exports
of the memory (`memoryview`, DLPack). So no other code can reach an array that has one reference. A count that is higher
than expected, for example because a debugger keeps a frame, costs a copy and nothing else. A raw address
(`array.ctypes.data`) is not counted, but numpy leaves it to its user to keep the array alive, and so counted.

`sys.getrefcount` also counts references of the expression that it is called in, and how many these are depends on the
interpreter: since CPython 3.14 a local variable may be passed on without a new reference, so that a parameter and the
caller's variable count once. So counts are taken only of items and attributes, whose lookup makes a new reference in
all versions, and of local variables that are no parameters; and compared with a count that the same expression has for
an object that has one reference.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.ir.arrays import Array


def _count_of_item(values: Sequence[Any], index: int) -> int:
    return sys.getrefcount(values[index])


def _count_of_base(view: Array) -> int:
    return sys.getrefcount(view.base)


def _count_of_local() -> int:
    value = object()
    return sys.getrefcount(value)


references = sys.getrefcount  # of a variable that is no parameter: ONE_REFERENCE_TO_LOCAL if nothing else has it
ONE_REFERENCE_TO_LOCAL = _count_of_local()
_ONE_REFERENCE_TO_ITEM = _count_of_item([object()], 0)
_ONE_REFERENCE_TO_BASE = _count_of_base(np.empty(2)[:])


def is_exclusively_owned(values: Sequence[Any], index: int) -> bool:
    """Return whether `values[index]` is an array that owns its memory and that nothing but `values` refers to.

    So the caller must not have the array in a local variable. A numpy scalar is never exclusively owned.
    """
    if sys.getrefcount(values[index]) > _ONE_REFERENCE_TO_ITEM:
        return False
    flags = values[index].flags
    return bool(flags.owndata and flags.writeable)


def is_exclusive_view(values: Sequence[Any], index: int) -> bool:
    """Return whether nothing but `values` refers to `values[index]`, a view, and nothing but the view to its array."""
    if _count_of_item(values, index) > _ONE_REFERENCE_TO_ITEM:
        return False
    view = values[index]
    if not isinstance(view.base, np.ndarray) or _count_of_base(view) > _ONE_REFERENCE_TO_BASE:
        return False
    return bool(view.flags.writeable and view.base.flags.owndata)
