// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %result = stablehlo.exponential_minus_one %operand : tensor<2xf64>
  %expected = stablehlo.constant dense<[0.0, 1.7182818284590453]> : tensor<2xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2xf64>, tensor<2xf64>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0e-10, -1.0e-10, 0.5, -30.0]> : tensor<4xf32>
  %result = stablehlo.exponential_minus_one %operand : tensor<4xf32>
  %expected = stablehlo.constant dense<[1.0e-10, -1.0e-10, 0.6487213, -1.0]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0xFF800000, 0x7F800000, 0x7FC00000, 100.0]> : tensor<5xf32>
  %result = stablehlo.exponential_minus_one %operand : tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, -1.0, 0x7F800000, 0x7FC00000, 0x7F800000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.exponential_minus_one %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(-2.1312043837568138, 2.4717266720048188), (-0.4123249096560773, 0.15005808662216327)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
