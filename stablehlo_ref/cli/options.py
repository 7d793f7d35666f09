"""Options that commands share, in groups, and what their values are converted with.

A command makes a `CommandParser` and adds the groups that it needs.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from itertools import takewhile
from typing import NoReturn

from stablehlo_ref.cli import messages
from stablehlo_ref.cli.commands import USAGE
from stablehlo_ref.cli.terminal import paint_diagnostics
from stablehlo_ref.diagnostics import SHOWN_ERRORS, SPLIT
from stablehlo_ref.limits import MAX_THREADS, Limits
from stablehlo_ref.suggestions import did_you_mean

SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "m": 60.0, "min": 60.0, "h": 3600.0}
BYTES: Mapping[str, float] = {"": 1, "b": 1} | {
    prefix + unit: base**power
    for unit, base in (("", 1000), ("b", 1000), ("ib", 1024))
    for power, prefix in enumerate("kmgt", 1)
}


def seconds(text: str) -> float:
    """Return a time in seconds: a positive number, alone or with the unit ms, s, m or h."""
    return _quantity(text, SECONDS, "a positive number of seconds, such as 90, 500ms, 1.5m or 1h")


def byte_count(text: str) -> int:
    """Return a size in bytes: a positive number, alone or with the unit kB, MB, GB, TB, KiB, MiB, GiB or TiB."""
    count = _quantity(text, BYTES, "a positive size, such as 500MB or 2GiB")
    return max(1, int(count))


def _quantity(text: str, units: Mapping[str, float], expected: str) -> float:
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?|[0-9]+\.)\s*([a-z]*)\s*", text.lower())
    unit = units.get(match[2]) if match else None
    quantity = float(match[1]) * unit if match and unit else 0.0
    if not 0 < quantity < 1e300:
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return quantity


PROGRAM_HELP = "a program: MLIR or HLO text, bytecode, a portable artifact, or what `load` accepts; - is standard input"


class CommandParser(argparse.ArgumentParser):
    """The parser of a command. Errors are one line, with suggestions for misspelt options, and exit with 2."""

    def __init__(self, command: str, description: str | None, examples: str = "", usage: str | None = None) -> None:
        super().__init__(
            prog=f"stablehlo-interp {command}".strip(),
            usage=usage,
            description=description,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def parse_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        words = list(sys.argv[1:] if args is None else args)
        for word in takewhile("--".__ne__, words):  # first, as argparse looks for missing arguments before
            if word.startswith("--") and word.partition("=")[0] not in self._option_string_actions:
                self.error(self._unrecognized(word))
        options, unknown = self.parse_known_args(words, namespace)
        if unknown:
            self.error(self._unrecognized(unknown[0]))
        messages.configure(options)
        return options

    def _unrecognized(self, argument: str) -> str:
        if not argument.startswith("-"):
            return f"unexpected argument {argument!r}"
        option = argument.partition("=")[0]
        return f"unknown option {option!r}{did_you_mean(option, self._option_string_actions)}"

    def error(self, message: str) -> NoReturn:
        text = f"{self.prog}: error: {message}\nsee {self.prog}{'' if ' ' in self.prog else ' run'} --help"
        print(paint_diagnostics(text, sys.stderr), file=sys.stderr)
        raise SystemExit(USAGE)


# --- groups -----------------------------------------------------------------------------------------------------------


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add how a program is read."""
    group = parser.add_argument_group("reading")
    group.add_argument("--split-input-file", action="store_true", help=f"take each part between `{SPLIT}` on its own")
    group.add_argument("--allow-unregistered-dialect", action="store_true", help="accept ops of unregistered dialects")


def add_message_options(parser: argparse.ArgumentParser, verifies: bool = True) -> None:
    """Add how diagnostics are reported; `--verify-diagnostics` too if the command `verifies` them."""
    group = parser.add_argument_group("messages")
    group.add_argument(
        "--max-errors", type=count, metavar="N",
        help=f"report at most N errors of a program: {SHOWN_ERRORS} by default, all for 0 and for json and sarif",
    )  # fmt: skip
    group.add_argument(
        "--diagnostics-format", choices=messages.FORMATS, default="text",
        help="how diagnostics are written on standard error; json and sarif are one document at the end",
    )  # fmt: skip
    if verifies:
        text = "compare diagnostics with the comments `expected-error`, `-warning`, `-note` and `-remark`"
        group.add_argument("--verify-diagnostics", action="store_true", help=text)
    group.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto",
        help="colour output; auto, the default, does so on terminals; NO_COLOR and FORCE_COLOR are honoured",
    )  # fmt: skip


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add what a run may use; `limits_of` returns it."""
    group = parser.add_argument_group("limits")
    add = group.add_argument
    add("--max-seconds", metavar="S", type=seconds, help="stop a program that takes longer, also: 500ms, 2m, 1h")
    add("--max-total-bytes", metavar="N", type=byte_count, help="stop a run that needs more memory: 2GB, 512MiB")


def limits_of(options: argparse.Namespace) -> Limits:
    """Return the limits that the options of `add_limit_options` set."""
    given = {"max_seconds": options.max_seconds, "max_total_bytes": options.max_total_bytes}
    return Limits(**{name: value for name, value in given.items() if value is not None})


# --- values -----------------------------------------------------------------------------------------------------------


def seed(text: str) -> int:
    """Convert a number of 64 bits."""
    if not (text.isdecimal() and int(text) < 1 << 64):
        raise argparse.ArgumentTypeError(f"expected a number of 64 bits that is not negative, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Convert a positive number."""
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text!r}")
    return int(text)


def threads(text: str) -> int:
    """Convert a number of threads."""
    if not (text.isdecimal() and 1 <= int(text) <= MAX_THREADS):
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {MAX_THREADS}, got {text!r}")
    return int(text)


def directory(text: str) -> str:
    """Convert the path of a directory."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"expected the path of a directory, got {text!r}")
    return text


def count(text: str) -> int:
    """Convert a number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}")
    return int(text)


def number(text: str) -> float:
    """Convert a real number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"expected a number that is not negative, got {text!r}")
    return value
