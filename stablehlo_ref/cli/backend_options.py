"""Options that `diff` and `reduce` share: the program with its inputs, the backend, its limits and its contract."""

from __future__ import annotations

import argparse

from stablehlo_ref.cli.errors import CommandLineError
from stablehlo_ref.cli.options import byte_count, seconds
from stablehlo_ref.cli.process_inputs import inputs_of_processes
from stablehlo_ref.debug import Contract, Session, contract_of
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import load


def program_of(options: argparse.Namespace) -> Program:
    """Return the program, with random weights if the options ask for them."""
    program = load(options.file, entry=options.entry).verify()
    return program if options.random_weights is None else program.with_random_weights(options.random_weights)


def given_inputs(options: argparse.Namespace, program: Program) -> list[RuntimeValue]:
    """Return the inputs in order."""
    return inputs_of_processes(options, program, Grid(), program.limits)[0]


def session_of(options: argparse.Namespace) -> Session:
    """Return the backend's session, open, with the limits of the command line; CommandLineError if it cannot be."""
    session = Session(
        options.backend, seconds=options.seconds, max_bytes=options.backend_bytes, python=options.backend_python
    )
    try:
        session.open()
    except EvaluationError as error:
        raise CommandLineError(error.diagnostics[0].message) from None
    return session


def add_backend_options(parser: argparse.ArgumentParser, judges: bool = True) -> None:
    """Add the limits of a backend, and what it may do if the command `judges` that."""
    add = parser.add_argument_group("backend").add_argument
    if judges:
        text = "what it may do: a preset (default xla-cpu)"
        add("--contract", metavar="C", type=contract, default="xla-cpu", help=text)
    add("--backend-python", metavar="PYTHON", default="", help="the Python that has its packages; this one if left out")
    add("--seconds", metavar="S", type=seconds, default=120.0, help="the limit of each of its runs (default 120)")
    add("--backend-bytes", metavar="N", type=byte_count, default=0, help="the limit of the memory of its process")


def contract(text: str) -> Contract:
    """Convert the description of a contract."""
    try:
        return contract_of(text)
    except EvaluationError as error:
        raise argparse.ArgumentTypeError(error.diagnostics[0].message) from None
