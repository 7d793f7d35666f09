"""Build the parser of a command from tables of options, in groups; convert the values of options."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from typing import Any, NamedTuple, NoReturn

from stablehlo_ref.cli.commands import USAGE
from stablehlo_ref.cli.messages import FORMATS, Messages, paint_diagnostics
from stablehlo_ref.diagnostics import SHOWN_ERRORS, SPLIT, ArgumentValueError, Diagnostic, StablehloError
from stablehlo_ref.limits import MAX_THREADS, Limits
from stablehlo_ref.limits.budget import check_time, limited
from stablehlo_ref.suggestions import did_you_mean


class CommandLineError(StablehloError):
    """A value of an option does not fit the program, or names a file that cannot be read."""


@contextmanager
def usage_errors(option: str = "") -> Iterator[None]:
    """Convert errors in the value of an option, or in values that name theirs, to CommandLineError."""
    try:
        yield
    except ArgumentValueError as error:
        first, *others = error.diagnostics
        message = f"{option}: {first.message}" if option else first.message
        raise CommandLineError([replace(first, message=message), *others]) from None


class Option(NamedTuple):
    """A row of a table: how help shows an option or argument, what help says of it, and keywords of `add_argument`."""

    form: str
    help: str
    keywords: Mapping[str, Any]


class Group(NamedTuple):
    """Options that help shows together, under a title if there is one. Of a group that `is_choice`, one is given."""

    title: str
    options: Sequence[Option]
    is_choice: bool = False


def option(form: str, help: str, type: Callable[[str], Any] | None = None, **keywords: object) -> Option:
    """Return a row: `FILE`, `-q --quiet` for a flag, `--max-errors N` for an option with a value.

    `type` converts the value. `bare` is the value of an option whose value may be left out, which then needs `=`.
    """
    return Option(form, help, keywords if type is None else {"type": type, **keywords})


class CommandParser(argparse.ArgumentParser):
    """The parser of a command. Errors are one line, with suggestions for misspelt options, and exit with 2.

    `check` returns why options exclude each other, if they do. `renamed` maps options of earlier versions to those of
    today, which they become with a note; `--old` to `--new=` has the value of the old one, and text that is no option
    is an error. `actions` are those of all options.
    """

    def __init__(
        self,
        command: str,
        description: str | None,
        examples: str,
        *groups: Group,
        usage: str | None = None,
        check: Callable[[argparse.Namespace], str | None] = lambda options: None,
        renamed: Mapping[str, str] | None = None,
        has_one_dash: bool = False,
    ) -> None:
        super().__init__(
            prog=f"stablehlo-interp {command}".strip(),
            usage=usage,
            description=description,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._check = check
        self._renamed = renamed or {}
        self._has_one_dash = has_one_dash
        self._bare: dict[str, str] = {}
        self.actions: list[argparse.Action] = []
        for group in groups:
            self.add_group(group)

    def add_group(self, group: Group) -> None:
        """Add the options of a group."""
        target: Any = self.add_argument_group(group.title) if group.title else self
        target = target.add_mutually_exclusive_group(required=True) if group.is_choice else target
        for row in group.options:
            words = row.form.split(" ")
            names = [word for word in words if word.startswith("-")]
            keywords = {"help": row.help, **row.keywords}
            if (bare := keywords.pop("bare", None)) is not None:
                self._bare[names[-1]] = bare
            if "choices" not in keywords and len(words) > len(names):
                keywords["metavar"] = " ".join(words[len(names) :])
            elif "choices" not in keywords:
                keywords.setdefault("action", "store_true")
            self.actions.append(target.add_argument(*(names or [keywords.pop("dest")]), **keywords))

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return the options of a command line; a usage error ends the process."""
        notes: list[str] = []
        words = list(self._modern(arguments, notes))
        known = {name for action in self.actions for name in action.option_strings} | {"-h", "--help"}
        for word in takewhile("--".__ne__, words):  # first, as argparse looks for missing arguments before
            if word.startswith("--") and word.partition("=")[0] not in known:
                self.error(self._unrecognized(word, known))
        options, unknown = self.parse_known_args(words)
        if unknown:
            self.error(self._unrecognized(unknown[0], known))
        if problem := self._check(options):
            self.error(problem)
        options.messages = Messages.of(options)
        for note in notes:
            options.messages.remark(Diagnostic(note, severity="note"))
        return options

    def _modern(self, words: Sequence[str], notes: list[str]) -> Iterator[str]:
        """Yield the words with two dashes, today's options for those of earlier versions, and values left out."""
        remaining = iter(words)
        for word in remaining:
            if word == "--":
                yield from (word, *remaining)
                return
            if self._has_one_dash and re.match(r"-[a-z]{2}", word):
                word = f"-{word}"
            name, equals, value = word.partition("=")
            if (new := self._renamed.get(name)) is not None:
                if not new.startswith("--"):
                    self.error(f"{name}: {new}")
                notes.append(f"{name} is now {new.rstrip('=')}")
                word = new + (value if equals else next(remaining, "")) if new.endswith("=") else new
            yield f"{word}={self._bare[word]}" if word in self._bare else word

    def _unrecognized(self, argument: str, known: set[str]) -> str:
        if not argument.startswith("-"):
            return f"unexpected argument {argument!r}"
        option = argument.partition("=")[0]
        return f"unknown option {option!r}{did_you_mean(option, sorted(known))}"

    def error(self, message: str) -> NoReturn:
        text = f"{self.prog}: error: {message}\nsee {self.prog}{'' if ' ' in self.prog else ' run'} --help"
        print(paint_diagnostics(text, sys.stderr), file=sys.stderr)
        raise SystemExit(USAGE)


