"""`stablehlo-interp opt`: reads, verifies and prints a program, as MLIR's `stablehlo-opt` does; it has one pass."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence

from stablehlo_ref.console import SPLIT, for_each_part, with_two_dashes
from stablehlo_ref.define import Op
from stablehlo_ref.ir.core import Operation
from stablehlo_ref.loading import parse
from stablehlo_ref.syntax.printer import print_operation

COMPOSITES = "--stablehlo-legalize-composite-to-call"


def main(arguments: Sequence[str]) -> int:
    """Runs the command line and returns its exit code. Parts that are at fault are left out of what is printed."""
    arguments = [f"{a}=" if a == COMPOSITES else a for a in with_two_dashes(arguments)]
    options = _parser().parse_args(arguments)
    printed: list[str] = []

    def print_part(name: str, text: str, first_line: int) -> None:
        program = parse(
            text, filename=name, first_line=first_line, allow_unregistered_dialect=options.allow_unregistered_dialect
        )
        module = program.verify().module
        if options.kept is not None:
            calls_for_composites(module, options.kept)
        printed.append(print_operation(module, options.mlir_print_op_generic, options.mlir_print_debuginfo))

    code = for_each_part(options.file, options.split_input_file, print_part)
    print(f"\n{SPLIT}\n".join(printed), end="")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stablehlo-interp opt", description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("file", metavar="FILE", nargs="?", default="-", help="a program in MLIR text; standard input if left out")
    add("--mlir-print-op-generic", action="store_true", help="print ops in MLIR's generic form")
    add("--mlir-print-debuginfo", action="store_true", help="print the locations of ops")
    add("--split-input-file", action="store_true", help=f"take each part between `{SPLIT}` on its own")
    add("--allow-unregistered-dialect", action="store_true", help="accept ops of dialects that nobody knows")
    add(COMPOSITES, dest="kept", metavar="[except=NAME,...]", type=_names, help="make composites calls, but for some")
    return parser


def _names(text: str) -> tuple[str, ...]:
    option, _, names = text.partition("=")
    if text and option != "except":
        raise argparse.ArgumentTypeError(f"expected except=NAME,..., got {text!r}")
    return tuple(names.split(","))


def calls_for_composites(module: Operation, kept: Collection[str]) -> None:
    """Makes each composite, but those of the names `kept`, a call of its decomposition."""
    for op in module.walk():
        if op.name == "stablehlo.composite" and op.properties["composite_name"] not in kept:
            op.name, op.definition = "func.call", Op.registry["func.call"]
            op.properties, op.attributes, op.regions = {"callee": op.properties["decomposition"]}, {}, []
