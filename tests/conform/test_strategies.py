"""Programs that hypothesis draws: valid ones run, invalid ones break the constraint that they name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from stablehlo_ref.conform.cases import Case
from stablehlo_ref.diagnostics import ArgumentValueError, InvalidError
from stablehlo_ref.testing import strategies

FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)


@FEW
@given(strategies.programs(ops=["add", "chlo.erf", "transpose"], types=["f32", "bf16"], max_ops=3))
def test_programs_run_on_their_inputs(example: Case) -> None:
    results = example.program.run(*example.inputs)
    assert [np.asarray(r).shape for r in results] == [output.shape for output in example.program.outputs]


@FEW
@given(strategies.invalid_programs(ops=["slice", "pad"]))
def test_invalid_programs_are_rejected_for_what_they_break(example: Case) -> None:
    with pytest.raises(InvalidError, match=rf"\({example.broken}\)"):
        _ = example.program


@FEW
@given(strategies.arrays("tensor<2x3xbf16>"))
def test_arrays_have_the_type(array: np.ndarray) -> None:
    assert array.shape == (2, 3) and array.dtype.name == "bfloat16"


def test_unknown_op_is_an_error() -> None:
    with pytest.raises(ArgumentValueError, match="there is no op 'ad'; did you mean 'add'"):
        strategies.programs(ops=["ad"])
