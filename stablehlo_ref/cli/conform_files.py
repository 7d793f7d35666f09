"""`stablehlo-interp conform-files`: conformance cases as files, and verdicts on files of results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from stablehlo_ref.cli.commands import AT_FAULT, FINE
from stablehlo_ref.cli.console import guarded
from stablehlo_ref.cli.options import CommandParser, add_message_options
from stablehlo_ref.conform import report
from stablehlo_ref.conform.campaign import PROFILES
from stablehlo_ref.conform.known import read_known, split
from stablehlo_ref.conform.offline import export, judge_files, select_ops
from stablehlo_ref.diagnostics import file_errors

DESCRIPTION = "Write conformance cases to files for a backend that runs elsewhere, and judge the files of its results."
EPILOG = """\
examples:
  stablehlo-interp conform-files export cases --ops 'floor,ceil' --target 1.9.0
  stablehlo-interp conform-files judge cases results --contract xla-cpu

exit codes: 0 if there are no faults, or all are known, 1 if there are others, 2 for an error in the command line"""


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    if (options.results is not None) != (options.action == "judge"):
        command_line.error("expected RESULTS for judge, and none for export")
    return guarded("conform-files", lambda: _export(options) if options.action == "export" else _judge(options))


def _export(options: argparse.Namespace) -> int:
    names = PROFILES[options.profile].names(select_ops([p.strip() for p in options.ops.split(",") if p.strip()]))
    written, left = export(options.folder, names, options.contract or "strict", options.target, _progress)
    print(f"{written} cases are in {options.folder}; {left} of the profile are left out")
    return FINE


def _judge(options: argparse.Namespace) -> int:
    known = read_known(options.known) if options.known else []
    records = {record.name: record for record in judge_files(options.folder, options.results, options.contract)}
    title = f"results in {options.results}"
    if options.json is not None:
        with file_errors(options.json, "write the verdicts"):
            options.json.write_text(report.as_json(records, {"results": str(options.results)}), encoding="utf-8")
    print(report.as_text(records, title))
    return AT_FAULT if split(records, known)[0] else FINE


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} cases", end="" if done < total else "\n", file=sys.stderr, flush=True)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = CommandParser("conform-files", DESCRIPTION, EPILOG)
    add = found.add_argument
    add("action", choices=("export", "judge"), help="what to do")
    add("folder", metavar="FOLDER", type=Path, help="the folder with the cases")
    add("results", metavar="RESULTS", type=Path, nargs="?", help="the folder with the results, to judge")
    add("--ops", metavar="OP,OP", default="", help="only cases of these ops, with wildcards")
    add("--profile", choices=tuple(PROFILES), default="smoke", help="how many cases (smoke)")
    add("--target", metavar="VERSION", default="current", help="the version of StableHLO of the programs")
    add("--contract", metavar="C", help="what the backend may do; that of the export by default, there strict")
    add("--known", metavar="FILE", type=Path, help="known failures, as for `conform`")
    add("--json", metavar="FILE", type=Path, help="write all verdicts as JSON")
    add_message_options(found, verifies=False)
    return found
