"""The loops of numpy's ufuncs as functions that machine code calls, without Python.

A ufunc is a struct of numpy's C API, with an array of functions, one for each list of types (`ufuncobject.h`,
`PyUFuncGenericFunction`). They need no interpreter lock.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import NamedTuple

import numpy as np

from stablehlo_ref.accelerate.machine.assembly import NotCompiled


class _Ufunc(ctypes.Structure):
    """The fields of `PyUFuncObject` after the header of an object, up to `types`."""

    _fields_ = (
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char)),
    )


class Loop(NamedTuple):
    """The address of a function `void f(char **args, npy_intp const *sizes, npy_intp const *strides, void *data)`."""

    function: int
    data: int


@cache
def loop_of(ufunc: np.ufunc, types: str) -> Loop:
    """Return the loop of a ufunc for types, such as "ff->f"; NotCompiled if the struct is not as expected."""
    if sys.implementation.name != "cpython":
        raise NotCompiled("the loops of numpy's ufuncs are not known")
    struct = _Ufunc.from_address(id(ufunc) + object.__basicsize__)
    counts = (struct.nin, struct.nout, struct.nargs, struct.ntypes)
    if counts != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes) or struct.name != ufunc.__name__.encode():
        raise NotCompiled(f"the loops of {ufunc.__name__} are not known")
    number = ufunc.types.index(types)
    letters = types.replace("->", "")
    numbers = struct.types[number * ufunc.nargs : (number + 1) * ufunc.nargs]
    if list(numbers) != [np.dtype(letter).num for letter in letters]:
        raise NotCompiled(f"the loops of {ufunc.__name__} are not known")
    function = struct.functions[number]
    if not function:
        raise NotCompiled(f"the loops of {ufunc.__name__} are not known")
    return Loop(function, (struct.data[number] if struct.data else None) or 0)
