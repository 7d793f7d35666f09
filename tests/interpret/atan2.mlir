// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[0.0, 1.0, -1.0]> : tensor<3xf64>
  %rhs = stablehlo.constant dense<[0.0, 0.0, 0.0]> : tensor<3xf64>
  %result = stablehlo.atan2 %lhs, %rhs : tensor<3xf64>
  %expected = stablehlo.constant dense<[0.0, 1.5707963267948966, -1.5707963267948966]> : tensor<3xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<3xf64>, tensor<3xf64>
  func.return
}

// -----

// All four quadrants.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0, 1.0, -1.0, -1.0]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[1.0, -1.0, -1.0, 1.0]> : tensor<4xf32>
  %result = stablehlo.atan2 %lhs, %rhs : tensor<4xf32>
  %expected = stablehlo.constant dense<[0.7853982, 2.3561945, -2.3561945, -0.7853982]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// The sign of a zero selects the side of the branch cut.
func.func @main() {
  %lhs = stablehlo.constant dense<[0.0, -0.0, 0.0]> : tensor<3xf64>
  %rhs = stablehlo.constant dense<[-1.0, -1.0, -0.0]> : tensor<3xf64>
  %result = stablehlo.atan2 %lhs, %rhs : tensor<3xf64>
  %expected = stablehlo.constant dense<[3.141592653589793, -3.141592653589793, 3.141592653589793]> : tensor<3xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<3xf64>, tensor<3xf64>
  func.return
}

// -----

// Infinities.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7F800000, 0x7F800000, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0xFF800000]> : tensor<3xf32>
  %result = stablehlo.atan2 %lhs, %rhs : tensor<3xf32>
  %expected = stablehlo.constant dense<[0.7853982, 2.3561945, 3.1415927]> : tensor<3xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<3xf32>, tensor<3xf32>
  func.return
}

// -----

// NaN.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7E00, 1.0]> : tensor<2xf16>
  %rhs = stablehlo.constant dense<[1.0, 0x7E00]> : tensor<2xf16>
  %result = stablehlo.atan2 %lhs, %rhs : tensor<2xf16>
  check.expect_eq_const %result, dense<[0x7E00, 0x7E00]> : tensor<2xf16>
  func.return
}
