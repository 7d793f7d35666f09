"""One case of the fuzzer: a program, with what is done to it; and the judgement of what happens."""

from __future__ import annotations

import contextlib
import io
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import stablehlo_ref as sr
from spec_checks.fuzz import doors, files, hlo, mutations
from spec_checks.fuzz.programs import program
from stablehlo_ref.bytecode.writer import write
from stablehlo_ref.cli.main import main
from stablehlo_ref.passes.catalog import PASSES

SEEDS = Path(__file__).parents[2] / "tests" / "interpret"
LIMITS = sr.Limits(max_bytes=1 << 24, max_steps=2000, max_seconds=5)
SECONDS = 30  # after which a case counts as a hang
KINDS = (
    "plain", "text", "text", "text", "text", "structure", "structure", "structure", "inputs", "bytecode", "artifact",
    "hlo", "pass", "command", *files.SEEDS, *doors.DOORS,
)  # fmt: skip
OPTIONS = {"vhlo-to-version": "{target=1.9.0}"}  # of passes that need some
CODES = (0, 1, 2, 130)  # of the command line


class Finding(Exception):
    """What must not happen."""


@dataclass(frozen=True)
class Case:
    """What `run` does with a program: parses, verifies, runs, prints, or passes it to the command."""

    kind: str
    source: str | bytes
    seed: int  # of inputs and arguments


def draw(random: Random, kinds: Sequence[str] = KINDS) -> Case:
    """Return a case of one of these kinds: mostly a generated program, changed in one way."""
    kind = random.choice(kinds)
    if kind in files.SEEDS:
        return Case(kind, files.draw(random, kind), 0)
    if kind in doors.DOORS:
        return Case(kind, doors.draw(random, kind), random.getrandbits(32))
    if kind == "hlo":
        return Case(kind, mutations.text(random, random.choice(hlo.MODULES)), random.getrandbits(32))
    while True:
        base = program(random) if random.random() < 0.6 else random.choice(_seeds())
        with contextlib.suppress(Exception):  # a changed structure may not print, a program may have no artifact
            return Case(kind, _changed(random, kind, base), random.getrandbits(32))


def _changed(random: Random, kind: str, base: str) -> str | bytes:
    """Return a program that is changed as cases of a kind are; another exception if it has no such form."""
    if kind == "text" or (kind == "command" and random.random() < 0.5):
        return mutations.text(random, base)
    if kind == "structure":
        return mutations.structure(random, sr.load(base).module)
    if kind in ("bytecode", "artifact"):
        loaded = sr.load(base)
        return mutations.data(random, write(loaded.module) if kind == "bytecode" else loaded.serialize())
    return base


@cache
def _seeds() -> tuple[str, ...]:
    """Return the programs of the lit-style tests."""
    files = sorted(SEEDS.rglob("*.mlir"))
    return tuple(part for file in files for part in file.read_text("utf-8").split("// -----") if "func" in part)


def run(case: Case) -> str:
    """Run a case and return how it ended: "result" or the name of an error. Raises Finding."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stderr(printed):
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(printed):
            try:
                outcome = _outcome(case, printed)
            except Finding:
                raise
            except BaseException as error:
                raise Finding("".join(traceback.format_exception(error)[-6:])) from error
    if warned:
        raise Finding(f"warning: {warned[0].message}")
    if case.kind not in ("command", *doors.DOORS) and printed.getvalue() and not _prints(case):
        raise Finding(f"printed {printed.getvalue()[:200]!r}")
    return outcome


def _outcome(case: Case, printed: io.StringIO) -> str:
    if isinstance(case.source, bytes) and case.kind in files.SEEDS:
        return files.check(case.kind, case.source)
    if case.kind in doors.DOORS:
        return _door(case, printed)
    return _command(case, printed) if case.kind == "command" else _judged(lambda: _program(case))


def _door(case: Case, printed: io.StringIO) -> str:
    """Return how a door ended: with a result, an error of this package, or the exit code of a command."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            code = doors.use(case.kind, case.source, Path(folder), Random(case.seed))
        except sr.InternalError as error:
            raise Finding(f"internal error: {error}") from error
        except sr.StablehloError as error:
            return type(error).__name__
    if not isinstance(code, int):
        return "result"
    _check_exit("", code, printed)
    return f"code {code}"


