// RUN: stablehlo-interp --split-input-file %s

// The logarithmic derivative of the gamma function, also near its zeros.
func.func @values() {
  %operand = stablehlo.constant dense<[1.0e-300, 0.25, 1.25, 2.5, 4.5, 100.0, 1.4616321449683622, -0.5040830082644554, -10.25]> : tensor<9xf64>
  %result = chlo.digamma %operand : tensor<9xf64> -> tensor<9xf64>
  %expected = stablehlo.constant dense<[-9.999999999999999e+299, -4.2274535333762655, -0.22745353337626542, 0.7031566406452432, 1.388870926359529, 4.600161852738087, -9.241265521729427e-17, 7.289763902976895e-17, 5.516858419886273]> : tensor<9xf64>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<9xf64>, tensor<9xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[0.0, -0.0, -3.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<6xf32>
  %result = chlo.digamma %operand : tensor<6xf32> -> tensor<6xf32>
  check.expect_eq_const %result, dense<[0xFF800000, 0x7F800000, 0x7FC00000, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<6xf32>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.digamma %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
