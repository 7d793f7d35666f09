"""The code of ops that read a few elements of a larger tensor, each as a scalar."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import mul
from typing import Any

import numpy as np

from stablehlo_ref.algorithms.indexed_windows import index_components
from stablehlo_ref.execute.fuse.scalar_code import is_plain
from stablehlo_ref.execute.fuse.tensor_code import Ranges, located_slice, shape_of
from stablehlo_ref.ir.core import Operation

SLICES = ("stablehlo.slice", "stablehlo.dynamic_slice")
GATHER = "stablehlo.gather"


def reads_few(op: Operation) -> bool:
    """Return whether there is code for an op whose result has a few elements."""
    if not all(map(is_plain, (*op.operand_types, *op.result_types))):
        return False
    return op.name in SLICES or (op.name == GATHER and _gathered(op) is not None)


def few_elements(
    op: Operation, operands: Sequence[str], known: Sequence[Any], ranges: Ranges, starts: Sequence[str]
) -> list[tuple[str, Sequence[str]]]:
    """Return the statements that read each element, `{r}`, and the names that they refer to by number.

    `starts` are the elements of the start indices of a gather.
    """
    shape = shape_of(op.operands[0])
    if op.name == GATHER:
        return [
            (_gather_code(shape), [operands[0], *(starts[number] for number in numbers)])
            for numbers in _gathered(op) or ()
        ]
    sizes = shape_of(op.results[0])
    if op.name == "stablehlo.slice":
        code, first, strides = "", list(map(str, op.properties["start_indices"])), op.properties["strides"]
    else:
        code, place = located_slice(shape, sizes, known[1:], ranges[1:], 1, is_element=True)
        first, strides = place.split(", "), (1,) * len(sizes)
    places = [", ".join(map(_sum, first, map(mul, index, strides))) for index in np.ndindex(*sizes)]
    return [(f"{'' if n else code}{{r}} = {{0}}[{place}]", operands) for n, place in enumerate(places)]


def _sum(text: str, number: int) -> str:
    return str(int(text) + number) if text.isdigit() else f"{text} + {number}" if number else text


def _gathered(op: Operation) -> list[list[int]] | None:
    """Return which start indices locate each element, by dimension, if an op gathers elements; None for other ops."""
    shape, starts = shape_of(op.operands[0]), shape_of(op.operands[1])
    dims, axis = op.properties["start_index_map"], op.properties["index_vector_dim"]
    if op.properties["offset_dims"] or op.properties["operand_batching_dims"] or 0 in shape:
        return None
    if not shape or sorted(dims) != list(range(len(shape))):
        return None
    numbers = [part.reshape(-1).tolist() for part in index_components(np.arange(prod(starts)).reshape(starts), axis)]
    return [[row[dims.index(d)] for d in range(len(shape))] for row in zip(*numbers)]


def _gather_code(shape: Sequence[int]) -> str:
    code = ""
    for d, size in enumerate(shape):
        code += f"x{d} = index({{{d + 1}}})\nif not 0 <= x{d} < {size}: x{d} = 0 if x{d} < 0 else {size - 1}\n"
    return f"{code}{{r}} = {{0}}[{', '.join(f'x{d}' for d, _ in enumerate(shape))}]"
