// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[1.0, 4.0], [9.0, 25.0]]> : tensor<2x2xf32>
  %result = stablehlo.rsqrt %operand : tensor<2x2xf32>
  %expected = stablehlo.constant dense<[[1.0, 0.5], [0.33333334, 0.2]]> : tensor<2x2xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2x2xf32>, tensor<2x2xf32>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[2.0, 0.1, 1.0e+30, 1.0e-40]> : tensor<4xf64>
  %result = stablehlo.rsqrt %operand : tensor<4xf64>
  %expected = stablehlo.constant dense<[0.7071067811865476, 3.162277660168379, 1.0e-15, 1.0e+20]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, -0.0, 0x7F800000, -1.0, 0x7FC00000]> : tensor<5xf32>
  %result = stablehlo.rsqrt %operand : tensor<5xf32>
  check.expect_eq_const %result, dense<[0x7F800000, 0xFF800000, 0.0, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.rsqrt %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.5688644810057831, -0.3515775842541429), (0.30729007631213195, -1.3017016520692888)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
