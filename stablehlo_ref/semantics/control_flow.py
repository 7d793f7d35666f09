"""Control flow and tuples. The functions of `case` and `if` have no arguments."""

import builtins
from typing import Any

from stablehlo_ref.semantics.notation import Array, Arrays, Function

Tuple = builtins.tuple[Any, ...]


def case(index: Array, branches: builtins.tuple[Function, ...]) -> Arrays:
    """`branches[index]()` if `0 <= index < size(branches)`, `branches[-1]()` otherwise."""
    selected_branch = branches[int(index)] if 0 <= int(index) < len(branches) else branches[-1]
    return selected_branch()


def if_(pred: Array, true_branch: Function, false_branch: Function) -> Arrays:
    """`pred ? true_branch() : false_branch()`."""
    return true_branch() if pred else false_branch()


def while_(operand: Arrays, cond: Function, body: Function) -> Arrays:
    """Apply `body` as long as `cond` returns `true`; an infinite loop, whose behavior is not specified, never ends."""
    internal_state = operand
    while cond(*internal_state)[0]:
        internal_state = body(*internal_state)
    return internal_state


def optimization_barrier(operand: Arrays) -> Arrays:
    """`result = operand`. Operands are computed before what depends on results, as all ops here run in order."""
    return operand


def after_all(inputs: Arrays) -> None:
    """Return a token, which has no value: ops run in the order of the program, so that it orders nothing."""


def tuple(val: Tuple) -> Tuple:
    """Return the values as a tuple."""
    return val


def get_tuple_element(operand: Tuple, index: int) -> Any:
    """`result = operand[index]`."""
    return operand[index]
