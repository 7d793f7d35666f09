// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf64>
  %result = stablehlo.logistic %operand : tensor<2x2xf64>
  %expected = stablehlo.constant dense<[[0.5, 0.7310585786300049], [0.8807970779778824, 0.9525741268224333]]> : tensor<2x2xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2x2xf64>, tensor<2x2xf64>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[-1.0, -20.0, -80.0, 5.0]> : tensor<4xf32>
  %result = stablehlo.logistic %operand : tensor<4xf32>
  %expected = stablehlo.constant dense<[0.26894143, 2.0611537e-09, 1.8048513e-35, 0.9933072]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0xFF800000, 0x7F800000, 0x7FC00000, 100.0, -200.0]> : tensor<6xf32>
  %result = stablehlo.logistic %operand : tensor<6xf32>
  check.expect_eq_const %result, dense<[0.5, 0.0, 1.0, 0x7FC00000, 1.0, 0.0]> : tensor<6xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.logistic %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(1.0214153641721806, 0.4034387060815425), (0.3757248355800388, 0.05900296431450802)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
