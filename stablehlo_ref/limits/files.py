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
        check_time("reading the file", location=start_of(self.label))
        if is_regular(self) or not hasattr(select, "poll"):
            return super().readinto(buffer)
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        while not poll.poll(PATIENCE) or (count := super().readinto(buffer)) is None:
            check_time("reading the file", location=start_of(self.label))
        return count


def open_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file for reading within the limits of the call. Opening a pipe does not wait for a writer."""
    flags = getattr(os, "O_NONBLOCK", 0)
    file = _WatchedFile(path, opener=lambda name, mode: os.open(name, mode | flags))
    file.label = os.fspath(path)
    return io.BufferedReader(file)


def watched(file: IO[bytes], name: str) -> IO[bytes]:
    """Return an open file, from which nothing has been read yet, as one that is read within the limits of the call."""
    if isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO):
        found = _WatchedFile(file.fileno(), closefd=False)
        found.label = name
        return io.BufferedReader(found)
    return file


def is_regular(file: IO[bytes] | io.FileIO) -> bool:
    """Return whether an open file is neither a pipe nor a device."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def contents(file: IO[AnyStr], name: str) -> AnyStr:
    """Return the rest of an open file; LimitError, at the file, if it is larger or takes longer than the call may.

    ArgumentTypeError if it returns neither text nor bytes, such as None for a file without data that does not wait.
    """
    memory = current.get().memory
    limit = max(memory.limit if memory else Limits().max_total_bytes, PIECE)
    place = start_of(name)
    fills = isinstance(file, io.BufferedReader | io.TextIOWrapper)  # pieces, so that a shorter one is the last
    piece: Any = file.read(PIECE)
    found: Any = io.StringIO(newline="") if isinstance(piece, str) else io.BytesIO()
    try:
        while True:
            check_type("what the file returns", piece, str | bytes | bytearray | memoryview, "text or bytes")
            found.write(piece)
            if found.tell() > limit:
                raise LimitError(f"the file has more than the limit of {size_text(limit)}", place, [RAISE_MEMORY])
            check_time("reading the file", location=place)
            if not piece or (fills and len(piece) < PIECE):
                return found.getvalue()  # type: ignore[no-any-return]
            piece = file.read(PIECE)
    except MemoryError:
        found.close()
        raise LimitError("there is not enough memory for the file", place) from None


def seekable(file: io.BufferedReader, name: str) -> IO[bytes]:
    """Return an open file if it is a regular one, else its contents as a file."""
    return file if is_regular(file) else io.BytesIO(contents(file, name))


def start_of(filename: str) -> Location:
    """Return the location of a file as a whole."""
    return Location(Source("", filename), 0)
