// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[[6.0, 8.0], [10.0, 12.0]]> : tensor<2x2xf32>
  %rhs = stablehlo.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %result = stablehlo.subtract %lhs, %rhs : tensor<2x2xf32>
  check.expect_eq_const %result, dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  func.return
}

// -----

// Integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[-128, 0, 127]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[1, -128, -1]> : tensor<3xi8>
  %result = stablehlo.subtract %lhs, %rhs : tensor<3xi8>
  check.expect_eq_const %result, dense<[127, -128, -128]> : tensor<3xi8>
  func.return
}

// -----

// Unsigned 4-bit integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[0, 15]> : tensor<2xui4>
  %rhs = stablehlo.constant dense<[1, 15]> : tensor<2xui4>
  %result = stablehlo.subtract %lhs, %rhs : tensor<2xui4>
  check.expect_eq_const %result, dense<[15, 0]> : tensor<2xui4>
  func.return
}

// -----

// Floats: infinity minus infinity is NaN.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7F800000, 1.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[0x7F800000, 0xFF800000]> : tensor<2xf32>
  %result = stablehlo.subtract %lhs, %rhs : tensor<2xf32>
  check.expect_eq_const %result, dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(3.0, -4.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.subtract %lhs, %rhs : tensor<1xcomplex<f64>>
  check.expect_eq_const %result, dense<[(-2.0, 6.0)]> : tensor<1xcomplex<f64>>
  func.return
}
