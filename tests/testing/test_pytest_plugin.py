"""The pytest plugin: which files it collects, what passes and what fails, fixtures."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from stablehlo_ref.cli.aliases import write_aliases

pytest_plugins = ["pytester"]

GOOD = """
func.func @good() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  return
}
"""
BAD = GOOD.replace("dense<1> : tensor<i32>\n  return", "dense<2> : tensor<i32>\n  return")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest with this plugin alone.

    Installed plugins would cost seconds: the assertions of their packages, and so of the interpreter, are rewritten.
    """
    pytester.plugins = ["stablehlo_ref.testing.pytest_plugin"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return run_with_installed_plugins(pytester, *arguments)


def run_with_installed_plugins(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-o", "addopts=", "-v", *arguments)


def test_plugin_is_off_by_default(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("a.mlir").write_text(GOOD)
    assert run_with_installed_plugins(pytester).parseoutcomes() == {}


def test_each_part_is_a_test(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("a.mlir").write_text(f"{GOOD}\n// -----\n{BAD}")
    result = run(pytester, "--stablehlo", str(pytester.path))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*a.mlir:12:3: error: *", "*check.expect_eq_const %0*"])


def test_each_function_is_a_test_if_there_is_no_main(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("a.mlir").write_text(GOOD + BAD.replace("@good", "@bad"))
    result = run(pytester, "--stablehlo", str(pytester.path))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*a.mlir::line 1 @good PASSED*", "*a.mlir::line 1 @bad FAILED*"])


def test_programs_that_take_arguments_are_verified(pytester: pytest.Pytester) -> None:
    valid = "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n"
    pytester.path.joinpath("a.mlir").write_text(f"{valid}// -----\n{valid.replace('-> tensor<f32>', '-> tensor<f64>')}")
    pytester.path.joinpath("b.mlir").write_text(f"// RUN: stablehlo-translate --interpret %s\n{valid}")
    result = run(pytester, "--stablehlo", ".")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*a.mlir::line 1 VERIFIED*"])


def test_interpreter_is_imported_only_to_collect() -> None:
    code = "import stablehlo_ref.testing.pytest_plugin, sys; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_parts_that_expect_errors(pytester: pytest.Pytester) -> None:
    expecting = BAD.replace("  check.", "  // expected-error@+1 {{check.expect_eq_const}}\n  check.")
    pytester.path.joinpath("a.mlir").write_text(expecting)
    pytester.path.joinpath("b.mlir").write_text(expecting.replace("dense<2>", "dense<1>"))
    result = run(pytester, "--stablehlo", ".")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*expected error*was not produced*"])


def test_run_lines_are_executed(pytester: pytest.Pytester) -> None:
    lines = "// RUN: stablehlo-opt %s | FileCheck %s\n// RUN: not stablehlo-interp --entry none %s\n// CHECK: @good\n"
    pytester.path.joinpath("a.mlir").write_text(lines + GOOD)
    pytester.path.joinpath("b.mlir").write_text(lines.replace("@good", "@other") + GOOD)
    result = run(pytester, "--stablehlo", ".")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*b.mlir::RUN line 1 FAILED*"])


def test_run_lines_that_share_a_file_are_one_test(pytester: pytest.Pytester) -> None:
    lines = "// RUN: stablehlo-opt %s > %t.mlir\n// RUN: stablehlo-translate --interpret %t.mlir\n"
    pytester.path.joinpath("a.mlir").write_text(lines + GOOD)
    run(pytester, "--stablehlo", "a.mlir").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"// RUN: stablehlo-opt 'a %s\n", "*exit code * stablehlo-opt 'a*"),
        (b"func.func @main() { return } // \xff", "*a.mlir: error: cannot read the file: *"),
        (f"// expected-error@+{'9' * 5000} {{{{a}}}}\nfunc.func @main() {{".encode(), "*a.mlir:2:20: error: *"),
    ],
    ids=["open quote", "not UTF-8", "line of 5000 digits"],
)
def test_malformed_files_are_errors_without_a_traceback(pytester: pytest.Pytester, data: bytes, message: str) -> None:
    pytester.path.joinpath("a.mlir").write_bytes(data)
    result = run(pytester, "--stablehlo", "a.mlir")
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*.py:*: *Error*")


def test_configured_by_an_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nstablehlo = programs\n")
    folder = pytester.mkdir("programs")
    Path(folder, "a.mlir").write_text(GOOD)
    pytester.path.joinpath("b.mlir").write_text(BAD)
    run(pytester).assert_outcomes(passed=1)


def test_a_missing_folder_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = run_with_installed_plugins(pytester, "--stablehlo", "nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no such file or folder: nowhere*"])


def test_fixtures(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("double.mlir").write_text("""
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    """)
    pytester.makepyfile("""
    import numpy as np

    X = np.array([1, 2], np.float32)

    def test_values(stablehlo_program, assert_matches):
        assert_matches(stablehlo_program("double.mlir"), X, X * 2)

    def test_function(stablehlo_program, assert_matches):
        assert_matches(stablehlo_program("double.mlir"), X, lambda x: x + x, ulp=0)

    def test_wrong(stablehlo_program, assert_matches):
        assert_matches(stablehlo_program("double.mlir"), X, X)
    """)
    result = run(pytester)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*2 of 2 elements differ*"])


def test_filecheck_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_aliases(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (code,) = re.findall(r"-c (.*) \"\$@\"$", (tmp_path / "FileCheck").read_text(), re.S)
    with pytest.raises(
        SystemExit, match=r"is not installed; run: pip install 'filecheck>=1' \(the extra `filecheck`\)"
    ):
        exec(*shlex.split(code), {})
