"""Collectives on shards, by the pass that converts them to StableHLO's and by the element-by-element definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.semantics.sdy import box, coordinates, number_along, on_shards, where

Axis = tuple[str, int, int]  # a part of an axis: name, product of the parts before, size
COMBINE: dict[str, Callable[..., np.ndarray]] = {"": np.add, "max": np.maximum, "min": np.minimum}
MOVES = ("all_gather", "all_slice", "all_to_all", "collective_permute", "reshard")
REDUCTIONS = ("all_reduce", "reduce_scatter")
TO_TERMS = ("sharded_to_unreduced", "replicated_to_unreduced")


class Drawn:
    """A mesh with the parts of its axes in random order, and the shape of a tensor."""

    def __init__(self, rng: np.random.Generator, is_even: bool) -> None:
        self.rng = rng
        choices = [[2], [4], [2, 2], [2, 3], [4, 2], [2, 4], [3, 4], [2, 2, 2]]
        sizes = choices[rng.integers(len(choices))]
        self.mesh = dict(zip("xyz", sizes))
        self.device_ids = list(range(prod(sizes))) if rng.random() < 0.5 else rng.permutation(prod(sizes)).tolist()
        parts: list[Axis] = []
        for name, size in self.mesh.items():
            parts += [(name, 1, 2), (name, 2, 2)] if size == 4 and rng.random() < 0.5 else [(name, 1, size)]
        self.parts = self.shuffled(parts)
        self.shape = tuple(prod(sizes) if is_even else int(rng.integers(1, 9)) for _ in range(2))

    def shuffled(self, parts: Sequence[Axis]) -> list[Axis]:
        return [parts[i] for i in self.rng.permutation(len(parts))]

    def dealt(self, parts: Sequence[Axis]) -> list[list[Axis]]:
        """Return a list of parts for each dimension."""
        dimensions: list[list[Axis]] = [[] for _ in self.shape]
        for part in parts:
            dimensions[self.rng.integers(len(dimensions))].append(part)
        return dimensions

    def text(self, axes: Sequence[Axis]) -> str:
        names = [f'"{n}"' + ("" if size == self.mesh[n] else f":({low}){size}") for n, low, size in merged(axes)]
        return f"{{{', '.join(names)}}}"

    def lists(self, dimensions: Sequence[Sequence[Axis]]) -> str:
        return f"[{', '.join(map(self.text, dimensions))}]"

    def sorted(self, axes: Sequence[Axis]) -> list[Axis]:
        return sorted(axes, key=lambda part: (list(self.mesh).index(part[0]), part[1]))


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """Return parts with those that follow each other within an axis as one."""
    found: list[Axis] = []
    for name, low, size in axes:
        if found and found[-1][0] == name and found[-1][1] * found[-1][2] == low:
            found[-1] = (name, found[-1][1], found[-1][2] * size)
        else:
            found.append((name, low, size))
    return found


def both(few: list[list[Axis]], more: list[list[Axis]]) -> list[list[Axis]]:
    return [[*x, *y] for x, y in zip(few, more)]


class Case:
    """A program of one op: shardings before and after, the axes along which terms are combined, and how."""

    def __init__(self, op: str, d: Drawn) -> None:
        cut = int(d.rng.integers(1, len(d.parts) + 1))
        moved, kept = d.parts[:cut], d.parts[cut:]
        few, more = d.dealt(kept), d.dealt(moved)
        self.before, self.after = few, few
        self.reduced: list[Axis] = []  # of the operand
        self.left: list[Axis] = []  # of the result
        self.how = ""
        axes = d.lists(more)
        match op:
            case "all_gather" | "sharded_to_unreduced":
                self.before = both(few, more)
                self.left = d.sorted(moved) if op == "sharded_to_unreduced" else []
            case "all_slice":
                self.after = both(few, more)
            case "all_to_all":
                source, target = d.rng.permutation(len(d.shape))[:2].tolist()
                self.before, self.after = (
                    [[*x, *(moved if i == place else [])] for i, x in enumerate(few)] for place in (source, target)
                )
                axes = f"[{d.text(moved)}: {source}->{target}]"
            case "collective_permute":
                others = d.shuffled(d.parts)
                swapped = {
                    part: others.pop(next(i for i, x in enumerate(others) if x[2] == part[2])) for part in d.parts
                }
                self.before, axes = more, ""
                self.after = [[swapped[part] for part in parts] for parts in more]
            case "reshard":
                self.before, self.after, axes = more, d.dealt(d.shuffled(d.parts)), "<@mesh, {}>"
            case "replicated_to_unreduced":
                self.left = d.sorted(moved)
                axes = d.text(self.left)
            case "all_reduce" | "reduce_scatter":
                self.how = str(d.rng.choice(list(COMBINE)))
                self.reduced = d.sorted(moved)
                self.after = both(few, more) if op == "reduce_scatter" else few
                axes = f"{self.how} {axes if op == 'reduce_scatter' else d.text(self.reduced)}"
        shape = f"tensor<{'x'.join(map(str, d.shape))}xi32>"
        mesh = (
            f"<[{', '.join(f'{chr(34)}{n}{chr(34)}={size}' for n, size in d.mesh.items())}], device_ids={d.device_ids}>"
        )
        given = d.lists(self.before) + (f", unreduced={self.how}{d.text(self.reduced)}" if self.reduced else "")
        result = d.lists(self.after) + (f", unreduced={d.text(self.left)}" if self.left else "")
        op = f"reshard %x <@mesh, {result}>" if op == "reshard" else f"{op} {axes} %x out_sharding=<@mesh, {result}>"
        self.text = f"""
