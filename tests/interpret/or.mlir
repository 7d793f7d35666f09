// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %rhs = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %result = stablehlo.or %lhs, %rhs : tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[5, 6], [7, 12]]> : tensor<2x2xi32>
  func.return
}

// -----

// Booleans.
func.func @main() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.or %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

// -----

// Negative numbers, as two's complement bits.
func.func @main() {
  %lhs = stablehlo.constant dense<[0, 15, -1]> : tensor<3xi16>
  %rhs = stablehlo.constant dense<[-1, 8, -8]> : tensor<3xi16>
  %result = stablehlo.or %lhs, %rhs : tensor<3xi16>
  check.expect_eq_const %result, dense<[-1, 15, -1]> : tensor<3xi16>
  func.return
}

// -----

// Unsigned 64-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[9223372036854775808, 1]> : tensor<2xui64>
  %rhs = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %result = stablehlo.or %lhs, %rhs : tensor<2xui64>
  check.expect_eq_const %result, dense<[9223372036854775809, 3]> : tensor<2xui64>
  func.return
}
