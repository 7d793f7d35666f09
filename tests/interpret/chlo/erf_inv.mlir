// RUN: stablehlo-interp --split-input-file %s

// The inverse of the error function.
func.func @values() {
  %operand = stablehlo.constant dense<[1.0e-300, 0.25, -0.75, 0.9999, -0.9999999999]> : tensor<5xf64>
  %result = chlo.erf_inv %operand : tensor<5xf64> -> tensor<5xf64>
  %expected = stablehlo.constant dense<[8.86226925452758e-301, 0.2253120550121781, -0.8134198475976185, 2.75106390571208, -4.572824958544925]> : tensor<5xf64>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<5xf64>, tensor<5xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 1.0, -1.0, 1.5, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.erf_inv %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.erf_inv %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
