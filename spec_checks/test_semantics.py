"""Test the oracles with the examples of the spec, one test per op, and with a few values that they do not cover."""

import math

import ml_dtypes
import numpy as np
import pytest

from stablehlo_ref.semantics import control_flow, data_movement, elementwise, gather_scatter, sort
from stablehlo_ref.semantics.notation import is_float
from stablehlo_ref.semantics.rounding import inf, nan

BF16 = ml_dtypes.bfloat16
F8 = ml_dtypes.float8_e4m3fn
I4 = ml_dtypes.int4


def i32(values):
    return np.array(values, np.int32)


def i64(values):
    return np.array(values, np.int64)


def f32(values):
    return np.array(values, np.float32)


def f64(values):
    return np.array(values, np.float64)


def i1(values):
    return np.array(values, np.bool_)


def check(actual, expected):
    """Assert equal shapes, element types and elements, including signs of zeros."""
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    if is_float(actual.dtype):
        actual, expected = actual.astype(np.float64), expected.astype(np.float64)
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected) & ~np.isnan(expected))
    np.testing.assert_array_equal(actual, expected)


def check_close(actual, expected, atol=0.0):
    """Assert equal shapes and element types, and elements to the nine digits or so that the spec prints."""
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol=2e-7, atol=atol)


QUARTERS = [[0.0, 1.57079632], [3.14159265, 4.71238898]]  # 0, pi/2, pi, 3pi/2
MATRIX, OTHER = i32([[1, 2], [3, 4]]), i32([[5, 6], [7, 8]])


def test_abs():
    check(elementwise.abs(i32([-2, 0, 2])), i32([2, 0, 2]))
    check(elementwise.abs(np.array([-128], np.int8)), np.array([-128], np.int8))
    check(elementwise.abs(f64([-0.0, -inf, nan])), f64([0.0, inf, nan]))
    check(elementwise.abs(np.array([3 + 4j], np.complex64)), f32([5.0]))


def test_add():
    check(elementwise.add(MATRIX, OTHER), i32([[6, 8], [10, 12]]))
    check(elementwise.add(i1([False, True, True]), i1([False, False, True])), i1([False, True, True]))
    check(elementwise.add(np.array([7, -8], I4), np.array([1, -1], I4)), np.array([-8, 7], I4))
    check(elementwise.add(f64([-0.0, 1.0, inf, 2.0**53]), f64([-0.0, -1.0, -inf, 1.0])), f64([-0.0, 0.0, nan, 2.0**53]))


def test_and():
    check(elementwise.and_(MATRIX, OTHER), i32([[1, 2], [3, 0]]))


def test_atan2():
    pi = math.pi
    check_close(elementwise.atan2(f64([0.0, 1.0, -1.0]), f64([0.0, 0.0, 0.0])), f64([0.0, pi / 2, -pi / 2]))
    check(elementwise.atan2(f64([-0.0, inf, 1.0]), f64([-1.0, -inf, inf])), f64([-pi, 3 * pi / 4, 0.0]))


def test_bitcast_convert():
    operand = np.array(0x0123456789ABCDEF, np.uint64).view(np.float64)
    halves = elementwise.bitcast_convert(operand, result=((4,), np.dtype(np.float16)))
    check(halves.view(np.uint16), np.array([0xCDEF, 0x89AB, 0x4567, 0x0123], np.uint16))
    check(elementwise.bitcast_convert(halves, result=((), operand.dtype)).view(np.uint64), operand.view(np.uint64))
    nibbles = elementwise.bitcast_convert(np.array([0x2F], np.uint8), result=((1, 2), np.dtype(I4)))
    check(nibbles, np.array([[-1, 2]], I4))


def test_broadcast_in_dim():
    expected = i32([[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]])
    check(data_movement.broadcast_in_dim(i32([[1, 2, 3]]), (2, 1), result=((2, 3, 2), expected.dtype)), expected)


def test_case():
    branches = tuple(lambda value=value: (i64([value, value]), i64([value, value])) for value in (0, 1))
    for index, value in ((-1, 1), (0, 0), (1, 1), (2, 1)):
        for result in control_flow.case(i32(index), branches):
            check(result, i64([value, value]))


def test_cbrt():
    check(elementwise.cbrt(f64([0.0, 1.0, 8.0, 27.0, -27.0, -0.0])), f64([0.0, 1.0, 2.0, 3.0, -3.0, -0.0]))


