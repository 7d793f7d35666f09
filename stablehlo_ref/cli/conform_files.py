"""Write conformance cases to files, and judge files of results: `stablehlo-interp conform-files`."""

from __future__ import annotations

import argparse
from pathlib import Path

from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.conform import KNOWN, OPS, PROFILE, names_of, show_progress, write
from stablehlo_ref.cli.options import LIMITS, MESSAGES, CommandParser, Group, option, within_limits
from stablehlo_ref.conform import report
from stablehlo_ref.conform.campaign import export, judge_files
from stablehlo_ref.conform.report import read_known, split

DESCRIPTION = "Write conformance cases to files for a backend that runs elsewhere, and judge the files of its results."
EPILOG = """\
examples:
  stablehlo-interp conform-files export cases --ops 'floor,ceil' --target 1.9.0
  stablehlo-interp conform-files judge cases results --contract xla-cpu

exit codes: 0 if there are no faults, or all are known, 1 if there are others, 2 for an error in the command line"""


def run(options: argparse.Namespace) -> int:
    """Write cases, or judge results; return the exit code."""
    with within_limits(options):
        return _export(options) if options.action == "export" else _judge(options)


def _export(options: argparse.Namespace) -> int:
    selected = names_of(options)
    written, left = export(options.folder, selected, options.contract or "strict", options.target, show_progress)
    print(f"{written} cases are in {options.folder}; {left} of the profile are left out")
    return FINE


def _judge(options: argparse.Namespace) -> int:
    known = read_known(options.known) if options.known else []
    records = {record.name: record for record in judge_files(options.folder, options.results, options.contract)}
    write(options.json, report.as_json(records, {"results": str(options.results)}))
    print(report.as_text(records, f"results in {options.results}"))
    return AT_FAULT if split(records, known)[0] else FINE


OPTIONS = Group("", [
    option("ACTION", "what to do", dest="action", choices=("export", "judge")),
    option("FOLDER", "the folder with the cases", Path, dest="folder"),
    option("RESULTS", "the folder with the results, to judge", Path, dest="results", nargs="?"),
    OPS,
    PROFILE,
    option("--target VERSION", "the version of StableHLO of the programs", default="current"),
    option("--contract C", "what the backend may do; that of the export by default, there strict"),
    KNOWN,
    option("--json FILE", "write all verdicts as JSON", Path),
])  # fmt: skip


def _contradiction(options: argparse.Namespace) -> str | None:
    """Return what is missing or too much."""
    if (options.results is not None) != (options.action == "judge"):
        return "expected RESULTS for judge, and none for export"
    return None


def parser() -> CommandParser:
    """Return the parser of the command line."""
    return CommandParser("conform-files", DESCRIPTION, EPILOG, OPTIONS, LIMITS, MESSAGES, check=_contradiction)
