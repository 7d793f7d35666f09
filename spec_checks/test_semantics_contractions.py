"""Test the oracles of reductions and contractions with the spec's examples, schedules and bounds, and against numpy."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from spec_checks.bounds_of_results import convolution_bound, dot_general_bound
from spec_checks.running_error import INFINITY, Number, number, reals, rounded, rounding_bound, total, within
from spec_checks.schedules import is_among, reduce_schedules
from spec_checks.semantics_arrays import assert_within, normal
from stablehlo_ref.semantics.convolution import convolution
from stablehlo_ref.semantics.dot_general import dot_general
from stablehlo_ref.semantics.notation import UndefinedError
from stablehlo_ref.semantics.reduction import reduce, reduce_window, select_and_scatter

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
BF16 = np.dtype(ml_dtypes.bfloat16)
C64, C128, I64 = np.dtype(np.complex64), np.dtype(np.complex128), np.dtype(np.int64)


def add(x, y):
    return (np.asarray(x + y),)


def i64(values):
    return np.array(values, np.int64)


class TestReduction:
    def test_reduce_example(self):
        (result,) = reduce((i64([[0, 1, 2, 3, 4, 5]]),), (i64(0),), (1,), add, results=(((1,), I64),))
        assert result.tolist() == [15]

    def test_reduce_window_example(self):
        (result,) = reduce_window(
            (i64([[1, 2], [3, 4], [5, 6]]),),
            (i64(0),),
            window_dimensions=(2, 1),
            window_strides=(4, 1),
            base_dilations=(2, 1),
            window_dilations=(3, 1),
            padding=((2, 1), (0, 0)),
            body=add,
            results=(((2, 2), I64),),
        )
        assert result.tolist() == [[0, 0], [3, 4]]

    def test_select_and_scatter_example(self):
        result = select_and_scatter(
            i64([[1, 5], [2, 5], [3, 6], [4, 4]]),
            i64([[5, 6], [7, 8]]),
            i64(0),
            window_dimensions=(3, 1),
            window_strides=(2, 1),
            padding=((0, 1), (0, 0)),
            select=lambda x, y: (np.asarray(x >= y),),
            scatter=add,
            result=((4, 2), I64),
        )
        assert result.tolist() == [[0, 0], [0, 0], [5, 14], [7, 0]]

    def test_padding_is_never_selected(self):
        # All elements are less than the init value, which padding would contain.
        result = select_and_scatter(
            i64([-3, -2]),
            i64([5, 7]),
            i64(1),
            window_dimensions=(2,),
            window_strides=(2,),
            padding=((1, 1),),
            select=lambda x, y: (np.asarray(x >= y),),
            scatter=add,
            result=((2,), I64),
        )
        assert result.tolist() == [6, 8]

    def test_reduce_takes_elements_in_lexicographic_order(self):
        def digits(x, y):
            return (np.asarray(10 * x + y),)

        x = np.arange(1, 9).reshape(2, 2, 2)
        (result,) = reduce((x,), (i64(0),), (0, 2), digits, results=(((2,), I64),))
        assert result.tolist() == [1256, 3478]
        (result,) = reduce((x,), (i64(0),), (2, 0), digits, results=(((2,), I64),))
        assert result.tolist() == [1256, 3478]

    def test_reduce_of_no_elements_returns_init(self):
        (result,) = reduce((np.zeros((2, 0), np.float32),), (np.float32(7),), (1,), add, results=(((2,), F32),))
        assert result.tolist() == [7, 7]

    def test_reduce_promotes_elements_first(self):
        x = np.array([100, 100, 100], np.int8)
        (result,) = reduce((x,), (np.int8(0),), (0,), add, results=(((), np.dtype(np.int32)),))
        assert result.dtype == np.int32 and result == 300

    def test_variadic_reduce_finds_first_maximum(self):
        def body(x, i, y, j):
            return (x, i) if x >= y else (y, j)

        values, indices = i64([[3, 9, 2], [8, 1, 8]]), np.broadcast_to(np.arange(3), (2, 3))
        result = ((2,), I64)
        maxima, positions = reduce((values, indices), (i64(-9), i64(-1)), (1,), body, results=(result, result))
        assert maxima.tolist() == [9, 8] and positions.tolist() == [1, 0]

    def test_reduce_window_of_overlapping_windows_matches_numpy(self):
        x = np.arange(30).reshape(5, 6) ** 2 % 17
        types = ((4, 4), I64)
        (result,) = reduce_window(
            (x,), (i64(0),), (2, 3), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)), add, results=(types,)
        )
        assert (result == sliding_window_view(x, (2, 3)).sum((2, 3))).all()

    def test_negative_padding_that_removes_all_elements(self):
        (result,) = reduce_window(
            (i64([1, 2]),), (i64(0),), (1,), (1,), (1,), (1,), ((-3, 0),), add, results=(((0,), I64),)
        )
        assert result.shape == (0,)


class TestSchedules:
    def test_three_float_elements_with_neutral_init(self):
        # 1e8 + (-1e8 + 1) loses the 1, (1e8 - 1e8) + 1 keeps it.
        x = np.array([1e8, -1e8, 1], np.float32)
        results = reduce_schedules((x,), (np.float32(0),), add)
        assert sorted(float(r) for (r,) in results) == [0.0, 1.0]

    def test_order_of_elements_is_kept(self):
        # 1e8 + 1 - 1e8 is 1 only if the first element is added to the last one.
        x = np.array([1e8, 1, -1e8], np.float32)
        results = reduce_schedules((x,), (np.float32(0),), add)
        assert [float(r) for (r,) in results] == [0.0]
        assert not is_among((np.asarray(np.float32(1)),), results)

    def test_number_of_init_values_matters(self):
        results = reduce_schedules((i64([10]),), (i64(1),), add, max_init_values=3)
        assert sorted(int(r) for (r,) in results) == [10, 11, 12, 13]

    def test_no_elements(self):
        results = reduce_schedules((i64([]),), (i64(5),), add, max_init_values=1)
        assert [int(r) for (r,) in results] == [5]

    def test_zero_sign_and_nan(self):
        results = reduce_schedules((np.array([-0.0, -0.0]),), (np.float64(0),), add)
        assert is_among((np.asarray(-0.0),), results) and is_among((np.asarray(0.0),), results)
        results = reduce_schedules((np.array([np.nan, 1]),), (np.float64(0),), add)
        assert is_among((np.asarray(-np.nan),), results) and not is_among((np.asarray(1.0),), results)

    def test_includes_all_trees(self):
        # A body that records its tree has as many results as there are full binary trees: Catalan numbers.
        def tree(x, y):
            return (np.asarray(f"({x}{y})", "U64"),)

        row = np.array(list("abcdef"), "U64")
        assert [
            len(reduce_schedules((row[:n],), (np.array("i", "U64"),), tree, max_init_values=0)) for n in range(1, 7)
        ] == [1, 1, 2, 5, 14, 42]
        one_init = reduce_schedules((row[:2],), (np.array("i", "U64"),), tree, max_init_values=1)
        assert len(one_init) == 1 + 3 * 2  # or one at 3 positions in 2 trees of 3 leaves


DOT = {
    "lhs_batching_dimensions": (0,),
    "rhs_batching_dimensions": (0,),
    "lhs_contracting_dimensions": (2,),
    "rhs_contracting_dimensions": (1,),
}
MATMUL = ((), (), (1,), (0,))


class TestDotGeneral:
    def test_spec_example(self):
        lhs, rhs = i64([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), i64([[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
        result = dot_general(lhs, rhs, **DOT, precision_config=("DEFAULT", "DEFAULT"), result=((2, 2, 2), I64))
        assert result.tolist() == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
        assert not dot_general_bound(lhs, rhs, **DOT, result=((2, 2, 2), I64)).any()

    def test_any_order_of_dimensions_matches_einsum(self):
        lhs, rhs = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5), np.arange(4 * 6 * 3 * 2).reshape(4, 6, 3, 2)
        result = dot_general(lhs, rhs, (1,), (2,), (2, 0), (0, 3), result=((3, 5, 6), I64))
        assert (result == np.einsum("abcd,ceba->bde", lhs, rhs)).all()

    def test_booleans_and_wrapping_integers(self):
        lhs, rhs = np.array([[True, False], [False, False]]), np.array([[True, False], [True, True]])
        assert dot_general(lhs, rhs, *MATMUL, result=((2, 2), lhs.dtype)).tolist() == [[1, 0], [0, 0]]
        x = np.array([[100, 100]], np.int8)
        assert dot_general(x, x.T, *MATMUL, result=((1, 1), x.dtype)).tolist() == [[20000 - 78 * 256]]
        assert dot_general(x, x.T, *MATMUL, result=((1, 1), np.dtype(np.int32))).tolist() == [[20000]]
        n = np.array([[7, 7]], ml_dtypes.int4)
        assert int(dot_general(n, n.T, *MATMUL, result=((1, 1), n.dtype))[0, 0]) == 98 % 16

    @pytest.mark.parametrize("dtype", [F32, F64, C64, C128])
    def test_empty_contracting_dimension(self, dtype):
        lhs, rhs = np.zeros((2, 0), dtype), np.zeros((0, 3), dtype)
        result = dot_general(lhs, rhs, *MATMUL, result=((2, 3), dtype))
        assert result.dtype == dtype and (result == 0).all()
        assert not dot_general_bound(lhs, rhs, *MATMUL, result=((2, 3), dtype)).any()

    @pytest.mark.parametrize("dtype", [F32, F64])
    def test_value_is_correctly_rounded(self, dtype):
        lhs, rhs = normal((3, 20), dtype), normal((20, 2), dtype, 1)
        result = dot_general(lhs, rhs, *MATMUL, result=((3, 2), dtype))
        for i, j in np.ndindex(3, 2):
            exact = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(lhs[i], rhs[:, j]))
            error = abs(Fraction(float(result[i, j])) - exact)
            for neighbour in (np.nextafter(result[i, j], dtype.type(s)) for s in (-np.inf, np.inf)):
                assert error <= abs(Fraction(float(neighbour)) - exact)

    def test_value_with_cancellation(self):
        lhs, rhs = np.array([[1e308, 1e-300, -1e308]]), np.array([[1.0], [1e-8], [1.0]])
        assert dot_general(lhs, rhs, *MATMUL, result=((1, 1), F64))[0, 0] == 1e-308

    @pytest.mark.parametrize("dtype", [F16, BF16, F32, F64, C64, C128])
    def test_bound_holds_for_other_orders_and_is_small(self, dtype):
        lhs, rhs = normal((4, 30), dtype), normal((30, 3), dtype, 1)
        types = ((4, 3), dtype)
        value, bound = dot_general(lhs, rhs, *MATMUL, result=types), dot_general_bound(lhs, rhs, *MATMUL, result=types)
        wide = {F16: F32, BF16: F32}.get(dtype, dtype)
        for order in (slice(None), slice(None, None, -1), np.random.default_rng(2).permutation(30)):
            products = lhs[:, order, None].astype(wide) * rhs[None, order].astype(wide)
            sums = np.zeros((4, 3), wide)
            for k in range(30):
                sums = sums + products[:, k]
            assert_within(sums.astype(dtype), value, bound)
            assert_within((lhs[:, order].astype(wide) @ rhs[order].astype(wide)).astype(dtype), value, bound)
        ulp = float(ml_dtypes.finfo(value.real.dtype).eps)
        assert (np.abs(bound) < (2 if dtype in (F16, BF16) else 100) * ulp * 30).all()
        assert not within(value + (np.abs(value) + 1) * dtype.type(1000 * ulp), value, bound).any()

    def test_bound_of_exact_results_is_zero(self):
        lhs = np.array([[1, 2]], BF16)
        assert not dot_general_bound(lhs, lhs.T, *MATMUL, result=((1, 1), BF16)).any()

    def test_special_values(self):
        lhs = np.array([[np.inf, 1], [np.nan, 1], [np.inf, -np.inf], [3e38, 3e38]], np.float32)
        rhs = np.ones((2, 1), np.float32)
        types = ((4, 1), F32)
        value, bound = dot_general(lhs, rhs, *MATMUL, result=types), dot_general_bound(lhs, rhs, *MATMUL, result=types)
        assert value[0] == np.inf and np.isnan(value[1:3]).all() and value[3] == np.inf
        assert bound[:3].ravel().tolist() == [0, 0, 0] and bound[3] == np.inf

    def test_zero_times_infinity_is_nan(self):
        lhs, rhs = np.array([[0.0, 1.0]]), np.array([[np.inf], [1.0]])
        assert np.isnan(dot_general(lhs, rhs, *MATMUL, result=((1, 1), F64))).all()
        assert np.isnan(dot_general(lhs.astype(np.int32), rhs, *MATMUL, result=((1, 1), F64))).all()

    def test_kinds_of_operands_and_results(self):
        x = np.full((1, 1), 1.5, np.float32)
        assert dot_general(x, x, *MATMUL, result=((1, 1), C64)) == 2.25
        for element_type in (I64, np.dtype(bool)):
            with pytest.raises(UndefinedError, match=f"products of float32 are not {element_type}"):
                dot_general(x, x, *MATMUL, result=((1, 1), element_type))


EXAMPLE_CONV = {
    "window_strides": (4, 4),
    "padding": ((0, 0), (0, 0)),
    "lhs_dilation": (2, 2),
    "rhs_dilation": (1, 1),
    "window_reversal": (False, False),
    "input_batch_dimension": 0,
    "input_feature_dimension": 3,
    "input_spatial_dimensions": (1, 2),
    "kernel_input_feature_dimension": 2,
    "kernel_output_feature_dimension": 3,
    "kernel_spatial_dimensions": (0, 1),
    "output_batch_dimension": 0,
    "output_feature_dimension": 3,
    "output_spatial_dimensions": (1, 2),
    "feature_group_count": 1,
    "batch_group_count": 1,
}
# [b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]
PLAIN_CONV = EXAMPLE_CONV | {
    "window_strides": (1, 1),
    "lhs_dilation": (1, 1),
    "input_feature_dimension": 1,
    "input_spatial_dimensions": (2, 3),
    "kernel_input_feature_dimension": 1,
    "kernel_output_feature_dimension": 0,
    "kernel_spatial_dimensions": (2, 3),
    "output_feature_dimension": 1,
    "output_spatial_dimensions": (2, 3),
}


def correlate(lhs, rhs):
    """Compute [b, f, 0, 1] x [o, i, 0, 1] -> [b, o, 0, 1] without padding with numpy."""
    return np.einsum("bfyxhw,ofhw->boyx", sliding_window_view(lhs, rhs.shape[2:], (2, 3)), rhs)


class TestConvolution:
    def test_spec_example(self):
        lhs = i64([[1, 2, 5, 6], [3, 4, 7, 8], [10, 11, 14, 15], [12, 13, 16, 17]]).reshape(1, 4, 4, 1)
        rhs = np.ones((3, 3, 1, 1), np.int64)
        result = convolution(lhs, rhs, **EXAMPLE_CONV, precision_config=("DEFAULT",) * 2, result=((1, 2, 2, 1), I64))
        assert result[0, :, :, 0].tolist() == [[10, 26], [46, 62]]

    def test_features_match_numpy(self):
        lhs, rhs = np.arange(2 * 3 * 5 * 6).reshape(2, 3, 5, 6) % 7, np.arange(4 * 3 * 2 * 3).reshape(4, 3, 2, 3) % 5
        result = convolution(lhs, rhs, **PLAIN_CONV, result=((2, 4, 4, 4), I64))
        assert (result == correlate(lhs, rhs)).all()

    def test_padding_dilations_reversal_and_strides_match_numpy(self):
        lhs, rhs = np.arange(1, 13).reshape(1, 1, 3, 4), np.arange(1, 7).reshape(1, 1, 2, 3)
        changes = {
            "window_strides": (2, 1),
            "padding": ((2, 1), (-1, 3)),
            "lhs_dilation": (2, 3),
            "rhs_dilation": (3, 2),
            "window_reversal": (True, False),
        }
        dilated_lhs, dilated_rhs = np.zeros((1, 1, 5, 10), int), np.zeros((1, 1, 4, 5), int)
        dilated_lhs[..., ::2, ::3], dilated_rhs[..., ::3, ::2] = lhs, rhs
        padded = np.pad(dilated_lhs, ((0, 0), (0, 0), (2, 1), (0, 3)))[..., 1:]
        expected = correlate(padded, dilated_rhs[:, :, ::-1])[:, :, ::2]
        result = convolution(lhs, rhs, **PLAIN_CONV | changes, result=(expected.shape, I64))
        assert (result == expected).all()

    def test_any_order_of_dimensions(self):
        lhs, rhs = np.arange(2 * 3 * 5 * 6).reshape(2, 3, 5, 6) % 7, np.arange(4 * 3 * 2 * 3).reshape(4, 3, 2, 3) % 5
        # [1, f, b, 0] x [i, 1, o, 0] -> [f, 1, 0, b]
        changes = {
            "input_batch_dimension": 2,
            "input_feature_dimension": 1,
            "input_spatial_dimensions": (3, 0),
            "kernel_input_feature_dimension": 0,
            "kernel_output_feature_dimension": 2,
            "kernel_spatial_dimensions": (3, 1),
            "output_batch_dimension": 3,
            "output_feature_dimension": 0,
            "output_spatial_dimensions": (2, 1),
        }
        result = convolution(
            lhs.transpose(3, 1, 0, 2), rhs.transpose(1, 3, 0, 2), **PLAIN_CONV | changes, result=((4, 4, 4, 2), I64)
        )
        assert (result.transpose(3, 0, 2, 1) == correlate(lhs, rhs)).all()

    def test_feature_groups(self):
        lhs, rhs = np.arange(2 * 4 * 3 * 3).reshape(2, 4, 3, 3), np.arange(6 * 2 * 2 * 2).reshape(6, 2, 2, 2)
        result = convolution(lhs, rhs, **PLAIN_CONV | {"feature_group_count": 2}, result=((2, 6, 2, 2), I64))
        assert (result == np.concatenate([correlate(lhs[:, :2], rhs[:3]), correlate(lhs[:, 2:], rhs[3:])], 1)).all()

    def test_batch_groups(self):
        lhs, rhs = np.arange(4 * 2 * 3 * 3).reshape(4, 2, 3, 3), np.arange(6 * 2 * 2 * 2).reshape(6, 2, 2, 2)
        result = convolution(lhs, rhs, **PLAIN_CONV | {"batch_group_count": 2}, result=((2, 6, 2, 2), I64))
        assert (result == np.concatenate([correlate(lhs[:2], rhs[:3]), correlate(lhs[2:], rhs[3:])], 1)).all()

    def test_without_spatial_dimensions_is_a_matrix_product(self):
        lhs, rhs = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
        no_spatial = dict.fromkeys(EXAMPLE_CONV, ()) | {
            "input_batch_dimension": 0,
            "input_feature_dimension": 1,
            "kernel_input_feature_dimension": 0,
            "kernel_output_feature_dimension": 1,
            "output_batch_dimension": 0,
            "output_feature_dimension": 1,
            "feature_group_count": 1,
            "batch_group_count": 1,
        }
        assert (convolution(lhs, rhs, **no_spatial, result=((2, 4), I64)) == lhs @ rhs).all()

    def test_empty_kernel_and_empty_result(self):
        lhs = np.ones((1, 1, 3, 3))
        result = convolution(lhs, np.ones((1, 1, 0, 1)), **PLAIN_CONV, result=((1, 1, 4, 3), F64))
        assert not result.any()
        changes = {"padding": ((-4, 0), (0, 0))}
        assert convolution(lhs, lhs, **PLAIN_CONV | changes, result=((1, 1, 0, 1), F64)).size == 0

    def test_bound_holds_and_is_small(self):
        lhs, rhs = normal((1, 3, 5, 5), F32), normal((2, 3, 3, 3), F32, 1)
        types = ((1, 2, 3, 3), F32)
        value, bound = (oracle(lhs, rhs, **PLAIN_CONV, result=types) for oracle in (convolution, convolution_bound))
        assert_within(correlate(lhs, rhs), value, bound)
        assert_within(correlate(lhs.astype(F64), rhs.astype(F64)).astype(F32), value, bound)
        assert (bound < 1e-4).all()
        attributes = tuple(PLAIN_CONV.values())
        assert (convolution_bound(lhs, rhs, *attributes, result=types) == bound).all()


class TestRunningError:
    def test_operations_contain_f32_arithmetic(self):
        rng = np.random.default_rng(0)
        for _ in range(200):
            a, b, c = (np.float32(x) for x in rng.standard_normal(3))
            x, y, z = (number(v, F32) for v in (a, b, c))
            for actual, exact in (
                (a * b + c, x * y + z),
                ((a + b) * (b + c), (x + y) * (y + z)),
                ((a - b) / (b * c), (x - y) / (y * z)),
                (np.sqrt(a * a + b * b) / c, (x * x + y * y).sqrt() / z),
            ):
                assert within(actual, rounded(exact, F32), np.float64(rounding_bound(exact, F32)))

    def test_uncertain_quotients_and_roots_are_unbounded(self):
        x = Number(reals.mpf(1), reals.mpf(2), F32)
        assert (number(1.0, F32) / x).error == INFINITY and x.sqrt().error == INFINITY

    def test_overflow_is_unbounded(self):
        big = number(np.float32(3e38), F32)
        assert (big * big).error == INFINITY and total([big, big, -big], F32).error == INFINITY
        assert total([number(np.float32(np.inf), F32), -big, -big], F32).error == INFINITY
