"""Outputs that no op explains: by the bound of the whole program, or by what rounding makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import Session
from stablehlo_ref.debug.backends import save_arrays
from tests.debug.programs import InProcess, compare, normal

CHOLESKY = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0]
    : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %q, %tau = stablehlo.custom_call @lapack_sgeqrf_ffi(%0) {mhlo.backend_config = {}, api_version = 4 : i32}
    : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  %1 = stablehlo.negate %q : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
"""
CHAIN = """
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<8xf32>
  %1 = stablehlo.remainder %0, %y : tensor<8xf32>
  %2 = stablehlo.add %1, %x : tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""


def test_a_custom_call_without_a_bound_is_suspicious() -> None:
    program = sr.load(CHOLESKY.replace("%q, %tau =", "%q:2 =").replace("%q :", "%q#0 :"))
    (x,) = normal(program)
    found = sr.debug.diff(program, [x], InProcess("python:tests.debug.backends:half_of_custom_calls"), "xla-cpu")
    assert found.verdict == "suspicious" and not found.is_wrong and not found.is_explained
    assert [op.name for op in found.not_explained] == ["stablehlo.custom_call"]
    assert found.located == (2,)
    assert sr.debug.diff(program, [x], InProcess("self"), "xla-cpu").is_explained


def test_outputs_beyond_the_bound_of_the_program_are_wrong() -> None:
    text = CHAIN.replace("remainder", "subtract")
    found = compare(text, "python:tests.debug.backends:one_output", "xla-cpu")
    assert found.is_wrong
    outputs = compare(text, "python:tests.debug.backends:doubled_outputs", "xla-cpu")
    assert outputs.is_wrong


def test_what_was_not_judged_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, saved = sr.load(CHAIN), tmp_path / "outputs.npz"
    inputs = normal(program)
    save_arrays(saved, [1.9 * program.run(*inputs)[0]])
    with Session(str(saved)) as session:
        found = sr.debug.diff(program, inputs, session, "xla-cpu")
    assert found.stopped is not None and found.verdict == "not located"
    assert len(found.unjudged) == 3 and not found.located
    assert str(found).startswith("not located: outputs are off, and no op that can be judged is wrong")
    assert "not judged: stablehlo.remainder %1" in str(found)
    document = json.loads(found.to_json())
    assert document["verdict"] == "not located" and len(document["unjudged"]) == 3
    assert document["beyond"][0]["output"] == 0


def test_the_exit_code_is_not_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, saved, fed = (tmp_path / name for name in ("chain.mlir", "outputs.npz", "inputs.npz"))
    path.write_text(CHAIN)
    program = sr.load(CHAIN)
    save_arrays(fed, normal(program))
    for factor, code in ((1.0, 0), (1 + 2.0**-22, 0), (1.9, 1)):
        save_arrays(saved, [np.float32(factor) * program.run(*normal(program))[0]])
        assert main(["diff", str(path), "--inputs", str(fed), "--backend", str(saved)]) == code
        assert ("not located" in capsys.readouterr().out) == (code == 1)


def test_steps_and_random_numbers_are_not_suspicious() -> None:
    """One comparison of equal numbers decides all of the output; other random numbers are legal."""
    text = """
    func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
      %0 = stablehlo.exponential %x : tensor<64xf32>
      %1 = stablehlo.log %0 : tensor<64xf32>
      %p = stablehlo.compare LT, %x, %1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
      %2 = stablehlo.select %p, %x, %0 : tensor<64xi1>, tensor<64xf32>
      return %2 : tensor<64xf32>
    }"""
    for fault in ("truncated:stablehlo.exponential", "truncated:stablehlo.log"):
        assert compare(text, f"python:tests.faulty:{fault}", "xla-cpu").is_explained
    drawn = """
    func.func @main(%s: tensor<2xui64>) -> tensor<4xui32> {
      %0:2 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
      return %0#1 : tensor<4xui32>
    }"""
    assert compare(drawn, "python:tests.debug.backends:no_reverse", "strict", [np.uint64([1, 2])]).is_explained


def test_subnormal_outputs_may_be_flushed() -> None:
    text = """
    func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.multiply %x, %y : tensor<8xf32>
      %1 = stablehlo.remainder %0, %x : tensor<8xf32>
      return %1 : tensor<8xf32>
    }"""
    x, y = np.full(8, 1.7e-20, np.float32), np.full(8, 1e-20, np.float32)
    found = compare(text, "python:tests.faulty:flushed:stablehlo.multiply", "xla-cpu", [x, y])
    assert found.is_explained


def test_the_budget_is_that_of_one_comparison() -> None:
    session, program = InProcess("python:tests.debug.backends:tanh_off"), sr.load(CHAIN.replace("remainder", "add"))
    wrong = sr.load("func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
        "%0 = stablehlo.tanh %x : tensor<8xf32>\nreturn %0 : tensor<8xf32> }")  # fmt: skip
    for size in range(1, 20):
        session.run(f"func.func @main() {{ return }} // {size}", [])
    first = sr.debug.diff(program, normal(program), session, "strict")
    found = sr.debug.diff(wrong, normal(wrong), session, "strict")
    assert first.setup.compilations == 1 and found.suspects and found.setup.compilations <= 7


def test_a_backend_that_rounds_at_random_is_not_reproducible() -> None:
    text, contract = CHAIN.replace("remainder", "add"), "xla-cpu,ulp.add=2,ulp.multiply=2"
    found = compare(text, "python:tests.debug.backends:rounds_at_random", contract)
    assert not found.failure and found.is_explained and not found.outputs.are_reproducible
    assert "not reproducible: two runs return different bits" in str(found)
    assert json.loads(found.to_json())["reproducible"] is False
