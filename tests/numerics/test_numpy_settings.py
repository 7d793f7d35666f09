import subprocess
import sys

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.arrays.descriptions import statistics
from stablehlo_ref.execute import evaluation
from stablehlo_ref.execute.evaluation import BUFFER, computing
from stablehlo_ref.numerics.layout import default_buffers

BATCH_NORM = """
func.func @main(%x: tensor<2x3x40x260xf32>, %g: tensor<3xf32>)
    -> (tensor<2x3x40x260xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %g, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
      : (tensor<2x3x40x260xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x40x260xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %0#0, %0#1, %0#2 : tensor<2x3x40x260xf32>, tensor<3xf32>, tensor<3xf32>
}"""
REDUCE = """
func.func @main(%x: tensor<20x90x200xf32>, %zero: tensor<f32>)
    -> (tensor<200xf32>, tensor<20xf32>, tensor<20x200xf32>) {{
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.{0} across dimensions = [0, 1]
      : (tensor<20x90x200xf32>, tensor<f32>) -> tensor<200xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.{0} across dimensions = [1, 2]
      : (tensor<20x90x200xf32>, tensor<f32>) -> tensor<20xf32>
  %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.{0} across dimensions = [1]
      : (tensor<20x90x200xf32>, tensor<f32>) -> tensor<20x200xf32>
  func.return %0, %1, %2 : tensor<200xf32>, tensor<20xf32>, tensor<20x200xf32>
}}"""


def test_settings_hold_inside_and_end_with_it():
    before = np.getbufsize(), np.geterr()
    with computing():
        assert np.getbufsize() == BUFFER
        assert np.float32(1) / np.float32(0) == np.inf  # no warning
        with default_buffers():
            assert np.getbufsize() == 8192
            assert np.geterr()["divide"] == "ignore"
        assert np.getbufsize() == BUFFER
    assert (np.getbufsize(), np.geterr()) == before


@pytest.mark.parametrize(
    ("text", "reproducible"),
    [(BATCH_NORM, False), (BATCH_NORM, True), (REDUCE.format("add"), False), (REDUCE.format("maximum"), False)],
)
def test_results_do_not_depend_on_the_size_of_buffers(text, reproducible, monkeypatch):
    program, random = sr.parse(text), np.random.default_rng(0)
    inputs = [random.standard_normal(p.shape).astype(np.float32) for p in program.inputs]
    expected = [x.tobytes() for x in program.run(*inputs, reproducible=reproducible)]
    for size in (16, 208, 8192, 1 << 17):
        monkeypatch.setattr(evaluation, "BUFFER", size)
        assert [x.tobytes() for x in program.run(*inputs, reproducible=reproducible)] == expected


def test_custom_calls_have_the_buffers_of_numpy():
    sizes = []

    def handler(call, x):
        sizes.append(np.getbufsize())
        return [x]

    program = sr.parse("""
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @handler(%x) : (tensor<f32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}""")
    program.run(np.float32(1), custom_calls={"handler": handler})
    assert sizes == [8192]


def test_statistics_do_not_depend_on_where_they_are_computed():
    random = np.random.default_rng(0)
    x = (random.standard_normal(100_000) * np.exp(8 * random.standard_normal(100_000))).astype(np.float32)
    with computing():
        inside = statistics(x)
    assert inside == statistics(x)


def test_the_package_can_be_imported_where_floating_point_errors_are_raised() -> None:
    program = "import numpy; numpy.seterr(all='raise'); import stablehlo_ref.program, stablehlo_ref.ops"
    subprocess.run([sys.executable, "-c", program], check=True)
