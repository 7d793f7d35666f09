// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[0xFFF0000000000000, 0x7FF0000000000000, 0x7FF8000000000000, -10.0, -0.0, 0.0, 10.0]> : tensor<7xf64>
  %result = stablehlo.is_finite %operand : (tensor<7xf64>) -> tensor<7xi1>
  check.expect_eq_const %result, dense<[false, false, false, true, true, true, true]> : tensor<7xi1>
  func.return
}

// -----

// f16 and its largest number.
func.func @main() {
  %operand = stablehlo.constant dense<[65504.0, 0x7C00, 0x7E00]> : tensor<3xf16>
  %result = stablehlo.is_finite %operand : (tensor<3xf16>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// f8E4M3FN has NaN and no infinity.
func.func @main() {
  %operand = stablehlo.constant dense<[448.0, 0x7F, 0xFF]> : tensor<3xf8E4M3FN>
  %result = stablehlo.is_finite %operand : (tensor<3xf8E4M3FN>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}
