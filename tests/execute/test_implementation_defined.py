"""The option `on_implementation_defined`: ignore, warn or error, in Python and on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.execute.implementation_defined import ChoiceReporter

DIVIDE = """\
func.func @main(%x: tensor<1xi32>, %y: tensor<1xi32>) -> tensor<1xi32> {
  %0 = stablehlo.divide %x, %y : tensor<1xi32>
  return %0 : tensor<1xi32>
}
"""
ONE, ZERO = np.ones(1, np.int32), np.zeros(1, np.int32)


def test_results_do_not_depend_on_the_option() -> None:
    program = sr.parse(DIVIDE)
    with pytest.warns(sr.ImplementationDefinedWarning, match="divided by zero"):
        (warned,) = program.run(ONE, ZERO, on_implementation_defined="warn")
    assert warned == program.run(ONE, ZERO)[0] == -1


def test_error_has_location_and_section() -> None:
    with pytest.raises(sr.EvaluationError) as error:
        sr.parse(DIVIDE).run(ONE, ZERO, on_implementation_defined="error")
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.line, diagnostic.column) == (2, 8)
    assert "docs/choices.md#integer-division-by-zero" in diagnostic.message


def test_rejects_unknown_value_of_the_option() -> None:
    with pytest.raises(ValueError, match="must be one of 'ignore', 'warn', 'error', got 'stop'"):
        sr.parse(DIVIDE).run(ONE, ZERO, on_implementation_defined="stop")  # type: ignore[arg-type]


def test_error_in_one_process_of_a_grid() -> None:
    with pytest.raises(sr.EvaluationError, match="#integer-division-by-zero"):
        sr.parse(DIVIDE).run_replicas([[ONE, ONE], [ONE, ZERO]], on_implementation_defined="error")


def test_no_observer_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(ChoiceReporter, "before", fail)
    sr.parse(DIVIDE).run(ONE, ZERO)


def test_options_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "divide.mlir"
    path.write_text(DIVIDE)
    arguments = [str(path), "--args=[dense<1> : tensor<1xi32>, dense<0> : tensor<1xi32>]"]
    assert main(arguments) == 0 and capsys.readouterr().err == ""
    assert main([*arguments, "--on-implementation-defined=warn"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith(f"{path}:2:8: warning: 'stablehlo.divide' op: an integer is divided by zero")
    assert "[-1]" in captured.out
    assert main([*arguments, "--on-implementation-defined=error"]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:2:8: error: 'stablehlo.divide' op: an integer is divided")
