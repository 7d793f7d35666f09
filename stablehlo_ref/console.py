"""What the commands of `stablehlo-interp` share: programs from files, part by part, messages, exit codes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence

from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.loading import decode, read

FINE, AT_FAULT, USAGE, INTERRUPTED = 0, 1, 2, 130
SPLIT = "// -----"
SPLIT_LINE = re.compile(rf"^[ \t]*(?://[ \t]*)?{SPLIT}[ \t\r]*$", re.M)  # also where it is commented out itself

Action = Callable[[str, str, int], None]  # of a part of a file: its filename, its text, the number of its first line


def for_each_part(file: str, split: bool, action: Action) -> int:
    """Does something with the whole input, or with each part of it on its own; returns the exit code.

    Whatever goes wrong is a message on standard error and no traceback; other parts go on after one that is at fault.
    """
    try:
        return max([_attempt(action, *part) for part in parts(file, split)], default=FINE)
    except StablehloError as error:
        return fail(str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return fail(f"{file}: error: {error.strerror or error}")
    except Exception as error:
        return fail(f"{file}: error: internal error, please report it: {type(error).__name__}: {error}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def parts(file: str, split: bool) -> Iterator[tuple[str, str, int]]:
    """The filename, the text and the number of the first line of each part of a file; `-` is standard input."""
    name = "<stdin>" if file == "-" else file
    text = decode(sys.stdin.buffer.read() if file == "-" else read(name), name)
    for first_line, part in split_text(text) if split else [(1, text)]:
        yield name, part, first_line


def split_text(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a text between lines `// -----`, each with the number of its first line."""
    first_line = 1
    for part in SPLIT_LINE.split(text):
        yield first_line, part
        first_line += part.count("\n")


def _attempt(action: Action, name: str, text: str, first_line: int) -> int:
    try:
        action(name, text, first_line)
    except StablehloError as error:
        return fail(str(error))
    return FINE


def fail(message: str) -> int:
    """Says what is wrong; returns the exit code of a program at fault."""
    sys.stdout.flush()
    print(message, file=sys.stderr)
    return AT_FAULT


def with_two_dashes(arguments: Sequence[str]) -> list[str]:
    """Arguments as MLIR's tools take them, whose long options may have one dash."""
    return [f"-{a}" if re.match(r"-[a-z]{2}", a) else a for a in arguments]
