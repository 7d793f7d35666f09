"""Compare constant with its oracle: literals of all element types, in all notations."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks import constant_text as oracle
from spec_checks.strategies import ALL, BOOLEANS, COMPLEXES, INTEGERS, arrays, dtypes, same, shapes, width
from spec_checks.test_elementwise import alike
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics.rounding import bits

Array = np.ndarray[Any, np.dtype[Any]]


def evaluated(text: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    type = tensor_type(shape, element_type_of(dtype))
    program = f"func.func @main() -> {type} {{\n%0 = stablehlo.constant dense<{text}> : {type}\nreturn %0 : {type}\n}}"
    return sr.load(program).run()[0]


def nested(array: Array, write: Any) -> str:
    """Return nested lists of the elements, as `write` formats them."""
    if array.ndim == 0:
        return str(write(array[()]))
    return f"[{', '.join(nested(np.asarray(row, array.dtype), write) for row in array)}]"


def written(data: st.DataObject, x: Any) -> str:
    """Format an element, as a number or as its bits."""
    if x.dtype in COMPLEXES:
        return f"({written(data, x.real)}, {written(data, x.imag)})"
    if x.dtype in BOOLEANS:
        return "true" if x else "false"
    if x.dtype in INTEGERS:
        return str(int(x))
    if not np.isfinite(x) or data.draw(st.booleans()):
        return f"0x{bits(x):0{-(-width(x.dtype) // 4)}X}"
    return data.draw(st.sampled_from(["{:.17e}", "{:.3e}", "{:.60f}"])).format(float(x))


@settings(max_examples=100, deadline=None)
@given(data=st.data(), shape=shapes())
def test_lists_of_elements(data: st.DataObject, shape: tuple[int, ...]) -> None:
    array = data.draw(arrays(data.draw(dtypes(ALL)), shape))
    text = nested(array, lambda x: written(data, x)) if array.size else ""
    actual, expected = evaluated(text, shape, array.dtype), oracle.constant(text, result=(shape, array.dtype))
    assert alike(actual, expected), f"{text}: {actual}, not {expected}"


@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=shapes())
def test_splats(data: st.DataObject, shape: tuple[int, ...]) -> None:
    element = data.draw(arrays(data.draw(dtypes(ALL)), ()))
    text = written(data, element[()])
    actual, expected = evaluated(text, shape, element.dtype), oracle.constant(text, result=(shape, element.dtype))
    assert alike(actual, expected), f"{text}: {actual}, not {expected}"


@settings(max_examples=100, deadline=None)
@given(data=st.data(), shape=shapes(min_size=1))
def test_hexadecimal_blobs(data: st.DataObject, shape: tuple[int, ...]) -> None:
    dtype = data.draw(st.sampled_from([dtype for dtype in ALL if width(dtype) >= 8]))
    array = data.draw(arrays(dtype, shape))
    text = f'"0x{array.tobytes().hex().upper()}"'
    actual = evaluated(text, shape, dtype)
    assert same(actual, oracle.constant(text, result=(shape, dtype))) and same(actual, array)
