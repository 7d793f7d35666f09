"""What `reduce` looks for: what a command accepts, or how a backend goes wrong."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from collections.abc import Hashable, Sequence
from pathlib import Path

from stablehlo_ref.debug.archives import save_arrays
from stablehlo_ref.debug.contract import Contract
from stablehlo_ref.debug.diff import diff
from stablehlo_ref.debug.reduce import Predicate
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.loading import load


def by_command(command: str, seconds: float = 120.0) -> Predicate:
    """Return the predicate of a command that exits with 0 for interesting programs; what it prints is the fingerprint.

    `{program}` in the command is a file of MLIR text, `{inputs}` an `.npz` file with members `arr_0`, `arr_1`, ...;
    without `{program}`, the file is the last argument. A command that takes longer than `seconds` is not interested.
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
            try:
                done = subprocess.run(filled, capture_output=True, text=True, check=False, timeout=seconds)
            except subprocess.TimeoutExpired:
                return None
            return None if done.returncode else done.stdout.replace(folder, "")

    return run


def by_backend(session: Session, contract: Contract) -> Predicate:
    """Return the predicate of how a backend goes wrong: the kind of failure and its words, or the suspect op."""

    def run(program: str, inputs: Sequence[Array]) -> Hashable:
        try:
            found = diff(load(program), inputs, session, contract)
        except StablehloError:
            return None
        if found.failure:
            first, *_ = found.failure.reason.splitlines() or [""]
            return found.failure.failure, re.sub(r"\d+|%\w+", "#", first)
        if found.suspects:
            return "wrong op", found.suspects[0].op.name
        if found.group is not None and found.group.excess is not None:
            return "wrong group", frozenset(op.name for op in found.group.ops)
        return None

    return run
