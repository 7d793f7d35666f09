// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, 1.0, 8.0, 27.0]> : tensor<4xf64>
  %result = stablehlo.cbrt %operand : tensor<4xf64>
  check.expect_eq_const %result, dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[-8.0, 0.001, 2.0, 1.0e+30]> : tensor<4xf32>
  %result = stablehlo.cbrt %operand : tensor<4xf32>
  %expected = stablehlo.constant dense<[-2.0, 0.1, 1.2599211, 10000000000.0]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0xFF800000, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.cbrt %operand : tensor<4xf32>
  check.expect_eq_const %result, dense<[-0.0, 0xFF800000, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.cbrt %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(1.2196165079717576, 0.471711267789389), (0.5167964603945269, 0.6415027846178182)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
