"""Compare deprecated ops with their oracles."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stablehlo_ref as sr
from spec_checks import bounds_of_results as bounds
from spec_checks.evaluate import evaluate
from spec_checks.running_error import within
from spec_checks.strategies import ALL, BOOLEANS, INTEGERS, NUMBERS, arrays, dtypes, same, shapes
from spec_checks.test_distribution import check, grids, groups_of, operands_of
from spec_checks.test_distribution import evaluate as evaluate_on_grid
from stablehlo_ref.diagnostics import EvaluationError
from stablehlo_ref.semantics import deprecated as oracle

MANY = settings(max_examples=60, deadline=None)
SUMMABLE = tuple(dtype for dtype in NUMBERS if dtype.name != "float8_e8m0fnu") + BOOLEANS  # float8_e8m0fnu has no zero
EXACT = INTEGERS + BOOLEANS  # whose sums are the same in any order
SIZES = st.lists(st.integers(0, 3), min_size=5, max_size=5)


@MANY
@given(data=st.data())
def test_broadcast(data: st.DataObject) -> None:
    operand = data.draw(arrays(data.draw(dtypes(ALL)), data.draw(shapes(max_rank=2))))
    sizes = data.draw(shapes(max_rank=2))
    assert same(evaluate("broadcast", operand, broadcast_sizes=sizes), oracle.broadcast(operand, sizes))


@MANY
@given(data=st.data())
def test_cross_replica_sum(data: st.DataObject) -> None:
    grid = data.draw(grids())
    groups, dtype = data.draw(groups_of(grid.num_replicas, even=False)), data.draw(dtypes(NUMBERS))
    operands = data.draw(operands_of(grid, [data.draw(shapes(max_rank=2, max_size=3))], dtype))
    size = (grid.num_replicas, grid.num_partitions)
    expected = oracle.cross_replica_sum(operands, groups, element_type=dtype, grid=size)
    check(evaluate_on_grid("cross-replica-sum", operands, expected, grid, replica_groups=groups), expected)


# --- products -------------------------------------------------------------------------------------------------------


@MANY
@given(data=st.data(), moderate=st.booleans())
def test_dot(data: st.DataObject, moderate: bool) -> None:
    rows, depth, columns = data.draw(shapes(max_rank=1)), data.draw(st.integers(0, 5)), data.draw(shapes(max_rank=1))
    dtype = data.draw(dtypes(SUMMABLE))
    lhs, rhs = (data.draw(arrays(dtype, shape, moderate)) for shape in ((*rows, depth), (depth, *columns)))
    expected = oracle.dot(lhs, rhs, result=((*rows, *columns), dtype))
    bound = bounds.dot_bound(lhs, rhs, result=((*rows, *columns), dtype))
    actual = evaluate("dot", lhs, rhs)
    assert within(actual, expected, bound).all(), f"{lhs}\n{rhs}: {actual}, not {expected} within {bound}"


def summands(data: st.DataObject, *operands: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Draw operands whose sums of products are exact in any order: integers, or small whole numbers as floats."""
    dtype = data.draw(dtypes(EXACT, (np.dtype(np.float32), np.dtype(np.complex64))))
    return tuple(data.draw(arrays(dtype, shape, moderate=dtype not in EXACT)) for shape in operands)


@st.composite
def kept(draw: st.DrawFn, names: str) -> str:
    """Draw some of the names, in any order."""
    return "".join(draw(st.lists(st.sampled_from(names), unique=True))) if names else ""


def shape_of(names: str, sizes: list[int]) -> tuple[int, ...]:
    return tuple(sizes["abcde".index(name)] for name in names)


@MANY
@given(data=st.data(), sizes=SIZES)
def test_einsum(data: st.DataObject, sizes: list[int]) -> None:
    names = st.text("abcde", max_size=3)
    lhs_names, rhs_names = data.draw(names), data.draw(names)
    result_names = data.draw(kept(lhs_names + rhs_names))
    lhs_shape, rhs_shape, shape = (shape_of(part, sizes) for part in (lhs_names, rhs_names, result_names))
    lhs, rhs = summands(data, lhs_shape, rhs_shape)
    config = f"{lhs_names},{rhs_names}->{result_names}"
    actual = evaluate("einsum", lhs, rhs, einsum_config=config)
    expected = oracle.einsum(lhs, rhs, config, result=(shape, lhs.dtype))
    assert (actual == expected).all(), f"{config} {lhs} {rhs}: {actual}, not {expected}"


