// RUN: stablehlo-interp --split-input-file %s

// Sums of (q + k)**-x; for q < 0, of powers of either sign.
func.func @values() {
  %lhs = stablehlo.constant dense<[2.0, 1.5, 30.0, 2.0, 3.0, 4.0]> : tensor<6xf64>
  %rhs = stablehlo.constant dense<[1.0, 0.25, 2.5, -1.5, -7.25, -0.1]> : tensor<6xf64>
  %result = chlo.zeta %lhs, %rhs : tensor<6xf64>, tensor<6xf64> -> tensor<6xf64>
  %expected = stablehlo.constant dense<[1.6449340668482264, 10.213055360466601, 1.1529691685630237e-12, 9.379246644989124, -62.00426301828287, 10001.623169015627]> : tensor<6xf64>
  check.expect_close %result, %expected, max_ulp_difference = 3 : tensor<6xf64>, tensor<6xf64>
  func.return
}

// -----

// The harmonic series; below it; poles, with and without a limit; powers of negative numbers; infinities; NaN.
func.func @special_values() {
  %lhs = stablehlo.constant dense<[1.0, 0.5, 2.0, 2.0, 3.0, 2.5, 0x7F800000, 0x7F800000, 0x7F800000, 2.0, 0x7FC00000, 2.0]> : tensor<12xf32>
  %rhs = stablehlo.constant dense<[2.0, 2.0, 0.0, -3.0, -3.0, -0.5, 0.5, 1.0, 2.0, 0x7F800000, 1.0, 0x7FC00000]> : tensor<12xf32>
  %result = chlo.zeta %lhs, %rhs : tensor<12xf32>, tensor<12xf32> -> tensor<12xf32>
  check.expect_eq_const %result, dense<[0x7F800000, 0x7FC00000, 0x7F800000, 0x7F800000, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.0, 0.0, 0.0, 0x7FC00000, 0x7FC00000]> : tensor<12xf32>
  func.return
}
