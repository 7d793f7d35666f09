// RUN: stablehlo-interp --split-input-file %s

// Derivatives of digamma.
func.func @values() {
  %lhs = stablehlo.constant dense<[0.0, 1.0, 2.0, 7.0, 1.0, 3.0, 100.0]> : tensor<7xf64>
  %rhs = stablehlo.constant dense<[1.5, 0.25, 3.5, 20.0, -1.5, -7.25, 2000.0]> : tensor<7xf64>
  %result = chlo.polygamma %lhs, %rhs : tensor<7xf64>, tensor<7xf64> -> tensor<7xf64>
  %expected = stablehlo.constant dense<[0.03648997397857652, 17.19732915450711, -0.1082040516417274, 6.674755818176071e-07, 9.379246644989124, 1558.5411952034044, -7.547742835794974e-175]> : tensor<7xf64>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<7xf64>, tensor<7xf64>
  func.return
}

// -----

// Poles, with and without a limit; orders that are not natural numbers; infinity; NaN.
func.func @special_values() {
  %lhs = stablehlo.constant dense<[0.0, 1.0, 2.0, 1.5, -1.0, 1.0, 0x7FC00000, 1.0]> : tensor<8xf32>
  %rhs = stablehlo.constant dense<[0.0, -1.0, -1.0, 1.0, 1.0, 0x7F800000, 1.0, 0x7FC00000]> : tensor<8xf32>
  %result = chlo.polygamma %lhs, %rhs : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  check.expect_eq_const %result, dense<[0xFF800000, 0x7F800000, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0.0, 0x7FC00000, 0x7FC00000]> : tensor<8xf32>
  func.return
}
