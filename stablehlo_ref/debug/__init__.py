"""Where did a backend go wrong? Compare backends with the interpreter, locate faults, make programs small.

>>> found = sr.debug.diff(program, inputs, "jax")
>>> print(found)
"""

from stablehlo_ref.debug.contract import PRESETS, Contract, contract_of
from stablehlo_ref.debug.diff import Diff, diff
from stablehlo_ref.debug.exceptions import Exceptions, exceptions, exceptions_parallel
from stablehlo_ref.debug.predicates import by_backend, by_command
from stablehlo_ref.debug.reduce import Reduced, reduce
from stablehlo_ref.debug.session import Outcome, Session

__all__ = [
    "PRESETS",
    "Contract",
    "Diff",
    "Exceptions",
    "Outcome",
    "Reduced",
    "Session",
    "by_backend",
    "by_command",
    "contract_of",
    "diff",
    "exceptions",
    "exceptions_parallel",
    "reduce",
]
