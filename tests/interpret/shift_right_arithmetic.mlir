// RUN: stablehlo-interp --split-input-file %s

// Copies of the sign bit are shifted in.
func.func @main() {
  %lhs = stablehlo.constant dense<[-1, 0, 8]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %result = stablehlo.shift_right_arithmetic %lhs, %rhs : tensor<3xi64>
  check.expect_eq_const %result, dense<[-1, 0, 1]> : tensor<3xi64>
  func.return
}

// -----

// Amounts of at least the bit width leave the sign in all bits.
func.func @main() {
  %lhs = stablehlo.constant dense<[-128, 127, -1, 64]> : tensor<4xi8>
  %rhs = stablehlo.constant dense<[8, 100, -1, 6]> : tensor<4xi8>
  %result = stablehlo.shift_right_arithmetic %lhs, %rhs : tensor<4xi8>
  check.expect_eq_const %result, dense<[-1, 0, -1, 1]> : tensor<4xi8>
  func.return
}

// -----

// Unsigned integers: copies of the most significant bit are shifted in.
func.func @main() {
  %lhs = stablehlo.constant dense<[128, 127]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[1, 1]> : tensor<2xui8>
  %result = stablehlo.shift_right_arithmetic %lhs, %rhs : tensor<2xui8>
  check.expect_eq_const %result, dense<[192, 63]> : tensor<2xui8>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %rhs = stablehlo.constant dense<[2, 1]> : tensor<2xi4>
  %result = stablehlo.shift_right_arithmetic %lhs, %rhs : tensor<2xi4>
  check.expect_eq_const %result, dense<[-2, 3]> : tensor<2xi4>
  func.return
}
