"""Complete commands, options and their values in shells, by argcomplete: `stablehlo-interp completion SHELL`."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeAlias

from stablehlo_ref.arrays.interop import how_to_install, require
from stablehlo_ref.cli.commands import COMMANDS, FINE
from stablehlo_ref.cli.options import CommandParser, Group, option
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.ir.signature import Parameter
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.limits import Limits
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import load

# argcomplete calls it with the keywords `prefix`, `parsed_args` and others; a mapping is from values to descriptions.
Completer: TypeAlias = Callable[..., Iterable[str]]

LARGEST = 1 << 23  # bytes of a program that is read for the names in it, while somebody waits
LIMITS = Limits(max_seconds=2, max_total_bytes=8 * LARGEST)
PATHS = ("FILE", "DIR", "PYTHON")  # what the help calls values that are paths
_match_name = re.compile("[a-z]+:?").match  # of a backend, in its form: `jax[:PLATFORM]`


def _nothing(**_: object) -> Sequence[str]:
    return ()


class _Completers:
    """A method for each option that has names as values; it takes what was typed and the options before it."""

    def __init__(self, files: Completer) -> None:
        self._files = files

    # --- names in the program -----------------------------------------------------------------------------------------

    def input(self, prefix: str, parsed_args: argparse.Namespace, **_: object) -> Mapping[str, str]:
        name, equals, path = prefix.partition("=")
        if equals:
            return {f"{name}={file}": "" for file in self._files(path)}
        return {f"{name}=": type for name, type in self._inputs(parsed_args)}

    def random(self, prefix: str, parsed_args: argparse.Namespace, **_: object) -> Iterable[str]:
        from stablehlo_ref.arrays.random_values import COUNTS

        name, equals, _form = prefix.partition("=")
        if equals:
            return [f"{name}={form}(" for form in COUNTS]
        return ["*=", *(f"{name}=" for name, _type in self._inputs(parsed_args))]

    def dim(self, parsed_args: argparse.Namespace, **_: object) -> Iterator[str]:
        for parameter in self._parameters(parsed_args):
            shape = parameter.type.shape if isinstance(parameter.type, TensorType) else ()
            unknown = [axis for axis, size in enumerate(shape) if size is None]
            yield from (f"{name}:{axis}=" for name in parameter.names for axis in unknown)

    def entry(self, parsed_args: argparse.Namespace, **_: object) -> Iterable[str]:
        program = self._program(parsed_args)
        return program.functions if program else ()

    def trace(self, prefix: str, parsed_args: argparse.Namespace, **_: object) -> Iterable[str]:
        ops = {op.name for op in self._walk(parsed_args) if "." in op.name}
        return _after_commas(prefix, [*self.breaks(parsed_args), *sorted(ops)])

    def breaks(self, parsed_args: argparse.Namespace, **_: object) -> list[str]:
        return sorted({f"%{value.name}" for op in self._walk(parsed_args) for value in op.results if value.name})

    def _program(self, options: argparse.Namespace) -> Program | None:
        """Return the program that the command line has so far; None if there is none."""
        path = getattr(options, "file", None)
        try:
            if path is None or not (Path(path).is_dir() or Path(path).is_file()):  # but a pipe
                return None
            if Path(path).stat().st_size > LARGEST:
                return None
            return load(path, entry=getattr(options, "entry", None), limits=LIMITS)
        except (StablehloError, OSError, ImportError):
            return None

    def _parameters(self, options: argparse.Namespace) -> Sequence[Parameter]:
        program = self._program(options)
        try:
            return program.inputs if program else ()
        except StablehloError:  # several functions, and --entry does not say which
            return ()

    def _inputs(self, options: argparse.Namespace) -> list[tuple[str, str]]:
        return [(name, str(parameter.type)) for parameter in self._parameters(options) for name in parameter.names]

    def _walk(self, options: argparse.Namespace) -> Iterable[Operation]:
        program = self._program(options)
        return program.module.walk() if program else ()

    # --- names that are always the same -------------------------------------------------------------------------------

    def backend(self, prefix: str, **_: object) -> Mapping[str, str]:
        from stablehlo_ref.debug.backends import DESCRIPTIONS, ENTRY_POINTS

        name, colon, path = prefix.partition(":")
        if colon and name == "pjrt":
            return {f"pjrt:{file}": "" for file in self._files(path)}
        saved = [file for file in self._files(prefix) if file.endswith((".npz", "/"))]
        others = [*saved, *(entry.name for entry in entry_points(group=ENTRY_POINTS))]
        names = {match[0]: text for form, text in DESCRIPTIONS.items() if (match := _match_name(form))}
        return {**names, **dict.fromkeys(others, "")}

    def contract(self, prefix: str, **_: object) -> Iterable[str]:
        from stablehlo_ref.debug.contract import ACCUMULATORS, DOT_ALGORITHMS, PRESETS

        if "," not in prefix:
            return PRESETS
        known = [f for f in fields(PRESETS["strict"]) if f.name not in ("name", "ulps", "errors")]
        values: dict[str, Iterable[str]] = {"dot_algorithm": DOT_ALGORITHMS, "accumulator": ACCUMULATORS}
        values |= {f.name: ("true", "false") for f in known if isinstance(f.default, bool)}
        key, equals, _value = prefix.rpartition(",")[2].partition("=")
        if equals:
            return _after_commas(prefix, [f"{key}={value}" for value in values.get(key, ())])
        return _after_commas(prefix, [*(f"{f.name}=" for f in known), "ulp.", "error."])

    def kinds(self, prefix: str, **_: object) -> Iterable[str]:
        from stablehlo_ref.debug.exceptions.findings import GENERATIONS, GROUPS

        return _after_commas(prefix, [*map(str, GENERATIONS), *GROUPS])

    def pass_pipeline(self, prefix: str, **_: object) -> Iterable[str]:
        from stablehlo_ref.passes.catalog import PASSES

        head = prefix[: max(prefix.rfind("("), prefix.rfind(",")) + 1]
        return [f"{head}{name}" for name in PASSES] if head else ["builtin.module("]

    def mode(self, prefix: str, **_: object) -> Iterable[str]:
        from stablehlo_ref.cli.run import MODES

        return _after_commas(prefix, MODES)


def _after_commas(prefix: str, names: Iterable[str]) -> list[str]:
    """Return names as the last of a list with commas between, of which `prefix` has the beginning."""
    head = prefix[: prefix.rfind(",") + 1]
    return [f"{head}{name}" for name in names]


DESCRIPTION = f"""\
Print the script that completes commands, options and their values in a shell: files, and names such as those of a
program's inputs.

