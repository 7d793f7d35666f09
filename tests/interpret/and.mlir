// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %rhs = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %result = stablehlo.and %lhs, %rhs : tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[1, 2], [3, 0]]> : tensor<2x2xi32>
  func.return
}

// -----

// Booleans.
func.func @main() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.and %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

// -----

// Negative numbers, as two's complement bits.
func.func @main() {
  %lhs = stablehlo.constant dense<[0, 15, -1]> : tensor<3xi16>
  %rhs = stablehlo.constant dense<[-1, 8, -8]> : tensor<3xi16>
  %result = stablehlo.and %lhs, %rhs : tensor<3xi16>
  check.expect_eq_const %result, dense<[0, 8, -8]> : tensor<3xi16>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[-1, 5, -8]> : tensor<3xi4>
  %rhs = stablehlo.constant dense<[6, -3, -5]> : tensor<3xi4>
  %result = stablehlo.and %lhs, %rhs : tensor<3xi4>
  check.expect_eq_const %result, dense<[6, 5, -8]> : tensor<3xi4>
  func.return
}
