"""Two traces side by side."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import diff_traces
from stablehlo_ref.debug.trace_diff import compare
from stablehlo_ref.diagnostics import ArgumentValueError

F32 = np.float32
X = np.array([1, 2, 3], F32)


def program(*ops: str) -> sr.Program:
    """Return a program whose op number i has the operand %i-1; the result of the last is returned."""
    lines = [f"  %{i} = stablehlo.{op} %{i - 1 if i else 'x'} : tensor<3xf32>" for i, op in enumerate(ops)]
    text = "\n".join(lines)
    return sr.parse(f"func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{\n{text}\n  return %{len(ops) - 1} "
                    ": tensor<3xf32>\n}")  # fmt: skip


def test_the_first_difference_in_program_order() -> None:
    a = program("negate", "exponential", "sine").trace(X)
    assert not diff_traces(a, a).differences and "0 of 4 values differ" in str(diff_traces(a, a))
    y = np.array([1, 2, np.nextafter(F32(3), F32(4))], F32)
    found = diff_traces(a, program("negate", "exponential", "sine").trace(y))
    assert found.first is not None and found.first.apart is not None
    assert (found.first.name, found.first.reason, found.compared) == ("%x", "bits", 4)
    apart = found.first.apart
    assert (apart.elements, apart.ulps, apart.index) == (1, 1, (2,))
    assert [difference.name for difference in found.differences][:2] == ["%x", "%0"]
    assert "1 of 3 elements differ, by at most 1 ULPs; at [2]" in str(found)
    assert "A: min 1, max 3" in str(found) and "B: min 1, max 3" in str(found)
    assert json.loads(found.to_json())["differences"][0]["apart"]["ulps"] == 1


def test_ulps_and_bits() -> None:
    trace, other = (program("negate").trace(x) for x in (X, np.array([1, 2, np.nextafter(F32(3), F32(4))], F32)))
    assert not diff_traces(trace, other, ulps=1).differences
    assert len(diff_traces(trace, other, ulps=0).differences) == 2
    zero, minus = np.array([0, np.nan], F32), np.array([-0.0, np.nan], F32)
    assert compare(zero, zero, None) is None and compare(zero, minus, 0) is None
    assert compare(zero, minus, None) is not None
    nan = compare(np.array([1, np.nan], F32), np.array([1, 2], F32), 5)
    assert nan is not None and (nan.ulps, nan.elements, nan.values) == (None, 1, ("nan", "2.000000e+00"))


def test_digests_of_all_parts_of_a_tuple_are_compared(tmp_path: Path) -> None:
    tuples = "tuple<tensor<3xf32>, tensor<3xf32>>"
    pair = sr.parse(f"""
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> {tuples} {{
  %t = "stablehlo.tuple"(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> {tuples}
  return %t : {tuples}
}}""")
    pair.trace(X, X, store=tmp_path / "a", keep="")
    pair.trace(X, X + 1, store=tmp_path / "b", keep="")
    assert [d.name for d in diff_traces(tmp_path / "a", tmp_path / "b").differences] == ["%y", "%t"]


def test_programs_that_differ_a_little_are_aligned() -> None:
    a = program("negate", "exponential", "sine", "abs").trace(X)
    b = program("negate", "abs", "exponential", "sine", "abs").trace(X)  # numbers are shifted by one
    found = diff_traces(a, b)
    assert found.first is not None and (found.first.name, found.first.other) == ("%1", "%2")
    assert found.only == ([], ["%1"]) and "only in B: %1" in str(found)


def test_locations_match_values_whose_numbers_differ() -> None:
    one, two = (
        f"""func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {{
  {first}
  %{n} = stablehlo.negate %{n - 1} : tensor<3xf32> loc("last")
  return %{n} : tensor<3xf32>
}}"""
        for n, first in (
            (8, '%7 = stablehlo.sine %x : tensor<3xf32> loc("first")'),
            (3, '%1 = stablehlo.negate %x : tensor<3xf32>\n  %2 = stablehlo.sine %x : tensor<3xf32> loc("first")'),
        )
    )
    found = diff_traces(sr.parse(one).trace(X), sr.parse(two).trace(X))
    assert not found.differences and found.compared == 3 and found.only == ([], ["%1"])


def test_loops_are_compared_turn_by_turn() -> None:
    def trace(limit: int) -> sr.Trace:
        return sr.parse(f"""
func.func @main(%x: tensor<i32>) -> tensor<i32> {{
  %0 = stablehlo.while(%i = %x) : tensor<i32> cond {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %more = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<{limit}> : tensor<i32>
      %next = stablehlo.subtract %i, %one : tensor<i32>
      %least = stablehlo.minimum %next, %two : tensor<i32>
      stablehlo.return %least : tensor<i32>
    }}
  return %0 : tensor<i32>
}}""").trace(4)

    found = diff_traces(trace(9), trace(1))
    assert [d.address for d in found.differences[:2]] == ["%two", "%0[0]/%least"]


def test_stored_traces_without_tensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, x in (("a", X), ("b", X + 1)):
        program("negate", "sine").trace(x, store=tmp_path / name, keep="" if name == "b" else None)
    assert main(["diff-traces", str(tmp_path / "a"), str(tmp_path / "b")]) == 1
    text = capsys.readouterr().out
    assert "first: %x: argument" in text and "bits differ; not both tensors were kept" in text
    assert "B: min 2, max 4, mean 3" in text
    assert main(["diff-traces", str(tmp_path / "a"), str(tmp_path / "a"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compared"] == 3
    assert main(["diff-traces", str(tmp_path / "a"), str(tmp_path)]) == 2
    assert "has no trace" in capsys.readouterr().err


def test_archives_are_matched_by_name(tmp_path: Path) -> None:
    path = tmp_path / "backend.npz"
    trace = program("negate", "sine").trace(X)
    np.savez(path, **{"0": -X, "%1": np.sin(-X) + F32(0.5), "other": X})
    found = diff_traces(trace, path)
    assert found.compared == 2 and [d.name for d in found.differences] == ["%1"]
    assert found.only == (["%x"], ["other"])


def test_types_and_shapes(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=X, y=X, z=X.astype(ml_dtypes.bfloat16))
    np.savez(tmp_path / "b.npz", x=X.astype(np.float64), y=X[:2], z=X.astype(ml_dtypes.bfloat16))
    found = diff_traces(tmp_path / "a.npz", tmp_path / "b.npz")
    assert [(d.name, d.reason) for d in found.differences] == [("x", "type"), ("y", "shape")]
    np.savez(tmp_path / "c.npz", x=np.array(["text"]))
    with pytest.raises(sr.EvaluationError, match=r"cannot read 'x' of .*: unsupported dtype"):
        diff_traces(tmp_path / "a.npz", tmp_path / "c.npz")


def test_ulps_are_not_negative() -> None:
    a = program("negate").trace(X)
    with pytest.raises(ArgumentValueError, match="ulps must not be negative, got -1"):
        diff_traces(a, a, ulps=-1)
