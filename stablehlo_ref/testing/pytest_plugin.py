"""Collects `.mlir` files as tests: `pytest --stablehlo FOLDER`.

A file is run as its `RUN:` lines say; without any, each part between `// -----` must run and its checks must hold. A
part with `expected-error` comments must have the diagnostics that they expect. Each part that is interpreted is a
separate test, so is each function of a part without a `@main`, and each other RUN line. Without RUN lines, programs
that take arguments are verified only, and reported with that word.

`pytest --stablehlo-backend jax --stablehlo-ops dot_general` collects conformance cases of a backend as tests.

pytest imports this module at every start, so the interpreter is imported when there is something to run.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import stablehlo_ref as sr
from stablehlo_ref.diagnostics import split_text
from stablehlo_ref.testing.expected import Unexpected, expectations, mismatches
from stablehlo_ref.testing.run_lines import RunLine, execute, run_lines, scripts

if TYPE_CHECKING:
    from stablehlo_ref.define.context import Context

CASES = Path(__file__).with_name("pytest_cases.py")  # stands for the cases of a backend, which are in no file
VERIFIED = ("stablehlo", "verified")  # a property of the report of a program that was not run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--stablehlo` and the ini option of the same name."""
    text = "collect the .mlir files below PATH as tests; several with several options"
    add = parser.getgroup("stablehlo").addoption
    add("--stablehlo", action="append", default=[], metavar="PATH", help=text)
    add("--stablehlo-backend", metavar="B", help="collect conformance cases of a backend as tests, such as jax")
    add("--stablehlo-ops", metavar="OP,OP", help="only cases of these ops, with wildcards")
    add("--stablehlo-contract", metavar="C", default="strict", help="what the backend may do (strict)")
    add("--stablehlo-profile", default="smoke", choices=("smoke", "pr", "nightly"), help="how many cases (smoke)")
    add("--stablehlo-known", metavar="FILE", help="known failures, as for `stablehlo-interp conform`")
    parser.addini("stablehlo", "folders and files whose .mlir files are collected as tests", type="paths", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file if it is, or is below, one that the options name."""
    config = parent.config
    if file_path == CASES and config.getoption("--stablehlo-backend"):
        from stablehlo_ref.testing.pytest_cases import Cases  # which imports the interpreter

        return Cases.from_parent(parent, path=file_path)
    roots = [Path(p).absolute() for p in (*config.getoption("--stablehlo"), *config.getini("stablehlo"))]
    if file_path.suffix != ".mlir" or not any(root == file_path or root in file_path.parents for root in roots):
        return None
    return MlirFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let options name what to collect, where the command line names nothing else."""
    cases = [str(CASES)] if config.getoption("--stablehlo-backend", None) else []
    for path in (*config.getoption("--stablehlo", []), *cases):
        if not Path(path).exists():
            raise pytest.UsageError(f"--stablehlo: no such file or folder: {path}")
        if path not in config.args:
            config.args = [*([] if config.args_source != pytest.Config.ArgsSource.ARGS else config.args), path]


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """Report what was only verified with that word; it counts as passed."""
    is_call = isinstance(report, pytest.TestReport) and report.when == "call"
    if is_call and report.passed and VERIFIED in map(tuple, report.user_properties):
        return "passed", "v", "VERIFIED"
    return None


class MlirFile(pytest.File):
    """A file of lit-style tests."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self.CollectError(f"{self.path}: error: cannot read the file: {error}") from None
        lines = run_lines(text)
        interprets = next((line for line in lines if line.interprets_parts), None)
        if interprets is not None or not lines:
            splits = interprets is None or interprets.splits
            parts = list(split_text(text)) if splits else [(1, text)]
            for first_line, part in parts:
                for entry in _entries(part) if part.strip() else ():
                    name = f"line {first_line}" + (f" @{entry}" if entry else "")
                    item = PartItem.from_parent(self, name=name, first_line=first_line, text=part, entry=entry)
                    item.must_run = interprets is not None
                    yield item
        for line in scripts([line for line in lines if not line.interprets_parts]):
            yield RunItem.from_parent(self, name=f"RUN line {line.line}", run_line=line)


def _entries(text: str) -> list[str | None]:
    """Return the functions to run: [None] if there is one that runs by default, else all public ones without inputs."""
    if text.count("func") < 2:
        return [None]
    try:
        program = sr.parse(text)
        if len(program.functions) < 2 or program.entry:
            return [None]
    except sr.EvaluationError:  # there is a choice
        return [name for name, f in program.functions.items() if f.is_public and not f.inputs] or [None]
    except sr.StablehloError:  # which is what the test reports
        pass
    return [None]


class Failure(Exception):
    """A failure that is shown by its message alone."""


class MessageItem(pytest.Item):
    """A test whose failures are shown by their messages, without a traceback."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        is_plain = isinstance(excinfo.value, Failure | sr.StablehloError)
        return str(excinfo.value) if is_plain else super().repr_failure(excinfo, style)


class PartItem(MessageItem):
    """One part of a file, or one function of it, which must run.

    One that takes arguments is only verified, unless a RUN line says that it `must_run`.
    """

    must_run = True

    def __init__(self, *, first_line: int, text: str, entry: str | None, **options: Any) -> None:
        super().__init__(**options)
        self.first_line = first_line
        self.text = text
        self.entry = entry

    def runtest(self) -> None:
        from stablehlo_ref.define.context import Context  # not at every start of pytest

        if not (expected := expectations(self.text, self.first_line)):
            self._run(Context())
            return
        reported: list[sr.Diagnostic] = []
        warns = any(expectation.severity == "warning" for expectation in expected)
        try:
            self._run(Context(warn=reported.append, on_implementation_defined="warn" if warns else "ignore"))
        except sr.StablehloError as error:
            reported.extend(error.diagnostics)
        if found := list(mismatches(expected, reported, str(self.path))):
            raise Unexpected(found)

    def _run(self, context: Context) -> None:
        program = sr.parse(self.text, filename=str(self.path), first_line=self.first_line, entry=self.entry).verify()
        if program.functions and program.entry.inputs and not self.must_run:
            self.user_properties.append(VERIFIED)
        elif program.functions:
            program.run_in(context)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.first_line - 1, f"{self.path.name}: {self.name}"


class RunItem(MessageItem):
    """One RUN line, which must succeed."""

    def __init__(self, *, run_line: RunLine, **options: Any) -> None:
        super().__init__(**options)
        self.run_line = run_line

    def runtest(self) -> None:
        try:
            done = execute(self.run_line, self.path)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"takes longer than {error.timeout:g} seconds: {self.run_line.command}") from None
        if done.returncode:
            raise Failure(f"exit code {done.returncode}: {self.run_line.command}\n{done.stderr}{done.stdout}")

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.run_line.line - 1, f"{self.path.name}: {self.name}"


