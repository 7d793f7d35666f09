"""Contracts: presets, overrides, and what they print."""

from __future__ import annotations

from typing import Any

import pytest

from stablehlo_ref.debug import PRESETS, Contract, contract_of
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError


def test_overrides() -> None:
    contract = contract_of("strict,dot_algorithm=tf32,fma=true,ulp.tanh=16,elementary_ulps=2,ulp.divide=1.5")
    assert contract.dot_algorithm == "tf32" and contract.fma and contract.elementary_ulps == 2
    assert contract.ulps_of("tanh", 1.0) == 16 and contract.ulps_of("divide", 0.5) == 1.5
    assert contract.ulps_of("add", 0.5) == 0.5
    assert contract_of("strict,error.lgamma=1e-5").error_of("lgamma") == 1e-5


def test_all_fields_are_printed() -> None:
    text = str(contract_of("strict,ulp.tanh=16"))
    assert text.startswith("strict,ulp.tanh=16 (excess_precision=false, fma=false, ")
    assert text.endswith("elementary_ulps=1, narrow_ulps=1, ulp.tanh=16)")


def test_permissions_are_what_strict_lacks() -> None:
    assert list(PRESETS["strict"].permissions()) == []
    assert [text for text, _ in contract_of("strict,fma=true").permissions()] == ["fma=true"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ieee", "unknown contract 'ieee'; expected one of strict, xla-cpu, xla-gpu, tpu"),
        ("strict,fma", "expected FIELD=VALUE in a contract, got 'fma'"),
        ("strict,fast=true", "unknown field 'fast' of a contract"),
        ("strict,fma=yes", "expected fma to be one of true, false, got 'yes'"),
        ("strict,dot_algorithm=fp8", "expected dot_algorithm to be one of ieee, tf32"),
        ("strict,ulp.tanh=-1", "expected ulp.tanh to be a number that is not negative"),
    ],
)
def test_bad_contracts(text: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        contract_of(text)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("dot_algorithm", "typo", "dot_algorithm must be one of ieee, tf32, bf16, bf16x3, bf16x6, got 'typo'"),
        ("accumulator", "f16", "accumulator must be one of f32, operand, got 'f16'"),
        ("elementary_ulps", -1.0, "elementary_ulps must be a number that is not negative, got -1"),
        ("narrow_ulps", float("nan"), "narrow_ulps must be a number that is not negative, got nan"),
        ("ulps", (("tanh", -2.0),), "ulp.tanh must be a number that is not negative, got -2"),
        ("errors", (("lgamma", -1e-5),), "error.lgamma must be a number that is not negative, got -1e-05"),
    ],
)
def test_bad_fields(field: str, value: Any, message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        Contract("mine", **{field: value})
