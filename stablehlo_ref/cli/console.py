"""What the commands of `stablehlo-interp` share: programs from files, part by part, messages, exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from errno import ENOENT
from functools import partial
from pathlib import Path
from typing import TypeGuard

from stablehlo_ref.cli import messages
from stablehlo_ref.cli.commands import AT_FAULT, COMMANDS, FINE, INTERRUPTED
from stablehlo_ref.cli.errors import exit_code_of
from stablehlo_ref.diagnostics import SPLIT, MalformedError, StablehloError, UsageError, split_text
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import limited, within_time
from stablehlo_ref.limits.files import contents, watched
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import ZIP, open_program, read, unpacked
from stablehlo_ref.reading.parsing import BYTECODE, Data, decode, parse, parse_data
from stablehlo_ref.suggestions import closest
from stablehlo_ref.testing.expected import Unexpected, expectations, mismatches


@dataclass(frozen=True)
class Part:
    """A part of an input: its text, or the data of an input that is not text; neither for a folder or an archive."""

    filename: str
    text: str | None = None
    first_line: int = 1
    data: Data | None = None

    def parse(self, allow_unregistered_dialect: bool = False, entry: str | None = None) -> Program:
        """Return the program, which is not verified."""
        if self.text is not None:
            return parse(
                self.text, filename=self.filename, first_line=self.first_line, entry=entry,
                allow_unregistered_dialect=allow_unregistered_dialect,
            )  # fmt: skip
        if self.data is not None:
            return parse_data(self.data, self.filename, 1, allow_unregistered_dialect, entry)
        return open_program(Path(self.filename), allow_unregistered_dialect, entry)


Action = Callable[[Part], None]


def for_each_part(file: str, split: bool, action: Action, limits: Limits) -> int:
    """Apply `action` to the whole input, or to each part of it, within limits for all; return the exit code.

    Errors are messages on standard error, never tracebacks; the parts after one with an error are handled too.
    """
    if messages.SETTINGS.compares:
        action = partial(_compare, action)

    def run() -> int:
        with limited(limits):  # one deadline for reading the file and all that is done with it
            each = within_time(parts(file, split, limits), "the whole file")
            return max([_attempt(action, part, limits) for part in each], default=FINE)

    return guarded(file, run)


def _compare(action: Action, part: Part) -> None:
    """Apply `action` to a part; an error where its diagnostics are not those that the part expects."""
    with messages.caught() as reported:
        try:
            action(part)
        except StablehloError as error:
            reported.extend(error.diagnostics)
    expected = expectations(part.text or "", part.first_line)
    if found := list(mismatches(expected, reported, part.filename)):
        raise Unexpected(found)


def guarded(subject: str, run: Callable[[], int]) -> int:
    """Return the exit code of `run`, or report on standard error what it raises, as a message about `subject`."""
    try:
        return run()
    except StablehloError as error:
        return fail(error, subject)
    except OSError as error:
        if error.filename is None:  # standard output, as files have names
            raise
        return fail(f"{error.filename}: {error.strerror or error}")
    except Exception as error:
        return fail(f"internal error, please report it: {type(error).__name__}: {error}", subject)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def parts(file: str, split: bool, limits: Limits) -> Iterator[Part]:
    """Yield the parts of a file that is read within limits, one unless it is text to split; `-` is standard input."""
    name = "<stdin>" if file == "-" else file
    if file != "-" and Path(existing(file)).is_dir():
        yield Part(name)
        return
    with limited(limits):
        data = unpacked(_standard_input() if file == "-" else read(name), name)
    if bytes(data[:4]) in (BYTECODE, ZIP):
        yield Part(name, data=None if bytes(data[:4]) == ZIP else data)
        return
    text = decode(bytes(data), name)
    for first_line, part in split_text(text) if split else [(1, text)]:
        yield Part(name, part, first_line)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise MalformedError("standard input is closed")
    try:
        found: bytes = contents(watched(sys.stdin.buffer, "<stdin>"), "<stdin>")
    except OSError as error:
        raise MalformedError(f"cannot read standard input: {error.strerror}") from None
    return found


def existing(file: str) -> str:
    """Return the name of a file; FileNotFoundError, with the command that it may be meant to be, if there is none."""
    if not file or not Path(file).exists():
        close = closest(file, COMMANDS)
        hint = f"; did you mean the command '{close}'?" if close else ""
        raise FileNotFoundError(ENOENT, f"no such file{hint}", file or "''")
    return file


def _attempt(action: Action, part: Part, limits: Limits) -> int:
    try:
        with limited(limits):
            action(part)
    except StablehloError as error:
        return fail(error)
    return FINE


def is_file(output: Path | None) -> TypeGuard[Path]:
    """Return whether output goes to a file, not to standard output."""
    return output is not None and str(output) != "-"


def write_output(file: Path | None, outputs: Sequence[str | bytes]) -> None:
    """Write texts, with a line `// -----` between them, or bytes; to standard output without a file, or for `-`.

    Without any output, after errors, no file is made, and one that is there stays as it is.
    """
    if not outputs:
        return
    texts = [output for output in outputs if isinstance(output, str)]
    data = b"".join(output for output in outputs if isinstance(output, bytes))
    if texts:
        data += f"\n{SPLIT}\n".join(texts).encode()
    if is_file(file):
        file.write_bytes(data)
        return
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # replaced by a stream of text
        sys.stdout.write(data.decode(errors="replace"))
    else:
        binary.write(data)
        binary.flush()


def fail(error: StablehloError | str, subject: str = "stablehlo-interp") -> int:
    """Report an error, or a message about `subject`, and return the exit code: 1, or 2 for one of the command line."""
    if isinstance(error, str | UsageError):  # about no place in the program
        messages.report_text(subject, str(error))
        return AT_FAULT
    messages.report(error)
    return exit_code_of(error)


def with_two_dashes(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which long options with one dash, as MLIR's tools accept them, have two."""
    return [f"-{a}" if re.match(r"-[a-z]{2}", a) else a for a in arguments]
