"""Read files within the limits of the call: a file may never end, or be a pipe that nobody writes to."""

from __future__ import annotations

import io
import os
import select
import stat
from typing import IO, Any, AnyStr

from stablehlo_ref.diagnostics import LimitError, Location, Source
from stablehlo_ref.limits import Limits, check_type
from stablehlo_ref.limits.budget import RAISE_MEMORY, check_time, current, size_text

PIECE = 1 << 20  # bytes or characters that are read between two checks of the limits
PATIENCE = 50  # milliseconds between two checks of the deadline while a pipe has no data


class _WatchedFile(io.FileIO):
    """A file with a label for messages, whose reads wait for data until the deadline of the call."""

    label = ""

    def readinto(self, buffer: Any, /) -> int | None:
        _wait(self, self.label)
        while (count := super().readinto(buffer)) is None:
            _wait(self, self.label)
        return count


def _wait(file: io.FileIO | IO[bytes], name: str) -> None:
    """Wait until a pipe, socket or device has data or ends; LimitError at the deadline of the call."""
    check_time("reading the file", location=start_of(name))
    if is_regular(file) or not hasattr(select, "poll"):
        return
    poll = select.poll()
    poll.register(file.fileno(), select.POLLIN)
    while not poll.poll(PATIENCE):
        check_time("reading the file", location=start_of(name))


class _WatchedStream(io.RawIOBase):
    """What is left of a buffered pipe or socket, as a file whose reads wait for data until the deadline of the call."""

    def __init__(self, stream: io.BufferedReader, name: str) -> None:
        self.stream = stream
        self.label = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        _wait(self.stream, self.label)
        piece = self.stream.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def open_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file for reading within the limits of the call. Opening a pipe does not wait for a writer."""
    flags = getattr(os, "O_NONBLOCK", 0)
    file = _WatchedFile(path, opener=lambda name, mode: os.open(name, mode | flags))
    file.label = os.fspath(path)
    return io.BufferedReader(file)


def watched(file: IO[Any], name: str) -> IO[Any]:
    """Return an open file as one that is read within the limits of the call, if it is a pipe, socket or device."""
    if isinstance(file, io.TextIOWrapper):
        buffer = watched(file.buffer, name)
        try:
            file.reconfigure(encoding=file.encoding, errors=file.errors)
        except io.UnsupportedOperation:  # some text has been read, and more may be decoded already
            return file
        return file if buffer is file.buffer else io.TextIOWrapper(buffer, file.encoding, file.errors)
    if isinstance(file, io.BufferedReader) and _is_stream(file):
        return io.BufferedReader(_WatchedStream(file, name))
    return file


def _is_stream(file: IO[bytes]) -> bool:
    """Return whether an open file waits for data that others write."""
    try:
        return os.get_blocking(file.fileno()) and not is_regular(file) and not file.isatty()
    except (OSError, ValueError):  # not a file of the system
        return False


def is_regular(file: IO[bytes] | io.FileIO) -> bool:
    """Return whether an open file is neither a pipe nor a device."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def contents(file: IO[AnyStr], name: str) -> AnyStr:
    """Return the rest of an open file; LimitError, at the file, if it is larger or takes longer than the call may.

    `file` is any object with a method `read`. ArgumentTypeError if that returns neither text nor bytes, such as None
    for a file without data that does not wait.
    """
    memory = current.get().memory
    limit = max(memory.limit if memory else Limits().max_total_bytes, PIECE)
    place = start_of(name)
    fills = isinstance(file, io.BufferedReader | io.TextIOWrapper)  # pieces, so that a shorter one is the last
    try:
        piece: Any = file.read(PIECE)
    except TypeError:  # of an object that can only be read as a whole
        piece, fills = file.read(), True
    found: Any = io.StringIO(newline="") if isinstance(piece, str) else io.BytesIO()
    try:
        while True:
            check_type("what the file returns", piece, str | bytes | bytearray | memoryview, "text or bytes")
            found.write(piece)
            if found.tell() > limit:
                raise LimitError(f"the file has more than the limit of {size_text(limit)}", place, [RAISE_MEMORY])
            check_time("reading the file", location=place)
            if not piece or (fills and len(piece) != PIECE):
                return found.getvalue()  # type: ignore[no-any-return]
            piece = file.read(PIECE)
    except MemoryError:
        found.close()
        raise LimitError("there is not enough memory for the file", place) from None


def read_text(path: str | os.PathLike[str], errors: str = "strict") -> str:
    """Return the text of a file, as `contents` reads it; OSError or UnicodeDecodeError if that is not possible."""
    with open_file(path) as file:
        return contents(file, os.fspath(path)).decode("utf-8", errors)


def seekable(file: io.BufferedReader, name: str) -> IO[bytes]:
    """Return an open file if it is a regular one, else its contents as a file."""
    return file if is_regular(file) else io.BytesIO(contents(file, name))


def start_of(filename: str) -> Location:
    """Return the location of a file as a whole."""
    return Location(Source("", filename), 0)