def test_ceil():
    check(elementwise.ceil(f32([-0.8166, -0.2530, 0.2530, 0.8166, 2.0])), f32([-0.0, -0.0, 1.0, 1.0, 2.0]))


def test_clamp():
    check(elementwise.clamp(i32([5, 10, 15]), i32([3, 13, 23]), i32([10, 15, 20])), i32([5, 13, 20]))
    check(elementwise.clamp(f32(-1.0), f32([-2.0, 0.5, nan]), f32([1.0, 0.25, 1.0])), f32([-1.0, 0.25, nan]))


def test_compare():
    check(elementwise.compare(f32([1.0, 3.0]), f32([1.1, 2.9]), "LT", "FLOAT"), i1([True, False]))
    check(elementwise.compare(f32([-0.0, nan]), f32([0.0, nan]), "EQ", "FLOAT"), i1([True, False]))
    check(elementwise.compare(f32([-0.0, nan]), f32([0.0, nan]), "NE", "FLOAT"), i1([False, True]))
    lhs, rhs = f32([-0.0, nan, -nan]), f32([0.0, nan, -inf])
    check(elementwise.compare(lhs, rhs, "LT", "TOTALORDER"), i1([True, False, True]))
    check(elementwise.compare(lhs, rhs, "EQ", "TOTALORDER"), i1([False, True, False]))
    check(elementwise.compare(np.array([1 + 2j, 1 + 2j]), np.array([1 + 3j, 0j]), "LT", "FLOAT"), i1([True, False]))


def test_complex():
    check(elementwise.complex(f64([1.0, 3.0]), f64([2.0, 4.0])), np.array([1 + 2j, 3 + 4j]))


def test_concatenate():
    inputs = (i64([[1, 2], [3, 4], [5, 6]]), i64([[7, 8]]))
    check(data_movement.concatenate(inputs, 0), i64([[1, 2], [3, 4], [5, 6], [7, 8]]))


def convert(operand, dtype):
    return elementwise.convert(operand, result=(operand.shape, np.dtype(dtype)))


def test_convert():
    check(convert(i64([-1, 0, 1]), np.complex128), np.array([-1 + 0j, 0j, 1 + 0j]))
    check(convert(i64([300, -1]), np.uint8), np.array([44, 255], np.uint8))
    check(convert(f64([1.9, -1.9, 1e10, -inf, nan]), np.int8), np.array([1, -1, 127, -128, 0], np.int8))
    check(convert(f64([0.0, -0.5, nan]), np.bool_), i1([False, True, True]))
    check(convert(np.array([2 + 3j]), np.int32), i32([2]))
    check(convert(i1([False, True]), BF16), np.array([0, 1], BF16))
    # 1 + 2**-8 + 2**-40 is above a tie of bf16, but rounds to the tie in f32.
    check(convert(f64([1 + 2.0**-8 + 2.0**-40]), BF16), np.array([1 + 2.0**-7], BF16))


def test_cosine():
    check_close(elementwise.cosine(f32(QUARTERS)), f32([[1.0, 0.0], [-1.0, 0.0]]), atol=1e-6)


def test_count_leading_zeros():
    check(elementwise.count_leading_zeros(i64([[0, 1], [128, -1]])), i64([[64, 63], [56, 0]]))


def test_divide():
    quotient = elementwise.divide(f32([17.1, -17.1, 17.1, -17.1]), f32([3.0, 3.0, -3.0, -3.0]))
    check_close(quotient, f32([5.7, -5.7, -5.7, 5.7]))
    check(elementwise.divide(i32([7, -7, 7, -(2**31), 5]), i32([2, 2, -2, -1, 0])), i32([3, -3, -3, -(2**31), -1]))
    check(elementwise.divide(np.array([7], np.uint8), np.array([0], np.uint8)), np.array([255], np.uint8))
    check(elementwise.divide(f64([1.0, -1.0, 0.0]), f64([0.0, 0.0, 0.0])), f64([inf, -inf, nan]))
    check(elementwise.divide(np.array([-5 + 10j]), np.array([1 + 2j])), np.array([3 + 4j]))


def test_dynamic_slice():
    operand = i32([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]])
    check(data_movement.dynamic_slice(operand, (i64(-1), i64(3)), (2, 2)), i32([[1, 1], [1, 1]]))


