"""Compare ops on quantized tensors with their oracles: quantize, dequantize, and ops on expressed types."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.strategies import INTEGERS, arrays, dtypes, same, shapes, width
from stablehlo_ref.ir.types import QuantizedType, tensor_type
from stablehlo_ref.numerics import quantized as kernels
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.ops.comparison import ComparisonDirection
from stablehlo_ref.semantics import dot_general as oracle_of_products
from stablehlo_ref.semantics import elementwise, quantization
from stablehlo_ref.semantics.quantization import Quantized

Array = np.ndarray[Any, np.dtype[Any]]

FIXTURES = [HealthCheck.function_scoped_fixture]
MANY = examples(everyday=20, all=60, suppress_health_check=FIXTURES)
FEW = examples(everyday=8, all=25)
LARGE = 70_000  # elements, more than the 65536 of a table
EXPRESSED = tuple(map(np.dtype, ("float32", "bfloat16", "float16", "float64")))
STORAGE = tuple(dtype for dtype in INTEGERS if width(dtype) <= 32)
SCALES = st.sampled_from([0.5, 1.0, 2.0, 0.25, 0.1, 0.003, 7.3])


def element_type(q: Quantized) -> QuantizedType:
    """Return the element type of a program for the oracle's description."""
    storage, expressed = element_type_of(q.storage_type), element_type_of(q.expressed_type)
    return QuantizedType(
        storage, expressed, q.scales, q.zero_points, q.storage_min, q.storage_max, q.dimension  # type: ignore[arg-type]
    )  # fmt: skip


def limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    bits = width(dtype)
    return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


@st.composite
def quantized(
    draw: st.DrawFn, shape: tuple[int, ...], like: Quantized | None = None, per_axis: bool = True
) -> Quantized:
    """Draw a quantized element type for tensors of a shape, with the baseline type of `like` if that is given."""
    storage = like.storage_type if like else draw(dtypes(STORAGE))
    expressed = like.expressed_type if like else draw(dtypes(EXPRESSED))
    low, high = limits(storage)
    if like:
        low, high = like.storage_min, like.storage_max
    elif draw(st.booleans()):
        low, high = low + (high - low) // 4, high - (high - low) // 4
    axes = [d for d, n in enumerate(shape) if n]
    dimension = draw(st.sampled_from([None, *axes])) if per_axis and not like else like.dimension if like else None
    count = 1 if dimension is None else shape[dimension]
    scales = tuple(draw(SCALES) for _ in range(count))
    zero_points = tuple(draw(integers(low, high)) for _ in range(count))
    return Quantized(storage, expressed, scales, zero_points, low, high, dimension)


def stored(q: Quantized, shape: tuple[int, ...]) -> st.SearchStrategy[Array]:
    """Draw integers between the storage bounds."""
    count = int(np.prod(shape, dtype=int))
    values = st.lists(integers(q.storage_min, q.storage_max), min_size=count, max_size=count)
    return values.map(lambda v: np.array(v, np.int64).astype(q.storage_type).reshape(shape))


@cache
def integers(low: int, high: int) -> st.SearchStrategy[int]:
    """Draw integers from `low` to `high`, half of them small if possible."""
    near = st.integers(-9, 9).filter(lambda n: low <= n <= high)
    return near | st.integers(low, high) if low <= 9 and -9 <= high else st.integers(low, high)


def check(actual: Array, expected: Array, *inputs: Any) -> None:
    assert same(actual, expected), f"{inputs!r}\n  actual    {actual!r}\n  expected  {expected!r}"


# --- uniform_quantize, uniform_dequantize ---------------------------------------------------------------------------