Needs argcomplete: {how_to_install("completion")}."""
EXAMPLES = """\
examples:
  stablehlo-interp completion bash >> ~/.bashrc
  stablehlo-interp completion zsh >> ~/.zshrc
  stablehlo-interp completion fish > ~/.config/fish/completions/stablehlo-interp.fish"""


def run(options: argparse.Namespace) -> int:
    """Print the script; return the exit code."""
    print(require("argcomplete").shellcode(["stablehlo-interp"], shell=options.shell))
    return FINE


def parser() -> CommandParser:
    """Return the parser of the command line."""
    shell = option("SHELL", "the shell that is to run the script", dest="shell", choices=("bash", "zsh", "fish"))
    return CommandParser("completion", DESCRIPTION, EXAMPLES, Group("", [shell]))


def complete() -> int:
    """Answer the shell, which asks through the environment what may follow."""
    argcomplete = require("argcomplete")
    start = int(os.environ["_ARGCOMPLETE"])  # the number of words that are the command itself
    words = _words(os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", "0"))])
    command = COMMANDS.get(words[start]) if len(words) > start + 1 else None
    found = (command or COMMANDS["run"]).parser
    files: Completer = argcomplete.completers.FilesCompleter()
    named = _Completers(files)
    for action in found.actions:
        if action.choices is None and action.nargs != 0:
            usual = files if action.metavar in PATHS or action.type is Path else _nothing
            action.completer = getattr(named, action.dest, usual)  # type: ignore[attr-defined]
        if action.dest == "file" and not command and len(words) == start + 1:  # it may be a command or a file
            action.completer = lambda prefix, **_: [*COMMANDS, *files(prefix)]  # type: ignore[attr-defined]
    if command:
        os.environ["_ARGCOMPLETE"] = str(start + 1)
    argcomplete.autocomplete(found)
    return FINE


def _words(line: str) -> list[str]:
    """Return the words up to the cursor; the last one is being typed."""
    try:
        words = shlex.split(line)
    except ValueError:  # an open quote
        words = line.split()
    return [*words, ""] if line.endswith(" ") else words
