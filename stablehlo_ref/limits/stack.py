"""Enough stack for recursive work on nested programs.

`lexer.MAX_NESTING` and `Limits.max_depth` bound how deep that work goes. Threads with small stacks are too small even
for that (musl gives them 128 KB by default), and a stack overflow ends the process. A caller that is itself deep in
the stack has few frames left of Python's recursion limit. In both cases the work is done in a new thread.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from stablehlo_ref.diagnostics import Location, UnsupportedError

ENOUGH = 1 << 20  # bytes of a thread's stack
OWN = 1 << 24  # bytes of the stack of a new thread
LEAST = 96 << 10  # bytes of a stack; with fewer, Python 3.14 frees no objects, and crashes at its end (measured)
FRAMES = 750  # Python frames that parsing, which takes most, may need

P = ParamSpec("P")
T = TypeVar("T")

_starting = threading.Lock()  # guards the size of the next thread's stack
_thread = threading.local()  # `is_large`: whether the stack of a thread is large enough


def on_enough_stack(
    location: Location | None, frames: int, function: Callable[P, T], *args: P.args, **options: P.kwargs
) -> T:
    """Call a function that needs `frames` frames in this thread, or in a new one if the stack here is too small.

    Raises UnsupportedError at `location` if Python's recursion limit is too low for the work, or the stack too small
    for Python itself.
    """
    try:
        if is_large() and not (frames and _is_deep(frames)):
            return function(*args, **options)
        if sys.version_info >= (3, 14) and (size := stack_size() or OWN) < LEAST:
            message = (
                f"the stack of this thread is too small for Python 3.14: expected at least {LEAST} bytes, got {size}"
            )
            raise UnsupportedError(message, location)
        return _in_new_thread(lambda: function(*args, **options))
    except RecursionError:
        limit = sys.getrecursionlimit()
        message = f"the program is nested too deeply for Python's recursion limit of {limit}"
        raise UnsupportedError(message, location) from None


def needs_stack(
    locate: Callable[[Any], Location | None], frames: int = FRAMES
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that calls a function by `on_enough_stack`; `locate` takes the function's first argument."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> T:
            return on_enough_stack(locate(args[0]) if args else None, frames, function, *args, **options)

        return call

    return decorate


def is_large() -> bool:
    """Return whether the stack of this thread is large enough for any program, if no caller uses much of it."""
    known: bool | None = getattr(_thread, "is_large", None)
    if known is not None:
        return known
    known = threading.current_thread() is threading.main_thread() or (stack_size() or 0) >= ENOUGH
    _thread.is_large = known
    return known


def _is_deep(frames: int) -> bool:
    """Return whether fewer than `frames` frames are left of Python's recursion limit."""
    try:
        sys._getframe(max(sys.getrecursionlimit() - frames, 0))
    except ValueError:
        return False
    return True


def stack_size() -> int | None:
    """Return the size in bytes of the stack of this thread; None if the system does not report it."""
    import ctypes  # rarely needed

    size = ctypes.c_size_t()
    try:
        library = ctypes.CDLL(None)
        library.pthread_self.restype = ctypes.c_void_p
        thread = ctypes.c_void_p(library.pthread_self())
        if sys.platform == "darwin":
            library.pthread_get_stacksize_np.restype = ctypes.c_size_t
            return int(library.pthread_get_stacksize_np(thread))
        attributes = ctypes.create_string_buffer(512)  # more than any pthread_attr_t
        if library.pthread_getattr_np(thread, attributes):
            return None
        failed = library.pthread_attr_getstacksize(attributes, ctypes.byref(size))
        library.pthread_attr_destroy(attributes)
        return None if failed else size.value
    except (AttributeError, OSError, TypeError):
        return None


def _in_new_thread(work: Callable[[], T]) -> T:
    """Call `work` in a new thread with a large stack, in the context variables of this one; raise what it raises."""
    context, results, errors = copy_context(), list[T](), list[BaseException]()

    def run() -> None:
        _thread.is_large = True
        try:
            results.append(context.run(work))
        except BaseException as error:  # for the caller
            errors.append(error)

    thread = threading.Thread(target=run, name="stablehlo_ref", daemon=True)
    with _starting:
        size = threading.stack_size(OWN)
        try:
            thread.start()
        finally:
            threading.stack_size(size)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the garbage collector, which would scan the growing program again and again and find nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
