// RUN: stablehlo-interp --split-input-file %s

// Zeros are shifted in.
func.func @main() {
  %lhs = stablehlo.constant dense<[-1, 0, 8]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %result = stablehlo.shift_right_logical %lhs, %rhs : tensor<3xi64>
  check.expect_eq_const %result, dense<[9223372036854775807, 0, 1]> : tensor<3xi64>
  func.return
}

// -----

// Amounts of at least the bit width give zero.
func.func @main() {
  %lhs = stablehlo.constant dense<[-128, -1, -1, 64]> : tensor<4xi8>
  %rhs = stablehlo.constant dense<[7, 8, -1, 6]> : tensor<4xi8>
  %result = stablehlo.shift_right_logical %lhs, %rhs : tensor<4xi8>
  check.expect_eq_const %result, dense<[1, 0, 0, 1]> : tensor<4xi8>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[-8, -1]> : tensor<2xi4>
  %rhs = stablehlo.constant dense<[2, 1]> : tensor<2xi4>
  %result = stablehlo.shift_right_logical %lhs, %rhs : tensor<2xi4>
  check.expect_eq_const %result, dense<[2, 7]> : tensor<2xi4>
  func.return
}