# --- fixtures -------------------------------------------------------------------------------------------------------


@pytest.fixture
def stablehlo_program(request: pytest.FixtureRequest) -> Callable[[str | Path], sr.Program]:
    """Load a program: a path relative to the test's file, or text."""
    folder = Path(request.path).parent

    def load(source: str | Path) -> sr.Program:
        is_text = isinstance(source, str) and "\n" in source
        return sr.load(source if is_text else folder / source)

    return load


@pytest.fixture
def assert_matches() -> Callable[..., None]:
    """Assert that a program returns what is expected: `assert_matches(program, *inputs, expected, ulp=1)`.

    `expected` is an array or a sequence of arrays, or a function that is called with the inputs. With a backend,
    `assert_matches(program, *inputs, backend="jax", contract="xla-cpu")`, the program is run on it, and a failure names
    the ops that the contract does not allow.
    """

    def check(program: sr.Program, *arguments: Any, **bounds: Any) -> None:
        __tracebackhide__ = True
        import numpy as np  # not at every start of pytest

        if "backend" in bounds:
            found = sr.debug.diff(program, arguments, **bounds)
            assert found.is_explained, f"\n{found}"
            return
        *inputs, expected = arguments
        if callable(expected):
            expected = expected(*inputs)
        results = program.run(*inputs)
        wanted: Sequence[Any] = expected if isinstance(expected, tuple | list) else [expected]
        assert len(results) == len(wanted), f"expected {len(wanted)} results, got {len(results)}"
        for output, result, value in zip(program.outputs, results, wanted):
            sr.testing.assert_close(result, np.asarray(value), **bounds, names=output.name)

    return check


@pytest.fixture
def assert_within_bounds() -> Callable[..., None]:
    """Assert that results of a program are legal: `assert_within_bounds(program, inputs, results, contract="strict")`.

    They must be within the rounding errors that the contract allows all ops together. A result without such a bound
    must be within what random rounding explains.
    """

    def check(program: sr.Program, inputs: Sequence[Any], results: Sequence[Any], contract: str = "strict") -> None:
        __tracebackhide__ = True
        from stablehlo_ref.arrays.interop import to_array, to_arrays
        from stablehlo_ref.debug.contract import contract_of
        from stablehlo_ref.debug.diff_passes import differences

        given, returned = (to_arrays([to_array(value) for value in values]) for values in (inputs, results))
        expected = to_arrays(program.run(*given))
        messages = differences(program, given, expected, returned, contract_of(contract), trusts_noise=False)
        assert not messages, "\n".join(["the results are not within the bounds of the program:", *messages])

    return check
