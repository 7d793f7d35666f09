// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0, 1], [128, -1]]> : tensor<2x2xi64>
  %result = stablehlo.count_leading_zeros %operand : tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[64, 63], [56, 0]]> : tensor<2x2xi64>
  func.return
}

// -----

// Integers of 8 bits and fewer.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 1, 64, -128]> : tensor<4xi8>
  %result = stablehlo.count_leading_zeros %operand : tensor<4xi8>
  check.expect_eq_const %result, dense<[8, 7, 1, 0]> : tensor<4xi8>
  func.return
}

// -----

// Unsigned 4-bit integers.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 1, 7, 15]> : tensor<4xui4>
  %result = stablehlo.count_leading_zeros %operand : tensor<4xui4>
  check.expect_eq_const %result, dense<[4, 3, 1, 0]> : tensor<4xui4>
  func.return
}

// -----

// Numbers that f64 cannot represent.
func.func @main() {
  %operand = stablehlo.constant dense<[9007199254740993, 18014398509481983, 18446744073709551615]> : tensor<3xui64>
  %result = stablehlo.count_leading_zeros %operand : tensor<3xui64>
  check.expect_eq_const %result, dense<[10, 10, 0]> : tensor<3xui64>
  func.return
}
