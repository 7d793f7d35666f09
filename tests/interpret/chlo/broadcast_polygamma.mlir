// RUN: stablehlo-interp --split-input-file %s

// The vector is broadcast along the rows.
func.func @explicit() {
  %lhs = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[[0.0, 0x7F800000, -1.0], [0x7F800000, 0.0, -1.0]]> : tensor<2x3xf32>
  %result = chlo.broadcast_polygamma %lhs, %rhs {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %result, dense<[[0xFF800000, 0x7F800000, 0x7FC00000], [0.0, 0x7F800000, 0x7F800000]]> : tensor<2x3xf32>
  func.return
}

// -----

// Dimensions of size 1 are broadcast.
func.func @implicit() {
  %lhs = stablehlo.constant dense<[[0.0], [1.0]]> : tensor<2x1xf32>
  %rhs = stablehlo.constant dense<[[0.0, 0x7F800000, -1.0], [0x7F800000, 0.0, -1.0]]> : tensor<2x3xf32>
  %result = chlo.broadcast_polygamma %lhs, %rhs : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %result, dense<[[0xFF800000, 0x7F800000, 0x7FC00000], [0.0, 0x7F800000, 0x7F800000]]> : tensor<2x3xf32>
  func.return
}
