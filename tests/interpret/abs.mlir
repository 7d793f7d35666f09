// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[-2, 0, 2]> : tensor<3xi32>
  %result = stablehlo.abs %operand : tensor<3xi32>
  check.expect_eq_const %result, dense<[2, 0, 2]> : tensor<3xi32>
  func.return
}

// -----

// The smallest integer has no positive counterpart.
func.func @main() {
  %operand = stablehlo.constant dense<[-128, -127, 127]> : tensor<3xi8>
  %result = stablehlo.abs %operand : tensor<3xi8>
  check.expect_eq_const %result, dense<[-128, 127, 127]> : tensor<3xi8>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %operand = stablehlo.constant dense<[-8, -7, 7]> : tensor<3xi4>
  %result = stablehlo.abs %operand : tensor<3xi4>
  check.expect_eq_const %result, dense<[-8, 7, 7]> : tensor<3xi4>
  func.return
}

// -----

// Signs of zero, infinity and NaN are cleared.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0xFF800000, 0xFFC00000, -1.5]> : tensor<4xf32>
  %result = stablehlo.abs %operand : tensor<4xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<4xf32>) -> tensor<4xui32>
  check.expect_eq_const %bits, dense<[0, 2139095040, 2143289344, 1069547520]> : tensor<4xui32>
  func.return
}

// -----

// The modulus of complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(3.0, -4.0), (0.0, 0.0), (-5.0, 12.0)]> : tensor<3xcomplex<f64>>
  %result = stablehlo.abs %operand : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
  check.expect_eq_const %result, dense<[5.0, 0.0, 13.0]> : tensor<3xf64>
  func.return
}

// -----

// The modulus of a number whose square is out of range.
func.func @main() {
  %operand = stablehlo.constant dense<(3.0e38, 0.0)> : tensor<complex<f32>>
  %result = stablehlo.abs %operand : (tensor<complex<f32>>) -> tensor<f32>
  check.expect_eq_const %result, dense<3.0e38> : tensor<f32>
  func.return
}

// -----

// No elements.
func.func @main() {
  %operand = stablehlo.constant dense<[]> : tensor<0xf16>
  %result = stablehlo.abs %operand : tensor<0xf16>
  check.expect_eq_const %result, dense<[]> : tensor<0xf16>
  func.return
}
