"""The command `stablehlo-interp`: choose the subcommand; without one, run the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from stablehlo_ref.cli import aliases, link, opt, run, translate
from stablehlo_ref.cli.console import FINE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        return _dispatch(sys.argv[1:] if arguments is None else arguments)
    except BrokenPipeError:  # the reader closed the pipe, as `| head` does; what Python still writes goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE


def _dispatch(arguments: Sequence[str]) -> int:
    match arguments:
        case ["aliases", *rest]:
            return aliases.main(rest)
        case ["link", *rest]:
            return link.main(rest)
        case ["opt", *rest]:
            return opt.main(rest)
        case ["translate", *rest]:
            return translate.main(rest)
    return run.main(arguments)
