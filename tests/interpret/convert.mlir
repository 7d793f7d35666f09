// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi64>
  %result = stablehlo.convert %operand : (tensor<3xi64>) -> tensor<3xcomplex<f64>>
  check.expect_eq_const %result, dense<[(-1.0, 0.0), (0.0, 0.0), (1.0, 0.0)]> : tensor<3xcomplex<f64>>
  func.return
}

// -----

// From booleans.
func.func @main() {
  %operand = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  %result = stablehlo.convert %operand : (tensor<2xi1>) -> tensor<2xf8E5M2>
  check.expect_eq_const %result, dense<[0.0, 1.0]> : tensor<2xf8E5M2>
  func.return
}

// -----

// To booleans: everything but zero is true, including NaN.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, -0.0, 0.25, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.convert %operand : (tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %result, dense<[false, false, true, true]> : tensor<4xi1>
  func.return
}

// -----

// Between integers: modulo two to the number of bits.
func.func @main() {
  %operand = stablehlo.constant dense<[300, -1, 128]> : tensor<3xi32>
  %result = stablehlo.convert %operand : (tensor<3xi32>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[44, -1, -128]> : tensor<3xi8>
  func.return
}

// -----

// To unsigned integers of 4 bits.
func.func @main() {
  %operand = stablehlo.constant dense<[17, -1, 8]> : tensor<3xi16>
  %result = stablehlo.convert %operand : (tensor<3xi16>) -> tensor<3xui4>
  check.expect_eq_const %result, dense<[1, 15, 8]> : tensor<3xui4>
  func.return
}

// -----

// From floats to integers: rounded toward zero, saturated, NaN to zero.
func.func @main() {
  %operand = stablehlo.constant dense<[1.9, -1.9, 300.0, -300.0, 0x7FC00000, 0x7F800000]> : tensor<6xf32>
  %result = stablehlo.convert %operand : (tensor<6xf32>) -> tensor<6xi8>
  check.expect_eq_const %result, dense<[1, -1, 127, -128, 0, 127]> : tensor<6xi8>
  func.return
}

// -----

// From floats to unsigned integers.
func.func @main() {
  %operand = stablehlo.constant dense<[-1.0, 4294967296.0, 2.5]> : tensor<3xf64>
  %result = stablehlo.convert %operand : (tensor<3xf64>) -> tensor<3xui32>
  check.expect_eq_const %result, dense<[0, 4294967295, 2]> : tensor<3xui32>
  func.return
}

// -----

// From integers to floats: to the nearest, ties to even.
func.func @main() {
  %operand = stablehlo.constant dense<[16777217, 16777219, -16777217]> : tensor<3xi32>
  %result = stablehlo.convert %operand : (tensor<3xi32>) -> tensor<3xf32>
  check.expect_eq_const %result, dense<[16777216.0, 16777220.0, -16777216.0]> : tensor<3xf32>
  func.return
}

// -----

// From f64 to bf16: rounded once, not first to f32.
func.func @main() {
  %operand = stablehlo.constant dense<[1.00390625000001, 1.00390625]> : tensor<2xf64>
  %result = stablehlo.convert %operand : (tensor<2xf64>) -> tensor<2xbf16>
  check.expect_eq_const %result, dense<[1.0078125, 1.0]> : tensor<2xbf16>
  func.return
}

// -----

// From f32 to f16: overflow and subnormal numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[65520.0, 65519.0, 6.0e-8, 1.0e-10]> : tensor<4xf32>
  %result = stablehlo.convert %operand : (tensor<4xf32>) -> tensor<4xf16>
  check.expect_eq_const %result, dense<[0x7C00, 65504.0, 0x0001, 0.0]> : tensor<4xf16>
  func.return
}

// -----

// To f8E4M3FN, which has no infinity.
func.func @main() {
  %operand = stablehlo.constant dense<[448.0, 480.0, -0.0, 0.001953125]> : tensor<4xf32>
  %result = stablehlo.convert %operand : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  check.expect_eq_const %result, dense<[448.0, 0x7F, -0.0, 0.001953125]> : tensor<4xf8E4M3FN>
  func.return
}

// -----

// From complex numbers: the imaginary part is ignored.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.5, 2.0), (-3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.convert %operand : (tensor<2xcomplex<f32>>) -> tensor<2xi32>
  check.expect_eq_const %result, dense<[1, -3]> : tensor<2xi32>
  func.return
}

// -----

// Between complex types.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, -0.5)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.convert %operand : (tensor<1xcomplex<f64>>) -> tensor<1xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, -0.5)]> : tensor<1xcomplex<f32>>
  func.return
}
