"""Find what a backend gets right, op by op and type by type: `stablehlo-interp conform`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from stablehlo_ref._version import __version__
from stablehlo_ref.arrays.interop import require
from stablehlo_ref.cli.backend_options import PYTHON
from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.options import (
    MEMORY,
    MESSAGES,
    CommandLineError,
    CommandParser,
    Group,
    names,
    option,
    positive,
    seconds,
)
from stablehlo_ref.conform import cases, report
from stablehlo_ref.conform.campaign import PROFILES, Results, Settings
from stablehlo_ref.conform.campaign import run as run_cases
from stablehlo_ref.conform.programs import select
from stablehlo_ref.conform.report import explain, read_known, split
from stablehlo_ref.conform.verdicts import with_blocked
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import ArgumentValueError, file_errors

DESCRIPTION = "Run generated programs on a backend, and judge what it returns by bounds that are proved."
EPILOG = """\
examples:
  stablehlo-interp conform --backend jax --contract xla-cpu                       # two minutes
  stablehlo-interp conform --backend jax --profile pr --html table.html
  stablehlo-interp conform --backend jax --ops 'stablehlo.dot_general,chlo.*' --known known.toml
  stablehlo-interp conform --case op/stablehlo.tanh/bf16/0                        # print the program of a case
  stablehlo-interp conform explain op/stablehlo.tanh/bf16/0 --backend jax         # make it small, draft a report

profiles: smoke (2 minutes), pr (10 minutes), nightly (20,000 cases)

exit codes: 0 if all faults are known, 1 if there are others or if known ones are healed, 2 for an error in the command
line"""


def run(options: argparse.Namespace) -> int:
    """Judge a backend, print a case, or explain one; return the exit code."""
    if options.case is not None:
        made = cases.case(options.case)
        print(made.text.removesuffix("\n") if made else f"// no program was found for {options.case}")
        return FINE
    return _explain(options) if options.words else _run(options)


def _contradiction(options: argparse.Namespace) -> str | None:
    """Return what is missing or too much."""
    if options.words and (options.words[0] != "explain" or len(options.words) != 2):
        return f"expected `explain CASE` or nothing, got {' '.join(options.words)!r}"
    if options.case is None and options.backend is None:
        return "the following arguments are required: --backend"
    return None


def _explain(options: argparse.Namespace) -> int:
    with Session(options.backend, seconds=options.seconds, python=options.backend_python) as session:
        session.open()
        found = explain(options.words[1], session, contract_of(options.contract))
    if options.output is None:
        print(found.report, end="")
        return FINE
    with file_errors(options.output, f"write to {options.output}"):
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "report.md").write_text(found.report, encoding="utf-8")
        (options.output / "program.mlir").write_text(found.program, encoding="utf-8")
    return FINE


def _run(options: argparse.Namespace) -> int:
    contract_of(options.contract)
    if options.html:
        require("jinja2")  # before a campaign that may take hours
    known = read_known(options.known) if options.known else []
    profile = PROFILES[options.profile]
    selected = names_of(options)
    backend = options.backend, options.contract, options.seconds, options.backend_python
    settings = Settings(*backend, tuple(known), options.max_total_bytes)
    with Session(options.backend, seconds=options.seconds, python=settings.python) as session:
        session.open()
        versions = dict(session.versions())
    executor, jobs = (None, options.jobs) if options.scheduler is None else _workers(options.scheduler)
    results = Results(options.results or ":memory:")
    try:
        limit = min(profile.seconds, options.max_seconds or profile.seconds)
        run_cases(selected, settings, results, executor=executor, jobs=jobs, seconds=limit, show=show_progress)
        wanted = set(selected)
        records = with_blocked({name: record for name, record in results.records().items() if name in wanted})
    finally:
        results.close()
    title = f"{options.backend} under the contract {options.contract}, profile {options.profile}"
    about: dict[str, Any] = {"backend": options.backend, "contract": options.contract, "profile": options.profile}
    about |= {"stablehlo-ref": __version__, "versions": versions}
    write(options.json, report.as_json(records, about))
    write(options.junit, report.as_junit(records, title))
    write(options.html, report.as_html(records, title))
    write(options.badge, report.as_badge(records))
    print(report.as_text(records, title))
    new, healed = split(records, known, [name for name in selected if name not in records])
    for entry in healed:
        print(f"healed: {entry}; remove it from {options.known}")
    if known:
        print(f"{len(new)} cases show faults that are not known")
    return AT_FAULT if new or healed else FINE


def _workers(scheduler: str) -> tuple[Executor, int]:
    """Return an executor of the workers of a scheduler of Dask, and how many they are."""
    try:
        client = require("distributed").Client(scheduler)
    except (OSError, ValueError) as error:
        raise CommandLineError(f"--scheduler: cannot reach {scheduler}: {error}") from None
    threads = client.nthreads().values()
    if set(threads) != {1}:
        raise CommandLineError(f"--scheduler: expected workers of one thread each, got {list(threads)}")
    return client.get_executor(), 2 * len(threads)  # so that each has a shard to go on with


def names_of(options: argparse.Namespace) -> list[str]:
    """Return the names of the cases that `--profile` and `--ops` ask for."""
    return PROFILES[options.profile].names(selected(options))


def selected(options: argparse.Namespace, known: Sequence[str] = ()) -> list[str]:
    """Return the ops that `--ops` selects; CommandLineError if there are none."""
    try:
        return select(options.ops, known)
    except ArgumentValueError as error:
        raise CommandLineError(f"--ops: {error}") from None


def write(path: Path | None, text: str) -> None:
    if path is not None:
        with file_errors(path, f"write {path}"):
            path.write_text(text, encoding="utf-8")


def show_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} cases", end="" if done < total else "\n", file=sys.stderr, flush=True)


OPS = option("--ops OP,OP", "only these ops, with wildcards", names, default=[])
PROFILE = option("--profile", "how many cases (smoke)", choices=tuple(PROFILES), default="smoke")
KNOWN = option("--known FILE", "known failures, as TOML: op, type and reason of each", Path)
OPTIONS = Group("", [
    option("explain CASE", "make the program of a case small, and write a draft of a report", dest="words", nargs="*"),
    option("--backend B", "what to run the programs on: see `stablehlo-interp diff --help`"),
    option("--contract C", "what the backend may do: see `stablehlo-interp diff --help`", default="strict"),
    PROFILE,
    OPS,
    KNOWN,
    option("--jobs N", "processes (1)", positive, default=1),
    option("--scheduler ADDRESS", "judge cases on the workers of a scheduler of Dask instead, of one thread each"),
    option("--seconds S", "of the backend for each case (30)", seconds, default=30.0),
    option("--max-seconds S", "judge no other case after that; the profile says when if left out", seconds),
    MEMORY,
    PYTHON,
    option("--results FILE", "keep verdicts in a SQLite file, and go on from there", Path),
    option("--json FILE", "write all verdicts as JSON", Path),
    option("--junit FILE", "write them as JUnit XML", Path),
    option("--html FILE", "write the table as a page", Path),
    option("--badge FILE", "write a badge for shields.io", Path),
    option("--output FOLDER", "for explain: write report.md and program.mlir there", Path),
    option("--case NAME", "print the program of a case, and do nothing else"),
])  # fmt: skip


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("conform", DESCRIPTION, EPILOG, OPTIONS, MESSAGES, check=_contradiction,
                         renamed={"--python": "--backend-python="})  # fmt: skip
