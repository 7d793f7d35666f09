"""Constraints: `C(label, formula)` in the role `constraints`, and the errors for formulas that do not hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from stablehlo_ref.define.bound import BoundOp
from stablehlo_ref.define.definition import OpDefinition, definition_of, member_of_each
from stablehlo_ref.define.formulas import Quotation, constraint_label, failing_check, label_at, quote
from stablehlo_ref.diagnostics import EvaluationError, InvalidError, UnsupportedError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.types import UnrankedTensorType


class Checker:
    """`C(n, formula)`: raises InvalidError if the formula is false, with its source and the values of its names."""

    def __init__(self, op: Operation) -> None:
        self.op = op

    def __call__(self, label: int | str, holds: object) -> None:
        if not holds:
            # C gets only the value of the formula. The frame of its caller has the rest: the line, which leads to the
            # formula's source, and the values of its names. `sys._getframe` is specific to CPython, as the reference
            # counts of execute/ownership.py are, but costs nothing while formulas hold. Formulas as lambdas or strings
            # would not need it, but would be slower, longer and harder to debug.
            raise self.error(quote(sys._getframe(1)), constraint_label(label))

    def error(self, quotation: Quotation, label: str) -> InvalidError:
        """Return the error for a formula that does not hold."""
        formula, notes, names = quotation
        message = f"'{self.op.name}' op ({label}): {formula}"
        return InvalidError(message, self.op.location, notes, subjects(self.op, definition_of(self.op), names))


def subjects(op: Operation, definition: OpDefinition | None, names: Sequence[str]) -> Sequence[str | int]:
    """Return what an error about a formula with these names is about: its attributes, or the only value in it.

    A formula about several values relates them, and no value alone is wrong.
    """
    if definition is None:
        return []
    attributes = [name for name in names if name in definition.attributes]
    values = {member.name for member in (*definition.operands, *definition.results)}.intersection(names)
    if attributes or len(values) != 1:
        return attributes
    members = member_of_each(definition.operands, len(op.operands))
    return [number for number, member in enumerate(members) if member.name in values][:1]


def check_preconditions(bound: BoundOp) -> None:
    """Run the role `preconditions`; EvaluationError for the first formula that does not hold.

    UnsupportedError for an op of CHLO on tensors without a rank, which are only verified.
    """
    if bound.definition.dialect == "chlo":
        for type in (*bound.operands, *bound.results):
            if isinstance(type, UnrankedTensorType):
                message = f"'{bound.op.name}' op: expected tensors with a rank, got {type}; refine shapes first"
                raise UnsupportedError(message, bound.op.location)
    if "preconditions" not in bound.definition.roles:
        return
    try:
        check_constraints(bound, "preconditions")
    except InvalidError as error:
        raise EvaluationError(error.diagnostics) from None


def check_constraints(bound: BoundOp, name: str = "constraints") -> None:
    """Run the role `name`; InvalidError for the first formula that does not hold."""
    role = bound.definition.roles.get(name)
    if role is None:
        return
    checker = Checker(bound.op)
    try:
        role(bound.arguments | {"C": checker, "infer": partial(bound.call, "infer")})
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A formula that cannot be evaluated does not hold: an index out of range, a member of the wrong kind.
        frame = failing_check(error, role.function)
        if frame is None:
            raise
        raise checker.error(quote(*frame), label_at(*frame)) from None
