"""Plots as SVG that takes its colours from the page: matplotlib draws them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from stablehlo_ref.arrays.interop import require
from stablehlo_ref.debug.report.document import EDGES, Deviation
from stablehlo_ref.ir.arrays import Array

# Colours that stand for those of the page, which depend on its theme.
INK, ACCENT, BAD = "#010203", "#040506", "#070809"
THEMED = {INK: "currentColor", ACCENT: "var(--accent)", BAD: "var(--bad)"}
ROWS, COLUMNS = 48, 96  # cells of a map, at most
BINS = 240  # of the overview
LOWEST, HIGHEST = 1e-3, 1e4  # errors relative to the bound, as far as the overview shows them


def bin_names() -> list[str]:
    """Return what the bins of a histogram of ULPs hold, such as `up to 2`."""
    names = ["0", "up to 1/2", *(f"up to {int(edge)}" for edge in EDGES[2:])]
    return [*names, f"more than {int(EDGES[-1])}"]


def histogram(counts: Sequence[int], identifier: str) -> str:
    """Return a bar chart of a histogram of ULPs."""
    filled = np.flatnonzero(counts)
    first = min(max(0, int(filled[0]) - 1), len(counts) - 6)
    shown = range(first, max(int(filled[-1]), first + 5) + 1)
    labels = ["0", "½", *(f"{int(e)}" if e < 1024 else f"2^{int(np.log2(e))}" for e in EDGES[2:]), "more"]
    figure, axes = _figure(4.6, 2.2)
    axes.bar(shown, [counts[index] for index in shown], color=ACCENT, width=0.8)
    if max(counts) > 50 * min(count for count in counts if count):
        axes.set_yscale("log")
    axes.set_xticks(shown, labels[first : shown.stop], rotation=0 if len(shown) < 10 else 60)
    axes.set_xlabel("error in ULPs, up to")
    axes.set_ylabel("elements")
    return _svg(figure, identifier)


def map_of(deviation: Deviation, identifier: str) -> str:
    """Return an image of where elements exceed their bounds, or are off if none does: rows are leading axes."""
    cells = shares(exceeding(deviation))
    figure, axes = _figure(4.6, 0.9 + 1.6 * min(1.0, cells.shape[0] / 24))
    colour = np.zeros((*cells.shape, 4), np.float32)
    colour[..., 0], colour[..., 1], colour[..., 2] = 0.86, 0.24, 0.20
    colour[..., 3] = np.where(cells > 0, 0.3 + 0.7 * cells, 0.0)
    shape = deviation.actual.shape
    width, height = (shape[-1] if shape else 1), max(1, deviation.size // max(1, shape[-1] if shape else 1))
    axes.imshow(colour, aspect="auto", interpolation="nearest", extent=(0, width, height, 0))
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(f"axis {max(0, len(shape) - 1)}")
    axes.set_ylabel("axis 0" if len(shape) == 2 else "axes " + ", ".join(map(str, range(len(shape) - 1))))
    if len(shape) < 2:
        axes.set_ylabel("")
        axes.set_yticks([])
    return _svg(figure, identifier)


def exceeding(deviation: Deviation) -> Array:
    """Return which elements exceed their bounds; if none does, which are off by more than half an ULP."""
    beyond = None if deviation.ratios is None else deviation.ratios > 1
    return deviation.differs if beyond is None or not beyond.any() else beyond


def shares(where: Array) -> Array:
    """Return the share of true elements in each cell of a map: rows are all axes but the last."""
    flat = where.reshape(-1, where.shape[-1]) if where.ndim > 1 else where.reshape(1, -1)
    for axis, most in ((0, ROWS), (1, COLUMNS)):
        if flat.shape[axis] > most:
            edges = np.linspace(0, flat.shape[axis], most, endpoint=False).astype(int)
            sizes = np.diff([*edges, flat.shape[axis]])
            sums = np.add.reduceat(flat, edges, axis, dtype=np.float64)
            flat = sums / (sizes[:, None] if axis == 0 else sizes)
    return np.asarray(flat, np.float64)


def overview(errors: Sequence[float | None], is_wrong: Sequence[bool], identifier: str) -> str:
    """Return a plot of the error of each op relative to its bound; of many ops, the largest of neighbours."""
    known = np.array([0.0 if e is None else min(e, HIGHEST) for e in errors])
    wrong = np.array(is_wrong, bool)
    known = np.where(wrong, np.maximum(known, 1.5), known)  # such as a sign of zero, which has no size
    figure, axes = _figure(9.4, 1.9)
    for chosen, colour, marker in ((~wrong & (known > LOWEST), ACCENT, "."), (wrong, BAD, "X")):
        x, y = _largest(np.flatnonzero(chosen), known[chosen], len(known))
        axes.plot(x, y, linestyle="", marker=marker, color=colour, markersize=4 if marker == "." else 7)
    axes.axhline(1.0, color=INK, linewidth=0.8, linestyle="--")
    axes.set_yscale("log")
    axes.set_ylim(LOWEST, HIGHEST * 2)
    axes.set_xlim(-0.5, max(len(known) - 0.5, 0.5))
    axes.set_xlabel("op, in the order of the program")
    axes.set_ylabel("error / bound")
    return _svg(figure, identifier)


def _largest(x: Array, y: Array, count: int) -> tuple[Array, Array]:
    """Return points of which at most one is in each of `BINS` parts of the program."""
    if not len(x):
        return x, y
    order = np.lexsort((-y, x * BINS // max(count, 1)))
    _, first = np.unique((x * BINS // max(count, 1))[order], return_index=True)
    return x[order][first], y[order][first]


def _figure(width: float, height: float) -> tuple[Any, Any]:
    """Return a figure of a size in inches, without a background, and its axes."""
    figure = require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    figure.patch.set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)
    axes.xaxis.label.set(color=INK, size=8)
    axes.yaxis.label.set(color=INK, size=8)
    axes.spines[:].set_color(INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any, identifier: str) -> str:
    """Return a figure as an SVG element: text stays text, ids begin with `identifier`, colours are the page's."""
    buffer = io.StringIO()
    with require("matplotlib").rc_context({"svg.fonttype": "none", "svg.hashsalt": identifier}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{identifier}-", text)
    text = re.sub(r"<svg ", '<svg aria-hidden="true" focusable="false" ', text, count=1)
    return re.sub("|".join(THEMED), lambda match: THEMED[match[0]], text)
