"""Compare sdy.manual_computation with its oracle: meshes in any device order, dimensions split over any axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.strategies import arrays, same
from stablehlo_ref.ir.types import tensor_type
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import sdy as oracle

Array = np.ndarray[Any, np.dtype[Any]]
INT32 = np.dtype(np.int32)


Names = tuple[tuple[str, ...], ...]  # of the axes that split each dimension


def axes_of(sharding: Names, mesh: dict[str, int]) -> oracle.Sharding:
    """Return a sharding by whole axes as the oracle takes it."""
    return [[(name, 1, mesh[name]) for name in names] for names in sharding]


def sharding_text(sharding: Names, mesh: str = "@mesh") -> str:
    return f"<{mesh}, [{', '.join('{' + ', '.join(map(quoted, names)) + '}' for names in sharding)}]>"


def quoted(name: str) -> str:
    return f'"{name}"'


def type_text(shape: tuple[int, ...]) -> str:
    return str(tensor_type(shape, element_type_of(INT32)))


@st.composite
def shardings(draw: st.DrawFn, names: list[str], manual: list[str], rank: int) -> Names:
    """Draw some of the axes, each of which splits one dimension; manual axes come first."""
    chosen = sorted(draw(st.permutations(names)), key=lambda name: name not in manual)
    place = {name: draw(st.integers(0, rank)) for name in names}  # `rank` for an axis that splits no dimension
    return tuple(tuple(name for name in chosen if place[name] == d) for d in range(rank))


@settings(max_examples=80, deadline=None)
@given(data=st.data(), sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_manual_computation(data: st.DataObject, sizes: list[int]) -> None:
    """Each device doubles its part and, if no other device has the same part, adds its own number."""
    mesh = dict(zip("xyz", sizes))
    count = int(np.prod(sizes))
    ids = data.draw(st.permutations(range(count)))
    manual = [name for name in mesh if data.draw(st.booleans())]
    rank = data.draw(st.integers(1, 3))
    sharding = data.draw(shardings(list(mesh), manual, rank))
    split = [int(np.prod([mesh[name] for name in names], dtype=int)) for names in sharding]
    shape = tuple(n * data.draw(st.integers(0, 2)) for n in split)
    tensor = data.draw(arrays(INT32, shape))
    is_own = {name for names in sharding for name in names if name in manual} >= {n for n in mesh if mesh[n] > 1}
    (actual,) = run(tensor, mesh, ids, manual, sharding, is_own)
    axes = axes_of(sharding, mesh)
    with np.errstate(all="ignore"):
        (expected,) = oracle.manual_computation(
            (tensor,), [axes], [axes], manual,
            lambda parts: {d: (part * 2 + (np.int32(d) if is_own else 0),) for d, (part,) in parts.items()},
            mesh=mesh, device_ids=ids, results=[(shape, INT32)],
        )  # fmt: skip
    assert same(actual, expected), f"{tensor} {mesh} {ids} {manual} {sharding}: {actual}, not {expected}"


def run(tensor: Array, mesh: dict[str, int], ids: Any, manual: list[str], sharding: Names, adds_number: bool) -> Any:
    whole, text = type_text(tensor.shape), sharding_text(sharding)
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.items())
    inline = sharding_text(sharding, f"mesh<[{axes}], device_ids={list(ids)}>")
    _, local = oracle.where(tensor.shape, axes_of(sharding, mesh), dict.fromkeys(manual, 0), mesh)
    part = type_text(local)
    number = f"""%n = stablehlo.partition_id : tensor<ui32>
      %i = stablehlo.convert %n : (tensor<ui32>) -> tensor<i32>
      %b = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> {part}
      %r = stablehlo.add %d, %b : {part}"""
    names = "{" + ", ".join(map(quoted, manual)) + "}"
    program = sr.load(f"""
    sdy.mesh @mesh = <[{axes}], device_ids={list(ids)}>
    func.func @main(%x: {whole}) -> {whole} {{
      %0 = sdy.manual_computation(%x) in_shardings=[{text}] out_shardings=[{inline}] manual_axes={names} (%p: {part}) {{
        %d = stablehlo.add %p, %p : {part}
        {number if adds_number else ""}
        sdy.return {"%r" if adds_number else "%d"} : {part}
      }} : ({whole}) -> {whole}
      return %0 : {whole}
    }}""")
    return program.run(tensor)
