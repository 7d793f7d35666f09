"""A reference interpreter for StableHLO: the spec, executable.

>>> import stablehlo_ref as sr
>>> program = sr.load("model.mlir")
>>> results = program.run(*arrays)

What is public is imported when it is first used, so that the package can be imported at almost no cost.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from stablehlo_ref._version import __version__
from stablehlo_ref.limits.stack import needs_stack

if TYPE_CHECKING:
    from stablehlo_ref import debug, golden, passes, testing, text
    from stablehlo_ref.arrays.results import save_results
    from stablehlo_ref.debug.traces.trace import Record, Trace, Values
    from stablehlo_ref.define.context import ImplementationDefinedWarning, Observer, RunOptions
    from stablehlo_ref.diagnostics import (
        Diagnostic,
        EvaluationError,
        InternalError,
        InvalidError,
        Location,
        MalformedError,
        StablehloError,
        UnsupportedError,
    )
    from stablehlo_ref.frameworks.jax import from_jax
    from stablehlo_ref.frameworks.torch import from_torch
    from stablehlo_ref.ir.core import Operation, Value
    from stablehlo_ref.ir.signature import Function, Parameter
    from stablehlo_ref.ir.types import TensorType
    from stablehlo_ref.limits import Limits
    from stablehlo_ref.ops.extensibility import CustomCall, register_custom_call
    from stablehlo_ref.program import Program
    from stablehlo_ref.reading.inputs import random_inputs, read_inputs
    from stablehlo_ref.reading.loading import link, load, parse

__all__ = [
    "CustomCall",
    "Diagnostic",
    "EvaluationError",
    "Function",
    "ImplementationDefinedWarning",
    "InternalError",
    "InvalidError",
    "Limits",
    "Location",
    "MalformedError",
    "Observer",
    "Operation",
    "Parameter",
    "Program",
    "Record",
    "RunOptions",
    "StablehloError",
    "TensorType",
    "Trace",
    "UnsupportedError",
    "Value",
    "Values",
    "__version__",
    "debug",
    "from_jax",
    "from_torch",
    "golden",
    "link",
    "load",
    "parse",
    "passes",
    "random_inputs",
    "read_inputs",
    "register_custom_call",
    "save_results",
    "testing",
    "text",
]

_DEFINED_IN = {
    "arrays.results": ("save_results",),
    "define.context": ("ImplementationDefinedWarning", "Observer", "RunOptions"),
    "diagnostics": (
        "Diagnostic", "EvaluationError", "InternalError", "InvalidError", "Location", "MalformedError",
        "StablehloError", "UnsupportedError",
    ),
    "debug.traces.trace": ("Record", "Trace", "Values"),
    "frameworks.jax": ("from_jax",),
    "frameworks.torch": ("from_torch",),
    "ir.core": ("Operation", "Value"),
    "ir.signature": ("Function", "Parameter"),
    "ir.types": ("TensorType",),
    "limits": ("Limits",),
    "ops.extensibility": ("CustomCall", "register_custom_call"),
    "program": ("Program",),
    "reading.inputs": ("random_inputs", "read_inputs"),
    "reading.loading": ("link", "load", "parse"),
}  # fmt: skip
_MODULES = {name: module for module, names in _DEFINED_IN.items() for name in names}


@needs_stack(lambda name: None)
def __getattr__(name: str) -> object:
    if name in ("debug", "golden", "passes", "testing", "text"):
        return import_module(f"{__name__}.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
