"""A reference interpreter for StableHLO: the spec, executable.

>>> import stablehlo_ref as sr
>>> program = sr.load("model.mlir")
>>> results = program.run(*arrays)
"""

from stablehlo_ref._version import __version__
from stablehlo_ref.define.context import ImplementationDefinedWarning, Observer
from stablehlo_ref.diagnostics import (
    Diagnostic,
    EvaluationError,
    InternalError,
    InvalidError,
    MalformedError,
    StablehloError,
    UnsupportedError,
)
from stablehlo_ref.ir.signature import Function, Parameter
from stablehlo_ref.limits import Limits
from stablehlo_ref.linking import link
from stablehlo_ref.loading import load, parse
from stablehlo_ref.ops.extensibility import register_custom_call
from stablehlo_ref.program import Program

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
    "link",
    "load",
    "parse",
    "register_custom_call",
]