sdy.mesh @mesh = {mesh}
func.func @main(%x: {shape} {{sdy.sharding = #sdy.sharding<@mesh, {given}>}})
    -> ({shape} {{sdy.sharding = #sdy.sharding<@mesh, {result}>}}) {{
  %0 = sdy.{op} : {shape}
  return %0 : {shape}
}}"""


def shards_of(d: Drawn, case: Case) -> dict[int, np.ndarray]:
    """Return random shards: devices with the same term of the tensor have the same, with others beyond its end."""
    count = prod(size for _, _, size in case.reduced)
    terms = d.rng.integers(-9, 10, (count, *d.shape), dtype=np.int32)
    shards = {}
    for device, at in coordinates(d.mesh, d.device_ids).items():
        sizes = [-(-n // prod(size for _, _, size in axes)) for n, axes in zip(d.shape, case.before)]
        shards[device] = np.full(sizes, 77 + device, np.int32)
        term = terms[number_along(case.reduced, at, d.mesh)]
        indices, shape = where(d.shape, case.before, at, d.mesh)
        values = np.array([term[index] for index in indices], np.int32).reshape(shape)
        shards[device][box(d.shape, case.before, at, d.mesh)] = values
    return shards


@pytest.mark.parametrize("is_even", [True, False], ids=["even", "padded"])
@pytest.mark.parametrize("op", (*MOVES, *REDUCTIONS, *TO_TERMS))
def test_shards_are_those_of_the_definition(op: str, is_even: bool) -> None:
    for seed in range(25):
        d = Drawn(np.random.default_rng(seed), is_even)
        case = Case(op, d)
        shards = shards_of(d, case)
        rows = sr.load(case.text).run_parallel([[shards[i]] for i in range(len(shards))], num_partitions=len(shards))
        found = {device: result for device, (result,) in enumerate(rows)}
        facts = {"shape": d.shape, "mesh": d.mesh, "device_ids": d.device_ids}
        expected = on_shards(shards, case.before, case.after, case.reduced, COMBINE[case.how], **facts)
        if case.left:
            found = on_shards(found, case.after, case.after, case.left, np.add, **facts)
        for device, at in coordinates(d.mesh, d.device_ids).items():
            actual = found[device][box(d.shape, case.after, at, d.mesh)]
            np.testing.assert_array_equal(actual, expected[device], err_msg=f"seed {seed}, device {device}:{case.text}")
