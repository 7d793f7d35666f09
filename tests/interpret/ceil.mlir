// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.8166, -0.2530, 0.2530, 0.8166, 2.0]> : tensor<5xf32>
  %result = stablehlo.ceil %operand : tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, -0.0, 1.0, 1.0, 2.0]> : tensor<5xf32>
  func.return
}

// -----

// Zero keeps its sign, and so do numbers that round to zero.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, -0.5, 0.0, 0xFF800000]> : tensor<4xf32>
  %result = stablehlo.ceil %operand : tensor<4xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<4xf32>) -> tensor<4xui32>
  check.expect_eq_const %bits, dense<[2147483648, 2147483648, 0, 4286578688]> : tensor<4xui32>
  func.return
}

// -----

// bf16.
func.func @main() {
  %operand = stablehlo.constant dense<[1.5, -1.5, 0x7FC0]> : tensor<3xbf16>
  %result = stablehlo.ceil %operand : tensor<3xbf16>
  check.expect_eq_const %result, dense<[2.0, -1.0, 0x7FC0]> : tensor<3xbf16>
  func.return
}