@MANY
@given(data=st.data(), sizes=SIZES)
def test_einsum_with_ellipsis(data: st.DataObject, sizes: list[int]) -> None:
    """An ellipsis is the same as names of its own for the dimensions that it stands for."""
    hidden, names = "de"[: data.draw(st.integers(0, 2))], st.text("abc", max_size=2)
    parts = [data.draw(names) for _ in range(4)]
    result_names = data.draw(kept("".join(parts)))
    form = f"{parts[0]}...{parts[1]},{parts[2]}...{parts[3]}->{result_names}" + data.draw(st.sampled_from(["...", ""]))
    config = form.replace("...", hidden)
    lhs_names, rhs_names, result_names = config.replace("->", ",").split(",")
    lhs_shape, rhs_shape, shape = (shape_of(part, sizes) for part in (lhs_names, rhs_names, result_names))
    lhs, rhs = summands(data, lhs_shape, rhs_shape)
    actual = evaluate("einsum", lhs, rhs, einsum_config=form)
    expected = oracle.einsum(lhs, rhs, config, result=(shape, lhs.dtype))
    assert (actual == expected).all(), f"{form} {lhs} {rhs}: {actual}, not {expected}"


@MANY
@given(data=st.data(), sizes=SIZES)
def test_unary_einsum(data: st.DataObject, sizes: list[int]) -> None:
    names = data.draw(st.text("abcde", max_size=4))
    result_names = data.draw(kept(names))
    operand_shape, shape = (shape_of(part, sizes) for part in (names, result_names))
    (operand,) = summands(data, operand_shape)
    config = f"{names}->{result_names}"
    actual = evaluate("unary_einsum", operand, einsum_config=config)
    expected = oracle.unary_einsum(operand, config, result=(shape, operand.dtype))
    assert (actual == expected).all(), f"{config} {operand}: {actual}, not {expected}"


# --- indices and shapes ---------------------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_torch_index_select(data: st.DataObject) -> None:
    operand_shape = data.draw(shapes(min_rank=1, min_size=1, max_size=3))
    dim = data.draw(st.integers(0, len(operand_shape) - 1))
    batch_dims = data.draw(st.integers(0, dim))
    operand = data.draw(arrays(data.draw(dtypes(ALL)), operand_shape))
    index_shape = operand_shape[:batch_dims] + data.draw(shapes(max_rank=2, max_size=3))
    index = data.draw(arrays(data.draw(dtypes(INTEGERS)), index_shape))
    written = {"dim": dim, "batch_dims": batch_dims}
    if data.draw(st.booleans()):
        written["dim"] -= operand.ndim
    if batch_dims < index.ndim and data.draw(st.booleans()):
        written["batch_dims"] -= index.ndim
    actual = evaluate("torch_index_select", operand, index, **written)
    expected = oracle.torch_index_select(operand, index, dim, batch_dims)
    assert same(actual, expected), f"{operand} {index} {dim} {batch_dims}: {actual}, not {expected}"


SHAPES = st.lists(st.integers(-2, 6), max_size=4)
RESHAPES = """
func.func @main(%count: tensor<i64>, %s: tensor<{0}xi32>) -> tensor<{0}xi32> {{
  %number = tensor.extract %count[] : tensor<i64>
  %n = arith.index_cast %number : i64 to index
  %w = stablehlo.cstr_reshapable %n, %s : (index, tensor<{0}xi32>) -> !shape.witness
  %0 = shape.assuming %w -> (tensor<{0}xi32>) {{
    %1 = stablehlo.compute_reshape_shape %n, %s : (index, tensor<{0}xi32>) -> tensor<{0}xi32>
    shape.assuming_yield %1 : tensor<{0}xi32>
  }}
  func.return %0 : tensor<{0}xi32>
}}
"""


@MANY
@given(count=st.integers(0, 24), sizes=SHAPES)
def test_reshape_shapes(count: int, sizes: list[int]) -> None:
    """`compute_reshape_shape` returns a shape with the given number of elements wherever `cstr_reshapable` succeeds."""
    program, shape = sr.load(RESHAPES.format(len(sizes))), np.array(sizes, np.int32)
    is_reshapable = oracle.cstr_reshapable(count, shape)
    try:
        (actual,) = program.run(np.array(count), shape)
    except EvaluationError as error:
        assert not is_reshapable, error
        return
    assert is_reshapable, f"{count} elements as {sizes}: {actual}"
    assert same(actual, oracle.compute_reshape_shape(count, shape))
