"""Read programs part by part, report errors as messages, show progress, write output: what all commands share."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOENT
from functools import partial
from pathlib import Path
from typing import TextIO, TypeGuard

from stablehlo_ref.cli.commands import AT_FAULT, COMMANDS, FINE, INTERRUPTED, USAGE
from stablehlo_ref.cli.messages import Messages
from stablehlo_ref.cli.options import CommandLineError, limits_of
from stablehlo_ref.diagnostics import SPLIT, MalformedError, StablehloError, UsageError, split_text
from stablehlo_ref.limits import Limits
from stablehlo_ref.limits.budget import current_activity, limited, within_time
from stablehlo_ref.limits.files import contents, watched
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import ZIP, open_program, read, unpacked
from stablehlo_ref.reading.parsing import BYTECODE, Data, decode, parse, parse_data
from stablehlo_ref.suggestions import closest
from stablehlo_ref.testing.expected import Unexpected, expectations, mismatches


@dataclass(frozen=True)
class Chunk:
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


Action = Callable[[Chunk], None]


def for_each_part(options: argparse.Namespace, action: Action) -> int:
    """Apply `action` to the whole input, or to each part of it, within limits for all; return the exit code.

    Errors are messages on standard error, never tracebacks; the parts after one with an error are handled too.
    """
    messages: Messages = options.messages
    action = partial(_compare, action, messages) if options.verify_diagnostics else action
    with _showing_progress(), limited(limits := limits_of(options)):  # one deadline for reading the file and the rest
        each = within_time(parts(options.file, options.split_input_file, limits), "the whole file")
        codes = [_attempt(partial(action, part), limits, messages) for part in each]
    return max(codes, default=FINE)


def _compare(action: Action, messages: Messages, part: Chunk) -> None:
    """Apply `action` to a part; an error where its diagnostics are not those that the part expects."""
    with messages.caught() as reported:
        try:
            action(part)
        except StablehloError as error:
            reported.extend(error.diagnostics)
    expected = expectations(part.text or "", part.first_line)
    if found := list(mismatches(expected, reported, part.filename)):
        raise Unexpected(found)


def _attempt(action: Callable[[], None], limits: Limits, messages: Messages) -> int:
    try:
        with limited(limits):
            action()
    except StablehloError as error:
        return fail(messages, error)
    return FINE


def guarded(messages: Messages, subject: str, run: Callable[[], int]) -> int:
    """Return the exit code of `run`, or report on standard error what it raises, as a message about `subject`."""
    try:
        return run()
    except StablehloError as error:
        return fail(messages, error, subject)
    except OSError as error:
        if error.filename is None:  # standard output, as files have names
            raise
        return fail(messages, f"{error.filename}: {error.strerror or error}")
    except Exception as error:
        return fail(messages, f"internal error, please report it: {type(error).__name__}: {error}", subject)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def fail(messages: Messages, error: StablehloError | str, subject: str = "stablehlo-interp") -> int:
    """Report an error, or a message about `subject`, and return the exit code: 1, or 2 for one of the command line."""
    if isinstance(error, str | UsageError):  # about no place in the program
        messages.report_text(subject, str(error))
        return AT_FAULT
    messages.report(error)
    return USAGE if isinstance(error, CommandLineError) else AT_FAULT


def parts(file: str, split: bool, limits: Limits) -> Iterator[Chunk]:
    """Yield the parts of a file that is read within limits, one unless it is text to split; `-` is standard input."""
    name = "<stdin>" if file == "-" else file
    if file != "-" and Path(existing(file)).is_dir():
        yield Chunk(name)
        return
    with limited(limits):
        data = unpacked(_standard_input() if file == "-" else read(name), name)
    if bytes(data[:4]) in (BYTECODE, ZIP):
        yield Chunk(name, data=None if bytes(data[:4]) == ZIP else data)
        return
    text = decode(bytes(data), name)
    for first_line, part in split_text(text) if split else [(1, text)]:
        yield Chunk(name, part, first_line)


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


# --- progress ---------------------------------------------------------------------------------------------------------

CLEAR = "\r\x1b[K"  # returns to the start of the line on a terminal, and clears it
WIDTH = 30  # characters of a progress bar
DELAY, INTERVAL = 2.0, 0.2  # seconds


@contextmanager
def _showing_progress(out: TextIO | None = None) -> Iterator[None]:
    """Show the current activity on standard error if that is a terminal, when it takes more than two seconds."""
    out = out or sys.stderr
    if not out.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(out, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(INTERVAL)


def _show(out: TextIO, done: threading.Event) -> None:
    """Write the line until `done` is set."""
    shown, start, name = False, time.perf_counter(), ""
    while not done.wait(INTERVAL):
        activity = current_activity()
        if activity is None or activity.name != name:
            start, name = time.perf_counter(), activity.name if activity else ""
        seconds = time.perf_counter() - start
        text = ""
        if activity is not None and seconds > DELAY:
            text = progress_line(name, activity.fraction and activity.fraction(), seconds)
        if text or shown:
            out.write(f"{CLEAR}{text}"[:200])
            out.flush()
        shown = bool(text)
    if shown:
        out.write(CLEAR)
        out.flush()


def progress_line(name: str, fraction: float | None, seconds: float) -> str:
    """Return the line: a bar and the remaining time if the fraction that is done is known."""
    if not fraction:
        return f"{name}, {seconds:.0f} s"
    left = seconds * (1 - fraction) / fraction
    bar = "#" * int(WIDTH * min(fraction, 1))
    return f"[{bar:.<{WIDTH}}] {name}, {100 * fraction:.0f} %, {seconds:.0f} s, {left:.0f} s left"
