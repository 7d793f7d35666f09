// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[17, -17, 17, -17]> : tensor<4xi64>
  %rhs = stablehlo.constant dense<[3, 3, -3, -3]> : tensor<4xi64>
  %result = stablehlo.remainder %lhs, %rhs : tensor<4xi64>
  check.expect_eq_const %result, dense<[2, -2, 2, -2]> : tensor<4xi64>
  func.return
}

// -----

// The remainder by zero is the dividend; that of the smallest number by -1 is zero.
func.func @main() {
  %lhs = stablehlo.constant dense<[5, -5, -128]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[0, 0, -1]> : tensor<3xi8>
  %result = stablehlo.remainder %lhs, %rhs : tensor<3xi8>
  check.expect_eq_const %result, dense<[5, -5, 0]> : tensor<3xi8>
  func.return
}

// -----

// Floats: exact, with the sign of the dividend.
func.func @main() {
  %lhs = stablehlo.constant dense<[17.1, -17.1, 5.5, -6.0]> : tensor<4xf64>
  %rhs = stablehlo.constant dense<[3.0, 3.0, -2.0, 3.0]> : tensor<4xf64>
  %result = stablehlo.remainder %lhs, %rhs : tensor<4xf64>
  check.expect_eq_const %result, dense<[2.1000000000000014, -2.1000000000000014, 1.5, -0.0]> : tensor<4xf64>
  func.return
}

// -----

// Floats: special values.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0, 0x7F800000, 1.0, 0x7FC00000]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[0.0, 1.0, 0x7F800000, 1.0]> : tensor<4xf32>
  %result = stablehlo.remainder %lhs, %rhs : tensor<4xf32>
  check.expect_eq_const %result, dense<[0x7FC00000, 0x7FC00000, 1.0, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Floats: a quotient that fits no integer type.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0e30]> : tensor<1xf32>
  %rhs = stablehlo.constant dense<[3.0]> : tensor<1xf32>
  %result = stablehlo.remainder %lhs, %rhs : tensor<1xf32>
  check.expect_eq_const %result, dense<[0.0]> : tensor<1xf32>
  func.return
}
