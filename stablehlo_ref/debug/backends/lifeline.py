"""End a backend's process group with the process that started it, however that ends."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import threading


def end_with_other_end(descriptor: int) -> None:
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
