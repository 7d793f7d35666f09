// RUN: stablehlo-interp --split-input-file %s

// exp(-|x|) I1(x).
func.func @values() {
  %operand = stablehlo.constant dense<[1.0e-300, 0.25, -2.5, 5.0, 12.0, -1000.0]> : tensor<6xf64>
  %result = chlo.bessel_i1e %operand : tensor<6xf64> -> tensor<6xf64>
  %expected = stablehlo.constant dense<[5.0e-301, 0.09811262869736824, -0.20658464953126657, 0.16397226694454237, 0.11146429929018098, -0.012610930256928629]> : tensor<6xf64>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<6xf64>, tensor<6xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = chlo.bessel_i1e %operand : tensor<4xf32> -> tensor<4xf32>
  check.expect_eq_const %result, dense<[-0.0, 0.0, -0.0, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.bessel_i1e %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
