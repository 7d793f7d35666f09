"""Compare dot_general with its oracle for all dimensions and element types: integers exactly, floats by a bound."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_checks import bounds_of_results as bounds
from spec_checks.evaluate import evaluate
from spec_checks.examples import examples
from spec_checks.running_error import within
from spec_checks.strategies import ALL, arrays
from stablehlo_ref.define.mode import Mode
from stablehlo_ref.diagnostics import UnsupportedError
from stablehlo_ref.ir.types import FLOATS, tensor_type
from stablehlo_ref.numerics import contraction
from stablehlo_ref.numerics.dtypes import element_type_of
from stablehlo_ref.semantics import dot_general as oracle
from stablehlo_ref.semantics.notation import UndefinedError
from stablehlo_ref.semantics.rounding import rounded_to

Array = np.ndarray[Any, np.dtype[Any]]

SUMMABLE = tuple(dtype for dtype in ALL if dtype != ml_dtypes.float8_e8m0fnu)  # that dtype has no zero
WIDER = {
    "int8": "int32",
    "uint8": "uint32",
    "int16": "int64",
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64",
}
MIXED = tuple(map(np.dtype, ("i1", "u2", "i4", "f2", "f4", "bfloat16", "float8_e4m3fn")))
WORDS = tuple(map(np.dtype, (np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)))


@st.composite
def dimension_numbers(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any], tuple[int, ...]]:
    """Draw the shapes of the operands, dimension numbers and the shape of the result."""
    sizes = st.lists(st.integers(0, 3) | st.integers(1, 3), max_size=2)
    batching, contracting, lhs_others, rhs_others = (draw(sizes) for _ in range(4))
    numbers: dict[str, Any] = {}
    shapes, others = [], []
    for side, own in (("lhs", lhs_others), ("rhs", rhs_others)):
        roles = [*(("b", i) for i in range(len(batching))), *(("c", i) for i in range(len(contracting))),
                 *(("o", i) for i in range(len(own)))]  # fmt: skip
        order = draw(st.permutations(roles))
        size_of = {"b": batching, "c": contracting, "o": own}
        shapes.append(tuple(size_of[role][i] for role, i in order))
        others += [own[i] for role, i in order if role == "o"]
        numbers[f"{side}_batching_dimensions"] = tuple(order.index(("b", i)) for i in range(len(batching)))
        numbers[f"{side}_contracting_dimensions"] = tuple(order.index(("c", i)) for i in range(len(contracting)))
    return shapes[0], shapes[1], numbers, (*batching, *others)


@given(st.data())
@examples(everyday=60, all=200)
def test_dot_general(data: st.DataObject) -> None:
    lhs_shape, rhs_shape, numbers, shape = data.draw(dimension_numbers())
    dtype = data.draw(st.sampled_from(SUMMABLE))
    result_dtype = np.dtype(data.draw(st.sampled_from([dtype.name, WIDER.get(dtype.name, dtype.name)])))
    moderate = data.draw(st.booleans())
    lhs, rhs = (data.draw(arrays(dtype, s, moderate)) for s in (lhs_shape, rhs_shape))
    actual = evaluate("dot_general", lhs, rhs, result=tensor_type(shape, element_type_of(result_dtype)), **numbers)
    expected = oracle.dot_general(lhs, rhs, **numbers, result=(shape, result_dtype))
    bound = bounds.dot_general_bound(lhs, rhs, **numbers, result=(shape, result_dtype))
    good = within(actual, expected, bound)
    assert good.all(), f"{lhs}\n{rhs}\n{numbers}: {actual[~good]}, not {expected[~good]} within {bound[~good]}"


@given(st.data())
@examples(everyday=40, all=200)
def test_operands_of_two_types(data: st.DataObject) -> None:
    """Integers are numbers among floats: 0 times infinity is NaN."""
    lhs_shape, rhs_shape, numbers, shape = data.draw(dimension_numbers())
    dtypes = data.draw(st.permutations([data.draw(st.sampled_from(MIXED)), data.draw(st.sampled_from(MIXED[3:]))]))
    result = shape, np.dtype(data.draw(st.sampled_from(["float32", "float64"])))
    lhs, rhs = (data.draw(arrays(t, s)) for t, s in zip(dtypes, (lhs_shape, rhs_shape)))
    actual = evaluate("dot_general", lhs, rhs, result=tensor_type(shape, element_type_of(result[1])), **numbers)
    expected = oracle.dot_general(lhs, rhs, **numbers, result=result)
    bound = bounds.dot_general_bound(lhs, rhs, **numbers, result=result, arithmetic=np.dtype(np.float32))
    good = within(actual, expected, bound)
    assert good.all(), f"{lhs}\n{rhs}\n{numbers}: {actual[~good]}, not {expected[~good]} within {bound[~good]}"


@given(st.sampled_from(WORDS), st.integers(0, 63), st.integers(1, 400), st.integers(0, 2**32 - 1))
@examples(everyday=20, all=60)
def test_large_integers_wrap(dtype: np.dtype[Any], bits: int, depth: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -(1 << bits)), min(limits.max, 1 << bits)
    lhs, rhs = (generator.integers(low, high, s, dtype, endpoint=True) for s in ((9, depth), (depth, 8)))
    for wide in (dtype, np.dtype(f"{dtype.kind}8")):
        actual = evaluate("dot_general", lhs, rhs, result=tensor_type((9, 8), element_type_of(wide)),
                          lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,))  # fmt: skip
        exact = [[sum(int(a) * int(b) for a, b in zip(row, column)) for column in rhs.T] for row in lhs]
        modulus = 1 << 8 * wide.itemsize
        assert [[(int(x) - e) % modulus for x, e in zip(*rows)] for rows in zip(actual, exact)] == [[0] * 8] * 9


def test_integer_digits_suffice_for_long_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction, "SMALL", 0)
    for dtype in (np.int32, np.int64, np.uint64):
        extremes = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1], dtype)
        for depth in (1, 4, 1000, 100_000):
            lhs, rhs = np.resize(extremes, (1, depth)), np.resize(extremes[::-1], (depth, 1))
            expected = int((lhs[0].astype(object) * rhs[:, 0].astype(object)).sum())
            actual = int(contraction.integer_matmul(lhs, rhs)[0, 0])
            assert (actual - expected) % (1 << 8 * lhs.itemsize) == 0


# --- algorithms -----------------------------------------------------------------------------------------------------


def with_algorithm(
    lhs: Array, rhs: Array, precision: str, operations: int, components: int = 1, sums: str = "f32", **options: Any
) -> Array:
    return evaluate(
        "dot_general", lhs, rhs, **options,
        lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,),
        lhs_precision_type=FLOATS[precision], rhs_precision_type=FLOATS[precision], accumulation_type=FLOATS[sums],
        lhs_component_count=components, rhs_component_count=components, num_primitive_operations=operations,
        allow_imprecise_accumulation=False,
    )  # type: ignore[no-any-return]  # fmt: skip


@pytest.mark.parametrize("name", ["bf16", "f16", "f8E5M2", "f8E4M3FN"])
def test_algorithm_rounds_operands(name: str) -> None:
    dtype = np.dtype({"bf16": "bfloat16", "f16": "float16", "f8E5M2": "float8_e5m2", "f8E4M3FN": "float8_e4m3fn"}[name])
    generator = np.random.default_rng(0)
    lhs, rhs = generator.standard_normal((3, 50), np.float32), generator.standard_normal((50, 4), np.float32)
    rounded = [x.astype(dtype).astype(np.float32) for x in (lhs, rhs)]
    numbers = dict.fromkeys(("lhs_batching_dimensions", "rhs_batching_dimensions"), ())
    numbers |= {"lhs_contracting_dimensions": (1,), "rhs_contracting_dimensions": (0,)}  # type: ignore[dict-item]
    expected = oracle.dot_general(*rounded, **numbers, result=((3, 4), lhs.dtype))  # type: ignore[arg-type]
    bound = bounds.dot_general_bound(*rounded, **numbers, result=((3, 4), lhs.dtype))  # type: ignore[arg-type]
    assert within(with_algorithm(lhs, rhs, name, 1), expected, bound).all()


@pytest.mark.parametrize(
    "precision, operations, components, bits",
    [
        ("bf16", 1, 1, 8),
        ("bf16", 3, 2, 15),
        ("bf16", 6, 3, 21),
        ("bf16", 9, 3, 21),
        ("tf32", 1, 1, 11),
        ("tf32", 3, 2, 20),
    ],
)
def test_components_increase_precision(precision: str, operations: int, components: int, bits: int) -> None:
    generator = np.random.default_rng(1)
    lhs, rhs = generator.standard_normal((20, 64), np.float32), generator.standard_normal((64, 20), np.float32)
    exact = lhs.astype(np.float64) @ rhs.astype(np.float64)
    magnitude = np.abs(lhs).astype(np.float64) @ np.abs(rhs).astype(np.float64)
    for count in (1, components):
        error = np.abs(with_algorithm(lhs, rhs, precision, operations, count) - exact) / magnitude
        assert 2.0 ** -(bits + 8) < error.max() < 2.0 ** -(bits - 2)


@pytest.mark.parametrize("mode", [Mode(), Mode(reproducible=True)], ids=["default", "reproducible"])
@pytest.mark.parametrize("operations", [3, 6, 9])
def test_components_keep_infinities(operations: int, mode: Mode) -> None:
    """The second part of 1 + 2^-8 + 2^-10 in bf16 is negative: its product with infinity is no part of the sum."""
    lhs = np.array([[np.inf, 1.0], [np.nan, 1.0], [3e38, 1.0], [1 + 2.0**-8 + 2.0**-10, 1.0]], np.float32)
    ones, infinity = np.ones((2, 1), np.float32), np.array([[np.inf], [1.0]], np.float32)
    actual = with_algorithm(lhs, ones, "bf16", operations, mode=mode)[:3, 0]
    np.testing.assert_allclose(actual, np.array([np.inf, np.nan, 3e38], np.float32), rtol=2.0**-15)
    assert with_algorithm(lhs[3:], infinity, "bf16", operations, mode=mode)[0, 0] == np.inf
    assert with_algorithm(infinity.T, lhs[3:].T, "bf16", operations, mode=mode)[0, 0] == np.inf


@pytest.mark.parametrize("dtypes", [("i4", "f4"), ("f4", "i4"), ("f8", "f8"), ("i4", "i4")], ids="-".join)
def test_algorithm_rounds_operands_of_all_types(dtypes: tuple[str, str]) -> None:
    """In bf16, 257 is 256 and 259 is 260."""
    lhs, rhs = (np.array(x, dtype) for x, dtype in zip(([[257, 3]], [[259], [257]]), dtypes))
    result = np.dtype("f8" if dtypes[0] == "f8" else "f4")
    actual = with_algorithm(lhs, rhs, "bf16", 1, result=tensor_type((1, 1), element_type_of(result)))
    assert actual == 256 * 260 + 3 * 256
    assert actual == oracle.dot_general(
        lhs, rhs, (), (), (1,), (0,), (), *[np.dtype("bfloat16")] * 2, np.dtype("f4"), 1, 1, 1, result=((1, 1), result)
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as in the interpreter
def test_tf32_has_the_range_of_f32() -> None:
    """Compare f64 rounded to tf32 with what the definition says: ten bits, and exponents from -126 to 127."""
    lhs = np.array([2.0**128 - 2.0**116, 2.0**128 - 2.0**117, 1e300, -1e300, np.inf, 2.0**-126 - 2.0**-138, -1e-60])
    lhs = np.append(lhs, [2.0**-136 * 1.5, 2.0**-137, -(2.0**-137) - 2.0**-149, 1 + 2.0**-11])
    expected = [np.inf, 2.0**128 - 2.0**117, np.inf, -np.inf, np.inf, 2.0**-126, -0.0, 2.0**-135, 0.0, -(2.0**-136), 1]
    actual = contraction.round_to_tf32(lhs)
    assert actual.tolist() == expected and np.array_equal(np.signbit(actual), np.signbit(expected))
    assert [rounded_to("tf32", float(x)) for x in lhs] == expected
    singles = lhs.astype(np.float32)
    assert contraction.round_to_tf32(singles)[2:].tolist() == expected[2:]


def test_sums_are_rounded_to_the_accumulation_type() -> None:
    lhs, rhs = np.array([[256.0, 1.0]], np.float32), np.ones((2, 1), np.float32)
    assert with_algorithm(lhs, rhs, "bf16", 1, sums="bf16")[0, 0] == 256.0
    assert with_algorithm(lhs, rhs, "bf16", 1)[0, 0] == 257.0


def test_tf32_rounds_ties_to_even() -> None:
    lhs = np.array([[1 + 2.0**-11], [1 + 3 * 2.0**-11], [-1 - 2.0**-11 - 2.0**-20], [np.inf], [-0.0]], np.float32)
    actual = with_algorithm(lhs, np.ones((1, 1), np.float32), "tf32", 1)
    assert actual[:, 0].tolist() == [1.0, 1 + 2.0**-9, -1 - 2.0**-10, np.inf, 0.0]


def test_rejects_unsupported_algorithms() -> None:
    ones = np.ones((2, 2), np.float32)
    numbers, types = ((), (), (1,), (0,)), ("tf32",) * 3
    for operations in (2, 4):
        with pytest.raises(UnsupportedError, match=f"{operations} operations"):
            with_algorithm(ones, ones, "bf16", operations, components=2)
        with pytest.raises(UndefinedError, match=f"{operations} primitive operations on 2 and 2 components"):
            oracle.dot_general(ones, ones, *numbers, (), *types, 2, 2, operations, result=((2, 2), ones.dtype))
    with pytest.raises(UnsupportedError, match="components"):
        with_algorithm(ones, ones, "f32", 1, components=3)
    with pytest.raises(UnsupportedError, match="f80"):
        with_algorithm(ones, ones, "f80", 1)


def test_operands_of_zero_and_negative_strides() -> None:
    row = np.arange(4, dtype=np.float32)
    views = [
        np.broadcast_to(row, (3, 4)),
        np.broadcast_to(row[:3, None], (3, 4)),
        row.reshape(1, 4).repeat(3, 0)[::-1, ::-1],
    ]
    for lhs in views:
        for rhs in views:
            actual = evaluate("dot_general", lhs, rhs, lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(1,))
            assert (actual == [[sum(a * b for a, b in zip(x, y)) for y in rhs] for x in lhs]).all()
