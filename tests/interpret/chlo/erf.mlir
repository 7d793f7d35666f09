// RUN: stablehlo-interp --split-input-file %s

// The error function.
func.func @values() {
  %operand = stablehlo.constant dense<[1.0e-300, 0.25, -0.75, 1.5, -3.0, 5.5]> : tensor<6xf64>
  %result = chlo.erf %operand : tensor<6xf64> -> tensor<6xf64>
  %expected = stablehlo.constant dense<[1.1283791670955126e-300, 0.27632639016823696, -0.7111556336535151, 0.9661051464753108, -0.9999779095030014, 0.9999999999999927]> : tensor<6xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<6xf64>, tensor<6xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 9.0, 0x7FC00000]> : tensor<5xf32>
  %result = chlo.erf %operand : tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, 1.0, -1.0, 1.0, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Special values of f16.
func.func @special_values() {
  %operand = stablehlo.constant dense<[-0.0, 0x7C00, 0xFC00, 4.0, 0x7E00]> : tensor<5xf16>
  %result = chlo.erf %operand : tensor<5xf16> -> tensor<5xf16>
  check.expect_eq_const %result, dense<[-0.0, 1.0, -1.0, 1.0, 0x7E00]> : tensor<5xf16>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.erf %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
