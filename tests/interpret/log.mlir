// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %result = stablehlo.log %operand : tensor<2x2xf64>
  %expected = stablehlo.constant dense<[[0.0, 0.6931471805599453], [1.0986122886681098, 1.3862943611198906]]> : tensor<2x2xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2x2xf64>, tensor<2x2xf64>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[0.5, 1.0e-30, 10.0, 1.0001]> : tensor<4xf32>
  %result = stablehlo.log %operand : tensor<4xf32>
  %expected = stablehlo.constant dense<[-0.6931472, -69.07755, 2.3025851, 0.000100011595]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, -0.0, 0x7F800000, -1.0, 0x7FC00000]> : tensor<5xf32>
  %result = stablehlo.log %operand : tensor<5xf32>
  check.expect_eq_const %result, dense<[0xFF800000, 0xFF800000, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.log %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.8047189562170501, 1.1071487177940904), (-0.5815754049028404, 2.677945044588987)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}

// -----

// f16.
func.func @main() {
  %operand = stablehlo.constant dense<[2.0, 10.0]> : tensor<2xf16>
  %result = stablehlo.log %operand : tensor<2xf16>
  check.expect_eq_const %result, dense<[0.693359375, 2.302734375]> : tensor<2xf16>
  func.return
}
