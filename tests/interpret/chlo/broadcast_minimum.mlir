// RUN: stablehlo-interp --split-input-file %s

// The vector is broadcast along the rows.
func.func @explicit() {
  %lhs = stablehlo.constant dense<[2, 5]> : tensor<2xi32>
  %rhs = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %result = chlo.broadcast_minimum %lhs, %rhs {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %result, dense<[[1, 2, 2], [4, 5, 5]]> : tensor<2x3xi32>
  func.return
}

// -----

// Dimensions of size 1 are broadcast.
func.func @implicit() {
  %lhs = stablehlo.constant dense<[[2], [5]]> : tensor<2x1xi32>
  %rhs = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %result = chlo.broadcast_minimum %lhs, %rhs : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %result, dense<[[1, 2, 2], [4, 5, 5]]> : tensor<2x3xi32>
  func.return
}
