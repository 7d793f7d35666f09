"""Errors in a command line that are found only when the program or a file is read."""

from __future__ import annotations

from stablehlo_ref.cli.commands import AT_FAULT, USAGE
from stablehlo_ref.diagnostics import StablehloError


class CommandLineError(StablehloError):
    """A value of an option does not fit the program, or names a file that cannot be read."""


def exit_code_of(error: StablehloError) -> int:
    """Return 2 for an error in the command line, 1 for one in the program."""
    return USAGE if isinstance(error, CommandLineError) else AT_FAULT
