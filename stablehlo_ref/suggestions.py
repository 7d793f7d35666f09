"""Names that were meant: the known name closest to one that is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

MAX_CANDIDATES = 1500  # with more known names none is proposed, so that many errors do not take long
MAX_NAME = 64  # characters; longer names are not compared
MAX_EDITS = 4
MIN_ABBREVIATION = 3  # characters that are taken for the beginning of a name

# Element types under the names that they have in other systems.
ELEMENT_TYPES = {
    "bool": "i1", "pred": "i1", "half": "f16", "float": "f32", "double": "f64", "bfloat": "bf16", "bfloat16": "bf16",
    "int": "i32", "uint": "ui32", "char": "i8", "uchar": "ui8", "short": "i16", "long": "i64",
    "complex64": "complex<f32>", "complex128": "complex<f64>", "c64": "complex<f32>", "c128": "complex<f64>",
}  # fmt: skip
# The parts of a name such as states['layer.0'], between brackets, quotes, dots and slashes.
find_words = re.compile(r"[^\[\]'\"./]+").findall
_match_integer = re.compile(r"(?:(u)|s)?(?:int|i)?(\d+)(?:_t)?", re.IGNORECASE).fullmatch
_match_float = re.compile(r"(?:float|fp|f)_?(\d+)(?:_t)?", re.IGNORECASE).fullmatch
_match_narrow_float = re.compile(r"(?:float|fp|f)(\d+)_?(e\d+m\d+\w*)", re.IGNORECASE).fullmatch


def did_you_mean(name: str, known: Iterable[str], mark: str = "") -> str:
    """Return `; did you mean 'x'?` for the known name closest to `name`; "" if none is close."""
    found = closest(name, known)
    return f"; did you mean '{mark}{found}'?" if found else ""


def closest_end(name: str, known: Iterable[str]) -> str | None:
    """Return the first of the shortest known names with the most words at the end that are those of `name`.

    Words are what stands between brackets, quotes, dots and slashes. None if the last words differ in all names.
    """
    words = find_words(name)[::-1]
    ranked = []
    for number, other in enumerate(known):
        others = find_words(other)[::-1]
        if common := _common(words, others):
            ranked.append((-common, len(others), number, other))
    return min(ranked)[-1] if ranked else None


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name with the fewest edits to `name`; None if all need too many, or more than 1,500 are known.

    Of several, one of the same letters is preferred, then the one with the longest common prefix, then the shortest. At
    most a third of the letters (one of two, none of one) and at most `MAX_EDITS` are edited. A name that `name`
    abbreviates counts as one edit.
    """
    candidates = list(islice(known, MAX_CANDIDATES + 1))
    if not name or len(name) > MAX_NAME or len(candidates) > MAX_CANDIDATES:
        return None
    limit = min(max(len(name) // 3, min(len(name) - 1, 1)), MAX_EDITS)
    letters, ranked = sorted(name), []
    for other in candidates:
        distance = _distance(name, other, limit)
        if distance <= limit:
            limit = distance  # others that are less similar need not be measured
            ranked.append((distance, sorted(other) != letters, -_common(name, other), len(other), other))
    return min(ranked)[-1] if ranked else None


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the common prefix."""
    return next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def _distance(name: str, known: str, limit: int) -> int:
    if len(name) >= MIN_ABBREVIATION and known.startswith(name):
        return 1
    if abs(len(name) - len(known)) > limit or len(set(name) ^ set(known)) > 2 * limit:
        return limit + 1
    return edits(name.lower(), known.lower(), limit)


def edits(a: str, b: str, limit: int) -> int:
    """Return how many letters to insert, delete, replace or swap with the next turn one text into another.

    Numbers above `limit` need not be exact.
    """
    a, b = _without_common_ends(a, b)
    above: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, above, row = above, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit + 1:  # a swap needs two rows
            return limit + 1
    return row[-1]


def _without_common_ends(a: str, b: str) -> tuple[str, str]:
    start = _common(a, b)
    a, b = a[start:], b[start:]
    end = _common(a[::-1], b[::-1])
    return a[: len(a) - end], b[: len(b) - end]


def element_type(name: str, floats: Iterable[str]) -> str | None:
    """Return MLIR's name of an element type under another name: `f32` for `float32`, `ui8` for `u8`; else None."""
    if not name[:1].isalpha():
        return None
    lowered = {known.lower(): known for known in floats}
    if match := _match_narrow_float(name):
        name = f"f{match[1]}{match[2]}"
    elif match := _match_float(name):
        name = f"f{match[1]}"
    if known := lowered.get(name.lower()):
        return known
    if match := _match_integer(name):
        return f"{'ui' if match[1] else 'i'}{match[2]}"
    return ELEMENT_TYPES.get(name.lower())
