// RUN: stablehlo-interp --split-input-file %s

// Integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[[1, 2], [7, 8]]> : tensor<2x2xi32>
  %rhs = stablehlo.constant dense<[[5, 6], [3, 4]]> : tensor<2x2xi32>
  %result = stablehlo.minimum %lhs, %rhs : tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// -----

// Booleans.
func.func @main() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.minimum %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

// -----

// Unsigned integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[255, 1]> : tensor<2xui8>
  %rhs = stablehlo.constant dense<[1, 255]> : tensor<2xui8>
  %result = stablehlo.minimum %lhs, %rhs : tensor<2xui8>
  check.expect_eq_const %result, dense<[1, 1]> : tensor<2xui8>
  func.return
}

// -----

// NaN if either operand is NaN.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 1.0, 0x7F800000]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[1.0, 0x7FC00000, 0xFF800000]> : tensor<3xf32>
  %result = stablehlo.minimum %lhs, %rhs : tensor<3xf32>
  check.expect_eq_const %result, dense<[0x7FC00000, 0x7FC00000, 0xFF800000]> : tensor<3xf32>
  func.return
}

// -----

// -0 is below +0.
func.func @main() {
  %lhs = stablehlo.constant dense<[0.0, -0.0, -0.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[-0.0, 0.0, -0.0]> : tensor<3xf32>
  %result = stablehlo.minimum %lhs, %rhs : tensor<3xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<3xf32>) -> tensor<3xui32>
  check.expect_eq_const %bits, dense<[2147483648, 2147483648, 2147483648]> : tensor<3xui32>
  func.return
}

// -----

// Complex numbers, in lexicographic order.
func.func @main() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (2.0, 0.0)]> : tensor<2xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(1.0, 3.0), (1.0, 9.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.minimum %lhs, %rhs : tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, 2.0), (1.0, 9.0)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %rhs = stablehlo.constant dense<[7, -8]> : tensor<2xi4>
  %result = stablehlo.minimum %lhs, %rhs : tensor<2xi4>
  check.expect_eq_const %result, dense<[-8, -8]> : tensor<2xi4>
  func.return
}