@pytest.fixture(params=[(2, 1), (2, 4), (kernels.BLOCK, kernels.LONG)], ids=["rows", "elements", "at once"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose the size of blocks: a few rows, one element per parameter, or everything."""
    for name, value in zip(("BLOCK", "LONG"), request.param):
        monkeypatch.setattr(kernels, name, value)


@MANY
@given(data=st.data())
def test_uniform_quantize(blocks: None, data: st.DataObject) -> None:
    shape = data.draw(shapes())
    q = data.draw(quantized(shape))
    x = data.draw(arrays(q.expressed_type, shape) | arrays(q.expressed_type, shape, moderate=True))
    actual = evaluate("uniform_quantize", x, result=tensor_type(shape, element_type(q)))
    check(actual, quantization.uniform_quantize(x, q), x, q)


@MANY
@given(data=st.data())
def test_uniform_dequantize(blocks: None, data: st.DataObject) -> None:
    shape = data.draw(shapes())
    q = data.draw(quantized(shape))
    x = data.draw(stored(q, shape))
    actual = evaluate("uniform_dequantize", x, types=[tensor_type(shape, element_type(q))])
    check(actual, quantization.uniform_dequantize(x, q), x, q)


@FEW
@given(data=st.data())
def test_quantize_and_dequantize_large_tensors(data: st.DataObject) -> None:
    q = data.draw(quantized((), per_axis=False))
    x, i, type = data.draw(arrays(q.expressed_type, (20,))), data.draw(stored(q, (20,))), element_type(q)
    actual = evaluate("uniform_quantize", np.resize(x, LARGE), result=tensor_type((LARGE,), type))
    check(actual, np.resize(quantization.uniform_quantize(x, q), LARGE), x, q)
    actual = evaluate("uniform_dequantize", np.resize(i, LARGE), types=[tensor_type((LARGE,), type)])
    check(actual, np.resize(quantization.uniform_dequantize(i, q), LARGE), i, q)


@MANY
@given(data=st.data())
def test_requantize(data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=2))
    q = data.draw(quantized(shape))
    r = data.draw(quantized(shape).map(lambda r: Quantized(**(vars(r) | {"expressed_type": q.expressed_type}))))
    x = data.draw(stored(q, shape))
    types = [tensor_type(shape, element_type(q))]
    actual = evaluate("uniform_quantize", x, types=types, result=tensor_type(shape, element_type(r)))
    check(actual, quantization.uniform_quantize(x, r, q), x, q, r)


# --- elementwise ops ------------------------------------------------------------------------------------------------

UNARY = ("abs", "negate", "sign", "ceil", "floor", "round_nearest_afz", "round_nearest_even", "sqrt")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder")
ELEMENTARY = (
    "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "cbrt", "rsqrt", "sine", "cosine", "tan",
    "tanh",
)  # fmt: skip


@FEW
@given(data=st.data())
@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_elementwise_ops(op: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=2))
    q = data.draw(quantized(shape, per_axis=False))
    kinds = [q, *(data.draw(quantized(shape, like=q)) for _ in range(2 if op in BINARY else 1))]
    operands = [data.draw(stored(kind, shape)) for kind in kinds[:-1]]
    *types, result = (tensor_type(shape, element_type(kind)) for kind in kinds)
    expected = quantization.dequantize_op_quantize(
        getattr(elementwise, op), list(zip(operands, kinds)), kinds[-1]
    )  # fmt: skip
    check(evaluate(op, *operands, types=types, result=result), expected, *operands, *kinds)


@settings(max_examples=8, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_elementwise_ops_on_large_tensors(op: str, data: st.DataObject) -> None:
    """Repeat a few operands so often that tables and blocks are used."""
    q = data.draw(quantized((), per_axis=False))
    kinds = [q, *(data.draw(quantized((), like=q)) for _ in range(2 if op in BINARY else 1))]
    operands = [data.draw(stored(kind, (8,))) for kind in kinds[:-1]]
    operands = [x.reshape(-1) for x in np.meshgrid(*operands)]
    *types, result = (tensor_type((LARGE,), element_type(kind)) for kind in kinds)
    expected = quantization.dequantize_op_quantize(getattr(elementwise, op), list(zip(operands, kinds)), kinds[-1])
    actual = evaluate(op, *[np.resize(x, LARGE) for x in operands], types=types, result=result)
    check(actual, np.resize(expected, LARGE), *operands, *kinds)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("op", ["add", "subtract", "maximum"])
def test_large_sums_with_one_scale(op: str, data: st.DataObject) -> None:
    """Sums with one scale may be computed on the stored integers."""
    q = data.draw(quantized((), per_axis=False).filter(lambda q: width(q.storage_type) == 8))
    kinds = [Quantized(**(vars(data.draw(quantized((), like=q))) | {"scales": q.scales})) for _ in range(3)]
    operands = [x.reshape(-1) for x in np.meshgrid(*[data.draw(stored(kind, (7,))) for kind in kinds[:-1]])]
    *types, result = (tensor_type((LARGE,), element_type(kind)) for kind in kinds)
    expected = quantization.dequantize_op_quantize(getattr(elementwise, op), list(zip(operands, kinds)), kinds[-1])
    actual = evaluate(op, *[np.resize(x, LARGE) for x in operands], types=types, result=result)
    check(actual, np.resize(expected, LARGE), *operands, *kinds)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("op", ELEMENTARY)
def test_elementary_functions(op: str, data: st.DataObject) -> None:
    """Expressed results may have a small error, so stored results may differ by one."""
    shape = data.draw(shapes(max_rank=1))
    q = data.draw(quantized(shape, per_axis=False))
    x = data.draw(stored(q, shape))
    type = tensor_type(shape, element_type(q))
    actual = evaluate(op, x, types=[type], result=type).astype(np.int64)
    expected = quantization.dequantize_op_quantize(getattr(elementwise, op), [(x, q)], q).astype(np.int64)
    assert (np.absolute(actual - expected) <= 1).all(), f"{x} {q}\n  actual    {actual}\n  expected  {expected}"


@FEW
@given(data=st.data())
def test_add_per_axis(data: st.DataObject) -> None:
    shape = (*data.draw(shapes(max_rank=1)), 3)
    q = data.draw(quantized(shape).filter(lambda q: q.dimension is not None))
    kinds = [q, data.draw(quantized(shape, like=q)), data.draw(quantized(shape, like=q))]
    operands = [data.draw(stored(kind, shape)) for kind in kinds[:2]]
    *types, result = (tensor_type(shape, element_type(kind)) for kind in kinds)
    expected = quantization.dequantize_op_quantize(elementwise.add, list(zip(operands, kinds)), kinds[2])
    check(evaluate("add", *operands, types=types, result=result), expected, *operands, *kinds)


@FEW
@given(data=st.data())
@pytest.mark.parametrize("op", ["power", "atan2"])
def test_binary_elementary_functions(op: str, data: st.DataObject) -> None:
    kinds = [data.draw(quantized((), like=EXACT)) for _ in range(3)]
    operands = [data.draw(stored(kind, (5,))) for kind in kinds[:-1]]
    *types, result = (tensor_type((5,), element_type(kind)) for kind in kinds)
    actual = evaluate(op, *operands, types=types, result=result).astype(np.int64)
    expected = quantization.dequantize_op_quantize(
        getattr(elementwise, op), list(zip(operands, kinds)), kinds[-1]
    )  # fmt: skip
    assert (np.absolute(actual - expected) <= 1).all(), f"{operands} {kinds}\n  got {actual}\n  not {expected}"


@FEW
@given(data=st.data())
def test_compare(data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=2))
    q = data.draw(quantized(shape, per_axis=False))
    kinds = [q, data.draw(quantized(shape, like=q))]
    operands = [data.draw(stored(kind, shape)) for kind in kinds]
    direction = data.draw(st.sampled_from(ComparisonDirection))
    types = [tensor_type(shape, element_type(kind)) for kind in kinds]
    actual = evaluate("compare", *operands, types=types, comparison_direction=direction)
    expected = elementwise.compare(*map(quantization.dequantize, operands, kinds), direction.name)
    check(actual, expected, *operands, *kinds, direction)


@FEW
@given(data=st.data())
def test_is_finite_and_reduce_precision(data: st.DataObject) -> None:
    shape = data.draw(shapes(max_rank=2))
    q = data.draw(quantized(shape, per_axis=False))
    x, r = data.draw(stored(q, shape)), data.draw(quantized(shape, like=q))
    types, result = [tensor_type(shape, element_type(q))], tensor_type(shape, element_type(r))
    check(evaluate("is_finite", x, types=types), elementwise.is_finite(quantization.dequantize(x, q)), x, q)
    actual = evaluate("reduce_precision", x, types=types, result=result, exponent_bits=5, mantissa_bits=2)
    rounded = elementwise.reduce_precision(quantization.dequantize(x, q), 5, 2)
    check(actual, quantization.quantize(rounded, r), x, q, r)


@FEW
@given(data=st.data())
def test_select_and_clamp(data: st.DataObject) -> None:
    """Predicates and bounds may be scalars; operands and results have different quantization parameters."""
    shape = data.draw(shapes(max_rank=2))
    q, around = data.draw(quantized(shape, per_axis=False)), data.draw(st.sampled_from([shape, ()]))
    kinds = [q, *(data.draw(quantized(shape, like=q)) for _ in range(3))]
    x, y, z = (data.draw(stored(kind, s)) for kind, s in zip(kinds, (shape, around, around)))
    types = [tensor_type(a.shape, element_type(kind)) for a, kind in zip((x, y, z), kinds)]
    result = tensor_type(shape, element_type(kinds[3]))
    operands: Any = [(y, kinds[1]), (x, q), (z, kinds[2])]
    clamped = evaluate("clamp", y, x, z, types=[types[1], types[0], types[2]], result=result)
    check(clamped, quantization.dequantize_op_quantize(elementwise.clamp, operands, kinds[3]), x, y, z, *kinds)
    predicates, other = data.draw(arrays(np.dtype(bool), around)), data.draw(stored(kinds[1], shape))
    types = [
        tensor_type(around, element_type_of(predicates.dtype)),
        types[0],
        tensor_type(shape, element_type(kinds[1])),
    ]
    operands = [(predicates, None), (x, q), (other, kinds[1])]
    chosen = evaluate("select", predicates, x, other, types=types, result=result)
    expected = quantization.dequantize_op_quantize(elementwise.select, operands, kinds[3])
    check(chosen, expected, predicates, x, other, *kinds)


# --- products -------------------------------------------------------------------------------------------------------

EXACT = Quantized(np.dtype(np.int8), np.dtype(np.float32), (0.5,), (0,), -128, 127)  # for exact sums
WEIGHTS = Quantized(np.dtype(np.int8), np.dtype(np.float32), (0.25, 0.5, 2.0), (0, 0, 0), -128, 127, dimension=1)


def numbers(shape: tuple[int, ...]) -> st.SearchStrategy[Array]:
    return stored(EXACT, shape).map(lambda x: (x // 4).astype(np.int8))


@FEW
@given(data=st.data())
@pytest.mark.parametrize("weights", [EXACT, WEIGHTS], ids=["per tensor", "per axis"])
@pytest.mark.parametrize("is_hybrid", [False, True])
def test_dot_general(weights: Quantized, is_hybrid: bool, data: st.DataObject) -> None:
    lhs, rhs = data.draw(numbers((2, 4))), data.draw(numbers((4, 3)))
    contracting = {"lhs_contracting_dimensions": (1,), "rhs_contracting_dimensions": (0,)}
    zero_point = data.draw(st.integers(-9, 9)) if weights.dimension is None else 0
    result = Quantized(
        np.dtype(np.int32), np.dtype(np.float32), tuple(s / 8 for s in weights.scales),
        (zero_point,) * len(weights.scales), -(2**31), 2**31 - 1, weights.dimension,
    )  # fmt: skip
    floats = [quantization.dequantize(lhs, EXACT), quantization.dequantize(rhs, weights)]
    product = oracle_of_products.dot_general(*floats, (), (), (1,), (0,), result=((2, 3), np.dtype(np.float32)))
    rhs_type = tensor_type((4, 3), element_type(weights))
    if is_hybrid:
        types = [tensor_type((2, 4), element_type_of(floats[0].dtype)), rhs_type]
        wanted = tensor_type((2, 3), element_type_of(product.dtype))
        actual = evaluate("dot_general", floats[0], rhs, types=types, result=wanted, **contracting)
        check(actual, product, lhs, rhs)
        return
    types = [tensor_type((2, 4), element_type(EXACT)), rhs_type]
    wanted = tensor_type((2, 3), element_type(result))
    actual = evaluate("dot_general", lhs, rhs, types=types, result=wanted, **contracting)
    check(actual, quantization.quantize(product, result), lhs, rhs)
