// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[-1.0, 0.0, 1.0]> : tensor<3xf32>
  %result = stablehlo.tanh %operand : tensor<3xf32>
  %expected = stablehlo.constant dense<[-0.7615942, 0.0, 0.7615942]> : tensor<3xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<3xf32>, tensor<3xf32>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0e-05, -0.5, 5.0, 20.0]> : tensor<4xf64>
  %result = stablehlo.tanh %operand : tensor<4xf64>
  %expected = stablehlo.constant dense<[9.999999999666668e-06, -0.46211715726000974, 0.9999092042625951, 1.0]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.tanh %operand : tensor<4xf32>
  check.expect_eq_const %result, dense<[-0.0, 1.0, -1.0, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.tanh %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(1.16673625724092, -0.24345820118572525), (-0.48548728102413535, 0.19805544995134952)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}

// -----

// bf16: the exact result is rounded once.
func.func @main() {
  %operand = stablehlo.constant dense<[0.5, 1.0, 4.0]> : tensor<3xbf16>
  %result = stablehlo.tanh %operand : tensor<3xbf16>
  check.expect_eq_const %result, dense<[0.462890625, 0.76171875, 1.0]> : tensor<3xbf16>
  func.return
}
