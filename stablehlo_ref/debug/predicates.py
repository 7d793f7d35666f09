"""What `reduce` looks for: what a command accepts, or how a backend goes wrong."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Hashable, Sequence
from pathlib import Path

from stablehlo_ref.debug.archives import save_arrays
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.diff import Diff, diff
from stablehlo_ref.debug.reduce import Predicate
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.loading import load


def by_command(command: str, seconds: float = 120.0) -> Predicate:
    """Return the predicate of a command that exits with 0 for interesting programs; what it prints is the fingerprint.

    `{program}` in the command is a file of MLIR text, `{inputs}` an `.npz` file with members `arr_0`, `arr_1`, ...;
    without `{program}`, the file is the last argument. A program is not interesting if the command takes longer than
    `seconds`. The predicate raises OSError if the command cannot be run.
    """
    words = shlex.split(command)
    if not any("{program}" in word for word in words):
        words.append("{program}")

    def run(program: str, inputs: Sequence[Array]) -> Hashable:
        with tempfile.TemporaryDirectory(prefix="stablehlo-ref-") as folder:
            files = {"{program}": f"{folder}/program.mlir", "{inputs}": f"{folder}/inputs.npz"}
            Path(files["{program}"]).write_text(program, encoding="utf-8")
            save_arrays(Path(files["{inputs}"]), inputs)
            filled = [re.sub(r"\{program\}|\{inputs\}", lambda match: files[match[0]], word) for word in words]
            printed = _printed(filled, seconds)
            return None if printed is None else printed.replace(folder, "")

    return run


def _printed(words: Sequence[str], seconds: float) -> str | None:
    """Return what a command prints; None if it fails or takes too long, after which its child processes are killed."""
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", process_group=0
    ) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except BaseException as error:  # also KeyboardInterrupt
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise
    return None if process.returncode else printed


def by_backend(session: Session, contract: Contract) -> Predicate:
    """Return the predicate of how a backend goes wrong: the kind of failure and its words, or the suspect op."""

    def run(program: str, inputs: Sequence[Array]) -> Hashable:
        try:
            found = diff(load(program), inputs, session, contract)
        except StablehloError:
            return None
        return fingerprint_of(found)

    return run


def fingerprint_of(found: Diff) -> Hashable:
    """Return what a smaller program must still show of a difference; None if nothing is wrong."""
    if found.failure:
        first, *_ = found.failure.reason.splitlines() or [""]
        return found.failure.failure, re.sub(r"\d+|%\w+", "#", first)
    if found.inner:
        return "wrong in a loop", fingerprint_of(found.inner[0].found)
    if found.suspects:
        return "wrong op", found.suspects[0].op.name
    if found.group is not None and found.group.excess is not None:
        return "wrong group", frozenset(op.name for op in found.group.ops)
    return None
