"""`--verify-diagnostics`: diagnostics that comments expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from stablehlo_ref.cli.main import main
from stablehlo_ref.diagnostics import Diagnostic, Location, Source
from stablehlo_ref.testing.expected import expectations, mismatches

FAILS = """
func.func @main() {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  // expected-error@+1 {{check.expect_eq_const}}
  check.expect_eq_const %0, dense<2.0> : tensor<f32>
  return
}
"""


def mismatches_of(annotation: str, *reported: Diagnostic) -> list[str]:
    text = f"line 1\n{annotation}\nline 3"
    return list(mismatches(expectations(text), reported, "file"))


def at(line: int, message: str, severity: str = "error") -> Diagnostic:
    source = Source("line 1\n\nline 3", "file")
    return Diagnostic(message, Location(source, [0, 7, 8][line - 1]), severity)


@pytest.mark.parametrize(
    "annotation",
    [
        "// expected-error@+1 {{wrong}}",
        "// expected-error @+1 {{is wrong}}",
        "// expected-error@+1 1 {{wrong}}",
        "// expected-error@+1 1+ {{wrong}}",
        "// expected-error@below {{wrong}}",
        "// expected-error-re@below {{x is {{w[a-z]+}}}}",
    ],
)
def test_accepts_an_expected_error(annotation: str) -> None:
    assert mismatches_of(annotation, at(3, "x is wrong")) == []
    assert mismatches_of(annotation)
    assert mismatches_of(annotation, at(1, "x is wrong"))


def test_counts() -> None:
    error = at(3, "wrong")
    assert mismatches_of("// expected-error@+1 2 {{wrong}}", error, error) == []
    assert mismatches_of("// expected-error@+1 1+ {{wrong}}", error, error) == []
    (mismatch,) = mismatches_of("// expected-error@+1 2 {{wrong}}", error)
    assert mismatch == 'file:2:1: error: expected error "wrong" was produced 1 times, not 2'
    assert mismatches_of("// expected-error@+1 0 {{wrong}}") == []


def test_other_places() -> None:
    assert mismatches_of("// expected-warning@above {{w}}", at(1, "w", "warning")) == []
    assert mismatches_of("// expected-remark@-1 {{r}}", at(1, "r", "remark")) == []
    assert mismatches_of("// expected-error@unknown {{no place}}", Diagnostic("no place")) == []
    assert mismatches_of("line 2 // expected-error {{here}}", at(2, "here")) == []
    assert (
        mismatches_of("// expected-error@-9 {{a module that is not written out}}", at(1, "a module that is not")) != []
    )
    assert mismatches_of("// expected-error@-9 {{a module}}", at(1, "a module that is not written out")) == []


def test_notes_may_be_expected() -> None:
    note = at(1, "defined here", "note")
    error = Diagnostic("wrong", at(3, "").location, definitions=(note,), notes=("x = 1",))
    assert mismatches_of("// expected-error@+1 {{wrong}}", error) == []
    assert mismatches_of("// expected-note@+1 {{x = 1}}", error) == ["file:3:1: error: unexpected error: wrong"]
    (missing, unexpected) = reversed(mismatches_of("// expected-note@above {{elsewhere}}", error))
    assert "was not produced" in missing and "unexpected error" in unexpected


@pytest.mark.parametrize("command", ["run", "opt", "translate"])
def test_commands_verify_diagnostics(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.mlir"
    more = ["--deserialize"] if command == "translate" else []
    path.write_text("func.func @main() {\n  stablehlo.nothing // expected-error {{unknown op}}\n  return\n}\n")
    assert main([command, "--verify-diagnostics", *more, str(path)]) == 0
    capsys.readouterr()
    path.write_text("func.func @main() {\n  return\n}\n// expected-error {{unknown op}}\n// expected-error {{x}}")
    assert main([command, "--verify-diagnostics", *more, str(path)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == f'{path}:4:1: error: expected error "unknown op" was not produced'
    assert second == f'{path}:5:1: error: expected error "x" was not produced'


def test_runs_verify_diagnostics(tmp_path: Path) -> None:
    path = tmp_path / "fails.mlir"
    path.write_text(FAILS)
    assert main(["--verify-diagnostics", str(path)]) == 0
    assert main([str(path)]) == 1
