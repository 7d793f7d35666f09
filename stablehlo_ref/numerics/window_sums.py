"""Sums of products of windows and kernels by elementwise operations, which add them in order."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.numerics.window_views import BATCH, FEATURE, SPATIAL, Convolution, Index, canonical

Sums: TypeAlias = Callable[[Array, Array], Array]  # of a view of windows and prepared kernels

TERM_BY_TERM_ELEMENTS = 1 << 16  # of the result computed at a time, where terms are added one by one


def by_einsum(c: Convolution) -> Sums:
    """Sum with einsum, whose inner loop runs along the groups if features or the batch are innermost in memory."""
    n = len(c.windows)
    group, batch, feature, output = 0, 1, 2, 3 + 2 * n
    windows, elements = range(3, 3 + n), range(3 + n, 3 + 2 * n)
    labels = [group, batch, feature, *windows, *elements]
    kernel_labels = [group, output, feature, *elements]
    result_axes = ((batch,), (group, output), *((w,) for w in windows))
    result_labels = [label for axis in c.result_order for label in result_axes[axis]]

    def multiply(windows: Array, kernels: Array) -> Array:
        sums: Array = np.einsum(windows, labels, kernels, kernel_labels, result_labels, optimize=False)
        return sums.reshape(c.result_sizes)

    return multiply


def term_by_term(c: Convolution) -> Sums:
    """Add products to the sums term by term, for all windows at once, if windows are innermost in memory."""
    n = len(c.windows)
    batch, _, *counts = c.sizes[: SPATIAL + n]
    split = [(batch,), (c.groups, c.outputs), *((count,) for count in counts)]
    sums_sizes = [size for axis in c.result_order for size in split[axis]]
    starts = {axis: sum(len(split[before]) for before in c.result_order[:d]) for d, axis in enumerate(c.result_order)}
    order = (starts[FEATURE], starts[BATCH], *(starts[SPATIAL + j] for j in range(n)), starts[FEATURE] + 1)
    step = max(1, TERM_BY_TERM_ELEMENTS // (batch * prod(counts) * c.outputs))
    terms = list(product(*map(range, (c.features, *c.sizes[SPATIAL + n :]))))
    every_window = (slice(None),) * n
    broadcast = (slice(None), np.newaxis, *(np.newaxis,) * n, slice(None))

    def multiply(windows: Array, kernels: Array) -> Array:
        sums = np.empty(sums_sizes, windows.dtype)
        canonical_sums = sums.transpose(order)
        for start in range(0, c.groups, step):
            some = slice(start, start + step)
            target = canonical_sums[some]
            term = np.empty_like(target)
            for feature, *element in terms:
                of_windows: Index = (some, slice(None), feature, *every_window, *element)
                of_kernels: Index = (some, slice(None), feature, *element)
                values, factors = windows[of_windows][..., np.newaxis], kernels[of_kernels][broadcast]
                if feature == 0 and not any(element):
                    np.multiply(values, factors, out=target)
                else:
                    np.add(target, np.multiply(values, factors, out=term), out=target)
        return sums.reshape(c.result_sizes)

    return multiply


def canonical_kernels(c: Convolution) -> Callable[[Array], Array]:
    """Return a function from kernels to a view with axes group, output feature, input feature, elements of a window."""
    permutation, n = canonical(c.rhs_order), len(c.windows)
    sizes = (c.groups, c.outputs, *c.sizes[FEATURE : FEATURE + 1], *c.sizes[SPATIAL + n :])
    return lambda kernels: kernels.transpose(permutation).reshape(sizes)
