"""HLO text as an input: errors with their places, limits, and which texts are taken for it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hlo_modules import error, instruction

import stablehlo_ref as sr
from spec_checks.fuzz.cases import draw, run
from spec_checks.fuzz.hlo import MODULES
from stablehlo_ref.cli.main import main

F32 = np.float32


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ROOT %y = f32[2,3]{1,0} sin(%x)", "<string>:4:8: error: StableHLO has no equal of HLO's 'sin'"),
        ("ROOT %y = f32[2,3]{1,0} multipli(%x, %x)", "did you mean 'multiply'?"),
        ("%y = (f32[], u64[1]) rng-get-and-update-state(), delta=1", "no equal of HLO's 'rng-get-and-update-state'"),
        ("ROOT %y = f33[2,3]{1,0} sine(%x)", "<string>:4:13: error: unsupported element type 'f33'"),
        (
            "ROOT %y = f32[2,2]{1,0} dot(%x, %x), algorithm=dot_any_f8_any_f8_f32",
            "the algorithm 'dot_any_f8_any_f8_f32'",
        ),
        ("ROOT %y = f32[2,3]{1,0} sine(%x), strength=9", "'strength' of 'sine' is not supported"),
        ("ROOT %y = f64[1,3]{1,0} bitcast(%x)", "'bitcast' from tensor<2x3xf32> to tensor<1x3xf64> is not supported"),
    ],
)
def test_what_stablehlo_has_not_is_named(line: str, message: str) -> None:
    assert message in instruction(line, sr.UnsupportedError)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ROOT %y = f32[2,3]{1,0} sine(%z)", "<string>:4:32: error: use of undefined value 'z'"),
        ("ROOT %y = f32[2,3] sine(%x", "expected ',', got '}'"),
        ("ROOT %y = f32[2,3]{1} sine(%x)", "expected a layout of 2 dimensions, got (1,)"),
        ("ROOT %y = f32[3]{0} copy(%x)", "'copy' has the type tensor<3xf32>, got tensor<2x3xf32>"),
        ("%x = f32[2,3]{1,0} sine(%x)", "<string>:4:3: error: redefinition of 'x'"),
        ("ROOT %y = f32[3,2]{1,0} transpose(%x)", "'transpose' needs the attribute 'dimensions'"),
        ("ROOT %y = f32[3,2]{1,0} transpose(%x), dimensions=1", "expected integers in braces as 'dimensions', got '1'"),
        ("ROOT %y = f32[3,2]{1,0} transpose(%x), dimensions={1", "<string>:4:53: error: expected '}' on the same line"),
        ("ROOT %y = f32[] call(%x), to_apply=%f", "expected a computation that is defined before this one, got 'f'"),
        ("ROOT %y = f32[] call(%x), to_apply=%main", "defined before this one, got 'main'"),
        ("ROOT %y = f32[2,3] get-tuple-element(%x), index=0", "the operand has no element 0"),
        ("ROOT %y = f32[2,3] parameter(2)", "parameters are numbered [0, 2], not from 0 without gaps"),
        ("ROOT %y = f32[2,3] parameter(0)", "expected the number of a parameter, each once"),
        ("ROOT %y = pred[2,3] compare(%x, %x), direction=XX", "expected EQ or NE"),
        ("ROOT %y = pred[2,3] compare(%x, %x), direction=EQ, order=X", "expected PARTIAL or TOTAL"),
        ("ROOT %y = f32[2,3] slice(%x), slice={[a:b]}", "as 'slice', got '{[a:b]}'"),
        ("ROOT %y = f32[2,3] pad(%x, %x), padding=1_1xz", "as 'padding', got '1_1xz'"),
        ("ROOT %y = f32[2,3] reduce-window(%x, %x), window={size=2x2 pad=1}, to_apply=%x", "defined before this one"),
        ("ROOT %y = f32[2,3] sort(%x), dimensions={0,1}, to_apply=%x", "defined before this one"),
        ("ROOT %y = f32[2,3] broadcast(), dimensions={}", "'stablehlo.broadcast_in_dim' op"),
        ("ROOT %y = f32[2,3] bitcast()", "'bitcast' takes more than 0 operands"),
        ('ROOT %y = f32[2] custom-call(%x), custom_call_target="f', "unterminated string"),
    ],
)
def test_malformed_instructions(line: str, message: str) -> None:
    found = instruction(line, sr.StablehloError)
    assert message in found and "<string>:" in found


def test_the_verifier_names_the_place() -> None:
    found = instruction("ROOT %y = f32[2,2]{1,0} add(%x, %x)", sr.InvalidError)
    assert found.startswith("<string>:4:8: error: 'stablehlo.add' op")
    assert "  ROOT %y = f32[2,2]{1,0} add(%x, %x)\n       ^" in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("HloModule\n", "expected the name of a module, got the end of the text"),
        ("HloModule m\n", "expected a computation that is marked ENTRY"),
        ("HloModule m\nENTRY e {\n}\n", "expected an instruction, as a computation has a result"),
        (
            "HloModule m\nENTRY e {\n ROOT x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}",
            "two instructions are ROOT",
        ),
        (
            "HloModule m\na {\n x = f32[] parameter(0)\n}\nENTRY a {\n x = f32[] parameter(0)\n}",
            "redefinition of computation",
        ),
        (
            "HloModule m\nENTRY a {\n x = f32[] parameter(0)\n}\nENTRY b {\n x = f32[] parameter(0)\n}",
            "two computations are ENTRY",
        ),
        (
            "HloModule m\nENTRY a {\n x = " + "(" * 200 + "f32[] parameter(0)\n}",
            "nesting exceeds the limit of 64 levels",
        ),
        (
            "HloModule m, num_partitions=-2\nENTRY a {\n x = f32[] parameter(0)\n}",
            "<string>:1:29: error: expected a positive number as 'num_partitions', got '-2'",
        ),
        (
            "HloModule m, entry_computation_layout={(f32[2]{0})->s8[]}\nENTRY a {\n x = f32[] parameter(0)\n}",
            "<string>:1:39: error: expected 'a' of type (tensor<2xf32>) -> tensor<i8>, as in its layout, got (",
        ),
        (
            "HloModule m, entry_computation_layout={f32[]->f32[]\nENTRY a {\n x = f32[] parameter(0)\n}",
            "expected '}' on the same line",
        ),
    ],
)
def test_malformed_modules(text: str, message: str) -> None:
    assert message in error(text)


def test_arguments_of_calls_are_checked() -> None:
    f = "HloModule m\nf {\n x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}\n"
    f += "ENTRY e {\n a = f32[2]{0} parameter(0)\n"
    assert "'f' takes tensor<f32>, got tensor<2xf32>" in error(f + " ROOT b = f32[] call(a), to_apply=f\n}")
    assert "'f' takes tensor<f32>, got nothing" in error(f + " ROOT b = f32[] call(), to_apply=f\n}")


def test_copies_of_computations_are_limited() -> None:
    """Each computation applies the one before twice, which doubles its copies."""
    parts = ["HloModule m\nc0 {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"]
    for n in range(1, 40):
        parts.append(
            f"c{n} {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
            f" r = f32[] reduce(a, b), dimensions={{}}, to_apply=c{n - 1}\n"
            f" ROOT s = f32[] reduce(r, b), dimensions={{}}, to_apply=c{n - 1}\n}}\n"
        )
    parts.append("ENTRY e {\n x = f32[] parameter(0)\n ROOT y = f32[] reduce(x, x), dimensions={}, to_apply=c39\n}\n")
    assert "applied computations expand beyond the limit of ops" in error("".join(parts))


def test_calls_in_a_long_chain() -> None:
    parts = ["HloModule m\nf0 {\n x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}\n"]
    parts += [
        f"f{n} {{\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=f{n - 1}\n}}\n" for n in range(1, 3000)
    ]
    program = sr.parse(
        "".join(parts) + "ENTRY e {\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=f2999\n}\n"
    )
    assert len(program.functions) == 3001


def test_the_time_is_limited() -> None:
    lines = "".join(f"  v{n} = f32[] negate(x)\n" for n in range(200_000))
    text = f"HloModule m\nENTRY e {{\n  x = f32[] parameter(0)\n{lines}}}\n"
    with pytest.raises(sr.EvaluationError, match=r"time|seconds"):
        sr.load(text, limits=sr.Limits(max_seconds=0.05))


# --- formats ----------------------------------------------------------------------------------------------------------

TEXT = (
    "// a comment\nHloModule m\n\nENTRY %main {\n  %x = f32[2]{0} parameter(0)\n  ROOT %y = f32[2]{0} negate(%x)\n}\n"
)


def test_files_and_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.txt"
    file.write_text(TEXT)
    assert sr.load(file).run(np.ones(2, F32))[0].tolist() == [-1, -1]
    assert main([str(file), "--input", "x=[1, 2]"]) == 0
    assert "-1.0" in capsys.readouterr().out.replace("-1.000000e+00", "-1.0")
    assert main(["opt", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32>" in printed
    assert sr.load(printed).run(np.ones(2, F32))[0].tolist() == [-1, -1]
    file.write_text(TEXT.replace("negate", "negated"))
    assert main([str(file), "--random-inputs", "0"]) == 1
    assert f"{file}:6:8: error: StableHLO has no equal of HLO's 'negated'" in capsys.readouterr().err


def test_text_without_a_header_and_the_cache(tmp_path: Path) -> None:
    text = "%f (x: f32[2]) -> f32[2] {\n  %x = f32[2]{0} parameter(0)\n  ROOT %y = f32[2]{0} negate(%x)\n}\n"
    assert sr.load(text).run(np.ones(2, F32))[0].tolist() == [-1, -1]
    for _ in range(2):
        program = sr.load(TEXT, cache=tmp_path)
        assert program.run(np.ones(2, F32))[0].tolist() == [-1, -1]


def test_mlir_is_not_taken_for_hlo() -> None:
    program = sr.parse('%0 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32> // {\n')
    assert [op.name for op in program.module.walk()] == ["builtin.module", "stablehlo.constant"]


def test_changed_modules_are_results_or_errors() -> None:
    for module in MODULES:
        assert sr.load(module).outputs
    for number in range(60):
        run(draw(Random(number), ["hlo"]))
