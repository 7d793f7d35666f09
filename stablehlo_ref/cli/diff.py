"""`stablehlo-interp diff`: compare a backend with the interpreter and locate the ops that are wrong."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stablehlo_ref.cli import inputs
from stablehlo_ref.cli.console import PROGRAM_HELP, guarded
from stablehlo_ref.cli.exit_codes import AT_FAULT, FINE
from stablehlo_ref.debug import PRESETS, Diff, Session, diff
from stablehlo_ref.debug.backends.base import DESCRIPTIONS
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.loading import load
from stablehlo_ref.program import Program

EPILOG = f"""\
backends, each run in a process of its own:
{chr(10).join(f"  {name:42s} {text}" for name, text in DESCRIPTIONS.items())}

contracts: {", ".join(PRESETS)}; fields are overridden by commas: --contract xla-cpu,dot_algorithm=tf32,ulp.tanh=16

The exit code is 0 if nothing is wrong under the contract, 1 if an op is or the backend failed, and 2 for an error in
the command line."""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
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
    """Return the inputs in order, and where they are from."""
    if options.inputs is None:
        seed = options.random_inputs or 0
        return inputs.random_inputs(program.inputs, seed), f"random, seed {seed}; real ones show more"
    named = inputs.from_archive(program.inputs, options.inputs)
    return [named[p.name] if p.name in named else _named(named, p.names) for p in program.inputs], str(options.inputs)


def _named(arrays: dict[str, Any], names: Sequence[str]) -> Any:
    return next((arrays[name] for name in names if name in arrays), None)


def session_of(options: argparse.Namespace) -> Session:
    """Return the backend's session with the limits of the command line."""
    return Session(
        options.backend, seconds=options.seconds, max_bytes=options.backend_bytes, python=options.backend_python
    )


def add_backend_options(parser: argparse.ArgumentParser) -> None:
    """Add what describes a backend and its limits."""
    add = parser.add_argument
    add("--backend-python", metavar="PYTHON", default="", help="the Python that has the backend's packages")
    add("--seconds", metavar="S", type=float, default=120.0, help="the limit of each run of the backend (default 120)")
    add("--backend-bytes", metavar="N", type=int, default=0, help="the limit of the data of its process")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stablehlo-interp diff", description=__doc__, epilog=EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("file", metavar="FILE", type=Path, help=PROGRAM_HELP)
    add("--backend", metavar="B", required=True, help="what to compare with: see below")
    add("--contract", metavar="C", default="xla-cpu", help="what the backend may do (default xla-cpu)")
    add("--entry", metavar="NAME", help="the function to run")
    add("--inputs", metavar="FILE", type=Path, help="inputs by name, or arr_0, ... by position, from a .npz file")
    add("--random-inputs", metavar="SEED", type=int, help="draw all inputs at random, as without --inputs with seed 0")
    add("--max-bytes", metavar="N", type=int, default=1 << 30, help="of intermediate values at a time (default 1 GiB)")
    add("--repro", metavar="FILE", type=Path, help="write a small program that shows the fault and checks itself")
    add_backend_options(parser)
    return parser
