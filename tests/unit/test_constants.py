"""Constants whose data stand at the end of the file."""

from __future__ import annotations

import numpy as np
import pytest

import stablehlo_ref as sr

PROGRAM = """
func.func @main() -> tensor<2xi32> {
  %output = stablehlo.constant dense_resource<blob> : tensor<2xi32>
  func.return %output : tensor<2xi32>
}
"""
RESOURCES = '{-# dialect_resources: { builtin: { blob: "0x040000000100000000010000" } } #-}\n'


def test_a_resource_is_read_from_the_end_of_the_file() -> None:
    (output,) = sr.load(PROGRAM + RESOURCES).run()
    np.testing.assert_array_equal(output, np.array([1, 256], np.int32))


def test_a_resource_that_is_not_there_is_missed_when_the_program_is_planned() -> None:
    with pytest.raises(sr.MalformedError, match="the file has no data for dense_resource<blob>"):
        sr.load(PROGRAM).plan()