def _prints(case: Case) -> bool:
    """Return whether the program has an op that prints."""
    return "interpreter.print" in case.source if isinstance(case.source, str) else b"print" in case.source


def _judged(action: Callable[[], None]) -> str:
    """Return "result", or the name of the located error that an action ended with."""
    try:
        action()
    except sr.InternalError as error:
        raise Finding(f"internal error: {error}") from error
    except sr.StablehloError as error:
        text = str(error)
        if error.diagnostics[0].location is None:
            raise Finding(f"no location: {text}") from error
        if "internal error" in text or "Traceback" in text:
            raise Finding(text) from error
        return type(error).__name__
    return "result"


def _program(case: Case) -> None:
    random = Random(case.seed)
    loaded = sr.load(case.source if isinstance(case.source, bytes) else case.source + "\n", limits=LIMITS)
    _check_printed(loaded, case)
    arrays = mutations.random_inputs(random, loaded)
    if case.kind == "inputs":
        positional, named = mutations.inputs(random, arrays)
        loaded.run(*positional, limits=LIMITS, **named)
        return
    if case.kind == "pass":
        name = random.choice(sorted(PASSES))
        loaded = loaded.transform(name + OPTIONS.get(name, "")).verify()
    first = loaded.run(*arrays, limits=LIMITS)
    _check_results(loaded, first)
    _check_equal("a second run", first, loaded.run(*arrays, limits=LIMITS))
    _check_equal("a trace", first, loaded.trace(*arrays, limits=LIMITS).results)


def _check_printed(loaded: sr.Program, case: Case) -> None:
    """The text of a valid program is a valid program with the same text."""
    text = str(loaded)
    try:
        again = str(sr.load(text))
    except sr.StablehloError as error:
        raise Finding(f"the printed program is rejected: {error}\n{text}") from error
    if again != text:
        raise Finding(f"printing is not idempotent:\n{text}\n{again}")


def _check_results(loaded: sr.Program, results: Sequence[Any]) -> None:
    for parameter, result in zip(loaded.outputs, results):
        if parameter.dtype is None or isinstance(result, tuple) or result is None:
            continue
        if np.asarray(result).dtype != parameter.dtype:
            raise Finding(f"{parameter} is an array of {np.asarray(result).dtype}")
        sizes = zip(parameter.shape, np.shape(result)) if hasattr(parameter.type, "shape") else ()
        if any(declared not in (None, size) for declared, size in sizes):
            raise Finding(f"{parameter} is an array of shape {np.shape(result)}")


def _check_equal(what: str, first: Sequence[Any], second: Sequence[Any]) -> None:
    for x, y in zip(first, second):
        if isinstance(x, tuple):
            _check_equal(what, x, y)
        elif x is not None and np.asarray(x).tobytes() != np.asarray(y).tobytes():
            raise Finding(f"{what} has other results: {x} and {y}")


def _command(case: Case, printed: io.StringIO) -> str:
    random = Random(case.seed)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        file = Path(folder, "program.mlir")
        file.write_bytes(
            case.source.encode("utf-8", "surrogateescape") if isinstance(case.source, str) else case.source
        )
        arguments = mutations.command_line(random, file)
        try:
            code: Any = main(["--max-seconds", "5", *arguments] if random.random() < 0.3 else arguments)
        except SystemExit as end:  # of argparse
            code = end.code
    _check_exit(f"{arguments}: ", code, printed)
    return f"code {code}"


def _check_exit(what: str, code: object, printed: io.StringIO) -> None:
    if code not in CODES or "Traceback" in printed.getvalue() or "internal error" in printed.getvalue():
        raise Finding(f"{what}exit code {code!r}\n{printed.getvalue()[-2000:]}")
