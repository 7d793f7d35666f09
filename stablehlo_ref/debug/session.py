"""A backend in a process of its own, which may die, hang or refuse a program: each is an outcome."""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import IO, Any

import numpy as np

from stablehlo_ref.argument_types import checks_arguments
from stablehlo_ref.debug.backends import Backend, Parallel, open_backend
from stablehlo_ref.define.processes import Grid
from stablehlo_ref.diagnostics import ArgumentValueError, EvaluationError, StablehloError, file_errors
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.limits.budget import check_time, time_left

WORKER = "import sys; from stablehlo_ref.debug.session import serve; sys.exit(serve(sys.argv[1:]))"
MAX_WAIT = 1e6  # seconds to wait for a backend without a limit; `poll` takes no more than 24 days
GRACE = 10.0  # seconds that a process has to end once its pipe is closed
TAIL = 600  # characters of a dead process's standard error that are shown


@dataclass(frozen=True)
class Outcome:
    """What a backend did with a program: `results`, or the failure ("refused", "died", "timed out", ...) and why."""

    results: tuple[Array, ...] = ()
    failure: str = ""
    reason: str = ""
    second: tuple[Array, ...] = ()  # the results of the second run, of "unstable"

    def __str__(self) -> str:
        return f"{self.failure}: {self.reason}" if self.failure else "ran"


