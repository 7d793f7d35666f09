"""`stablehlo-interp translate`: the options of MLIR's `stablehlo-translate` for what this interpreter does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from stablehlo_ref.console import with_two_dashes


def as_run(arguments: Sequence[str]) -> list[str]:
    """The command line that runs what `translate ...` asks for; a usage error ends the process."""
    options = _parser().parse_args(with_two_dashes(arguments))
    flags = {
        "--print-dense": options.interpreter_print_dense,
        "--split-input-file": options.split_input_file,
        "--allow-unregistered-dialect": options.allow_unregistered_dialect,
    }
    values = {"--args": options.args, "--probe-output-dir": options.probe_output_dir}
    given = [f"{name}={value}" for name, value in values.items() if value is not None]
    return [*(name for name, is_set in flags.items() if is_set), *given, "--", options.file]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stablehlo-interp translate", description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("file", metavar="FILE", nargs="?", default="-", help="a program in MLIR text; standard input if left out")
    add("--interpret", action="store_true", required=True, help="run it: what `stablehlo-interp FILE` does")
    add("--args", metavar="LIST", help="inputs as MLIR literals: [dense<...> : tensor<...>, ...]")
    add("--interpreter-print-dense", action="store_true", help="print results as dense<...> literals")
    add("--probe-output-dir", metavar="DIR", help="where interpreter.probe writes its .npy files")
    add("--split-input-file", action="store_true", help="run each part between `// -----` on its own")
    add("--allow-unregistered-dialect", action="store_true", help="accept ops of dialects that nobody knows")
    return parser
