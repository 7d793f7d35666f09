"""Calls of custom_call targets, and matrices for tests of linear algebra routines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of

Array = Any
OPTIONS = {"exact": False}
LETTERS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def call(
    target: str,
    *operands: Array,
    results: list[tuple[tuple[int, ...], Any]],
    config: str | None = "",
    more: str = "",
    exact: bool | None = None,
) -> Any:
    """Run a custom_call and return its results.

    `results` are shapes and dtypes, `config` is the text of the typed FFI's dictionary, `more` of further attributes.
    `exact` is the option `exact_lapack`, by default that of the fixture `precision`.
    """
    operands = tuple(map(np.asarray, operands))
    inputs = [str(tensor_type(x.shape, element_type_of(x.dtype))) for x in operands]
    outputs = [str(tensor_type(shape, element_type_of(np.dtype(dtype)))) for shape, dtype in results]
    names = [f"%x{i}" for i in range(len(operands))]
    typed = "" if config is None else f"mhlo.backend_config = {{{config}}}"
    attributes = ", ".join(part for part in (typed, more) if part)
    bound = f"%r:{len(outputs)} = " if outputs else ""
    returned = ", ".join(f"%r#{i}" for i in range(len(outputs)))
    return sr.load(f"""
    func.func @main({", ".join(f"{n}: {t}" for n, t in zip(names, inputs))}) -> ({", ".join(outputs)}) {{
      {bound}stablehlo.custom_call @{target}({", ".join(names)}) {{{attributes}}}
        : ({", ".join(inputs)}) -> ({", ".join(outputs)})
      return {returned} {":" if outputs else ""} {", ".join(outputs)}
    }}
    """).run(*operands, exact_lapack=OPTIONS["exact"] if exact is None else exact)


def random(dtype: Any, *shape: int) -> Array:
    source = np.random.default_rng(sum(shape))
    x = source.normal(size=shape) + (1j * source.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
    return x.astype(dtype)


def positive(dtype: Any, *shape: int) -> Array:
    x = random(dtype, *shape, shape[-1])
    return x @ adjoint(x) + np.eye(shape[-1], dtype=dtype)


def adjoint(x: Array) -> Array:
    return np.conjugate(np.swapaxes(x, -1, -2))


def close(actual: Array, expected: Array) -> None:
    single = np.asarray(actual).dtype in (np.float32, np.complex64)
    size = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=(2e-5 if single else 1e-12) * size)


def real(dtype: Any) -> Any:
    return np.empty(0, dtype).real.dtype


def flag(letter: str) -> str:
    return f"{ord(letter)} : ui8"


both_precisions = pytest.mark.parametrize("precision", [False, True], ids=["program", "exact"], indirect=True)
each_letter = pytest.mark.parametrize("letter", LETTERS)
