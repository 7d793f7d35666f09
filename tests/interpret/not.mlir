// RUN: stablehlo-interp --split-input-file %s

// Booleans.
func.func @main() {
  %operand = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %result = stablehlo.not %operand : tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

// Integers: all bits flipped.
func.func @main() {
  %operand = stablehlo.constant dense<[[0, 1], [-1, 127]]> : tensor<2x2xi8>
  %result = stablehlo.not %operand : tensor<2x2xi8>
  check.expect_eq_const %result, dense<[[-1, -2], [0, -128]]> : tensor<2x2xi8>
  func.return
}

// -----

// Unsigned integers.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 1, 4294967295]> : tensor<3xui32>
  %result = stablehlo.not %operand : tensor<3xui32>
  check.expect_eq_const %result, dense<[4294967295, 4294967294, 0]> : tensor<3xui32>
  func.return
}

// -----

// Unsigned 4-bit integers.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 1, 15]> : tensor<3xui4>
  %result = stablehlo.not %operand : tensor<3xui4>
  check.expect_eq_const %result, dense<[15, 14, 0]> : tensor<3xui4>
  func.return
}
