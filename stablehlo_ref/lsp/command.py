"""`stablehlo-interp lsp`: the language server, which an editor starts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from stablehlo_ref.arrays.interop import how_to_install, require
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.options import CommandParser
from stablehlo_ref.diagnostics import MissingPackageError

DESCRIPTION = f"""\
Serve an editor that speaks the Language Server Protocol, over standard input and output: errors while typing,
information on ops and values, definitions and references, completion, formatting. Editors start it; the documentation
says how to tell VS Code, Neovim and Emacs. It needs pygls: {how_to_install("lsp")}."""
EXAMPLES = """\
examples:
  stablehlo-interp lsp --stdio"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    parser().parse_args(arguments)
    try:
        require("pygls")
    except MissingPackageError as error:
        print(f"stablehlo-interp lsp: error: {error}", file=sys.stderr)
        return AT_FAULT
    from stablehlo_ref.lsp.server import serve  # pygls is optional

    serve()
    return FINE


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("lsp", DESCRIPTION, EXAMPLES)
    found.add_argument("--stdio", action="store_true", help="the default, and the only way; editors pass it")
    return found
