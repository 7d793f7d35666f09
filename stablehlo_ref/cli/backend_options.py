"""Prepare what commands on backends share: the program with its inputs, the session of the backend, their options."""

from __future__ import annotations

import argparse

from stablehlo_ref.cli.inputs import inputs_of_processes
from stablehlo_ref.cli.options import CommandLineError, Group, byte_count, converter, limits_of, option, seconds
from stablehlo_ref.debug import Session, contract_of
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import EvaluationError, LimitError
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.program import Program
from stablehlo_ref.reading.loading import load


def program_of(options: argparse.Namespace) -> Program:
    """Return the program, with random weights if the options ask for them."""
    program = load(options.file, entry=options.entry, limits=limits_of(options))
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
    except LimitError:
        raise
    except EvaluationError as error:
        raise CommandLineError(error.diagnostics[0].message) from None
    return session


CONTRACT = option(
    "--contract C", "what it may do: a preset (default xla-cpu)", converter(contract_of), default="xla-cpu"
)
PYTHON = option("--backend-python PYTHON", "the Python that has its packages; this one if left out", default="")
SECONDS = option("--seconds S", "the limit of each of its runs (default 120)", seconds, default=120.0)
BYTES = option("--backend-bytes N", "the limit of the memory of its process", byte_count, default=0)
BACKEND = Group("backend", [PYTHON, SECONDS, BYTES])
JUDGED_BACKEND = Group("backend", [CONTRACT, *BACKEND.options])
