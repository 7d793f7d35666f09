"""Compare MLIR's shape dialect with its oracles: `!shape.shape` or tensors, `!shape.size` or indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks.examples import examples
from spec_checks.strategies import shapes
from stablehlo_ref.semantics import shape as oracle

MANY = examples(everyday=20, all=60)
SIZES = st.integers(0, 9) | st.sampled_from([-1, 2**31, 2**32, 2**62, 2**63 - 1])
OPAQUE = st.booleans()  # whether a value has a type of the dialect, or else is a tensor of indices or an index


def shape_type(sizes: Any, opaque: bool) -> str:
    return "!shape.shape" if opaque else f"tensor<{len(sizes)}xindex>"


def known_shape(name: str, sizes: Any, opaque: bool) -> str:
    return f"{name} = shape.const_shape [{', '.join(map(str, sizes))}] : {shape_type(sizes, opaque)}\n"


def known_size(name: str, size: int, opaque: bool) -> str:
    return f"{name} = shape.const_size {size}\n" if opaque else f"{name} = arith.constant {size} : index\n"


def size_type(opaque: bool) -> str:
    return "!shape.size" if opaque else "index"


CONVERSIONS = {
    "!shape.shape": "%s = shape.to_extent_tensor %r : !shape.shape -> {0}\n",
    "!shape.size": "%i = shape.size_to_index %r : !shape.size\n%s = tensor.from_elements %i : {0}\n",
    "index": "%s = tensor.from_elements %r : {0}\n",
    "i1": "%i = arith.index_castui %r : i1 to index\n%s = tensor.from_elements %i : {0}\n",
}


def run(text: str, type: str, count: int = 1) -> Any:
    """Return the numbers in the value `%r` of a program: a shape, size or boolean; None for an error value."""
    tensor = f"tensor<{count}xindex>"
    text += CONVERSIONS.get(type, f"%s = tensor.cast %r : {type} to {{0}}\n").format(tensor)
    result = tensor.replace("index", "i64")
    text += f"%t = arith.index_cast %s : {tensor} to {result}\nreturn %t : {result}"
    try:
        (array,) = sr.load(f"func.func @main() -> {result} {{\n{text}\n}}").run()
    except sr.EvaluationError:
        return None
    return tuple(array.tolist())


def shapes_text(all_sizes: list[Any], opaque: list[bool]) -> tuple[str, str, str]:
    """Return the text of constants `%s0`, `%s1`, ..., their names and their types."""
    text = "".join(known_shape(f"%s{i}", s, o) for i, (s, o) in enumerate(zip(all_sizes, opaque)))
    return text, ", ".join(f"%s{i}" for i in range(len(opaque))), ", ".join(map(shape_type, all_sizes, opaque))


some_shapes = st.lists(
    st.tuples(st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3), OPAQUE), min_size=2, max_size=3
)


# --- shapes ---------------------------------------------------------------------------------------------------------


@MANY
@given(pairs=some_shapes)
def test_broadcast(pairs: Any) -> None:
    all_sizes, opaque = map(list, zip(*pairs))
    text, names, types = shapes_text(all_sizes, opaque)
    expected = oracle.broadcast(*map(tuple, all_sizes))
    rank = max(map(len, all_sizes))
    result = "!shape.shape" if any(opaque) else f"tensor<{rank}xindex>"
    assert run(f"{text}%r = shape.broadcast {names} : {types} -> {result}\n", result, rank) == expected


@pytest.mark.parametrize("op", ["is_broadcastable", "shape_eq"])
@MANY
@given(pairs=some_shapes)
def test_predicates(op: str, pairs: Any) -> None:
    text, names, types = shapes_text(*map(list, zip(*pairs)))
    expected = getattr(oracle, op)(*[tuple(sizes) for sizes, _ in pairs])
    assert run(f"{text}%r = shape.{op} {names} : {types}\n", "i1") == (expected,)


@pytest.mark.parametrize("op", ["cstr_broadcastable", "cstr_eq"])
@MANY
@given(pairs=some_shapes)
def test_constraint_ops(op: str, pairs: Any) -> None:
    text, names, types = shapes_text(*map(list, zip(*pairs)))
    text += f"%w = shape.{op} {names} : {types}\n%v = shape.assuming_all %w, %w\n"
    text += "%r = shape.assuming %v -> (index) {\n%o = arith.constant 7 : index\nshape.assuming_yield %o : index\n}\n"
    holds = getattr(oracle, op)(*[tuple(sizes) for sizes, _ in pairs])
    assert run(text, "index") == ((7,) if holds else None)


@MANY
@given(
    lhs=st.lists(SIZES, max_size=3), rhs=st.lists(SIZES, max_size=3), opaque=st.lists(OPAQUE, min_size=3, max_size=3)
)
def test_concat(lhs: Any, rhs: Any, opaque: tuple[bool, ...]) -> None:
    text, names, types = shapes_text([lhs, rhs], [*opaque[:2]])
    result = shape_type(lhs + rhs, opaque[2])
    expected = oracle.concat(tuple(lhs), tuple(rhs))
    assert run(f"{text}%r = shape.concat {names} : {types} -> {result}\n", result, len(lhs + rhs)) == expected


@MANY
@given(sizes=st.lists(SIZES, max_size=3), index=st.integers(-4, 4), opaque=OPAQUE, part=st.integers(0, 1))
def test_split_at(sizes: Any, index: int, opaque: bool, part: int) -> None:
    text = known_shape("%s0", sizes, opaque) + known_size("%i0", index, opaque)
    result = "!shape.shape" if opaque else "tensor<?xindex>"
    operands = f"({shape_type(sizes, opaque)}, {size_type(opaque)})"
    text += f'%p:2 = "shape.split_at"(%s0, %i0) : {operands} -> ({result}, {result})\n'
    expected = oracle.split_at(tuple(sizes), index)[part]
    convert = f"%r = shape.concat %p#{part}, %e : {result}, {shape_type([], opaque)} -> {result}\n"
    text += known_shape("%e", [], opaque) + convert
    assert run(text, result, len(expected or ())) == expected


@MANY
@given(sizes=st.lists(SIZES, max_size=3))
def test_conversions_between_shape_types(sizes: Any) -> None:
    tensor = shape_type(sizes, False)
    text = (
        known_shape("%s0", sizes, False)
        + f"""%a = shape.from_extent_tensor %s0 : {tensor}
      %b = shape.to_extent_tensor %a : !shape.shape -> {tensor}
      %r = shape.value_as_shape %b : {tensor} -> !shape.shape
    """
    )
    same_sizes = oracle.value_as_shape(oracle.to_extent_tensor(oracle.from_extent_tensor(tuple(sizes))))
    assert run(text, "!shape.shape", len(sizes)) == same_sizes


@MANY
@given(sizes=st.lists(SIZES, max_size=3), opaque=OPAQUE)
def test_constants(sizes: Any, opaque: bool) -> None:
    expected = oracle.const_shape(tuple(sizes))
    assert run(known_shape("%r", sizes, opaque), shape_type(sizes, opaque), len(sizes)) == expected
    for size in sizes:
        assert run(known_size("%r", size, True), "!shape.size") == (oracle.const_size(size),)


@MANY
@given(sizes=st.lists(SIZES, max_size=3))
def test_from_extents(sizes: Any) -> None:
    text = "".join(known_size(f"%i{i}", n, False) for i, n in enumerate(sizes))
    names = ", ".join(f"%i{i}" for i in range(len(sizes)))
    text += f"%r = shape.from_extents {names} : {', '.join(['index'] * len(sizes))}\n"
    assert run(text, "!shape.shape", len(sizes)) == oracle.from_extents(*sizes)


# --- sizes ----------------------------------------------------------------------------------------------------------


def only(expected: Any) -> Any:
    return None if expected is None else (expected,)


@pytest.mark.parametrize("op", ["num_elements", "rank"])
@MANY
@given(sizes=st.lists(SIZES, max_size=3), opaque=OPAQUE)
def test_num_elements_and_rank(op: str, sizes: Any, opaque: bool) -> None:
    text = known_shape("%s0", sizes, opaque)
    text += f"%r = shape.{op} %s0 : {shape_type(sizes, opaque)} -> {size_type(opaque)}\n"
    assert run(text, size_type(opaque)) == only(getattr(oracle, op)(tuple(sizes)))


@MANY
@given(sizes=st.lists(SIZES, max_size=3), index=st.integers(-2, 4), opaque=OPAQUE)
def test_get_extent(sizes: Any, index: int, opaque: bool) -> None:
    text = known_shape("%s0", sizes, opaque) + known_size("%i0", index, opaque)
    types = f"{shape_type(sizes, opaque)}, {size_type(opaque)}"
    text += f"%r = shape.get_extent %s0, %i0 : {types} -> {size_type(opaque)}\n"
    assert run(text, size_type(opaque)) == only(oracle.get_extent(tuple(sizes), index))


@MANY
@given(sizes=shapes(), index=st.integers(-2, 4), opaque=OPAQUE)
def test_shape_of_and_dim(sizes: Any, index: int, opaque: bool) -> None:
    tensor = np.zeros(sizes, np.float32)
    type = f"tensor<{''.join(f'{n}x' for n in sizes)}f32>"
    head = f"%x = stablehlo.constant dense<0.0> : {type}\n"
    text = head + f"%r = shape.shape_of %x : {type} -> {shape_type(sizes, opaque)}\n"
    assert run(text, shape_type(sizes, opaque), len(sizes)) == oracle.shape_of(tensor)
    text = head + known_size("%i0", index, opaque)
    text += f"%r = shape.dim %x, %i0 : {type}, {size_type(opaque)} -> {size_type(opaque)}\n"
    assert run(text, size_type(opaque)) == only(oracle.dim(tensor, index))


@pytest.mark.parametrize("op", ["add", "mul", "div"])
@MANY
@given(lhs=SIZES, rhs=SIZES, opaque=st.lists(OPAQUE, min_size=2, max_size=2))
def test_arithmetic(op: str, lhs: int, rhs: int, opaque: list[bool]) -> None:
    text = known_size("%i0", lhs, opaque[0]) + known_size("%i1", rhs, opaque[1])
    types = f"{size_type(opaque[0])}, {size_type(opaque[1])}"
    result = size_type(any(opaque))
    text += f"%r = shape.{op} %i0, %i1 : {types} -> {result}\n"
    assert run(text, result) == only(getattr(oracle, op)(lhs, rhs))


@pytest.mark.parametrize("op", ["max", "min"])
@MANY
@given(lhs=st.lists(SIZES, max_size=3), rhs=st.lists(SIZES, max_size=3))
def test_max_and_min(op: str, lhs: Any, rhs: Any) -> None:
    choose: Callable[..., Any] = getattr(oracle, op)
    text, names, types = shapes_text([lhs, rhs], [True, True])
    text += f"%r = shape.{op} {names} : {types} -> !shape.shape\n"
    assert run(text, "!shape.shape", len(lhs)) == choose(tuple(lhs), tuple(rhs))
    if lhs and rhs:
        text = known_size("%i0", lhs[0], True) + known_size("%i1", rhs[0], True)
        text += f"%r = shape.{op} %i0, %i1 : !shape.size, !shape.size -> !shape.size\n"
        assert run(text, "!shape.size") == choose((lhs[0],), (rhs[0],))


@MANY
@given(size=SIZES)
def test_conversions_between_sizes_and_indices(size: int) -> None:
    text = known_size("%i0", size, False) + "%a = shape.index_to_size %i0\n%b = shape.size_to_index %a : !shape.size\n"
    text += "%r = shape.index_to_size %b\n"
    assert run(text, "!shape.size") == (oracle.size_to_index(oracle.index_to_size(size)),)
