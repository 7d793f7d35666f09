// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.real %operand : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[1.0, 3.0]> : tensor<2xf32>
  func.return
}

// -----

// Real numbers are unchanged.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xbf16>
  %result = stablehlo.real %operand : tensor<2xbf16>
  check.expect_eq_const %result, dense<[1.0, -2.0]> : tensor<2xbf16>
  func.return
}
