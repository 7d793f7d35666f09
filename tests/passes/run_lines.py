"""Upstream's RUN lines in process: `stablehlo-opt ARGUMENTS %s | FileCheck %s ARGUMENTS`, chunk by chunk."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stablehlo_ref.cli.main import main
from stablehlo_ref.diagnostics import split_text

_RUN = re.compile(r"(?:^|\s)RUN:\s*(.*)$", re.M)


@dataclass(frozen=True)
class RunLine:
    """One RUN line: the arguments of `stablehlo-opt` and of `FileCheck`, without `%s`."""

    path: Path
    number: int
    opt_arguments: tuple[str, ...]
    filecheck_arguments: tuple[str, ...] | None  # None without FileCheck
    must_fail: bool  # `not stablehlo-opt ... 2>&1`

    @property
    def is_split(self) -> bool:
        return any(argument.lstrip("-") == "split-input-file" for argument in self.opt_arguments)

    def chunks(self) -> list[str]:
        """Return the chunks of the file that are transformed on their own."""
        text = self.path.read_text(encoding="utf-8")
        return [part for _, part in split_text(text)] if self.is_split else [text]


def run_lines(path: Path) -> Iterator[RunLine]:
    """Yield the RUN lines of a file that pipe `stablehlo-opt` into FileCheck."""
    for number, match in enumerate(_RUN.finditer(path.read_text(encoding="utf-8"))):
        command, *rest = [shlex.split(part) for part in match[1].split("|")]
        must_fail = command[0] == "not"
        command = command[must_fail:]
        if command[0] != "stablehlo-opt" or len(rest) > 1 or (rest and rest[0][0] != "FileCheck"):
            continue
        arguments = tuple(a for a in command[1:] if a not in ("%s", "2>&1"))
        checks = tuple(a for a in rest[0][1:] if a != "%s") if rest else None
        yield RunLine(path, number, arguments, checks, must_fail)


def failure(line: RunLine, text: str, folder: Path) -> str | None:
    """Return what is wrong with the output for a text, by its own annotations and checks; None if it is right."""
    program = folder / "program.mlir"
    program.write_text(text, encoding="utf-8")
    code, out, err = _opt([*line.opt_arguments, str(program)])
    if (code != 0) != line.must_fail:
        return f"exit code {code}\n{err}"
    checked = out + err if line.must_fail else out
    return None if line.filecheck_arguments is None else _filecheck(program, checked, line.filecheck_arguments)


def _opt(arguments: Sequence[str]) -> tuple[int | str | None, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: int | str | None = main(["opt", *arguments])
        except SystemExit as exit:
            code = exit.code
    return code, out.getvalue(), err.getvalue()


def _filecheck(checks: Path, text: str, arguments: Sequence[str]) -> str | None:
    from filecheck.finput import FInput, InputRange
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    class EndsAtMatch(Matcher):  # type: ignore[misc]
        """Looks for what a NOT excludes up to the start of the next match, as LLVM's FileCheck does, not to its end."""

        def capture_results(self, match: re.Match[str], capture: Any, op: Any) -> None:
            super().capture_results(match, capture, op)
            if op.name != "DAG" and (start := self.ctx.negative_matches_start) is not None:
                for excluded in self.ctx.negative_matches_stack:
                    self.check_not(excluded, InputRange(start, match.start()))
                self.ctx.negative_matches_start, self.ctx.negative_matches_stack = None, []

    printed = checks.with_suffix(".out")
    printed.write_text(text or "\n\n", encoding="utf-8")
    message = io.StringIO()
    with redirect_stderr(message), redirect_stdout(io.StringIO()):
        options = parse_argv_options(
            ["filecheck", str(checks), *arguments, "--input-file", str(printed), "--allow-empty"]
        )
        matcher = EndsAtMatch(options, FInput.from_opts(options), Parser.from_opts(options))
        matcher.stderr = message
        code = matcher.run()
    if code == 0 or "No check strings found" in message.getvalue():
        return None
    return f"{message.getvalue()}\n--- output ---\n{text}"
