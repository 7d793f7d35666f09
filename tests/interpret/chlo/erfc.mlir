// RUN: stablehlo-interp --split-input-file %s

// One minus the error function.
func.func @values() {
  %operand = stablehlo.constant dense<[1.0e-300, 0.25, -0.75, 1.5, -3.0, 5.5, 26.0]> : tensor<7xf64>
  %result = chlo.erfc %operand : tensor<7xf64> -> tensor<7xf64>
  %expected = stablehlo.constant dense<[1.0, 0.7236736098317631, 1.7111556336535152, 0.033894853524689274, 1.9999779095030015, 7.357847917974398e-15, 5.663192408856143e-296]> : tensor<7xf64>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<7xf64>, tensor<7xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 11.0, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.erfc %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[1.0, 0.0, 2.0, 0.0, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.erfc %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