def test_dynamic_update_slice():
    operand = i32([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]])
    result = data_movement.dynamic_update_slice(operand, i32([[1, 1], [1, 1]]), (i64(-1), i64(3)))
    check(result, i32([[1, 1, 1, 1]] * 4))


def test_exponential():
    expected = f64([[1.0, 2.7182818284590451], [7.3890560989306504, 20.085536923187668]])
    check(elementwise.exponential(f64([[0.0, 1.0], [2.0, 3.0]])), expected)
    check(elementwise.exponential(f64([-inf, inf, nan])), f64([0.0, inf, nan]))


def test_exponential_minus_one():
    check_close(elementwise.exponential_minus_one(f64([0.0, 1.0])), f64([0.0, 1.71828187]))
    check(elementwise.exponential_minus_one(f64([-0.0, 1e-300])), f64([-0.0, 1e-300]))


def test_floor():
    check(elementwise.floor(f32([-0.8166, -0.2530, 0.2530, 0.8166, 2.0])), f32([-1.0, -1.0, 0.0, 0.0, 2.0]))


# fmt: off
PAIRS = i64([
    [
        [[1, 2], [3, 4], [5, 6], [7, 8]],
        [[9, 10], [11, 12], [13, 14], [15, 16]],
        [[17, 18], [19, 20], [21, 22], [23, 24]],
    ],
    [
        [[25, 26], [27, 28], [29, 30], [31, 32]],
        [[33, 34], [35, 36], [37, 38], [39, 40]],
        [[41, 42], [43, 44], [45, 46], [47, 48]],
    ],
])
PLACES = i64([
    [
        [[0, 0], [1, 0], [2, 1]],
        [[0, 1], [1, 1], [0, 9]],
    ],
    [
        [[0, 0], [2, 1], [2, 2]],
        [[1, 2], [0, 1], [1, 0]],
    ],
])


def test_gather():
    result = gather_scatter.gather(
        PAIRS,
        PLACES,
        offset_dims=(3, 4),
        collapsed_slice_dims=(1,),
        operand_batching_dims=(0,),
        start_indices_batching_dims=(1,),
        start_index_map=(2, 1),
        index_vector_dim=3,
        slice_sizes=(1, 1, 2, 2),
        indices_are_sorted=False,
    )
    check(result, i64([
        [
            [
                [[1, 2], [3, 4]],
                [[3, 4], [5, 6]],
                [[13, 14], [15, 16]],
            ],
            [
                [[33, 34], [35, 36]],
                [[35, 36], [37, 38]],
                [[41, 42], [43, 44]],
            ],
        ],
        [
            [
                [[1, 2], [3, 4]],
                [[13, 14], [15, 16]],
                [[21, 22], [23, 24]],
            ],
            [
                [[43, 44], [45, 46]],
                [[33, 34], [35, 36]],
                [[27, 28], [29, 30]],
            ],
        ],
    ]))


def test_scatter():
    (result,) = gather_scatter.scatter(
        (PAIRS,),
        PLACES,
        (np.ones((2, 2, 3, 2, 2), np.int64),),
        update_window_dims=(3, 4),
        inserted_window_dims=(1,),
        input_batching_dims=(0,),
        scatter_indices_batching_dims=(1,),
        scatter_dims_to_operand_dims=(2, 1),
        index_vector_dim=3,
        indices_are_sorted=False,
        unique_indices=False,
        update_computation=lambda arg0, arg1: (elementwise.add(arg0, arg1),),
    )
    check(result, i64([
        [
            [[3, 4], [6, 7], [6, 7], [7, 8]],
            [[9, 10], [11, 12], [15, 16], [17, 18]],
            [[17, 18], [19, 20], [22, 23], [24, 25]],
        ],
        [
            [[25, 26], [28, 29], [30, 31], [31, 32]],
            [[35, 36], [38, 39], [38, 39], [39, 40]],
            [[41, 42], [44, 45], [46, 47], [47, 48]],
        ],
    ]))
# fmt: on


def test_gather_of_scalar_indices():
    """Read rows 1, 1 (clamped) and 0, without an index vector dimension."""
    operand = i32([[1, 2, 3], [4, 5, 6]])
    result = gather_scatter.gather(operand, i32([1, 9, -9]), (1,), (0,), (), (), (0,), 1, (1, 3))
    check(result, i32([[4, 5, 6], [4, 5, 6], [1, 2, 3]]))


