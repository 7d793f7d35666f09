// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 1, 2, 127]> : tensor<4xi64>
  %result = stablehlo.popcnt %operand : tensor<4xi64>
  check.expect_eq_const %result, dense<[0, 1, 1, 7]> : tensor<4xi64>
  func.return
}

// -----

// Negative numbers, as two's complement bits.
func.func @main() {
  %operand = stablehlo.constant dense<[-1, -128, 3]> : tensor<3xi8>
  %result = stablehlo.popcnt %operand : tensor<3xi8>
  check.expect_eq_const %result, dense<[8, 1, 2]> : tensor<3xi8>
  func.return
}

// -----

// Unsigned 4-bit integers.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 15, 10]> : tensor<3xui4>
  %result = stablehlo.popcnt %operand : tensor<3xui4>
  check.expect_eq_const %result, dense<[0, 4, 2]> : tensor<3xui4>
  func.return
}
