"""Start the language server for an editor: `stablehlo-interp lsp`."""

from __future__ import annotations

import argparse

from stablehlo_ref.arrays.interop import how_to_install, require
from stablehlo_ref.cli.commands import FINE
from stablehlo_ref.cli.options import CommandParser, Group, option

DESCRIPTION = f"""\
Serve an editor that speaks the Language Server Protocol, over standard input and output: errors while typing,
information on ops and values, definitions and references, completion, formatting. Editors start it; the documentation
says how to tell VS Code, Neovim and Emacs. It needs pygls: {how_to_install("lsp")}."""
EXAMPLES = """\
examples:
  stablehlo-interp lsp --stdio"""


def run(options: argparse.Namespace) -> int:
    """Serve an editor until it ends the connection; return the exit code."""
    require("pygls")
    from stablehlo_ref.lsp.server import serve  # pygls is optional

    serve()
    return FINE


def parser() -> CommandParser:
    """Return the parser of the command line."""
    ways = [option("--stdio", "the default, and the only way; editors pass it")]
    return CommandParser("lsp", DESCRIPTION, EXAMPLES, Group("", ways))
