"""Constants whose data are resources at the end of the file."""

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


def test_reads_resources_at_the_end_of_the_file() -> None:
    (output,) = sr.load(PROGRAM + RESOURCES).run()
    np.testing.assert_array_equal(output, np.array([1, 256], np.int32))


def test_reports_missing_resource_at_planning() -> None:
    with pytest.raises(sr.MalformedError, match="no data found for dense_resource<blob>"):
        sr.load(PROGRAM).plan()
