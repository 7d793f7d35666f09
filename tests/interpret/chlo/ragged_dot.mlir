// RUN: stablehlo-interp --split-input-file %s

// Rows of the first group times the first matrix, rows of the second times the second; the last row is in no group.
func.func @rows() {
  %lhs = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %rhs = stablehlo.constant dense<[[[1, 0], [0, 1]], [[0, 10], [100, 0]]]> : tensor<2x2x2xi32>
  %group_sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %result = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<4x2xi32>, tensor<2x2x2xi32>, tensor<2xi64>) -> tensor<4x2xi32>
  check.expect_eq_const %result, dense<[[1, 2], [400, 30], [600, 50], [0, 0]]> : tensor<4x2xi32>
  func.return
}

// -----

// Separate groups for each batch.
func.func @rows_in_batches() {
  %lhs = stablehlo.constant dense<[[[1], [2], [3]], [[4], [5], [6]]]> : tensor<2x3x1xi32>
  %rhs = stablehlo.constant dense<[[[[1]], [[10]]], [[[100]], [[1000]]]]> : tensor<2x2x1x1xi32>
  %group_sizes = stablehlo.constant dense<[[1, 2], [3, 0]]> : tensor<2x2xi32>
  %result = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [1],
      lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2],
      lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision HIGHEST>, #chlo<precision DEFAULT>]
  } : (tensor<2x3x1xi32>, tensor<2x2x1x1xi32>, tensor<2x2xi32>) -> tensor<2x3x1xi32>
  check.expect_eq_const %result, dense<[[[1], [200], [300]], [[40], [50], [60]]]> : tensor<2x3x1xi32>
  func.return
}

// -----

// The partial sum of each group.
func.func @sums() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<[[1.0], [10.0], [100.0]]> : tensor<3x1xf32>
  %group_sizes = stablehlo.constant dense<[2, 0, 1]> : tensor<3xi64>
  %result = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>
  } : (tensor<2x3xf32>, tensor<3x1xf32>, tensor<3xi64>) -> tensor<3x2x1xf32>
  check.expect_eq_const %result, dense<[[[21.0], [54.0]], [[0.0], [0.0]], [[300.0], [600.0]]]> : tensor<3x2x1xf32>
  func.return
}

// -----

// Groups of batch elements have no effect.
func.func @batches() {
  %lhs = stablehlo.constant dense<[[[1]], [[2]], [[3]]]> : tensor<3x1x1xi32>
  %rhs = stablehlo.constant dense<[[[1]], [[10]], [[100]]]> : tensor<3x1x1xi32>
  %group_sizes = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
  %result = "chlo.ragged_dot"(%lhs, %rhs, %group_sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
      lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>
  } : (tensor<3x1x1xi32>, tensor<3x1x1xi32>, tensor<2xi64>) -> tensor<3x1x1xi32>
  check.expect_eq_const %result, dense<[[[1]], [[20]], [[300]]]> : tensor<3x1x1xi32>
  func.return
}

// -----

// A group of negative size has no rows; one that is too large has the remaining rows.
func.func @sizes() {
  %lhs = stablehlo.constant dense<1> : tensor<4x1xi32>
  %rhs = stablehlo.constant dense<[[[1]], [[10]], [[100]]]> : tensor<3x1x1xi32>
  %negative = stablehlo.constant dense<[-1, 3, -9223372036854775808]> : tensor<3xi64>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %negative) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<4x1xi32>, tensor<3x1x1xi32>, tensor<3xi64>) -> tensor<4x1xi32>
  check.expect_eq_const %0, dense<[[10], [10], [10], [0]]> : tensor<4x1xi32>
  %large = stablehlo.constant dense<[1, 9223372036854775807, 9223372036854775807]> : tensor<3xi64>
  %1 = "chlo.ragged_dot"(%lhs, %rhs, %large) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<4x1xi32>, tensor<3x1x1xi32>, tensor<3xi64>) -> tensor<4x1xi32>
  check.expect_eq_const %1, dense<[[1], [10], [10], [10]]> : tensor<4x1xi32>
  func.return
}
