"""The pytest plugin: which files it collects, what passes and what fails, fixtures."""

from __future__ import annotations

import os
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


VALID = "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n"
EXPECTING = BAD.replace("  check.", "  // expected-error@+1 {{check.expect_eq_const}}\n  check.")
RUN_LINE = "// RUN: stablehlo-opt %s | FileCheck %s\n// CHECK: @good\n"
SHARED = "// RUN: stablehlo-opt %s > %t.mlir\n// RUN: stablehlo-translate --interpret %t.mlir\n"
FILES = {
    "parts": f"{GOOD}\n// -----\n{BAD}",
    "functions": GOOD + BAD.replace("@good", "@bad"),
    "arguments": f"{VALID}// -----\n{VALID.replace('-> tensor<f32>', '-> tensor<f64>')}",
    "arguments_run": f"// RUN: stablehlo-translate --interpret %s\n{VALID}",
    "expecting": EXPECTING,
    "expecting_more": EXPECTING.replace("dense<2>", "dense<1>"),
    "run_lines": f"{RUN_LINE}// RUN: not stablehlo-interp --entry none %s\n{GOOD}",
    "run_line_fails": RUN_LINE.replace("@good", "@other") + GOOD,
    "shared": SHARED + GOOD,
    "open_quote": "// RUN: stablehlo-opt 'a %s\n",
    "not_utf8": "func.func @main() { return } // \udcff",
    "digits": f"// expected-error@+{'9' * 5000} {{{{a}}}}\nfunc.func @main() {{",
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what pytest prints of FILES, which it is given together: it takes longer to start than to run them."""
    folder = tmp_path_factory.mktemp("programs")
    for name, text in FILES.items():
        (folder / f"{name}.mlir").write_bytes(text.encode("utf-8", "surrogateescape"))
    options = ["-p", "stablehlo_ref.testing.pytest_plugin", "-v", "--continue-on-collection-errors", "--stablehlo", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("file", "outcomes"),
    [
        ("parts", {"line 1": "PASSED", "line 8": "FAILED"}),
        ("functions", {"line 1 @good": "PASSED", "line 1 @bad": "FAILED"}),
        ("arguments", {"line 1": "VERIFIED", "line 4": "FAILED"}),
        ("arguments_run", {"line 1": "FAILED"}),
        ("expecting", {"line 1": "PASSED"}),
        ("expecting_more", {"line 1": "FAILED"}),
        ("run_lines", {"RUN line 1": "PASSED", "RUN line 3": "PASSED"}),
        ("run_line_fails", {"RUN line 1": "FAILED"}),
        ("shared", {"RUN line 1": "PASSED"}),
    ],
)
def test_each_part_function_and_run_line_is_a_test(printed: str, file: str, outcomes: dict[str, str]) -> None:
    assert dict(re.findall(rf"^{file}\.mlir::(.*?) ([A-Z]+) +\[", printed, re.M)) == outcomes


@pytest.mark.parametrize(
    "message",
    [
        r"parts\.mlir:12:3: error: .*check\.expect_eq_const %0",
        "expected error.*was not produced",
        "exit code .* stablehlo-opt 'a",
        r"not_utf8\.mlir: error: cannot read the file: ",
        r"digits\.mlir:2:20: error: ",
    ],
)
def test_failures_are_told_without_a_traceback(printed: str, message: str) -> None:
    assert re.search(message, printed, re.S if "parts" in message else 0)
    assert "Traceback" not in printed and not re.search(r"\.py:.*: .*Error", printed)


def test_interpreter_is_imported_only_to_collect() -> None:
    code = "import stablehlo_ref.testing.pytest_plugin, sys; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


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
