"""Compare a backend with the interpreter, and locate the ops that are wrong: `stablehlo-interp diff`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from stablehlo_ref.cli.backend_options import JUDGED_BACKEND, given_inputs, program_of, session_of
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.inputs import INPUTS
from stablehlo_ref.cli.options import (
    ENTRY,
    JSON,
    LIMITS,
    MESSAGES,
    PROGRAM,
    CommandParser,
    Group,
    byte_count,
    option,
    within_limits,
)
from stablehlo_ref.cli.reduce import require_folder, saved
from stablehlo_ref.debug import PRESETS, Diff, Session, by_backend, diff, reduce
from stablehlo_ref.debug.backends import DESCRIPTIONS
from stablehlo_ref.debug.report.page import require_packages
from stablehlo_ref.ir.arrays import RuntimeValue
from stablehlo_ref.program import Program

DESCRIPTION = "Compare a backend with the interpreter, and locate the ops that are wrong under a numerical contract."
EPILOG = f"""\
examples:
  stablehlo-interp diff model.mlir --random-inputs 0 --backend self --contract strict
  stablehlo-interp diff model.mlir --random-inputs 0 --backend jax     # needs the extra `jax`

backends, each run in a process of its own:
{chr(10).join(f"  {name:41s} {text}" for name, text in DESCRIPTIONS.items())}

contracts: {", ".join(PRESETS)}; fields are overridden by commas: --contract xla-cpu,dot_algorithm=tf32,ulp.tanh=16

exit codes: 0 if the contract or rounding explains all outputs, 1 if something is wrong, if outputs are far beyond
rounding, or if the backend or the program failed, 2 for an error in the command line"""


def run(options: argparse.Namespace) -> int:
    """Compare; return the exit code."""
    if options.report is not None:
        require_packages()  # before anything that takes time
    if options.reduce is not None:
        require_folder(options.reduce)
    with within_limits(options):
        program = program_of(options)
        arrays = given_inputs(options, program)
        with session_of(options) as session:
            found = diff(program, arrays, session, options.contract, max_bytes=options.max_bytes)
            small = _reduced(found, program, arrays, session, options)
    is_random = options.random_inputs is not None or options.random
    found.setup.origin = "random; real ones show more" if is_random else "given"
    _print(found, options, small)
    return FINE if found.is_explained else AT_FAULT


def _reduced(
    found: Diff, program: Program, arrays: Sequence[RuntimeValue], session: Session, options: argparse.Namespace
) -> str:
    """Make the program small if the options ask for it, or say how to; return what to print."""
    if found.is_explained:
        return ""
    if options.reduce is None:
        return "to make a small program that shows this, add: --reduce small.mlir"
    return saved(reduce(program, arrays, by_backend(session, options.contract)), options.reduce)


def _print(found: Diff, options: argparse.Namespace, small: str) -> None:
    """Print the result, write the files that the options ask for, and say so; `--json` prints the document alone."""
    print(found.to_json() if options.json else f"{found}\ninputs: {found.setup.origin}")
    for message in chain(_written(found, options), [small]):
        if message and not options.json:
            print(message)


def _written(found: Diff, options: argparse.Namespace) -> Iterator[str]:
    """Write the files that the options ask for; yield what to say of each."""
    if options.repro is not None:
        yield _write_repro(options.repro, found)
    if options.report is not None:
        options.report.write_text(found.to_html(), encoding="utf-8")
        yield f"wrote {options.report}"
    if options.model_explorer is not None:
        options.model_explorer.write_text(found.to_model_explorer(), encoding="utf-8")
        yield f"wrote {options.model_explorer}: node data for Model Explorer"


def _write_repro(path: Path, found: Diff) -> str:
    if found.repro is None:
        return "no program to write: no op was found to be wrong"
    found.repro.write(path)
    return f"wrote {path}: it returns true where all is within the bounds"


OPTIONS = Group("", [
    PROGRAM,
    option("--backend B", "what to compare with: see below", required=True),
    ENTRY,
    option("--max-bytes N", "of values at a time (default 1GiB)", byte_count, default=1 << 30),
    option("--repro FILE", "write a small program that shows the fault and checks itself", Path),
    option("--reduce FILE", "make the program small that still shows the fault, and write it", Path),
    option("--report FILE", "write a report in HTML that needs no network (extra `report`)", Path),
    option("--model-explorer FILE", "write the errors of ops as node data of Model Explorer", Path),
    JSON,
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("diff", DESCRIPTION, EPILOG, OPTIONS, INPUTS, JUDGED_BACKEND, LIMITS, MESSAGES)
