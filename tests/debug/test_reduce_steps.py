"""`reduce`: regions, sizes, attributes and inputs; several calls at a time; searches that go on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import by_backend, contract_of, reduce
from tests.debug.programs import LAYER, InProcess, normal
from tests.debug.test_diff import LOOP
from tests.debug.test_locate import BRANCH
from tests.debug.test_reduce import chain, has, names

CONVOLUTION = """
func.func @main(%x: tensor<4x8x8x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<4x8x8x32xf32> attributes {note = "a"} {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64, mark = 1 : i64,
     precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}
    : (tensor<4x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<4x8x8x32xf32>
  %1 = stablehlo.abs %0 : tensor<4x8x8x32xf32>
  return %1 : tensor<4x8x8x32xf32>
}
"""


def test_sizes_attributes_and_inputs_are_made_simple() -> None:
    program = sr.load(CONVOLUTION)
    found = reduce(program, normal(program), has("convolution"))
    assert [str(p.type) for p in found.program.inputs] == ["tensor<1x1x1x1xf32>", "tensor<3x3x1x1xf32>"]
    text = str(found.program)
    assert "mark" not in text and "HIGHEST" not in text and "note" not in text
    assert all(not array.any() for array in found.inputs)
    found.program.run(*found.inputs)


def test_a_size_that_matters_stays() -> None:
    def is_large(program: str, inputs: Sequence[Any]) -> object:
        return True if "convolution" in program and inputs and inputs[0].size >= 100 else None

    program = sr.load(CONVOLUTION)
    found = reduce(program, normal(program), is_large)
    assert 100 <= found.inputs[0].size <= 200


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        (LOOP, [np.asarray(3, np.int32), *np.linspace(0.1, 1, 16, dtype=np.float32).reshape(2, 8)]),
        (BRANCH, [np.asarray(1, np.int32), np.linspace(0.1, 1, 8, dtype=np.float32)]),
    ],
)
def test_loops_and_branches_are_replaced_by_a_region(text: str, inputs: list[Any]) -> None:
    predicate = by_backend(InProcess("python:tests.debug.backends:tanh_off"), contract_of("strict"))
    found = reduce(sr.load(text), inputs, predicate)
    assert names(found.program) == ["tanh"]
    assert found.fingerprint == ("wrong op", "stablehlo.tanh")


def test_the_located_op_is_tried_first() -> None:
    program = sr.load(chain(200).replace("%100 = stablehlo.add %99, %x", "%100 = stablehlo.maximum %99, %x"))
    predicate = by_backend(InProcess("python:tests.faulty:shifted:stablehlo.maximum"), contract_of("strict"))
    found = reduce(program, normal(program), predicate)
    assert names(found.program) == ["maximum"] and found.calls <= 20


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_what_is_returned_has_been_checked(most: int) -> None:
    checked = []

    def predicate(program: str, inputs: Sequence[Any]) -> object:
        found = has("transpose", "cosine")(program, inputs)
        checked.extend([program] if found else [])
        return found

    program = sr.load(chain(20))
    found = reduce(program, normal(program), predicate, max_calls=most)
    assert str(found.program) in checked
    assert found.calls == most and not found.is_complete


def test_jobs_do_not_change_the_result() -> None:
    program = sr.load(LAYER)
    results = [reduce(program, normal(program), has("add", "slice"), jobs=jobs) for jobs in (1, 3)]
    assert str(results[0].program) == str(results[1].program)
    assert results[0].calls <= results[1].calls


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    program = sr.load(chain(100))
    whole = reduce(program, normal(program), has("transpose", "cosine"))
    first = reduce(program, normal(program), has("transpose", "cosine"), max_calls=10, folder=tmp_path)
    assert (tmp_path / "best.mlir").read_text() == str(first.program)
    second = reduce(program, normal(program), has("transpose", "cosine"), folder=tmp_path)
    assert str(second.program) == str(whole.program) == (tmp_path / "best.mlir").read_text()
    assert second.calls == whole.calls - 8  # all but the first two


def test_flaky_predicates_are_flagged_at_the_end() -> None:
    program = sr.load(chain(10))
    seen: list[str] = []

    def predicate(text: str, inputs: Sequence[Any]) -> object:
        seen.append(text)
        again = seen.count(text) > 1 and len(seen) > 4
        return None if again else has("cosine")(text, inputs)

    found = reduce(program, normal(program), predicate)
    assert found.is_flaky and "the predicate is flaky" in str(found)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, small = tmp_path / "layer.mlir", tmp_path / "small.mlir"
    path.write_text(LAYER)
    options = ["--random-inputs", "0", "--predicate", "grep -q stablehlo.slice", "-o", str(small), "--jobs", "2"]
    assert main(["reduce", str(path), *options, "--resume", str(tmp_path / "state")]) == 0
    assert "1 op of 14" in capsys.readouterr().out
    assert (tmp_path / "state" / "best.mlir").read_text() == small.read_text()
