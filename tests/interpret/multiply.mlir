// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %rhs = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %result = stablehlo.multiply %lhs, %rhs : tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[5, 12], [21, 32]]> : tensor<2x2xi32>
  func.return
}

// -----

// Booleans: logical AND.
func.func @main() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.multiply %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

// -----

// Integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[16, -128, 127]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[16, -1, 2]> : tensor<3xi8>
  %result = stablehlo.multiply %lhs, %rhs : tensor<3xi8>
  check.expect_eq_const %result, dense<[0, -128, -2]> : tensor<3xi8>
  func.return
}

// -----

// 4-bit integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[3, -8, 7]> : tensor<3xi4>
  %rhs = stablehlo.constant dense<[3, -1, 2]> : tensor<3xi4>
  %result = stablehlo.multiply %lhs, %rhs : tensor<3xi4>
  check.expect_eq_const %result, dense<[-7, -8, -2]> : tensor<3xi4>
  func.return
}

// -----

// Floats: zero times infinity is NaN.
func.func @main() {
  %lhs = stablehlo.constant dense<[0.0, -0.0, 3.0e38]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7F800000, 2.0, 10.0]> : tensor<3xf32>
  %result = stablehlo.multiply %lhs, %rhs : tensor<3xf32>
  check.expect_eq_const %result, dense<[0x7FC00000, -0.0, 0x7F800000]> : tensor<3xf32>
  func.return
}

// -----

// f16: the exact product is rounded once.
func.func @main() {
  %lhs = stablehlo.constant dense<[255.0, 1.0009765625]> : tensor<2xf16>
  %rhs = stablehlo.constant dense<[257.0, 1.0009765625]> : tensor<2xf16>
  %result = stablehlo.multiply %lhs, %rhs : tensor<2xf16>
  check.expect_eq_const %result, dense<[0x7C00, 1.001953125]> : tensor<2xf16>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(3.0, 4.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.multiply %lhs, %rhs : tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(-5.0, 10.0), (-1.0, 0.0)]> : tensor<2xcomplex<f32>>
  func.return
}
