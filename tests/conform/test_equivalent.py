"""Whether two programs compute the same."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.testing import equivalent


def program(
    body: str, inputs: str = "%x: tensor<3xf32>, %y: tensor<3xf32>", result: str = "tensor<3xf32>"
) -> sr.Program:
    return sr.parse(f"func.func @main({inputs}) -> {result} {{\n{body}\n}}")


def binary(op: str, type: str = "tensor<3xf32>") -> sr.Program:
    body = f"%0 = stablehlo.{op} %x, %y : {type}\nreturn %0 : {type}"
    return program(body, f"%x: {type}, %y: {type}", type)


def compared(direction: str, inputs: str = "tensor<3xf32>") -> sr.Program:
    bools = inputs.replace("f32", "i1").replace("i32", "i1")
    body = f"%0 = stablehlo.compare {direction}, %x, %y : ({inputs}, {inputs}) -> {bools}\nreturn %0 : {bools}"
    return program(body, f"%x: {inputs}, %y: {inputs}", bools)


LEFT = "%0 = stablehlo.add %x, %y : tensor<3xf32>\n%1 = stablehlo.add %0, %x : tensor<3xf32>\nreturn %1 : tensor<3xf32>"
RIGHT = (
    "%0 = stablehlo.add %y, %x : tensor<3xf32>\n%1 = stablehlo.add %x, %0 : tensor<3xf32>\nreturn %1 : tensor<3xf32>"
)
OTHER = (
    "%0 = stablehlo.add %x, %x : tensor<3xf32>\n%1 = stablehlo.add %0, %y : tensor<3xf32>\nreturn %1 : tensor<3xf32>"
)


def test_rounding_is_no_difference() -> None:
    assert equivalent(program(LEFT), program(RIGHT)).rounded == 0
    found = equivalent(program(LEFT), program(OTHER))
    assert found and found.rounded > 0  # sums in another order


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (binary("add"), binary("subtract")),
        (binary("maximum"), binary("minimum")),
        (binary("subtract", "tensor<i8>"), binary("add", "tensor<i8>")),
        (compared("LT"), compared("LE")),
        (compared("GT", "tensor<i32>"), compared("GE", "tensor<i32>")),
        (binary("remainder", "tensor<4xi32>"), binary("divide", "tensor<4xi32>")),
        (binary("shift_right_arithmetic", "tensor<2xi16>"), binary("shift_right_logical", "tensor<2xi16>")),
        (binary("power", "tensor<2x2xbf16>"), binary("multiply", "tensor<2x2xbf16>")),
        (binary("add", "tensor<?xf32>"), binary("multiply", "tensor<?xf32>")),
    ],
)
def test_a_wrong_rewrite_is_refuted(first: sr.Program, second: sr.Program) -> None:
    found = equivalent(first, second)
    assert found.verdict == "different" and not found
    assert found.counterexample.is_proved
    ours, theirs = (p.run(*found.counterexample.inputs)[0] for p in (first, second))
    assert ours.tolist() != theirs.tolist()


def test_a_constant_off_by_one_is_found() -> None:
    text = """%c = stablehlo.constant dense<{n}> : tensor<i32>
    %0 = stablehlo.compare EQ, %x, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %0 : tensor<i1>"""
    one, two = (program(text.format(n=n), "%x: tensor<i32>", "tensor<i1>") for n in (123456, 123457))
    assert equivalent(one, two).verdict == "different"
    assert equivalent(one, one).verdict == "no difference found"


def test_all_inputs_of_few_bits_are_tried() -> None:
    found = equivalent(binary("xor", "tensor<2xi1>"), binary("xor", "tensor<2xi1>"))
    assert found.verdict == "same on all inputs" and found.tried == 16
    assert equivalent(binary("and", "tensor<i2>"), binary("and", "tensor<i2>")).tried == 16


def test_unknown_sizes_are_tried() -> None:
    found = equivalent(binary("add", "tensor<?x2xf32>"), binary("add", "tensor<?x2xf32>"))
    assert found.verdict == "no difference found" and found.skipped  # sizes that differ
    reverse = program(
        "%0 = stablehlo.reverse %x, dims = [0] : tensor<?xf32>\nreturn %0 : tensor<?xf32>",
        "%x: tensor<?xf32>",
        "tensor<?xf32>",
    )
    same = program("return %x : tensor<?xf32>", "%x: tensor<?xf32>", "tensor<?xf32>")
    assert equivalent(reverse, same).counterexample.inputs[0].size > 1


def test_a_result_that_the_spec_leaves_open_is_no_difference() -> None:
    divided = "%0 = stablehlo.divide %x, %y : tensor<i8>\n"
    chosen = """%z = stablehlo.constant dense<0> : tensor<i8>
    %c = stablehlo.compare EQ, %y, %z : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %1 = stablehlo.select %c, %z, %0 : tensor<i1>, tensor<i8>
    return %1 : tensor<i8>"""
    one, two = (
        program(divided + rest, "%x: tensor<i8>, %y: tensor<i8>", "tensor<i8>")
        for rest in ("return %0 : tensor<i8>", chosen)
    )
    assert one.run(np.int8(3), np.int8(0)) != two.run(np.int8(3), np.int8(0))  # division by zero
    found = equivalent(one, two)
    assert found and found.skipped


def test_a_failing_second_program_is_a_difference() -> None:
    checked = "check.expect_eq_const %x, dense<1.0> : tensor<f32>\nreturn %x : tensor<f32>"
    one, two = (program(text, "%x: tensor<f32>", "tensor<f32>") for text in ("return %x : tensor<f32>", checked))
    found = equivalent(one, two)
    assert found.verdict == "different" and "the second program fails" in str(found)
    assert equivalent(two, one).skipped  # where the first fails


def test_programs_of_other_signatures_are_refused() -> None:
    with pytest.raises(sr.StablehloError, match="different signatures"):
        equivalent(binary("add"), binary("add", "tensor<4xf32>"))


def test_no_input_is_tried_once_time_is_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()  # the clock advances by a second whenever it is read
    monkeypatch.setattr(sys.modules[equivalent.__module__], "monotonic", lambda: float(next(ticks)))
    assert equivalent(binary("add"), binary("add"), inputs=100, seconds=5).tried == 4
    assert equivalent(binary("add"), binary("add"), inputs=100, seconds=0).tried == 0
    slow = "tensor<40000000xf32>"  # drawing one takes longer than there is time
    assert equivalent(binary("add", slow), binary("add", slow), seconds=5).tried == 0

    (tmp_path / "a.mlir").write_text(str(binary("add")))
    assert main(["equiv", *[str(tmp_path / "a.mlir")] * 2, "--tries=100", "--seconds=7"]) == 0
    assert "6 inputs were tried" in capsys.readouterr().out


def test_counterexamples_are_programs_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, op in (("a", "add"), ("b", "subtract")):
        (tmp_path / f"{name}.mlir").write_text(str(binary(op)))
    files = [str(tmp_path / f"{name}.mlir") for name in "ab"]
    options = ["--save", str(tmp_path / "x.npz"), "--repro", str(tmp_path / "x.mlir")]
    assert main(["equiv", *files, *options]) == 1
    assert "@main: different: 1 inputs were tried" in capsys.readouterr().out
    assert sr.load(tmp_path / "x.mlir").run()[0].item() is False
    x, y = np.load(tmp_path / "x.npz").values()
    assert (x + y).tolist() != (x - y).tolist()
    assert main(["equiv", files[0], files[0], "--json"]) == 0
    assert '"verdict": "no difference found"' in capsys.readouterr().out


def test_functions_of_the_same_names_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = "".join(f"func.func @{n}(%x: tensor<f32>) -> tensor<f32> {{\n  return %x : tensor<f32>\n}}\n" for n in "fg")
    (tmp_path / "a.mlir").write_text(both)
    assert main(["equiv", str(tmp_path / "a.mlir"), str(tmp_path / "a.mlir")]) == 0
    out = capsys.readouterr().out
    assert "@f: no difference" in out and "@g: no difference" in out


def test_inputs_that_are_too_large_are_not_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    large = "tensor<1000000000000xf32>"
    text = f"func.func @main(%x: {large}) -> {large} {{\n  return %x : {large}\n}}\n"
    with pytest.raises(sr.EvaluationError, match=r"argument 'x' of type .* is larger than the limit of"):
        equivalent(sr.load(text), sr.load(text))
    text = text.replace("1000000000000x", "100000000x")
    Path("a.mlir").write_text(text)
    assert main(["equiv", "a.mlir", "a.mlir", "--max-total-bytes=500MB"]) == 1
    assert "1.6 GB more are needed (1.6 GB of them for temporaries)" in capsys.readouterr().err


def test_limits_of_the_programs_are_left_alone() -> None:
    one, two = binary("add"), binary("subtract")
    equivalent(one, two, inputs=2)
    assert one.limits == two.limits == sr.Limits()
