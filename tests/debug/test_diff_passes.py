"""Which pass is wrong: pipelines with passes that are wrong by hand, and real ones that are right."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.debug import diff_passes
from stablehlo_ref.passes.catalog import PASSES
from stablehlo_ref.passes.registry import Pass

PROGRAM = """func.func private @scale(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.subtract %x, %y : tensor<4xf32>
  %1 = func.call @scale(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.exponential %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
DOUBLED = PROGRAM.replace("%0 = stablehlo.multiply %x, %c", "%0 = stablehlo.add %x, %x")  # exactly the same
SWAPPED = DOUBLED.replace("subtract %x, %y", "subtract %y, %x")  # wrong
X, Y = np.array([1, 2, 3, 4], np.float32), np.array([0.5, 2.5, 1, 3], np.float32)


def dumped(*stages: tuple[str, str]) -> str:
    return "\n".join(f"// -----// IR Dump After {name} //----- //\n{text}" for name, text in stages)


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """Return the dumps of a pipeline whose fourth pass is wrong."""
    file = tmp_path / "dumps.mlir"
    stages = [("Inliner (inline)", PROGRAM), ("CSEPass: cse", PROGRAM), ("Strength (strength{x=1})", DOUBLED)]
    stages += [("SwapPass: swap{a=1 b=2}", SWAPPED), ("CSEPass: cse", SWAPPED)]
    file.write_text(dumped(*stages))
    return file


def test_the_first_wrong_pass_and_its_op(dumps: Path) -> None:
    found = diff_passes(dumps, [X, Y])
    assert found.first_wrong is not None and found.first_wrong.name == "swap"
    assert [stage.verdict for stage in found.checked] == ["same text", "same", "wrong"]
    assert (found.passes, found.runs) == (5, 3)
    reasons = found.first_wrong.reasons
    assert "output 0 is beyond the bound of the whole program" in reasons[0]
    line = dumps.read_text()[: dumps.read_text().index("subtract %y")].count("\n") + 1
    assert f"first op that is new: {dumps}:{line}:8: %0 = stablehlo.subtract in @main" in reasons[-1]
    document = json.loads(found.to_json())
    assert (document["first_wrong"], document["schema"], len(document["checked"])) == ("swap", 1, 3)


def test_bisection_finds_where_the_output_becomes_wrong(dumps: Path) -> None:
    found = diff_passes(dumps, [X, Y], bisect=True)
    assert found.first_wrong is not None and found.first_wrong.name == "swap"
    right = diff_passes(dumps, [X, X], bisect=True)  # a difference of zero, whatever the order
    assert right.first_wrong is None and right.runs == 2


def test_random_inputs_are_those_of_the_seed(dumps: Path) -> None:
    assert str(diff_passes(dumps, seed=3)) == str(diff_passes(dumps, seed=3)) != str(diff_passes(dumps, seed=4))


def test_rounding_is_not_a_fault(tmp_path: Path) -> None:
    """A sum in another order is legal, a constant that is off by a thousandth is not."""
    text = """!x = tensor<100xf32>
func.func @main(%x: tensor<100xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (!x, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    halves = """!s = tensor<4x25xf32>
!r = tensor<25xf32>
func.func @main(%x: tensor<100xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reverse %x, dims = [0] : tensor<100xf32>
  %s = stablehlo.reshape %r : (tensor<100xf32>) -> tensor<4x25xf32>
  %1 = stablehlo.reduce(%s init: %c) applies stablehlo.add across dimensions = [0] : (!s, tensor<f32>) -> !r
  %0 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0] : (!r, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
    file = tmp_path / "dumps.mlir"
    file.write_text(dumped(("a", text), ("b", halves), ("c", halves.replace("dense<0.0>", "dense<0.001>"))))
    found = diff_passes(file, [np.linspace(0, 1, 100, dtype=np.float32)])
    assert [stage.verdict for stage in found.checked] == ["not wrong", "wrong"]
    assert found.first_wrong is not None and found.first_wrong.name == "c"


def test_a_pass_that_drops_or_retypes_an_output(tmp_path: Path) -> None:
    file = tmp_path / "dumps.mlir"
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
    none = "func.func @main(%x: tensor<2xf32>) {\n  return\n}\n"
    file.write_text(dumped(("a", text), ("drop", none)))
    found = diff_passes(file, seed=0).first_wrong
    assert found is not None and "expected 1 output, got 0" in found.reasons[0]
    other = text.replace("-> tensor<2xf32>", "-> tensor<2xf64>").replace("return %x : tensor<2xf32>",
        "%0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf64>\n  return %0 : tensor<2xf64>")  # fmt: skip
    file.write_text(dumped(("a", text), ("widen", other)))
    found = diff_passes(file, seed=0).first_wrong
    assert found is not None and "output 0: expected float32[2], got float64[2]" in found.reasons[0]


def test_a_pass_whose_output_does_not_end(tmp_path: Path) -> None:
    file = tmp_path / "dumps.mlir"
    text = """func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.while(%i = %x) : tensor<i32> cond {
    %1 = stablehlo.compare NE, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %c : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
"""
    file.write_text(dumped(("a", text), ("b", text.replace("add %i, %c", "multiply %i, %c"))))
    found = diff_passes(file, [np.int32(2)], limits=sr.Limits(max_steps=1000)).first_wrong
    assert found is not None and found.name == "b on @main"
    assert found.reasons[0].startswith("its run fails, unlike that of the program before: more loop iterations")
    assert found.reasons[1].startswith("first op that is new:") and "stablehlo.while in @main" in found.reasons[1]


@pytest.mark.parametrize(
    "change",
    [
        ("dense<-9>", "dense<-8>"),  # differs where an element is less
        ("dense<9>", "dense<10>"),  # differs where all elements are large
    ],
)
def test_faults_that_usual_inputs_do_not_show(tmp_path: Path, change: tuple[str, str]) -> None:
    file = tmp_path / "dumps.mlir"
    text = """func.func @main(%x: tensor<16xi32>) -> (tensor<16xi32>, tensor<i32>) {
  %low = stablehlo.constant dense<-9> : tensor<16xi32>
  %high = stablehlo.constant dense<9> : tensor<i32>
  %1 = stablehlo.maximum %x, %low : tensor<16xi32>
  %2 = stablehlo.reduce(%x init: %high) applies stablehlo.minimum across dimensions = [0]
    : (tensor<16xi32>, tensor<i32>) -> tensor<i32>
  return %1, %2 : tensor<16xi32>, tensor<i32>
}
"""
    file.write_text(dumped(("a", text), ("b", text.replace(*change))))
    assert diff_passes(file, seed=0, trials=1).first_wrong is None
    found = diff_passes(file, seed=0).first_wrong
    assert found is not None and found.name == "b on @main"


def test_a_pass_that_returns_another_value(tmp_path: Path) -> None:
    file = tmp_path / "dumps.mlir"
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.sine %x : tensor<2xf32>\n" \
           "  return %0 : tensor<2xf32>\n}\n"  # fmt: skip
    file.write_text(dumped(("a", text), ("b", text.replace("return %0", "return %x"))))
    found = diff_passes(file, [np.ones(2, np.float32)]).first_wrong
    gone = f"that of the program before was from {file}:3:8: %0 = stablehlo.sine in @main"
    assert found is not None and found.reasons[-1] == f"no op is new: @main returns another value as output 0; {gone}"


def test_functions_that_are_printed_alone(tmp_path: Path) -> None:
    """Passes on functions print these alone: the others are as they were printed last."""
    scale, entry = PROGRAM[: PROGRAM.index("func.func @main")], PROGRAM[PROGRAM.index("func.func @main") :]
    file = tmp_path / "dumps.mlir"
    stages = [("CSE (cse)", scale), ("CSE (cse)", entry), ("Wrong (wrong)", scale.replace("dense<2.0>", "dense<3.0>"))]
    file.write_text(dumped(*stages, ("CSE (cse)", entry)))
    found = diff_passes(file, [X, Y])
    assert found.first_wrong is not None and found.first_wrong.name == "wrong on @scale"
    assert "in @scale" in found.first_wrong.reasons[-1] and found.runs == 2


def test_what_cannot_be_read_is_named_and_skipped(tmp_path: Path) -> None:
    file = tmp_path / "dumps.mlir"
    other = PROGRAM.replace("@main(%x: tensor<4xf32>, ", "@main(%z: tensor<f32>, %x: tensor<4xf32>, ")
    file.write_text(dumped(("a", PROGRAM), ("b", "llvm.func @f() {"), ("c", other), ("d", SWAPPED)))
    found = diff_passes(file, [X, Y])
    assert [stage.verdict for stage in found.checked] == ["skipped", "skipped", "wrong"]
    assert f"{file}:15: b: skipped: " in str(found) and "it takes other inputs: z: tensor<f32>" in str(found)
    file.write_text(dumped(("a", PROGRAM), ("b", "llvm.func @f() {")))
    with pytest.raises(sr.EvaluationError, match="no two programs can be compared"):
        diff_passes(file, [X, Y])
    file.write_text("\n")
    with pytest.raises(sr.StablehloError, match="no programs after passes"):
        diff_passes(file, [X, Y])


def test_a_program_that_does_not_end_is_skipped(tmp_path: Path) -> None:
    text = """func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.while(%i = %n) : tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c : tensor<i32>
    stablehlo.return %j : tensor<i32>
  }
  return %0 : tensor<i32>
}
"""
    file = tmp_path / "dumps.mlir"
    file.write_text(
        dumped(("a", text), ("b", text), ("hang", text.replace("stablehlo.add %i, %c", "stablehlo.add %i, %n")))
    )
    found = diff_passes(file, [np.int32(0)], limits=sr.Limits(max_seconds=0.2, max_steps=10**15))
    assert [stage.verdict for stage in found.checked] == ["same text", "skipped"]
    assert re.search("0.2 seconds|more loop iterations", found.checked[1].reasons[0])  # whichever it reaches first


def test_a_folder_of_numbered_files(tmp_path: Path) -> None:
    for number, text in ((2, DOUBLED), (10, SWAPPED), (1, PROGRAM)):
        (tmp_path / f"{number}_pass.mlir").write_text(text)
    (tmp_path / "notes.md").write_text("no program")
    found = diff_passes(tmp_path, [X, Y])
    assert found.first_wrong is not None and found.first_wrong.name == "10_pass"


def test_dumps_of_xla(tmp_path: Path) -> None:
    """Real dumps of a pipeline are right; with an edited file in it, the pass before that file is named."""
    pytest.importorskip("jax")
    code = (
        "import jax, numpy as np\njax.jit(lambda x: (jax.nn.softmax(x @ x.T) - x[:, :1]).sum(0))(np.ones((4, 3), 'f4'))"
    )
    flags = f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "XLA_FLAGS": flags}, check=True)
    (name,) = {path.name.split(".0000.")[0] for path in tmp_path.glob("*.0000.*") if "lambda" in path.name}
    found = diff_passes(tmp_path, seed=0, only=f"{name}.*")
    assert found.first_wrong is None and found.passes > 10 and found.runs > 2
    files = sorted(path for path in tmp_path.glob(f"{name}.00*") if "subtract(" in path.read_text())
    for file in files[len(files) // 2 :]:
        file.write_text(file.read_text().replace("subtract(", "add("))
    wrong = diff_passes(tmp_path, seed=0, only=f"{name}.*").first_wrong
    assert wrong is not None and wrong.place == str(files[len(files) // 2])
    assert "stablehlo.add in @" in wrong.reasons[-1]


def test_dumps_of_several_modules_need_a_choice(tmp_path: Path) -> None:
    for name in ("module_0000.jit_f", "module_0001.jit_g"):
        (tmp_path / f"{name}.before_optimizations.txt").write_text("HloModule m\n")
    with pytest.raises(sr.StablehloError, match=r"dumps of several modules; choose by `only`: module_0000.jit_f, mod"):
        diff_passes(tmp_path, seed=0)


def test_the_command(dumps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff-passes", str(dumps), "--input", "x=[1, 2, 3, 4]", "--input", "y=0.5"]) == 1
    out = capsys.readouterr().out
    assert f"{dumps}:41: swap changes what the program means, under xla-cpu" in out
    assert main(["diff-passes", str(dumps), "--random-inputs", "0", "--json", "--bisect"]) == 1
    assert json.loads(capsys.readouterr().out)["first_wrong"] == "swap"
    assert main(["diff-passes", str(dumps), "--input", "x=1.0", "--input", "y=1.0"]) == 0
    assert "no pass of 5 changes what the program means" in capsys.readouterr().out
    assert main(["diff-passes", str(dumps)]) == 1
    assert "@main takes 2 arguments, but 0 are given" in capsys.readouterr().err
    assert main(["diff-passes", str(dumps) + "x"]) == 1
    assert "no such file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["diff-passes", str(dumps), "--contract", "lax"])


def test_opt_verifies_the_meaning_of_its_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.mlir"
    file.write_text(PROGRAM)
    assert main(["opt", str(file), "--verify-semantics", "--inline", "--canonicalize", "--cse"]) == 0
    assert capsys.readouterr().err == ""

    def swap(module: object) -> None:
        for op in module.walk():  # type: ignore[attr-defined]
            if op.name == "stablehlo.subtract":
                op.operands.reverse()

    wrong = Pass("canonicalize", "", swap)
    monkeypatch.setattr("stablehlo_ref.cli.opt.PASSES", {**PASSES, "canonicalize": wrong})
    assert main(["opt", str(file), "--verify-semantics", "--inline", "--canonicalize"]) == 1
    err = capsys.readouterr().err
    assert "pass 'canonicalize' changes what the program means" in err and "stablehlo.subtract in @main" in err
    assert main(["opt", str(file), "--inline", "--canonicalize"]) == 0
    file.write_text("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}\n")
    assert main(["opt", str(file), "--verify-semantics", "--inline"]) == 0
    assert "warning: what pass 'inline' did is not compared: the input 'x'" in capsys.readouterr().err


LARGE = PROGRAM.replace("tensor<4xf32>", "tensor<1000000000000xf32>")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: diff_passes(path, seed=-1), "seed must not be negative, got -1"),
        (lambda path: diff_passes(path, trials=0), "trials must be a positive number, got 0"),
        (lambda path: diff_passes("a" * 5000), "cannot read a+: File name too long"),
        (lambda path: diff_passes(path.with_name("large.mlir")), "is larger than the limit of"),
    ],
)
def test_arguments_that_are_wrong(call: Callable[[Path], object], message: str, dumps: Path) -> None:
    dumps.with_name("large.mlir").write_text(dumped(("A (a)", LARGE), ("B (b)", LARGE)))
    with pytest.raises(sr.StablehloError, match=message):
        call(dumps)
