// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %result = stablehlo.shift_left %lhs, %rhs : tensor<3xi64>
  check.expect_eq_const %result, dense<[-2, 0, 8]> : tensor<3xi64>
  func.return
}

// -----

// Amounts of at least the bit width give zero; a negative amount counts as a large one.
func.func @main() {
  %lhs = stablehlo.constant dense<[1, 1, 1, 1]> : tensor<4xi8>
  %rhs = stablehlo.constant dense<[7, 8, 100, -1]> : tensor<4xi8>
  %result = stablehlo.shift_left %lhs, %rhs : tensor<4xi8>
  check.expect_eq_const %result, dense<[-128, 0, 0, 0]> : tensor<4xi8>
  func.return
}

// -----

// Unsigned 4-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[1, 15, 3]> : tensor<3xui4>
  %rhs = stablehlo.constant dense<[3, 1, 4]> : tensor<3xui4>
  %result = stablehlo.shift_left %lhs, %rhs : tensor<3xui4>
  check.expect_eq_const %result, dense<[8, 14, 0]> : tensor<3xui4>
  func.return
}
