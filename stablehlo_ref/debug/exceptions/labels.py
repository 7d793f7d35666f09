"""Labels: for each exceptional element of a value, the set of sources that it comes from, as bits of a ui64.

A label is 0 for a value without exceptional elements, a number if all its exceptional elements have the same sources,
or an array with 0 for ordinary elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from stablehlo_ref.debug.exceptions.elements import is_float, masks
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.define.definition import definition_of
from stablehlo_ref.diagnostics import StablehloError
from stablehlo_ref.ir.arrays import Array
from stablehlo_ref.ir.core import Block, Operation, Region, Value
from stablehlo_ref.ir.rewrite import clone
from stablehlo_ref.ir.types import ComplexType, FloatType, FunctionType, IntegerType, Type
from stablehlo_ref.numerics.dtypes import UINT64
from stablehlo_ref.passes.element_types import with_replaced
from stablehlo_ref.program import Program

Label: TypeAlias = "int | Array"

_LABEL = IntegerType(64, "u")

# Ops that only move elements: they are run on the numbers of elements. Some keep all of their operands.
KEEPS = frozenset(
    f"stablehlo.{name}" for name in (
        "broadcast", "broadcast_in_dim", "concatenate", "dynamic_broadcast_in_dim", "dynamic_reshape", "reshape",
        "reverse", "transpose",
    )
)  # fmt: skip
MOVES = KEEPS | {
    f"stablehlo.{name}" for name in (
        "dynamic_gather", "dynamic_pad", "dynamic_slice", "dynamic_update_slice", "gather", "pad",
        "real_dynamic_slice", "slice",
    )
}  # fmt: skip
EXACT = MOVES | {"stablehlo.reduce", "stablehlo.dot_general", "stablehlo.optimization_barrier"}
SELECTS = ("stablehlo.select", "arith.select")


def bits_of(label: Label) -> int:
    """Return all sources of a label."""
    return label if isinstance(label, int) else int(np.bitwise_or.reduce(label, axis=None, initial=0))


def compact(labels: Array) -> Label:
    """Return an array of labels as one number, if all that are not 0 are equal."""
    every = bits_of(labels)
    return every if np.all((labels == 0) | (labels == every)) else labels


def expanded(label: Label, value: Any) -> Array:
    """Return the label of an array of floats as an array; 0 for other values."""
    if not is_float(value) or (isinstance(label, int) and not label):
        return np.zeros(np.shape(value), UINT64)
    if isinstance(label, int):
        return np.asarray(np.where(masks(value).any, UINT64.type(label), UINT64.type(0)))
    return np.asarray(label)


def only_label(op: Operation, labels: Sequence[Label]) -> int:
    """Return the sources of all exceptional elements, if all are moved and kept, and have the same; else 0."""
    different = {label for label in labels if isinstance(label, int) and label}
    is_uniform = len(different) == 1 and all(isinstance(label, int) for label in labels)
    return different.pop() if is_uniform and op.name in KEEPS else 0


def carried(op: Operation, operands: Sequence[Any], labels: Sequence[Array]) -> list[Array]:
    """Return for each result what sources its elements would have, were they exceptional.

    Arrays broadcast to the shapes of the results. For ops that are not elementwise nor `EXACT`, each element has the
    sources of all operands.
    """
    definition = definition_of(op)
    exact: list[Array] | None = None
    if op.name in SELECTS:
        exact = [np.where(np.asarray(operands[0]), labels[1], labels[2])]
    elif op.name == "stablehlo.optimization_barrier":
        exact = list(labels)
    elif definition is not None and definition.traits.elementwise:
        exact = [merged(labels)]
    elif op.name == "stablehlo.reduce":
        exact = _reduced(op, labels)
    elif op.name == "stablehlo.dot_general":
        exact = _multiplied(op, labels)
    if exact is not None:
        return exact
    every = UINT64.type(sum_of_bits(map(bits_of, labels)))
    return [np.asarray(every) for _ in op.results]


def sum_of_bits(numbers: Any) -> int:
    """Return the union of sets of sources."""
    found = 0
    for bits in numbers:
        found |= bits
    return found


def merged(labels: Sequence[Array]) -> Array:
    """Return the union element by element."""
    found = np.asarray(UINT64.type(0))
    for label in labels:
        found = np.bitwise_or(found, label)
    return found


def _reduced(op: Operation, labels: Sequence[Array]) -> list[Array]:
    every = merged([np.bitwise_or.reduce(label, axis=tuple(op.properties["dimensions"])) for label in _inputs(labels)])
    found = merged([every, *labels[len(labels) // 2 :]])
    return [found for _ in op.results]


def _inputs(labels: Sequence[Array]) -> Sequence[Array]:
    return labels[: len(labels) // 2]


def _multiplied(op: Operation, labels: Sequence[Array]) -> list[Array]:
    """Return for each element of a product the union over its row and its column."""
    lhs, rhs = (
        _rows(label, op.properties[f"{side}_batching_dimensions"], op.properties[f"{side}_contracting_dimensions"])
        for side, label in zip(("lhs", "rhs"), labels)
    )
    batch = len(op.properties["lhs_batching_dimensions"])
    free = (1,) * (lhs.ndim - batch)
    lhs = lhs.reshape((*lhs.shape, *(1,) * (rhs.ndim - batch)))
    return [np.bitwise_or(lhs, rhs.reshape((*rhs.shape[:batch], *free, *rhs.shape[batch:])))]


def _rows(labels: Array, batch: Sequence[int], contracting: Sequence[int]) -> Array:
    free = [axis for axis in range(labels.ndim) if axis not in (*batch, *contracting)]
    ordered = np.transpose(labels, (*batch, *free, *contracting))
    kept = len(batch) + len(free)
    return np.asarray(np.bitwise_or.reduce(ordered, axis=tuple(range(kept, labels.ndim))))


def moved(
    op: Operation, operands: Sequence[Any], labels: Sequence[Array], programs: dict[Operation, Program]
) -> tuple[Array, list[Array]] | None:
    """Return the label of the result of an op that moves elements, and which elements of each operand are not in it.

    The op is run on the numbers of the exceptional elements; `programs` keeps its program. None if that fails.
    """
    table, numbers = [np.zeros(1, UINT64)], []
    for value, label in zip(operands, labels):
        given = np.zeros(label.shape, UINT64)
        start = sum(map(len, table))
        given[label != 0] = np.arange(start, start + np.count_nonzero(label), dtype=UINT64)
        table.append(label[label != 0])
        numbers.append(given if is_float(value) else value)
    try:
        if op not in programs:
            programs[op] = _on_labels(op)
        result = np.asarray(programs[op].run(*numbers)[0]).astype(np.intp)
    except StablehloError:
        return None
    every = np.concatenate(table)
    is_left = np.zeros(every.size, bool)
    is_left[result] = True
    gone = [(label != 0) & ~is_left[np.where(label != 0, n, 0).astype(np.intp)] for n, label in zip(numbers, labels)]
    return np.asarray(every[result]), [np.asarray(where) for where in gone]


def _on_labels(op: Operation) -> Program:
    """Return the program of an op with ui64 for all types of floats."""
    arguments = [Value(_label_type(operand.type), None, index) for index, operand in enumerate(op.operands)]
    made = clone(op, {})
    made.operands = list(arguments)
    for result in made.results:
        result.type = _label_type(result.type)
    block = Block(arguments, [made, build_operation("func.return", list(made.results), (), op.location)])
    signature = FunctionType(tuple(a.type for a in arguments), tuple(r.type for r in made.results))
    members = {"sym_name": "main", "function_type": signature, "arg_attrs": (), "res_attrs": ()}
    function = build_operation("func.func", (), (), op.location, members=members, regions=[Region([block])])
    return Program(build_operation("builtin.module", (), (), op.location, regions=[Region([Block([], [function])])]))


def _label_type(type: Type) -> Type:
    return with_replaced(type, lambda t: _LABEL if isinstance(t, FloatType | ComplexType) else t)