class Session:
    """Runs programs with one backend. The process is started when it is needed, and again after it died.

    `seconds` limits each run, compilation included, and `max_bytes` the data of the process; 0 is no limit. `python` is
    the interpreter that has the backend's packages; by default this one. The process leads a process group, so that
    commands that it runs end with it. It also ends if this process is killed.
    """

    elapsed: float = 0.0  # seconds that the backend's runs took

    @checks_arguments
    def __init__(self, description: str, *, seconds: float = 120.0, max_bytes: int = 0, python: str = "") -> None:
        if not (seconds >= 0 and max_bytes >= 0):
            raise ArgumentValueError(f"seconds and max_bytes must not be negative, got {seconds} and {max_bytes}")
        self.description = description
        self.seconds = seconds
        self.max_bytes = max_bytes
        self.python = python or os.environ.get("STABLEHLO_REF_BACKEND_PYTHON") or sys.executable
        self._seen: set[tuple[str, str]] = set()
        self._versions: Mapping[str, str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: IO[bytes] | None = None
        self._connection: Connection | None = None
        self._alive: int | None = None

    @property
    def compilations(self) -> int:
        """The number of different programs that the backend was given."""
        return len(self._seen)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> None:
        """Open the backend before it is needed; EvaluationError if it cannot be, as for a name that is unknown.

        Without this, that is a failure of each run. A process that dies or hangs as it opens the backend is left to
        the first run.
        """
        outcome = self._exchange("", (), "")
        if outcome.failure == "refused":
            self.close()
            reason = outcome.reason.removeprefix("ValueError: ")
            raise EvaluationError(f"cannot open the backend {self.description!r}: {reason}")

    @checks_arguments
    def run(self, program: str, inputs: Sequence[Array], setting: Any = None) -> Outcome:
        """Return what the backend does with a program, MLIR text.

        `setting` is one of its switches, or a `Grid` of processes: the arrays are those of each process in turn.
        """
        self._seen.add((program, repr(setting)))
        started = time.perf_counter()
        outcome = self._exchange(program, inputs, setting)
        self.elapsed += time.perf_counter() - started
        return outcome if outcome.failure else Outcome(tuple(outcome.results))

    def run_twice(self, program: str, inputs: Sequence[Array]) -> Outcome:
        """Return what the backend does with a program, "unstable" if two runs return different bits."""
        first, second = self.run(program, inputs), self.run(program, inputs)
        if first.failure or second.failure:
            return first if first.failure else Outcome((), "unstable", f"the second run {second}")
        different = [i for i, (x, y) in enumerate(zip(first.results, second.results)) if x.tobytes() != y.tobytes()]
        if different:
            reason = f"two runs return different bits of result {different[0]}"
            return Outcome(first.results, "unstable", reason, second.results)
        return first

    def switches(self) -> Mapping[str, Any]:
        """Return the settings that the backend says it has, by their descriptions."""
        return self._asked("switches")

    def versions(self) -> Mapping[str, str]:
        """Return the versions of what the backend consists of, as far as it says, by their names."""
        if self._versions is None:
            self._versions = self._asked("versions")
        return self._versions

    def _asked(self, attribute: str) -> Mapping[str, Any]:
        outcome = self._exchange("", (), attribute)
        return {} if outcome.failure else dict(outcome.results)  # type: ignore[arg-type]

    def _exchange(self, program: str, inputs: Sequence[Array], setting: Any) -> Outcome:
        self._start()
        assert self._connection is not None
        try:
            self._connection.send((program, list(inputs), setting))
            if not self._connection.poll(time_left(self.seconds or MAX_WAIT)):
                self.close()
                check_time("the backend")
                return Outcome((), "timed out", f"no answer in {self.seconds:g} seconds")
            kind, answer = self._connection.recv()
        except (EOFError, OSError):
            return self._died()
        except BaseException:  # such as KeyboardInterrupt: the next run must not receive this answer
            self.close()
            raise
        return Outcome(answer) if kind == "ran" else Outcome((), "refused", answer)

    def _died(self) -> Outcome:
        """Return how the process ended; it is killed if it closed its pipe but does not end."""
        assert self._process is not None and self._messages is not None
        process = self._process
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        self._messages.seek(0)
        tail = self._messages.read()[-TAIL:].decode(errors="replace").strip()
        self.close()
        code = process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return Outcome((), "died", how + (f"\n{tail}" if tail else ""))

    def _start(self) -> None:
        if self._process is not None:
            return
        self._connection, theirs = Pipe()
        alive, self._alive = os.pipe()  # closed with this process, also if it is killed
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        descriptors = theirs.fileno(), alive
        # the worker imports this package, and modules of the current directory (`python:module:function`)
        roots = [str(Path(__file__).parents[2]), os.getcwd(), os.environ.get("PYTHONPATH", "")]
        path = os.pathsep.join(filter(None, roots))
        command = [self.python, "-c", WORKER, *map(str, descriptors), self.description, str(self.max_bytes)]
        try:
            with file_errors(self.python, "start the backend's process"):
                self._process = subprocess.Popen(
                    command, pass_fds=descriptors, stdin=subprocess.DEVNULL, stdout=self._messages,
                    stderr=self._messages, env={**os.environ, "PYTHONPATH": path}, process_group=0,
                )  # fmt: skip
        except StablehloError:  # there is no such `python`
            self.close()
            raise
        finally:
            theirs.close()
            os.close(alive)

    def close(self) -> None:
        """End the backend's process, and those that it started."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._alive is not None:
            os.close(self._alive)
        if self._messages is not None:
            self._messages.close()
        self._process = self._messages = self._connection = self._alive = None


# --- in the process of the backend -----------------------------------------------------------------------------------


def start_watchdog(descriptor: int) -> None:
    """Kill this process group once nobody has the other end of a pipe open; nothing is ever written to it.

    On Linux the kernel does it, also while a thread holds the interpreter's lock; elsewhere, a thread.
    """
    if sys.platform == "linux":
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if poll.poll(0):  # it was closed before the signal was asked for
            os.killpg(os.getpgrp(), signal.SIGKILL)
    else:
        threading.Thread(target=_end_with, args=(descriptor,), daemon=True).start()


def _end_with(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def serve(arguments: Sequence[str]) -> int:
    """Serve a backend until the connection is closed; return the exit code.

    The arguments are CONNECTION ALIVE DESCRIPTION MAX_BYTES. Reads (program, arrays, setting) from the connection with
    that file descriptor, and answers ("ran", arrays) or ("refused", message), until its other end is closed. The
    process is killed once the other end of ALIVE is closed. What a backend prints goes to standard error.
    """
    *descriptors, description, max_bytes = arguments
    for descriptor in map(int, descriptors):
        os.set_inheritable(descriptor, False)  # for processes that the backend starts
    start_watchdog(int(descriptors[1]))
    if int(max_bytes):
        resource.setrlimit(resource.RLIMIT_DATA, (int(max_bytes), int(max_bytes)))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    connection = Connection(int(descriptors[0]))
    backend: Backend | None = None
    while True:
        try:
            program, inputs, setting = connection.recv()
        except EOFError:
            return 0
        try:
            backend = backend or open_backend(description)
            connection.send(("ran", answer(backend, program, inputs, setting)))
        except BaseException as error:
            connection.send(("refused", f"{type(error).__name__}: {error}"))


def answer(backend: Backend, program: str, inputs: Sequence[Any], setting: Any) -> list[Any]:
    """Return what a backend answers to a request of a session."""
    options = {} if setting is None else {"setting": setting}
    if program == "":  # asks for the switches or the versions, or only for the backend to be opened
        return list(getattr(backend, str(setting), {}).items())
    if isinstance(setting, Grid):
        if not isinstance(backend, Parallel):
            raise NotImplementedError(f"{backend.name} is not given {setting}")
        count = len(inputs) // setting.count
        each = [inputs[i * count : (i + 1) * count] for i in range(setting.count)]
        return [_array(result) for results in backend.run_parallel(program, each, setting) for result in results]
    return [_array(result) for result in backend.run(program, inputs, **options)]


def _array(result: object) -> np.ndarray[Any, Any]:
    """Return a result as an array; TypeError for objects, whose classes the other process need not have."""
    array = np.asarray(result)
    if array.dtype.hasobject:
        raise TypeError(f"expected arrays as results, got {type(result).__name__}")
    return array
