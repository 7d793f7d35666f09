"""`stablehlo-interp diff`: compare a backend with the interpreter and locate the ops that are wrong."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.exit_codes import AT_FAULT, FINE
from stablehlo_ref.cli.options import PROGRAM_HELP, CommandParser, add_message_options
from stablehlo_ref.cli.process_inputs import inputs_of_processes
from stablehlo_ref.cli.quantities import byte_count, seconds
from stablehlo_ref.cli.run_options import add_input_options
from stablehlo_ref.debug import PRESETS, Diff, Session, diff
from stablehlo_ref.debug.backends.base import DESCRIPTIONS
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.loading import load
from stablehlo_ref.program import Program

DESCRIPTION = "Compare a backend with the interpreter, and locate the ops that are wrong."
EPILOG = f"""\
backends, each run in a process of its own:
{chr(10).join(f"  {name:42s} {text}" for name, text in DESCRIPTIONS.items())}

contracts: {", ".join(PRESETS)}; fields are overridden by commas: --contract xla-cpu,dot_algorithm=tf32,ulp.tanh=16

The exit code is 0 if nothing is wrong under the contract, 1 if an op is or the backend failed, and 2 for an error in
the command line."""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    return guarded(str(options.file), lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    program = load(options.file, entry=options.entry).verify()
    contract = contract_of(options.contract)
    arrays, origin = given_inputs(options, program)
    with session_of(options) as session:
        found = diff(program, arrays, session, contract, max_bytes=options.max_bytes)
        print(found)
        print(f"inputs: {origin}")
        if options.repro is not None:
            _write_repro(options.repro, found)
    return AT_FAULT if found.is_wrong else FINE


def _write_repro(path: Path, found: Diff) -> None:
    if found.repro is None:
        print("no program to write: no op was found to be wrong")
        return
    found.repro.write(path)
    print(f"wrote {path}: it returns true where all is within the bounds")


def given_inputs(options: argparse.Namespace, program: Program) -> tuple[Sequence[Any], str]:
    """Return the inputs in order, and where they are from; random ones with seed 0 if none are given."""
    if options.args or options.input or options.inputs or options.random or options.random_inputs is not None:
        origin = (
            "as given" if options.random_inputs is None else f"random where not given, seed {options.random_inputs}"
        )
    else:
        options.random_inputs, origin = 0, "random, seed 0; real ones show more"
    return inputs_of_processes(options, program, Grid(), program.limits)[0], origin


def session_of(options: argparse.Namespace) -> Session:
    """Return the backend's session with the limits of the command line."""
    return Session(
        options.backend, seconds=options.seconds, max_bytes=options.backend_bytes, python=options.backend_python
    )


def add_backend_options(parser: argparse.ArgumentParser) -> None:
    """Add what describes a backend and its limits."""
    add = parser.add_argument
    add("--backend-python", metavar="PYTHON", default="", help="the Python that has the backend's packages")
    add("--seconds", metavar="S", type=seconds, default=120.0, help="the limit of each run of the backend (120)")
    add("--backend-bytes", metavar="N", type=byte_count, default=0, help="the limit of the data of its process")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("diff", DESCRIPTION, EPILOG)
    add = found.add_argument
    add("file", metavar="FILE", type=Path, help=PROGRAM_HELP)
    add("--backend", metavar="B", required=True, help="what to compare with: see below")
    add("--contract", metavar="C", default="xla-cpu", help="what the backend may do (default xla-cpu)")
    add("--entry", metavar="NAME", help="the function to run")
    add("--max-bytes", metavar="N", type=byte_count, default=1 << 30, help="of intermediate values at a time (1GiB)")
    add("--repro", metavar="FILE", type=Path, help="write a small program that shows the fault and checks itself")
    add_backend_options(found)
    add_input_options(found)
    add_message_options(found, announces=False)
    return found
