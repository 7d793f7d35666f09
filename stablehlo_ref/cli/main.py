"""The command `stablehlo-interp`: choose the subcommand; without one, run the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from stablehlo_ref._version import __version__
from stablehlo_ref.cli.exit_codes import FINE, INTERRUPTED

SUBCOMMANDS = ("aliases", "diff", "link", "opt", "reduce", "run", "translate")  # modules of this package with a `main`


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        return _dispatch(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe, as `| head` does; what Python still writes goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE


def _dispatch(arguments: Sequence[str]) -> int:
    """Import the module of the subcommand only now, so that `--version` takes no time."""
    if list(arguments) == ["--version"]:
        print(f"stablehlo-interp {__version__}")
        return FINE
    command, rest = ("run", arguments)
    if arguments and arguments[0] in SUBCOMMANDS:
        command, rest = arguments[0], arguments[1:]
    code: int = import_module(f"stablehlo_ref.cli.{command}").main(rest)
    return code