def test_scatter_of_two_inputs_is_ordered_and_promotes():
    """The last update of a position wins; the parts of windows that are out of bounds are skipped."""
    inputs = np.array([1, 2, 3], np.int8), f32([1, 2, 3])
    updates = np.array([[10, 11], [20, 21], [30, 31]], np.int8), f32([[10, 11], [20, 21], [30, 31]])
    results = gather_scatter.scatter(
        inputs,
        i64([0, 1, 2]),
        updates,
        update_window_dims=(1,),
        inserted_window_dims=(),
        input_batching_dims=(),
        scatter_indices_batching_dims=(),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=1,
        update_computation=lambda x, y, new_x, new_y: (elementwise.add(x, new_x), new_y),
        results=(((3,), np.dtype(np.int32)), ((3,), np.dtype(np.float64))),
    )
    check(results[0], i32([11, 33, 54]))
    check(results[1], f64([10, 20, 30]))
    check(inputs[0], np.array([1, 2, 3], np.int8))


def test_get_tuple_element():
    operand = (f64([1.0, 2.0]), (i64(3),))
    check(control_flow.get_tuple_element(operand, 0), f64([1.0, 2.0]))


def test_if():
    branches = (lambda: (i32(10),)), (lambda: (i32(11),))
    check(control_flow.if_(i1(True), *branches)[0], i32(10))
    check(control_flow.if_(i1(False), *branches)[0], i32(11))


def test_imag():
    check(elementwise.imag(np.array([1 + 2j, 3 + 4j], np.complex64)), f32([2.0, 4.0]))
    check(elementwise.imag(f64([1.0, nan])), f64([0.0, 0.0]))


def test_iota():
    columns = i32([[0] * 5, [1] * 5, [2] * 5, [3] * 5])
    check(data_movement.iota(0, result=((4, 5), np.dtype(np.int32))), columns)
    check(data_movement.iota(1, result=((4, 5), np.dtype(np.int32))), i32([[0, 1, 2, 3, 4]] * 4))
    check(data_movement.iota(0, result=((2,), np.dtype(np.complex64))), np.array([0, 1], np.complex64))


def test_is_finite():
    expected = i1([False, False, False, True, True, True, True])
    check(elementwise.is_finite(f64([-inf, inf, nan, -10.0, -0.0, 0.0, 10.0])), expected)


def test_log():
    expected = f64([[0.0, 0.69314718055994529], [1.0986122886681098, 1.3862943611198906]])
    check(elementwise.log(f64([[1.0, 2.0], [3.0, 4.0]])), expected)
    check(elementwise.log(f64([-0.0, -1.0, inf])), f64([-inf, nan, inf]))


def test_log_plus_one():
    """The spec's second value is that of -0.999 in f32."""
    expected = f64([0.0, -6.90776825, 2.07944155, 2.0, 2.77258873])
    check_close(elementwise.log_plus_one(f64([0.0, np.float32(-0.999), 7.0, 6.38905621, 15.0])), expected)
    check(elementwise.log_plus_one(f64([-1.0, -2.0, -0.0])), f64([-inf, nan, -0.0]))


def test_logistic():
    expected = f64([[0.5, 0.73105858], [0.88079708, 0.95257413]])
    check_close(elementwise.logistic(f64([[0.0, 1.0], [2.0, 3.0]])), expected)
    check(elementwise.logistic(f64([-inf, inf])), f64([0.0, 1.0]))


def test_map():
    inputs = i64([[0, 1], [2, 3]]), i64([[4, 5], [6, 7]])
    result = elementwise.map(
        inputs,
        dimensions=(0, 1),
        computation=lambda arg0, arg1: (elementwise.multiply(arg0, arg1),),
        result=((2, 2), np.dtype(np.int64)),
    )
    check(result, i64([[0, 5], [12, 21]]))


def test_maximum():
    check(elementwise.maximum(i32([[1, 2], [7, 8]]), i32([[5, 6], [3, 4]])), i32([[5, 6], [7, 8]]))
    check(elementwise.maximum(f64([-0.0, 0.0, nan, -inf]), f64([0.0, -0.0, 1.0, -1.0])), f64([0.0, 0.0, nan, -1.0]))
    check(elementwise.maximum(np.array([1 + 2j]), np.array([1 + 1j])), np.array([1 + 2j]))


