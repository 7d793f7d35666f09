// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[-2.5, 0.4, 0.5, 0.6, 2.5]> : tensor<5xf64>
  %result = stablehlo.round_nearest_afz %operand : tensor<5xf64>
  check.expect_eq_const %result, dense<[-3.0, 0.0, 1.0, 1.0, 3.0]> : tensor<5xf64>
  func.return
}

// -----

// The numbers next to a tie, and a number without a fraction.
func.func @main() {
  %operand = stablehlo.constant dense<[0.49999997, -0.49999997, 8388609.0, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.round_nearest_afz %operand : tensor<4xf32>
  check.expect_eq_const %result, dense<[0.0, -0.0, 8388609.0, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// bf16.
func.func @main() {
  %operand = stablehlo.constant dense<[0.5, -1.5, 2.5]> : tensor<3xbf16>
  %result = stablehlo.round_nearest_afz %operand : tensor<3xbf16>
  check.expect_eq_const %result, dense<[1.0, -2.0, 3.0]> : tensor<3xbf16>
  func.return
}
