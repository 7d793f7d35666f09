"""The process of a backend: `python -m stablehlo_ref.debug.backends.worker READ WRITE ALIVE DESCRIPTION MAX_BYTES`.

Reads (program, arrays) from the pipe with file descriptor READ, and writes ("ran", arrays) or ("refused", message) to
WRITE, until READ is closed. It is killed once the other end of ALIVE is closed. What a backend prints goes to standard
error.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import sys
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from stablehlo_ref.debug.backends import Backend, Parallel, open_backend
from stablehlo_ref.define.processes import Grid


def start_watchdog(descriptor: int) -> None:
    """Kill this process group once nobody has the other end of a pipe open; nothing is ever written to it.

    On Linux the kernel does it, also while a thread holds the interpreter's lock; elsewhere, a thread.
    """
    if sys.platform == "linux":
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC)
        if _is_closed(descriptor):  # before the signal was asked for
            _end()
    else:
        threading.Thread(target=_wait, args=(descriptor,), daemon=True).start()


def _is_closed(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _wait(descriptor: int) -> None:
    os.read(descriptor, 1)
    _end()


def _end() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main(arguments: Sequence[str]) -> int:
    """Serve a backend until the pipe is closed; return the exit code."""
    *descriptors, description, max_bytes = arguments
    read, write, alive = map(int, descriptors)
    for descriptor in (read, write, alive):
        os.set_inheritable(descriptor, False)  # for processes that the backend starts
    start_watchdog(alive)
    if int(max_bytes):
        resource.setrlimit(resource.RLIMIT_DATA, (int(max_bytes), int(max_bytes)))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    requests, replies = Connection(read, writable=False), Connection(write, readable=False)
    backend: Backend | None = None
    while True:
        try:
            program, inputs, setting = requests.recv()
        except EOFError:
            return 0
        try:
            backend = backend or open_backend(description)
            replies.send(("ran", answer(backend, program, inputs, setting)))
        except BaseException as error:
            replies.send(("refused", f"{type(error).__name__}: {error}"))


def answer(backend: Backend, program: str, inputs: Sequence[Any], setting: Any) -> list[Any]:
    """Return what a backend answers to a request of a session."""
    options = {} if setting is None else {"setting": setting}
    if program == "":  # asks for the switches or the versions, or only for the backend to be opened
        return list(getattr(backend, str(setting), {}).items())
    if isinstance(setting, Grid):
        return [_array(result) for results in _in_grid(backend, program, inputs, setting) for result in results]
    return [_array(result) for result in backend.run(program, inputs, **options)]


def _in_grid(backend: Backend, program: str, inputs: Sequence[Any], grid: Grid) -> Sequence[Sequence[Any]]:
    if not isinstance(backend, Parallel):
        raise NotImplementedError(f"{backend.name} is not given {grid}")
    count = len(inputs) // grid.count
    return backend.run_parallel(program, [inputs[i * count : (i + 1) * count] for i in range(grid.count)], grid)


def _array(result: object) -> np.ndarray[Any, Any]:
    """Return a result as an array; TypeError for objects, whose classes the other process need not have."""
    array = np.asarray(result)
    if array.dtype.hasobject:
        raise TypeError(f"expected arrays as results, got {type(result).__name__}")
    return array


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