def test_minimum():
    check(elementwise.minimum(i32([[1, 2], [7, 8]]), i32([[5, 6], [3, 4]])), i32([[1, 2], [3, 4]]))
    check(elementwise.minimum(f64([-0.0, 0.0, nan, inf]), f64([0.0, -0.0, 1.0, -1.0])), f64([-0.0, -0.0, nan, -1.0]))
    check(elementwise.minimum(np.array([1 + 2j]), np.array([1 + 1j])), np.array([1 + 1j]))


def test_multiply():
    check(elementwise.multiply(MATRIX, OTHER), i32([[5, 12], [21, 32]]))
    check(elementwise.multiply(f64([0.0, -0.0]), f64([-3.0, inf])), f64([-0.0, nan]))
    check(elementwise.multiply(np.array([1 + 2j]), np.array([3 + 4j])), np.array([-5 + 10j]))
    check(elementwise.multiply(np.array([300], F8), np.array([2], F8)), np.array([nan], F8))


def test_negate():
    check(elementwise.negate(i32([0, -2])), i32([0, 2]))
    result = elementwise.negate(np.array([2.5 + 0j], np.complex64))
    check(result.view(np.float32), f32([-2.5, -0.0]))
    check(elementwise.negate(np.array([1], np.uint8)), np.array([255], np.uint8))


def test_not():
    check(elementwise.not_(MATRIX), i32([[-2, -3], [-4, -5]]))
    check(elementwise.not_(i1([True, False])), i1([False, True]))


def test_optimization_barrier():
    result0, result1 = control_flow.optimization_barrier((f32(0.0), f32(1.0)))
    check(result0, f32(0.0))
    check(result1, f32(1.0))


BOOLEANS = i1([[False, False], [True, True]]), i1([[False, True], [False, True]])


def test_or():
    check(elementwise.or_(MATRIX, OTHER), i32([[5, 6], [7, 12]]))
    check(elementwise.or_(*BOOLEANS), i1([[False, True], [True, True]]))


