// RUN: stablehlo-interp --split-input-file %s

// The spec's first example.
func.func @main() {
  %operand = stablehlo.constant dense<[0, -2]> : tensor<2xi32>
  %result = stablehlo.negate %operand : tensor<2xi32>
  check.expect_eq_const %result, dense<[0, 2]> : tensor<2xi32>
  func.return
}

// -----

// The spec's second example.
func.func @main() {
  %operand = stablehlo.constant dense<[(2.5, 0.0)]> : tensor<1xcomplex<f32>>
  %result = stablehlo.negate %operand : tensor<1xcomplex<f32>>
  check.expect_eq_const %result, dense<[(-2.5, -0.0)]> : tensor<1xcomplex<f32>>
  func.return
}

// -----

// Unsigned integers, as the bits of signed ones.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 1, 255]> : tensor<3xui8>
  %result = stablehlo.negate %operand : tensor<3xui8>
  check.expect_eq_const %result, dense<[0, 255, 1]> : tensor<3xui8>
  func.return
}

// -----

// The smallest integer has no positive counterpart.
func.func @main() {
  %operand = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %result = stablehlo.negate %operand : tensor<2xi4>
  check.expect_eq_const %result, dense<[-8, -7]> : tensor<2xi4>
  func.return
}

// -----

// Floats: the sign is flipped, also of zero and NaN.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, -0.0, 0x7FC00000, 1.0]> : tensor<4xf32>
  %result = stablehlo.negate %operand : tensor<4xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<4xf32>) -> tensor<4xui32>
  check.expect_eq_const %bits, dense<[2147483648, 0, 4290772992, 3212836864]> : tensor<4xui32>
  func.return
}
