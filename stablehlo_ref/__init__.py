"""A reference interpreter for StableHLO: the spec, executable.

>>> import stablehlo_ref as sr
>>> program = sr.load("model.mlir")
>>> results = program.run(*arrays)
"""

from stablehlo_ref._version import __version__
from stablehlo_ref.diagnostics import (
    Diagnostic,
    EvaluationError,
    InternalError,
    InvalidError,
    MalformedError,
    StablehloError,
    UnsupportedError,
)
from stablehlo_ref.execute.run import ImplementationDefinedWarning, Observer
from stablehlo_ref.limits import Limits
from stablehlo_ref.loading import load, parse
from stablehlo_ref.ops.extensibility import register_custom_call
from stablehlo_ref.program import Program
from stablehlo_ref.signature import Function, Parameter

__all__ = [
    "Diagnostic",
    "EvaluationError",
    "Function",
    "ImplementationDefinedWarning",
    "InternalError",
    "InvalidError",
    "Limits",
    "MalformedError",
    "Observer",
    "Parameter",
    "Program",
    "StablehloError",
    "UnsupportedError",
    "__version__",
    "load",
    "parse",
    "register_custom_call",
]