def test_pad():
    expected = i32(
        [
            [0, 1, 0, 0, 2, 0, 0, 3, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 4, 0, 0, 5, 0, 0, 6, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
    )
    check(data_movement.pad(i32([[1, 2, 3], [4, 5, 6]]), i32(0), (0, 1), (2, 1), (1, 2)), expected)
    check(data_movement.pad(i32([1, 2, 3]), i32(9), (-1,), (-1,), (1,)), i32([9, 2, 9]))


def test_popcnt():
    check(elementwise.popcnt(i64([0, 1, 2, 127])), i64([0, 1, 1, 7]))
    check(elementwise.popcnt(np.array([-1, -8], I4)), np.array([4, 1], I4))


def test_power():
    lhs, rhs = f64([-2.0, -0.0, -36.0, 5.0, 3.0, 10000.0]), f64([2.0, 2.0, 1.1, 2.0, -1.0, 10.0])
    check_close(elementwise.power(lhs, rhs), f64([4.0, 0.0, nan, 25.0, 0.333333343, 1e40]))
    lhs, rhs = f64([-0.0, -0.0, -1.0, nan, 1.0, -inf, 0.5]), f64([-3.0, 3.0, inf, 0.0, nan, -3.0, -inf])
    check(elementwise.power(lhs, rhs), f64([-inf, -0.0, 1.0, 1.0, 1.0, -0.0, inf]))
    lhs, rhs = i32([2, 3, -1, 2, 0, 2]), i32([10, 21, -3, -1, -1, 32])
    check(elementwise.power(lhs, rhs), i32([1024, 3**21 % 2**32, -1, 0, 0, 0]))


def test_real():
    check(elementwise.real(np.array([1 + 2j, 3 + 4j], np.complex64)), f32([1.0, 3.0]))


def test_reduce_precision():
    operand = f64([inf, nan, 5e-324, 0.0, 65519.0, 65520.0])
    check(elementwise.reduce_precision(operand, 5, 10), f64([inf, nan, 0.0, 0.0, 65504.0, inf]))
    check(elementwise.reduce_precision(f32([-1.5, 3.0, 2.0**-126]), 8, 0), f32([-2.0, 2.0, 2.0**-126]))
    check(elementwise.reduce_precision(f32([2.0**-14, 2.0**-15, -(2.0**-15)]), 5, 23), f32([2.0**-14, 0.0, -0.0]))
    for name, widths in {"float8_e4m3fn": (4, 3), "float8_e5m2fnuz": (5, 2), "float4_e2m1fn": (2, 1)}.items():
        every = np.arange(16 if name[5] == "4" else 256).astype(np.uint8).view(name)
        every = every[every == every]
        check(elementwise.reduce_precision(every, *widths), every)  # as wide as the type


def test_remainder():
    check(elementwise.remainder(i64([17, -17, 17, -17]), i64([3, 3, -3, -3])), i64([2, -2, 2, -2]))
    check(elementwise.remainder(i32([5, -(2**31)]), i32([0, -1])), i32([5, 0]))
    check(elementwise.remainder(f64([5.5, -4.0, 1.0, 1.0]), f64([-2.0, 2.0, inf, 0.0])), f64([1.5, -0.0, 1.0, nan]))


def test_reshape():
    operand = i32([[1, 2, 3], [4, 5, 6]])
    check(data_movement.reshape(operand, result=((3, 2), operand.dtype)), i32([[1, 2], [3, 4], [5, 6]]))


def test_reverse():
    check(data_movement.reverse(i32([[1, 2], [3, 4], [5, 6]]), (1,)), i32([[2, 1], [4, 3], [6, 5]]))


def test_round_nearest_afz():
    check(elementwise.round_nearest_afz(f64([-2.5, 0.4, 0.5, 0.6, 2.5])), f64([-3.0, 0.0, 1.0, 1.0, 3.0]))


def test_round_nearest_even():
    check(elementwise.round_nearest_even(f64([-2.5, 0.4, 0.5, 0.6, 2.5])), f64([-2.0, 0.0, 0.0, 1.0, 2.0]))


def test_rsqrt():
    check_close(elementwise.rsqrt(f32([[1.0, 4.0], [9.0, 25.0]])), f32([[1.0, 0.5], [0.33333343, 0.2]]), atol=1e-6)
    check(elementwise.rsqrt(f64([-0.0, -1.0, inf])), f64([-inf, nan, 0.0]))


def test_select():
    pred = i1([[False, True], [True, False]])
    check(elementwise.select(pred, MATRIX, OTHER), i32([[5, 2], [3, 8]]))
    check(elementwise.select(i1(True), MATRIX, OTHER), MATRIX)


def test_shift_left():
    check(elementwise.shift_left(i64([-1, 0, 1, 1]), i64([1, 2, 3, 64])), i64([-2, 0, 8, 0]))


def test_shift_right_arithmetic():
    check(elementwise.shift_right_arithmetic(i64([-1, 0, 8, -2]), i64([1, 2, 3, 99])), i64([-1, 0, 1, -1]))


def test_shift_right_logical():
    expected = i64([9223372036854775807, 0, 1, 0])
    check(elementwise.shift_right_logical(i64([-1, 0, 8, -1]), i64([1, 2, 3, -1])), expected)


def test_sign():
    check(elementwise.sign(f64([nan, -1.0, -0.0, 0.0, 1.0, -inf])), f64([nan, -1.0, -0.0, 0.0, 1.0, -1.0]))
    check(elementwise.sign(i32([-7, 0, 7])), i32([-1, 0, 1]))
    check(elementwise.sign(np.array([3 - 4j, 0j])), np.array([0.6 - 0.8j, 0j]))


def test_sine():
    check_close(elementwise.sine(f32(QUARTERS)), f32([[0.0, 1.0], [0.0, -1.0]]), atol=1e-6)


def test_slice():
    operand = i64([[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    check(data_movement.slice(operand, (1, 2), (3, 4), (1, 1)), i64([[1, 1], [1, 1]]))
    check(data_movement.slice(i32([0, 1, 2, 3, 4, 5]), (1,), (6,), (2,)), i32([1, 3, 5]))


def test_sort():
    inputs = i64([[1, 2, 3], [3, 2, 1]]), i64([[3, 2, 1], [1, 2, 3]])
    for dimension in (0, -2):
        result0, result1 = sort.sort(
            inputs,
            dimension,
            is_stable=True,
            comparator=lambda arg0, arg1, arg2, arg3: (elementwise.compare(arg0, arg1, "GT"),),
        )
        check(result0, i64([[3, 2, 3], [1, 2, 1]]))
        check(result1, i64([[1, 2, 1], [3, 2, 3]]))


def test_sqrt():
    check(elementwise.sqrt(f32([[0.0, 1.0], [4.0, 9.0]])), f32([[0.0, 1.0], [2.0, 3.0]]))
    check(elementwise.sqrt(f64([-0.0, -1.0])), f64([-0.0, nan]))


def test_subtract():
    check(elementwise.subtract(f32([[6, 8], [10, 12]]), f32([[5, 6], [7, 8]])), f32([[1, 2], [3, 4]]))


def test_tan():
    """The spec's values near the poles are those of pi/2 and 3pi/2 in f64, not of the printed digits."""
    operand = f64([[0.0, math.pi / 2], [math.pi, 3 * math.pi / 2]])
    np.testing.assert_allclose(
        elementwise.tan(operand), f64([[0.0, 1.63312e16], [0.0, 5.44375e15]]), rtol=1e-5, atol=1e-15
    )


def test_tanh():
    check_close(elementwise.tanh(f32([-1.0, 0.0, 1.0])), f32([-0.76159416, 0.0, 0.76159416]))


def test_transpose():
    operand = i32([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]])
    expected = i32([[[1, 7], [3, 9], [5, 11]], [[2, 8], [4, 10], [6, 12]]])
    check(data_movement.transpose(operand, (2, 1, 0)), expected)


def test_tuple():
    val0, val1 = f32([1.0, 2.0]), (i32(3),)
    assert control_flow.tuple((val0, val1)) == (val0, val1)


def test_while():
    one, ten = i64(1), i64(10)
    results0, results1 = control_flow.while_(
        (i64(1), i64(0)),
        cond=lambda arg0, arg1: (elementwise.compare(arg0, ten, "LT"),),
        body=lambda arg0, arg1: (elementwise.add(arg0, one), elementwise.add(arg1, one)),
    )
    check(results0, i64(10))
    check(results1, i64(9))  # the spec prints 10, but its loop runs from 1 to 9


def test_xor():
    check(elementwise.xor(MATRIX, OTHER), i32([[4, 4], [4, 12]]))
    check(elementwise.xor(*BOOLEANS), i1([[False, True], [True, False]]))


PLANE = np.array([complex(x, y) for x in (-2.5, -1.0, -0.3, 0.7, 3.0) for y in (-4.0, -0.6, 0.2, 1.0, 2.0)])

COMPLEX_FUNCTIONS = {
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "cbrt": lambda z: np.exp(np.log(z) / 3),
    "sign": lambda z: z / np.abs(z),
}


@pytest.mark.parametrize("op", COMPLEX_FUNCTIONS)
def test_complex_functions(op):
    expected = COMPLEX_FUNCTIONS[op](PLANE)
    actual = getattr(elementwise, op)(PLANE)
    np.testing.assert_allclose(actual.real, expected.real, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(actual.imag, expected.imag, rtol=1e-12, atol=1e-14)


def test_complex_binary_functions():
    z, w = PLANE, PLANE[::-1]
    np.testing.assert_allclose(elementwise.power(z, w), np.power(z, w), rtol=1e-12)
    np.testing.assert_allclose(elementwise.divide(z, w), z / w, rtol=1e-12)
    np.testing.assert_allclose(elementwise.multiply(z, w), z * w, rtol=1e-12)
    np.testing.assert_allclose(np.tan(elementwise.atan2(z, w)), z / w, rtol=1e-9)


def test_sign_of_zero_selects_side_of_branch_cut():
    """Signed zeros select the side."""
    above, below = np.array([complex(-1.0, 0.0)]), np.array([complex(-1.0, -0.0)])
    for op, angle in (("log", math.pi), ("sqrt", 1.0), ("cbrt", math.sqrt(0.75)), ("rsqrt", -1.0)):
        assert getattr(elementwise, op)(above)[0].imag == pytest.approx(angle, rel=1e-15)
        assert getattr(elementwise, op)(below)[0].imag == pytest.approx(-angle, rel=1e-15)


def test_zero_sized_tensors():
    empty = np.zeros((2, 0), np.float32)
    check(elementwise.tanh(empty), empty)
    check(data_movement.transpose(empty, (1, 0)), empty.T)
    check(data_movement.pad(empty, f32(1.0), (0, 1), (0, 1), (0, 3)), np.ones((2, 2), np.float32))
    check(sort.sort((empty,), 1, comparator=lambda x, y: (elementwise.compare(x, y, "LT"),))[0], empty)
