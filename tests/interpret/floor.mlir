// RUN: stablehlo-interp --split-input-file %s

// Numbers on both sides of zero.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.8166, -0.2530, 0.2530, 0.8166, 2.0]> : tensor<5xf32>
  %result = stablehlo.floor %operand : tensor<5xf32>
  check.expect_eq_const %result, dense<[-1.0, -1.0, 0.0, 0.0, 2.0]> : tensor<5xf32>
  func.return
}

// -----

// Zero keeps its sign.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0.5, 0.0, 0x7F800000]> : tensor<4xf32>
  %result = stablehlo.floor %operand : tensor<4xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<4xf32>) -> tensor<4xui32>
  check.expect_eq_const %bits, dense<[2147483648, 0, 0, 2139095040]> : tensor<4xui32>
  func.return
}

// -----

// f16.
func.func @main() {
  %operand = stablehlo.constant dense<[1.5, -1.5, 0x7E00]> : tensor<3xf16>
  %result = stablehlo.floor %operand : tensor<3xf16>
  check.expect_eq_const %result, dense<[1.0, -2.0, 0x7E00]> : tensor<3xf16>
  func.return
}
