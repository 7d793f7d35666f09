"""Faults that are injected by rule are found within the profile `pr`."""

from __future__ import annotations

import pytest

from tools.conform_faults import Fault, drawn, verdict


@pytest.mark.parametrize(
    "fault",
    [
        Fault("stablehlo.tanh", "f32", "type", "", "off by 4 ULP"),
        Fault("stablehlo.add", "quant.i8", "type", "", "off by 3 steps"),
        Fault("stablehlo.reverse", "i8", "attribute", "dimensions", ""),
        Fault("stablehlo.maximum", "i32", "value", "the largest", "one too many"),
        Fault("stablehlo.reduce", "i32", "shape", "odd dimension", "elements off by one"),
        Fault("stablehlo.sqrt", "f4E2M1FN", "type", "", "elements off by one"),
        Fault("stablehlo.cbrt", "f32", "shape", "scalar", "one too many"),
        Fault("stablehlo.shift_right_logical", "i8", "shape", "odd dimension", "one too many"),
        Fault("stablehlo.dynamic_slice", "f32", "shape", "dimension of size 1", "last element"),
    ],
    ids=str,
)
def test_fault_is_found(fault: Fault) -> None:
    assert verdict(fault) == "found"


def test_faults_are_of_all_rules_and_follow_from_the_seed() -> None:
    first = [fault for fault, _ in zip(drawn(1), range(20))]
    assert {fault.rule for fault in first} == {"type", "attribute", "shape", "value"}
    assert first == [fault for fault, _ in zip(drawn(1), range(20))]
