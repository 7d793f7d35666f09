// RUN: stablehlo-interp --split-input-file %s

// The logarithm of the absolute value of the gamma function, also near its zeros below 0.
func.func @values() {
  %operand = stablehlo.constant dense<[1.0e-300, 0.25, 1.25, 2.5, 4.5, 100.0, -0.5, -2.4570247382208006, -10.5]> : tensor<9xf64>
  %result = chlo.lgamma %operand : tensor<9xf64> -> tensor<9xf64>
  %expected = stablehlo.constant dense<[690.7755278982137, 1.2880225246980774, -0.09827183642181316, 0.2846828704729192, 2.4537365708424423, 359.1342053695754, 1.2655121234846454, 5.619192358950097e-17, -15.147270590717842]> : tensor<9xf64>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<9xf64>, tensor<9xf64>
  func.return
}

// -----

// Special values of f32.
func.func @special_values() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 0.0, -0.0, -3.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<8xf32>
  %result = chlo.lgamma %operand : tensor<8xf32> -> tensor<8xf32>
  check.expect_eq_const %result, dense<[0.0, 0.0, 0x7F800000, 0x7F800000, 0x7F800000, 0x7F800000, 0x7F800000, 0x7FC00000]> : tensor<8xf32>
  func.return
}

// -----

// Empty tensors.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = chlo.lgamma %operand : tensor<0x2xf32> -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
