"""All results that the legal schedules of `reduce` give."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stablehlo_ref.semantics.notation import Arrays, Function, scalar


def reduce_schedules(
    inputs: Arrays,
    init_values: Arrays,
    body: Function,
    max_init_values: int = 2,
) -> list[Arrays]:
    """Return all results of reducing 1-dimensional `inputs` of about 6 elements, over all legal binary trees.

    The leaves are the elements in order, with 0 to `max_init_values` init values anywhere among them. The spec has no
    such maximum, but one neutral init value can change a result as much as several.
    """
    size = inputs[0].size
    # found[start, end, count]: results of the trees of the elements [start, end) and `count` init values.
    found: dict[tuple[int, int, int], list[Arrays]] = {}
    for count in range(max_init_values + 1):
        for length in range(size + 1):
            for start in range(size - length + 1):
                end = start + length
                leaves = [tuple(scalar(x, (start,)) for x in inputs)] if (length, count) == (1, 0) else []
                leaves += [tuple(init_values)] if (length, count) == (0, 1) else []
                nodes = (
                    tuple(map(np.asarray, body(*left, *right)))
                    for middle in range(start, end + 1)
                    for left_count in range(count + 1)
                    for left in found.get((start, middle, left_count), ())
                    for right in found.get((middle, end, count - left_count), ())
                )
                found[start, end, count] = _distinct((*leaves, *nodes))
    return _distinct(scalars for count in range(max_init_values + 1) for scalars in found[0, size, count])


def is_among(actual: Arrays, results: Iterable[Arrays]) -> bool:
    """Return whether `actual` is one of `results`, bit for bit; all NaNs are equal."""
    return _key(actual) in set(map(_key, results))


def _distinct(results: Iterable[Arrays]) -> list[Arrays]:
    return list({_key(scalars): scalars for scalars in results}.values())


def _key(scalars: Arrays) -> tuple[bytes, ...]:
    return tuple(b"NaN" if np.any(x != x) else np.asarray(x).tobytes() for x in scalars)
