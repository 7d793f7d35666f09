"""Rules that put faults into what the devices of a mesh run: into a collective, or the slice that a device takes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import stablehlo_ref as sr
from stablehlo_ref.define.builder import build_operation
from stablehlo_ref.ir.attributes import DenseElements
from stablehlo_ref.ir.core import Operation, Value
from stablehlo_ref.ir.rewrite import Rewriter, clone
from stablehlo_ref.ir.types import TensorType
from stablehlo_ref.passes.emit import dense

MARK = "test.fault"  # an attribute of the op that is wrong, or that a collective is missing after or before
COLLECTIVES = ("all_reduce", "all_gather", "all_to_all", "reduce_scatter", "collective_permute")


class Fault(NamedTuple):
    """A program with a fault, the value that is wrong, and the one of the right program."""

    rule: str
    module: Operation
    wrong: Value
    right: Value


Rule = Callable[[random.Random, Operation, Rewriter], "Value | None"]  # returns the value that is wrong


def _groups(op: Operation) -> np.ndarray[Any, Any] | None:
    groups = op.properties.get("replica_groups")
    return np.array(groups) if isinstance(groups, tuple) and groups else None


def _set_groups(op: Operation, groups: np.ndarray[Any, Any]) -> Value:
    op.properties["replica_groups"] = tuple(map(tuple, groups.tolist()))
    return op.results[0]


def _axis(draw: random.Random, op: Operation, rewriter: Rewriter) -> Value | None:
    """Let groups be along another axis."""
    groups = _groups(op)
    if groups is None or 1 in groups.shape:
        return None
    count, size = groups.shape
    others = [np.arange(groups.size).reshape(count, size), np.arange(groups.size).reshape(size, count).T]
    others = [other for other in others if set(map(frozenset, other.tolist())) != set(map(frozenset, groups.tolist()))]
    return _set_groups(op, draw.choice(others)) if others else None


def _group(draw: random.Random, op: Operation, rewriter: Rewriter) -> Value | None:
    """Exchange two devices of two groups."""
    groups = _groups(op)
    if groups is None or 1 in groups.shape:
        return None
    (i, j), k = draw.sample(range(groups.shape[0]), 2), draw.randrange(groups.shape[1])
    groups[i, k], groups[j, k] = groups[j, k], groups[i, k]
    return _set_groups(op, groups)


def _order(draw: random.Random, op: Operation, rewriter: Rewriter) -> Value | None:
    """Let devices in groups be in another order, or exchange the targets of two pairs."""
    groups = _groups(op)
    if groups is not None and groups.shape[1] > 1 and op.mnemonic != "all_reduce":
        return _set_groups(op, np.roll(groups, 1, 1))
    if op.mnemonic != "collective_permute":
        return None
    pairs = [list(pair) for pair in op.properties["source_target_pairs"]]
    x, y = draw.sample(pairs, 2)
    x[1], y[1] = y[1], x[1]
    op.properties["source_target_pairs"] = tuple(map(tuple, pairs))
    return op.results[0]


def _dimension(draw: random.Random, op: Operation, rewriter: Rewriter) -> Value | None:
    """Gather, scatter or exchange along another dimension; a reshape makes the type that is needed."""
    names = {"all_gather": "all_gather_dim", "reduce_scatter": "scatter_dimension", "all_to_all": "split_dimension"}
    groups = _groups(op)
    if op.mnemonic not in names or groups is None:
        return None
    operand, size = _shape(op.operands[0]), groups.shape[1]
    others = [d for d, n in enumerate(operand) if d != op.properties[names[op.mnemonic]]]
    others = [d for d in others if op.mnemonic == "all_gather" or operand[d] % size == 0]
    if not others or size == 1:
        return None
    made, d, shape = clone(op, {}), draw.choice(others), list(operand)
    made.properties[names[op.mnemonic]] = d
    if op.mnemonic == "all_to_all":
        made.properties["concat_dimension"] = op.properties["split_dimension"]
        shape[op.properties["split_dimension"]] *= size
    shape[d] = shape[d] * size if op.mnemonic == "all_gather" else shape[d] // size
    made.results[0].type = _with_shape(op.results[0], shape)
    made.attributes[MARK] = True
    rewriter.insert_before(op, made)
    return _reshaped(op, made.results[0], rewriter, marks=False)


def _offset(draw: random.Random, op: Operation, rewriter: Rewriter) -> Value | None:
    """Let devices take the slices of others: change the table that a slice looks its offset up in."""
    if op.mnemonic != "dynamic_slice" or len(op.operands) < 2:
        return None
    for start in op.operands[1:]:
        owner = start.owner
        lookup = owner.operands[0].owner if isinstance(owner, Operation) and owner.name == "stablehlo.reshape" else None
        table = lookup.operands[0] if isinstance(lookup, Operation) else None
        if table is not None and len(rewriter.uses(start)) == 1 and isinstance(table.owner, Operation):
            value = table.owner.properties["value"]
            assert isinstance(value, DenseElements) and isinstance(value.type, TensorType)
            rolled = np.roll(value.array, draw.randrange(1, value.array.size))
            if np.array_equal(rolled, value.array):
                return None
            table.owner.properties["value"] = dense(value.type, rolled)
            return op.results[0]
    return None


def _swapped(draw: random.Random, op: Operation, rewriter: Rewriter) -> Value | None:
    """Exchange the groups of a collective with those of a later one."""
    groups, ops = _groups(op), op.parent.operations if op.parent else []
    for other in ops[ops.index(op) + 1 :]:
        others = _groups(other)
        if groups is not None and others is not None and others.shape == groups.shape and (others != groups).any():
            _set_groups(other, groups)
            other.attributes[MARK] = op.attributes[MARK] = True
            return _set_groups(op, others)
    return None


def _missing(draw: random.Random, op: Operation, rewriter: Rewriter) -> Value | None:
    """Leave a collective out: each device has its own operand in the place of the result."""
    operand, result = op.operands[0], op.results[0]
    for other in (operand.owner, *(user for user, _ in rewriter.uses(result))):
        if isinstance(other, Operation):
            other.attributes[MARK] = True
    if op.mnemonic in ("all_reduce", "collective_permute"):
        rewriter.replace(op, [operand])
        return operand
    if op.mnemonic == "all_gather":
        groups = _groups(op)
        assert groups is not None
        members = {"dimension": op.properties["all_gather_dim"]}
        return _replaced(op, "concatenate", [operand] * groups.shape[1], rewriter, members)
    if op.mnemonic == "all_to_all":
        return _reshaped(op, operand, rewriter, marks=True)
    if op.mnemonic == "reduce_scatter":
        limits = _shape(result)
        ranges = {"start_indices": (0,) * len(limits), "limit_indices": limits, "strides": (1,) * len(limits)}
        return _replaced(op, "slice", [operand], rewriter, ranges)
    return None


RULES: dict[str, Rule] = {
    "axis": _axis, "group": _group, "order": _order, "dimension": _dimension, "offset": _offset,
    "swapped groups": _swapped, "missing": _missing,
}  # fmt: skip


def _shape(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return tuple(n or 0 for n in value.type.shape)


def _with_shape(value: Value, shape: Sequence[int]) -> TensorType:
    assert isinstance(value.type, TensorType)
    return TensorType(tuple(shape), value.type.element_type)


def _replaced(
    op: Operation,
    name: str,
    operands: Sequence[Value],
    rewriter: Rewriter,
    members: dict[str, object],
    marks: bool = True,
) -> Value:
    made = build_operation(f"stablehlo.{name}", operands, op.result_types, op.location, members=members)
    made.attributes |= {MARK: True} if marks else {}
    rewriter.insert_before(op, made)
    rewriter.replace(op, made.results)
    return made.results[0]


def _reshaped(op: Operation, value: Value, rewriter: Rewriter, marks: bool) -> Value:
    return _replaced(op, "reshape", [value], rewriter, {}, marks)


def live(program: sr.Program) -> list[Operation]:
    """Return the ops of the entry that its results depend on."""
    function = program.module.regions[0].block.symbol("main")
    assert function is not None
    *ops, terminator = function.regions[0].block.operations
    needed, found = set(terminator.operands), []
    for op in reversed(ops):
        if needed.intersection(op.results):
            needed.update(op.operands)
            found.append(op)
    return found[::-1]


def fault_in(local: sr.Program, rule: str, draw: random.Random) -> Fault | None:
    """Return a copy of a program with a fault of a rule in an op that is drawn; None if none of its ops can have it."""
    names = {f"stablehlo.{name}" for name in (*COLLECTIVES, "dynamic_slice")}
    places = [op for op in live(local) if op.name in names]
    for place in draw.sample(places, len(places)):
        mapping: dict[Value, Value] = {}
        module = clone(local.module, mapping)
        op = mapping[place.results[0]].owner
        assert isinstance(op, Operation)
        with Rewriter(module) as rewriter:
            wrong = RULES[rule](draw, op, rewriter)
        if wrong is not None:
            if not any(MARK in each.attributes for each in module.walk()):
                op.attributes[MARK] = True
            return Fault(rule, module, wrong, place.results[0])
    return None
