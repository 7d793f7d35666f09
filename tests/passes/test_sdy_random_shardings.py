"""Generated programs with random shardings compute the same on shards as without shardings."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from spec_checks.examples import FACTOR
from stablehlo_ref.conform.cases import case
from stablehlo_ref.ir.attributes import OpaqueAttribute
from stablehlo_ref.ir.types import FunctionType, TensorType, Type
from stablehlo_ref.passes.sdy.sharding_rules import RULES
from stablehlo_ref.program import Program
from stablehlo_ref.semantics.sdy import box, coordinates, where

MESH = {"x": 2, "y": 2}
PLACES = coordinates(MESH, range(prod(MESH.values())))
Layout = list[list[tuple[str, int, int]]]  # the axes that split each dimension
RULED = [op.definition.mnemonic for op in RULES]
ELEMENTWISE = ("add", "select", "clamp", "compare", "convert", "bitcast_convert")
OPS = [f"op/stablehlo.{op}" for op in (*RULED, *ELEMENTWISE)]
# Shardings know shapes alone, so that one element type is enough for the programs of many shapes, number 1, everyday.
KINDS = ("f32/0", "f32/1", "i32/0", *(["i32/1"] if FACTOR else []))
NAMES = [f"{op}/{kind}" for op in OPS for kind in KINDS]


def drawn(rng: random.Random, type: Type) -> Layout:
    """Return a random layout of a tensor."""
    layout: Layout = [[] for _ in type.shape] if isinstance(type, TensorType) else []
    for name in rng.sample(list(MESH), 2):
        if layout and rng.random() < 0.75:
            rng.choice(layout).append((name, 1, MESH[name]))
    return layout


def text(layout: Layout) -> str:
    dimensions = ", ".join(f"{{{', '.join(f'{chr(34)}{name}{chr(34)}' for name, _, _ in axes)}}}" for axes in layout)
    return f"<@mesh, [{dimensions}]>"


def shard(x: np.ndarray[Any, Any], layout: Layout, at: Mapping[str, int]) -> np.ndarray[Any, Any]:
    """Return a device's shard of an array, with zeros at the end."""
    sizes = [-(-n // prod(size for _, _, size in axes)) for n, axes in zip(x.shape, layout)]
    made = np.zeros(sizes, x.dtype)
    indices, shape = where(x.shape, layout, dict(at), MESH)
    made[box(x.shape, layout, dict(at), MESH)] = np.array([x[i] for i in indices], x.dtype).reshape(shape)
    return made


def with_shardings(program: Program, rng: random.Random) -> tuple[Program, list[Layout], list[Layout]]:
    """Return a program with random shardings of arguments, results and most values in between."""
    (function,) = program.module.regions[0].block.operations
    declared = function.properties["function_type"]
    assert isinstance(declared, FunctionType)
    sides = [[drawn(rng, type) for type in types] for types in (declared.inputs, declared.outputs)]
    for name, layouts in zip(("arg_attrs", "res_attrs"), sides):
        function.properties[name] = tuple({"sdy.sharding": OpaqueAttribute(f"#sdy.sharding{text(x)}")} for x in layouts)
    for op in function.regions[0].block.operations:
        if op.results and all(isinstance(type, TensorType) for type in op.result_types) and rng.random() < 0.8:
            shardings = ", ".join(text(drawn(rng, type)) for type in op.result_types)
            op.attributes = {"sdy.sharding": OpaqueAttribute(f"#sdy.sharding_per_value<[{shardings}]>")}
    mesh = 'sdy.mesh @mesh = <["x"=2, "y"=2]>'
    return sr.load(str(program).replace("module {", f"module {{\n{mesh}", 1)), sides[0], sides[1]


def agree(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    """Whether results are the same, up to another order of the terms of sums."""
    if actual.dtype.kind in "biu":
        return bool((actual == expected).all())
    rtol = {1: 0.5, 2: 0.02}.get(actual.dtype.itemsize, 1e-5)  # terms that are rounded one by one
    actual, expected = actual.astype(np.complex128), expected.astype(np.complex128)
    largest = np.nanmax(np.abs(np.where(np.isfinite(expected), expected, 0)), initial=0)
    return np.allclose(actual, expected, rtol=rtol, atol=rtol * largest, equal_nan=True)


@pytest.mark.many_examples
@pytest.mark.parametrize("name", [*NAMES, *(f"chain/5/{n}" for n in range(20))])
def test_results_do_not_depend_on_shardings(name: str) -> None:
    found = case(name)
    if found is None or found.needs:
        pytest.skip("there is no such program")
    if re.search("(unique_indices|indices_are_sorted) = true", found.text):
        pytest.skip("the inputs may not be what the program promises")
    if re.search(r"\^bb0\(.*!quant.*\n.*(add|multiply) ", found.text):
        pytest.skip("each step of a sum or product of quantized tensors rounds, so that the order of terms counts")
    program = sr.load(found.text)
    types = [p.type for p in (*program.inputs, *program.outputs)]
    is_of_one_process = re.search("partition_id|replica_id", found.text) is None and len(program.functions) == 1
    if not is_of_one_process or not all(isinstance(type, TensorType) and type.is_static for type in types):
        pytest.skip("the program has values that cannot be sharded")
    arrays, expected = [np.asarray(x) for x in found.inputs], program.run(*found.inputs)
    sharded, inputs, outputs = with_shardings(program, random.Random(name))
    rows: Sequence[Sequence[Any]] = [list(map(shard, arrays, inputs, [at] * len(arrays))) for at in PLACES.values()]
    results = sharded.run_parallel(rows, num_partitions=len(rows))
    for number, (whole, layout) in enumerate(zip(map(np.asarray, expected), outputs)):
        for device, at in PLACES.items():
            place = box(whole.shape, layout, at, MESH)
            actual = np.asarray(results[device][number])[place]
            part = shard(whole, layout, at)[place]
            assert agree(actual, part), f"{sharded}\nresult {number} of device {device}: {actual}, expected {part}"
