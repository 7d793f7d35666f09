"""`stablehlo-interp completion SHELL`: completion of commands, options and their values in shells, by argcomplete."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence

from stablehlo_ref.arrays.interop import how_to_install, require
from stablehlo_ref.cli.commands import COMMANDS
from stablehlo_ref.cli.completers import Completer, add_completers
from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.exit_codes import FINE
from stablehlo_ref.cli.options import CommandParser

SHELLS = ("bash", "zsh", "fish")
DESCRIPTION = f"""\
Print the script that completes commands, options and their values in a shell: files, and names such as those of a
program's inputs.

Needs argcomplete: {how_to_install("completion")}."""
EXAMPLES = """\
examples:
  stablehlo-interp completion bash >> ~/.bashrc
  stablehlo-interp completion zsh >> ~/.zshrc
  stablehlo-interp completion fish > ~/.config/fish/completions/stablehlo-interp.fish"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)

    def run() -> int:
        print(require("argcomplete").shellcode(["stablehlo-interp"], shell=options.shell))
        return FINE

    return guarded("completion", run)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("completion", DESCRIPTION, EXAMPLES)
    found.add_argument("shell", choices=SHELLS, help="the shell that is to run the script")
    return found


def complete() -> int:
    """Answer the shell, which asks through the environment what may follow."""
    argcomplete = require("argcomplete")
    start = int(os.environ["_ARGCOMPLETE"])  # the number of words that are the command itself
    words = _words(os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", "0"))])
    command = COMMANDS.get(words[start]) if len(words) > start + 1 else None
    found = (command or COMMANDS["run"]).parser
    files: Completer = argcomplete.completers.FilesCompleter()
    add_completers(found, files)
    if command:
        os.environ["_ARGCOMPLETE"] = str(start + 1)
    elif len(words) == start + 1:  # the first word may be a command or a file
        _complete_commands(files, found)
    argcomplete.autocomplete(found)
    return FINE


def _words(line: str) -> list[str]:
    """Return the words up to the cursor; the last one is being typed."""
    try:
        words = shlex.split(line)
    except ValueError:  # an open quote
        words = line.split()
    return [*words, ""] if line.endswith(" ") else words


def _complete_commands(files: Completer, found: argparse.ArgumentParser) -> None:
    for action in found._actions:
        if action.dest == "file":
            action.completer = lambda prefix, **_: [*COMMANDS, *files(prefix)]  # type: ignore[attr-defined]
