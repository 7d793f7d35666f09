// RUN: stablehlo-interp --split-input-file %s

// The vector is broadcast along the rows.
func.func @explicit() {
  %lhs = stablehlo.constant dense<[1, -3]> : tensor<2xi8>
  %rhs = stablehlo.constant dense<[[0, 1, 2], [3, 4, 8]]> : tensor<2x3xi8>
  %result = chlo.broadcast_shift_left %lhs, %rhs {broadcast_dimensions = array<i64: 0>} : (tensor<2xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
  check.expect_eq_const %result, dense<[[1, 2, 4], [-24, -48, 0]]> : tensor<2x3xi8>
  func.return
}

// -----

// Dimensions of size 1 are broadcast.
func.func @implicit() {
  %lhs = stablehlo.constant dense<[[1], [-3]]> : tensor<2x1xi8>
  %rhs = stablehlo.constant dense<[[0, 1, 2], [3, 4, 8]]> : tensor<2x3xi8>
  %result = chlo.broadcast_shift_left %lhs, %rhs : (tensor<2x1xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
  check.expect_eq_const %result, dense<[[1, 2, 4], [-24, -48, 0]]> : tensor<2x3xi8>
  func.return
}
