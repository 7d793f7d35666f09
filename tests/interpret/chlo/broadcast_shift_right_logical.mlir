// RUN: stablehlo-interp --split-input-file %s

// The vector is broadcast along the rows.
func.func @explicit() {
  %lhs = stablehlo.constant dense<[64, 192]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[[0, 1, 2], [3, 4, 8]]> : tensor<2x3xui8>
  %result = chlo.broadcast_shift_right_logical %lhs, %rhs {broadcast_dimensions = array<i64: 0>} : (tensor<2xui8>, tensor<2x3xui8>) -> tensor<2x3xui8>
  check.expect_eq_const %result, dense<[[64, 32, 16], [24, 12, 0]]> : tensor<2x3xui8>
  func.return
}

// -----

// Dimensions of size 1 are broadcast.
func.func @implicit() {
  %lhs = stablehlo.constant dense<[[64], [192]]> : tensor<2x1xui8>
  %rhs = stablehlo.constant dense<[[0, 1, 2], [3, 4, 8]]> : tensor<2x3xui8>
  %result = chlo.broadcast_shift_right_logical %lhs, %rhs : (tensor<2x1xui8>, tensor<2x3xui8>) -> tensor<2x3xui8>
  check.expect_eq_const %result, dense<[[64, 32, 16], [24, 12, 0]]> : tensor<2x3xui8>
  func.return
}
