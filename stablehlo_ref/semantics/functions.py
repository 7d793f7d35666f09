"""The function of an op by the op's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from stablehlo_ref.semantics import (
    affine,
    arith,
    chlo,
    chlo_structured,
    complex,
    constants,
    control_flow,
    convolution,
    data_movement,
    deprecated,
    distribution,
    dot_general,
    dynamism,
    elementwise,
    extensibility,
    fft,
    gather_scatter,
    linear_algebra,
    math,
    mpmd,
    normalization,
    quantization,
    random,
    reduction,
    scf,
    sdy,
    shape,
    sort,
    tensor,
)

MODULES: Mapping[str, tuple[ModuleType, ...]] = {  # by dialect
    "stablehlo": (
        elementwise, data_movement, gather_scatter, sort, reduction, dot_general, convolution, control_flow,
        distribution, extensibility, dynamism, quantization, constants, normalization, linear_algebra, fft, random,
        deprecated,
    ),
    "chlo": (chlo, chlo_structured),
    "affine": (affine,),
    "arith": (arith,),
    "complex": (complex,),
    "math": (math,),
    "mpmd": (mpmd,),
    "scf": (scf,),
    "sdy": (sdy,),
    "shape": (shape,),
    "tensor": (tensor,),
}  # fmt: skip


def function_of(op: str) -> Callable[..., Any] | None:
    """Return the function that has the semantics of an op, such as `stablehlo.add`; None if there is none."""
    if (place := place_of(op)) is None:
        return None
    module, name = place
    return vars(module)[name]  # type: ignore[no-any-return]


def place_of(op: str) -> tuple[ModuleType, str] | None:
    """Return the module of an op's function and its name there: that of the op, with `_` after one of Python's."""
    dialect, _, mnemonic = op.partition(".")
    name = mnemonic.strip("_").replace("-", "_")
    for module in MODULES.get(dialect, ()):
        for spelling in (name, f"{name}_"):
            if callable(vars(module).get(spelling)):
                return module, spelling
    return None
