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
from queue import Queue

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.archives import save_arrays
from stablehlo_ref.debug.asking import Predicate
from stablehlo_ref.debug.contract import Contract, contract_of
from stablehlo_ref.debug.diff import Diff, diff
from stablehlo_ref.debug.failing import words_of
from stablehlo_ref.debug.session import Session
from stablehlo_ref.diagnostics import ArgumentValueError, StablehloError, file_errors
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.reading.loading import load


@checks_arguments
def by_command(command: str, seconds: float = 120.0) -> Predicate:
    """Return the predicate of a command that exits with 0 for interesting programs; what it prints is the fingerprint.

    `{program}` in the command is a file of MLIR text, `{inputs}` an `.npz` file with members `arr_0`, `arr_1`, ...;
    without `{program}`, the file is the last argument. A program is not interesting if the command takes longer than
    `seconds`. The predicate raises FileError, an OSError, if the command cannot be run.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:  # an open quote
        raise ArgumentValueError(f"command must be one of a shell, got {command!r}: {error}") from None
    if not any("{program}" in word for word in words):
        words.append("{program}")

    def run(program: str, inputs: Sequence[Array]) -> Hashable:
        with tempfile.TemporaryDirectory(prefix="stablehlo-ref-") as folder:
            files = {"{program}": f"{folder}/program.mlir", "{inputs}": f"{folder}/inputs.npz"}
            Path(files["{program}"]).write_text(program, encoding="utf-8")
            save_arrays(Path(files["{inputs}"]), inputs)
            filled = [re.sub(r"\{program\}|\{inputs\}", lambda match: files[match[0]], word) for word in words]
            with file_errors(words[0], "run the command"):
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


class ByBackend:
    """The predicate of how a backend goes wrong: the kind of failure and its words, or the suspect op.

    It may be called from as many threads as there are sessions. `located` are the ops that `diff` named, by the text of
    the program, as positions among its ops.
    """

    def __init__(self, sessions: Sequence[Session], contract: Contract) -> None:
        self.located: dict[str, tuple[int, ...]] = {}
        self._free: Queue[Session] = Queue()
        self._contract = contract
        for session in sessions:
            self._free.put(session)

    def __call__(self, program: str, inputs: Sequence[Array]) -> Hashable:
        session = self._free.get()
        try:
            found = diff(load(program), inputs, session, self._contract)
        except StablehloError:
            return None
        finally:
            self._free.put(session)
        self.located[program] = found.located
        return fingerprint_of(found)


@checks_arguments
def by_backend(session: Session | Sequence[Session], contract: str | Contract) -> ByBackend:
    """Return the predicate of how a backend goes wrong; with several sessions it may be called from several threads."""
    rules = contract if isinstance(contract, Contract) else contract_of(contract)
    sessions = [session] if isinstance(session, Session) else session
    if not sessions:
        raise ArgumentValueError("session must be a Session or several, got none")
    return ByBackend(sessions, rules)


def fingerprint_of(found: Diff) -> Hashable:
    """Return what a smaller program must still show of a difference; None if nothing is wrong."""
    if found.failure:
        return words_of(found.failure)
    if found.inner:
        return fingerprint_of(found.inner[0].found)
    if found.suspects:
        return "wrong op", found.suspects[0].op.name
    if found.group is not None and found.group.excess is not None:
        return "wrong group", tuple(sorted({op.name for op in found.group.ops}))
    if found.beyond:
        return found.verdict, tuple(sorted({op.name for op in found.not_explained}))
    return None