# --- values -----------------------------------------------------------------------------------------------------------


def converter(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return `convert` as the `type` of an option: an error that it raises is one of the command line."""

    def converted(text: str) -> Any:
        try:
            return convert(text)
        except StablehloError as error:
            raise argparse.ArgumentTypeError(error.diagnostics[0].message) from None

    return converted


def _whole(expected: str, low: int, high: int | None = None) -> Callable[[str], int]:
    """Return the conversion of a whole number from `low` to `high`."""

    def convert(text: str) -> int:
        if not (text.isdecimal() and low <= int(text) and (high is None or int(text) <= high)):
            raise ArgumentValueError(f"expected {expected}, got {text!r}")
        return int(text)

    return converter(convert)


count = _whole("a number", 0)
positive = _whole("a positive number", 1)
threads = _whole(f"a number from 1 to {MAX_THREADS}", 1, MAX_THREADS)
seed = _whole("a number of 64 bits that is not negative", 0, (1 << 64) - 1)


@converter
def number(text: str) -> float:
    """Convert a real number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise ArgumentValueError(f"expected a number that is not negative, got {text!r}")
    return value


def names(text: str) -> list[str]:
    """Convert names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


@converter
def directory(text: str) -> str:
    """Convert the path of a directory."""
    if not text or "\0" in text:
        raise ArgumentValueError(f"expected the path of a directory, got {text!r}")
    return text


SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "m": 60.0, "min": 60.0, "h": 3600.0}
BYTES: Mapping[str, float] = {"": 1, "b": 1} | {
    prefix + unit: base**power
    for unit, base in (("", 1000), ("b", 1000), ("ib", 1024))
    for power, prefix in enumerate("kmgt", 1)
}


def _quantity(text: str, units: Mapping[str, float], expected: str) -> float:
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?|[0-9]+\.)\s*([a-z]*)\s*", text.lower())
    unit = units.get(match[2]) if match else None
    quantity = float(match[1]) * unit if match and unit else 0.0
    if not 0 < quantity < 1e300:
        raise ArgumentValueError(f"expected {expected}, got {text!r}")
    return quantity


@converter
def seconds(text: str) -> float:
    """Convert a time in seconds: a positive number, alone or with the unit ms, s, m or h."""
    return _quantity(text, SECONDS, "a positive number of seconds, such as 90, 500ms, 1.5m or 1h")


@converter
def byte_count(text: str) -> int:
    """Convert a size in bytes: a positive number, alone or with the unit kB, MB, GB, TB, KiB, MiB, GiB or TiB."""
    return max(1, int(_quantity(text, BYTES, "a positive size, such as 500MB or 2GiB")))


# --- groups that commands share ---------------------------------------------------------------------------------------

PROGRAM = option(
    "FILE", "a program: MLIR or HLO text, bytecode, a portable artifact, or what `load` accepts; - is standard input",
    dest="file",
)  # fmt: skip
PROGRAM_OR_STDIN = option("FILE", f"{PROGRAM.help} (the default)", dest="file", nargs="?", default="-")
ENTRY = option("--entry NAME", "the function to run")
JSON = option("--json", "print all of the result in one line of JSON instead")
UNREGISTERED = option("--allow-unregistered-dialect", "accept ops of unregistered dialects")
READING = Group("reading", [option("--split-input-file", f"take each part between `{SPLIT}` on its own"), UNREGISTERED])


def messages(verifies: bool = True) -> Group:
    """Return how diagnostics are reported; with `--verify-diagnostics` if the command `verifies` them."""
    text = "compare diagnostics with the comments `expected-error`, `-warning`, `-note` and `-remark`"
    shown = f"report at most N errors of a program: {SHOWN_ERRORS} by default, all for 0 and for json and sarif"
    return Group("messages", [
        option("--max-errors N", shown, count),
        option("--diagnostics-format", "how diagnostics are written on standard error; json and sarif are one document "
               "at the end", choices=FORMATS, default="text"),
        *([option("--verify-diagnostics", text)] if verifies else []),
        option("--color", "colour output; auto, the default, does so on terminals; NO_COLOR and FORCE_COLOR are "
               "honoured", choices=("auto", "always", "never"), default="auto"),
    ])  # fmt: skip


MESSAGES = messages(verifies=False)


MEMORY = option("--max-total-bytes N", "stop a run that needs more memory: 2GB, 512MiB", byte_count)
LIMITS = Group("limits", [
    option("--max-seconds S", "stop a program that takes longer, also: 500ms, 2m, 1h", seconds),
    MEMORY,
])  # fmt: skip


@contextmanager
def within_limits(options: argparse.Namespace) -> Iterator[None]:
    """Limit what runs inside as the options `LIMITS` say, also where it goes on after errors."""
    with limited(limits_of(options)):
        yield
        check_time("the command")


def limits_of(options: argparse.Namespace) -> Limits:
    """Return the limits that the options `LIMITS` set."""
    given = {"max_seconds": options.max_seconds, "max_total_bytes": options.max_total_bytes}
    return Limits(**{name: value for name, value in given.items() if value is not None})
