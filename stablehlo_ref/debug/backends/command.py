"""`cmd:'TOOL {program} {inputs} {outputs}'`: a command that reads and writes files."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stablehlo_ref.debug.archives import load_arrays, save_arrays

MARKS = ("{program}", "{inputs}", "{outputs}")


class Command:
    """Runs a command for each program.

    `{program}` is a file of MLIR text, `{inputs}` and `{outputs}` are `.npz` files with members `arr_0`, `arr_1`, ...,
    in which types that numpy lacks are saved as unsigned integers of their size.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.name = words[0]
        self._words = words

    def run(self, program: str, inputs: Sequence[Any]) -> list[Any]:
        from stablehlo_ref.reading.loading import load

        with tempfile.TemporaryDirectory(prefix="stablehlo-ref-") as folder:
            files = {mark: str(Path(folder) / name) for mark, name in zip(MARKS, ("p.mlir", "in.npz", "out.npz"))}
            Path(files["{program}"]).write_text(program, encoding="utf-8")
            save_arrays(Path(files["{inputs}"]), inputs)
            words = [_filled(word, files) for word in self._words]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode:
                raise RuntimeError(f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
            return load_arrays(Path(files["{outputs}"]), load(program).outputs)


def _filled(word: str, files: dict[str, str]) -> str:
    for mark, path in files.items():
        word = word.replace(mark, path)
    return word


def backend(argument: str) -> Command:
    words = shlex.split(argument)
    if not words or any(not any(mark in word for word in words) for mark in MARKS):
        raise ValueError(f"expected a command with {', '.join(MARKS)}, got {argument!r}")
    return Command(words)
