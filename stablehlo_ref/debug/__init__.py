"""Where did a backend go wrong? Compare backends with the interpreter, locate faults, make programs small.

>>> found = sr.debug.diff(program, inputs, "jax")
>>> print(found)
"""

from stablehlo_ref.debug.contract import PRESETS, Contract, contract_of
from stablehlo_ref.debug.diff import Confirmation, Diff, Failure, Inner, Outputs, Setup, diff
from stablehlo_ref.debug.diff_passes import PassDiff, diff_passes
from stablehlo_ref.debug.exceptions import backend_exceptions, exceptions, exceptions_parallel
from stablehlo_ref.debug.exceptions.findings import Exceptions
from stablehlo_ref.debug.predicates import by_backend, by_command, by_pass
from stablehlo_ref.debug.reduce import Reduced, reduce
from stablehlo_ref.debug.session import Outcome, Session
from stablehlo_ref.debug.spmd_check import SpmdCheck, spmd_check
from stablehlo_ref.debug.trace_diff import TraceDiff, diff_traces

__all__ = [
    "PRESETS",
    "Confirmation",
    "Contract",
    "Diff",
    "Exceptions",
    "Failure",
    "Inner",
    "Outcome",
    "Outputs",
    "PassDiff",
    "Reduced",
    "Session",
    "Setup",
    "SpmdCheck",
    "TraceDiff",
    "backend_exceptions",
    "by_backend",
    "by_command",
    "by_pass",
    "contract_of",
    "diff",
    "diff_passes",
    "diff_traces",
    "exceptions",
    "exceptions_parallel",
    "reduce",
    "spmd_check",
]


def __dir__() -> list[str]:
    return __all__
