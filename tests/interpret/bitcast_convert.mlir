// RUN: stablehlo-interp --split-input-file %s

// The spec's example: the least significant part comes first.
func.func @main() {
  %operand = stablehlo.constant dense<81985529216486895> : tensor<i64>
  %float = stablehlo.bitcast_convert %operand : (tensor<i64>) -> tensor<f64>
  %halves = stablehlo.bitcast_convert %float : (tensor<f64>) -> tensor<4xf16>
  %result = stablehlo.bitcast_convert %halves : (tensor<4xf16>) -> tensor<4xui16>
  check.expect_eq_const %result, dense<[52719, 35243, 17767, 291]> : tensor<4xui16>
  func.return
}

// -----

// Elements along the last dimension become one wider element.
func.func @main() {
  %operand = stablehlo.constant dense<[[52719, 35243, 17767, 291], [1, 0, 0, 0]]> : tensor<2x4xui16>
  %result = stablehlo.bitcast_convert %operand : (tensor<2x4xui16>) -> tensor<2xui64>
  check.expect_eq_const %result, dense<[81985529216486895, 1]> : tensor<2xui64>
  func.return
}

// -----

// The same width keeps the shape.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, -0.0, 0x7F800000]> : tensor<3xf32>
  %result = stablehlo.bitcast_convert %operand : (tensor<3xf32>) -> tensor<3xi32>
  check.expect_eq_const %result, dense<[1065353216, -2147483648, 2139095040]> : tensor<3xi32>
  func.return
}

// -----

// 4-bit elements.
func.func @main() {
  %operand = stablehlo.constant dense<[33, -1]> : tensor<2xi8>
  %result = stablehlo.bitcast_convert %operand : (tensor<2xi8>) -> tensor<2x2xui4>
  %back = stablehlo.bitcast_convert %result : (tensor<2x2xui4>) -> tensor<2xi8>
  check.expect_eq_const %result, dense<[[1, 2], [15, 15]]> : tensor<2x2xui4>
  check.expect_eq_const %back, dense<[33, -1]> : tensor<2xi8>
  func.return
}

// -----

// Complex numbers of another width.
func.func @main() {
  %operand = stablehlo.constant dense<(0.0, 2.0)> : tensor<complex<f64>>
  %result = stablehlo.bitcast_convert %operand : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
  %back = stablehlo.bitcast_convert %result : (tensor<2xcomplex<f32>>) -> tensor<complex<f64>>
  check.expect_eq_const %result, dense<[(0.0, 0.0), (0.0, 2.0)]> : tensor<2xcomplex<f32>>
  check.expect_eq_const %back, dense<(0.0, 2.0)> : tensor<complex<f64>>
  func.return
}

// -----

// No elements.
func.func @main() {
  %operand = stablehlo.constant dense<[]> : tensor<0xi2>
  %result = stablehlo.bitcast_convert %operand : (tensor<0xi2>) -> tensor<0xui2>
  check.expect_eq_const %result, dense<[]> : tensor<0xui2>
  func.return
}
