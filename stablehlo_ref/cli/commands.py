"""List the commands of `stablehlo-interp`; a new one is one more line here."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from stablehlo_ref.cli.options import CommandParser  # which takes longer to import than `--version`


class Command(NamedTuple):
    """A command: its name, what `--help` says of it, and the module that has it, imported when the command is used.

    The module has `parser() -> CommandParser`, and `run(options) -> exit code`.
    """

    name: str
    summary: str
    module: str = ""  # of this package if left out: `list_ops` for `list-ops`

    def load(self) -> ModuleType:
        """Import the module."""
        return import_module(self.module or f"{__package__}.{self.name.replace('-', '_')}")

    @property
    def parser(self) -> CommandParser:
        """The parser of the command line."""
        return cast("CommandParser", self.load().parser())


COMMANDS = {
    command.name: command
    for command in (
        Command("run", "run a program and print its results; the default"),
        Command("opt", "verify, transform and print a program, as stablehlo-opt does"),
        Command("translate", "run a program or convert artifacts, as stablehlo-translate does"),
        Command("link", "merge programs into one"),
        Command("diff", "compare a backend with the interpreter, and locate the ops that are wrong"),
        Command("exceptions", "find where NaN and infinities come from, and whether they reach an output"),
        Command("diff-traces", "find the first value that differs between two traces"),
        Command("diff-passes", "find the first pass of a pipeline whose output means something else"),
        Command("spmd-check", "compare a partitioned program with the whole one, and find the wrong collective"),
        Command("reduce", "make a program small that still shows a fault"),
        Command("conform", "find what a backend gets right, op by op and type by type"),
        Command("conform-files", "write conformance cases to files, and judge files of results"),
        Command("survey", "measure the errors of a backend's elementwise functions"),
        Command("equiv", "search for inputs on which two programs differ, as before and after a rewrite"),
        Command("aliases", "write scripts with the names of StableHLO's own tools"),
        Command("list-ops", "print a table of all ops"),
        Command("lsp", "serve an editor: errors, information and completion while typing", "stablehlo_ref.lsp.command"),
        Command("completion", "print the script that completes commands and options in a shell"),
    )
}


FINE, AT_FAULT, USAGE, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES = """\
exit codes:
  0    the program ran, and all its checks (check.expect_eq, ...) passed
  1    an error in the program: it cannot be read, is malformed or invalid, lacks inputs, failed a check or --expect,
       or reached a limit; or the results cannot be written (standard output is closed)
  2    an error in the command line: an unknown option, a name or value that does not fit the program, an input file
       that cannot be read
  130  interrupted"""
