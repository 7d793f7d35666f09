// RUN: stablehlo-interp --split-input-file %s

// Rows of a table; start indices are clamped to the bounds.
func.func @rows() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %start_indices = stablehlo.constant dense<[2, 0, -5, 100]> : tensor<4xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>
  } : (tensor<3x3xi32>, tensor<4xi64>) -> tensor<4x3xi32>
  check.expect_eq_const %result, dense<[[7, 8, 9], [1, 2, 3], [1, 2, 3], [7, 8, 9]]> : tensor<4x3xi32>
  func.return
}

// -----

// Columns, with the offset dimension first.
func.func @columns() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %start_indices = stablehlo.constant dense<[[2], [0], [2], [1]]> : tensor<4x1xi32>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 2, 1>
  } : (tensor<2x3xi32>, tensor<4x1xi32>) -> tensor<2x4xi32>
  check.expect_eq_const %result, dense<[[3, 1, 3, 2], [6, 4, 6, 5]]> : tensor<2x4xi32>
  func.return
}

// -----

// A window for each index, offset dimensions around the batch dimension; the components of an index in the rows of
// `start_indices`. A window at (1, 2) would be out of bounds, so its start is clamped to (1, 1).
func.func @windows() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %start_indices = stablehlo.constant dense<[[0, 1], [0, 2]]> : tensor<2x2xi32>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], start_index_map = [0, 1], index_vector_dim = 0>,
    slice_sizes = array<i64: 2, 2>
  } : (tensor<3x3xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %result, dense<[[[1, 2], [5, 6]], [[4, 5], [8, 9]]]> : tensor<2x2x2xi32>
  func.return
}

// -----

// The components of an index need not be in the order of the operand's dimensions.
func.func @start_index_map() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %start_indices = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>
  } : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[3, 5]> : tensor<2xi32>
  func.return
}

// -----

// Each row of the operand has its own indices.
func.func @batching_dims() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %start_indices = stablehlo.constant dense<[[[2], [0]], [[1], [1]]]> : tensor<2x2x1xi32>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<
      collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
      start_index_map = [1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1>,
    indices_are_sorted = false
  } : (tensor<2x3xi32>, tensor<2x2x1xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[3, 1], [5, 5]]> : tensor<2x2xi32>
  func.return
}

// -----

// 2^64 - 1 is a large index, not -1.
func.func @unsigned_indices() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %start_indices = stablehlo.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>
  } : (tensor<3xf32>, tensor<2xui64>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[3.0, 2.0]> : tensor<2xf32>
  func.return
}

// -----

// One window, at a scalar index.
func.func @scalar_index() {
  %operand = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %start_index = stablehlo.constant dense<3> : tensor<i32>
  %result = "stablehlo.gather"(%operand, %start_index) {
    dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0], index_vector_dim = 0>,
    slice_sizes = array<i64: 2>
  } : (tensor<4xi8>, tensor<i32>) -> tensor<2xi8>
  check.expect_eq_const %result, dense<[3, 4]> : tensor<2xi8>
  func.return
}

// -----

func.func @no_indices() {
  %operand = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %start_indices = stablehlo.constant dense<> : tensor<0x1xi32>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>
  } : (tensor<2x2xi32>, tensor<0x1xi32>) -> tensor<0x2xi32>
  check.expect_eq_const %result, dense<> : tensor<0x2xi32>
  func.return
}
