"""Files of several programs."""

from __future__ import annotations

import re
from collections.abc import Iterator

SPLIT = "// -----"
SPLIT_LINE = re.compile(rf"^[ \t]*(?://[ \t]*)?{SPLIT}[ \t\r]*$", re.M)  # MLIR also splits at one that is commented out


def split_text(text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a text between lines `// -----`, with the number of their first lines."""
    first_line = 1
    for part in SPLIT_LINE.split(text):
        yield first_line, part
        first_line += part.count("\n")
