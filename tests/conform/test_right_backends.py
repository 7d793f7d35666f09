"""A backend with other bits that are legal is not called wrong, and one with a fault is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from spec_checks.examples import FACTOR
from stablehlo_ref.conform.campaign import Results
from stablehlo_ref.conform.cases import case
from stablehlo_ref.conform.verdicts import Cell, judge
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.reading.loading import load
from tests.debug.programs import InProcess
from tools.conform_alarms import alarms, names_of

OPS = ("tanh", "exponential", "log", "sine", "logistic", "rsqrt", "power", "atan2", "dot_general", "sort", "reduce")


@pytest.mark.many_examples
@pytest.mark.parametrize("contract", ["strict", "xla-cpu"])
def test_legal_bits_are_no_fault(contract: str) -> None:
    names = [f"op/stablehlo.{op}/f32/{number}" for op in OPS for number in ((0, 2, 3) if FACTOR else (0, 2))]
    session = InProcess(f"python:tests.conform.different:{contract}")
    found = [judge(name, session, contract_of(contract)) for name in names]
    assert [record for record in found if record.cell not in (Cell.PASS, Cell.LEGAL)] == []
    assert sum(record.cell is Cell.LEGAL for record in found) >= 5


class RandomNumbers:
    """Runs programs on the interpreter, whose random numbers of f32 are others in each run."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, program: str, inputs: Sequence[Any], **options: Any) -> list[Any]:
        self.runs += 1
        return [result / np.float32(self.runs + 1) for result in load(program).run(*inputs)]


@pytest.mark.parametrize("is_known", [False, True])
def test_random_numbers_are_legal_also_of_ops_with_known_failures(is_known: bool) -> None:
    session = InProcess("random", RandomNumbers())
    assert judge("op/stablehlo.rng/f32/1", session, contract_of("strict"), is_known).cell is Cell.LEGAL


class Fixed:
    """Returns the same arrays for each program."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays = arrays

    def run(self, program: str, inputs: Sequence[Any], **options: Any) -> Sequence[Any]:
        return self.arrays


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("element", ["i32", "complex<f32>"])
def test_init_values_of_a_reduction_may_be_left_out(element: str, is_known: bool) -> None:
    made = case(f"op/stablehlo.reduce/{element}/0")
    assert made is not None and "across dimensions = []" in made.text
    operands = made.inputs[:1] * len(made.expected)
    assert not any(map(np.array_equal, operands, made.expected))
    session = InProcess("fixed", Fixed(operands))
    assert judge(made.name, session, contract_of("strict"), is_known).cell is Cell.LEGAL


@pytest.mark.parametrize("is_known", [False, True])
def test_results_of_another_type_are_a_fault(is_known: bool) -> None:
    made = case("op/stablehlo.abs/f32/0")
    assert made is not None
    wide = [np.asarray(result).astype(np.float64) for result in made.expected]
    session = InProcess("wide", Fixed(wide))
    assert judge(made.name, session, contract_of("strict"), is_known).cell is Cell.FAIL


def test_nan_is_no_fault_in_a_type_without_nan() -> None:
    name = "exhaustive/chlo.acosh/f4E2M1FN/0"  # of numbers below 1, acosh is NaN
    session = InProcess("python:tests.conform.different:negated_where_nan")
    assert judge(name, session, contract_of("strict")).cell is Cell.LEGAL


def test_no_alarms_in_cases_of_all_kinds() -> None:
    assert alarms(names_of(40, start=5), "xla-cpu", Results()) == []


@pytest.mark.parametrize(
    "name",
    [
        "op/chlo.broadcast_atan2/f8E3M4/2",  # of operands of different shapes
        "op/chlo.broadcast_zeta/f8E4M3/1",  # whose shape is not known, but its value is
        "op/chlo.broadcast_power/f32/0",  # a subnormal base, which may be zero, of another shape
        "exhaustive/chlo.erfc/f8E8M0FNU/0",  # which has no zero
        "chain/5/1478",  # an arcsine in a type without NaN, which may be any number
        "chain/8/679",  # functions of 8 bits, off by several ULPs
        "op/stablehlo.batch_norm_training/f8E3M4/3",  # whose epsilon is 0 in the type, and not in fused code
        "exhaustive/chlo.digamma/bf16/0",  # unknown at subnormal operands, which may be zero, and nowhere else
    ],
)
def test_no_alarm_where_bounds_are_partly_known(name: str) -> None:
    record = judge(name, InProcess("python:tests.conform.different:xla-cpu"), contract_of("xla-cpu"))
    assert record.cell in (Cell.PASS, Cell.LEGAL), record.detail
