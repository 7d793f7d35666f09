// RUN: stablehlo-interp --split-input-file %s

// Ties to the even neighbour.
func.func @main() {
  %operand = stablehlo.constant dense<[-2.5, -1.5, -0.5, 0.4, 0.5, 0.6, 1.5, 2.5]> : tensor<8xf64>
  %result = stablehlo.round_nearest_even %operand : tensor<8xf64>
  check.expect_eq_const %result, dense<[-2.0, -2.0, -0.0, 0.0, 0.0, 1.0, 2.0, 2.0]> : tensor<8xf64>
  func.return
}

// -----

// The sign of numbers that round to zero.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.5, -0.0, 0.5]> : tensor<3xf32>
  %result = stablehlo.round_nearest_even %operand : tensor<3xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<3xf32>) -> tensor<3xui32>
  check.expect_eq_const %bits, dense<[2147483648, 2147483648, 0]> : tensor<3xui32>
  func.return
}

// -----

// f8E4M3FN.
func.func @main() {
  %operand = stablehlo.constant dense<[0.5, 1.5, -3.5]> : tensor<3xf8E4M3FN>
  %result = stablehlo.round_nearest_even %operand : tensor<3xf8E4M3FN>
  check.expect_eq_const %result, dense<[0.0, 2.0, -4.0]> : tensor<3xf8E4M3FN>
  func.return
}
