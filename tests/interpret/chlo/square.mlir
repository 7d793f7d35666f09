// RUN: stablehlo-interp --split-input-file %s

// The square.
func.func @values() {
  %operand = stablehlo.constant dense<[0.5, -1.1, 1.0e-150, 1.0e+150]> : tensor<4xf64>
  %result = chlo.square %operand : tensor<4xf64> -> tensor<4xf64>
  %expected = stablehlo.constant dense<[0.25, 1.2100000000000002, 1.0e-300, 9.999999999999999e+299]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 1.0e30, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.square %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[0.0, 0x7F800000, 0x7F800000, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @complex() {
  %operand = stablehlo.constant dense<[(0.5, 0.25), (-2.0, 1.0), (0.1, -3.0), (1.5, 0.001)]> : tensor<4xcomplex<f64>>
  %result = chlo.square %operand : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.1875, 0.25), (3.0, -4.0), (-8.99, -0.6000000000000001), (2.249999, 0.003)]> : tensor<4xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.square %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
