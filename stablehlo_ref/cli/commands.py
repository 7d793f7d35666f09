"""The commands of `stablehlo-interp`; a new one is one more line here."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast


@dataclass(frozen=True)
class Command:
    """A command: its name, what `--help` says of it, and the module that has it, imported when the command is used.

    The module has `main(arguments) -> exit code` and `parser() -> ArgumentParser`, for the help and for completion.
    """

    name: str
    summary: str
    module: str = ""  # of this package if left out: `list_ops` for `list-ops`

    @property
    def main(self) -> Callable[[Sequence[str]], int]:
        return cast("Callable[[Sequence[str]], int]", self._attribute("main"))

    @property
    def parser(self) -> argparse.ArgumentParser:
        return cast("argparse.ArgumentParser", self._attribute("parser")())

    def _attribute(self, name: str) -> Callable[..., object]:
        module = self.module or f"{__package__}.{self.name.replace('-', '_')}"
        attribute: Callable[..., object] = getattr(import_module(module), name)
        return attribute


COMMANDS = {
    command.name: command
    for command in (
        Command("run", "run a program and print its results; the default"),
        Command("opt", "verify, transform and print a program, as stablehlo-opt does"),
        Command("translate", "run a program or convert artifacts, as stablehlo-translate does"),
        Command("link", "merge programs into one"),
        Command("diff", "compare a backend with the interpreter, and locate the ops that are wrong"),
        Command("reduce", "make a program small that still shows a fault"),
        Command("aliases", "write scripts with the names of StableHLO's own tools"),
        Command("list-ops", "print a table of all ops"),
        Command("lsp", "serve an editor: errors, information and completion while typing", "stablehlo_ref.lsp.command"),
        Command("completion", "print the script that completes commands and options in a shell"),
    )
}
