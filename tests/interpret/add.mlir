// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %rhs = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %result = stablehlo.add %lhs, %rhs : tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[6, 8], [10, 12]]> : tensor<2x2xi32>
  func.return
}

// -----

// Booleans: logical OR.
func.func @main() {
  %lhs = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %rhs = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %result = stablehlo.add %lhs, %rhs : tensor<4xi1>
  check.expect_eq_const %result, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

// -----

// Integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[127, -128, 1]> : tensor<3xi8>
  %rhs = stablehlo.constant dense<[1, -1, 2]> : tensor<3xi8>
  %result = stablehlo.add %lhs, %rhs : tensor<3xi8>
  check.expect_eq_const %result, dense<[-128, 127, 3]> : tensor<3xi8>
  func.return
}

// -----

// Unsigned 2-bit integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xui2>
  %rhs = stablehlo.constant dense<[3, 3, 3, 3]> : tensor<4xui2>
  %result = stablehlo.add %lhs, %rhs : tensor<4xui2>
  check.expect_eq_const %result, dense<[3, 0, 1, 2]> : tensor<4xui2>
  func.return
}

// -----

// 4-bit integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[7, -8, 3]> : tensor<3xi4>
  %rhs = stablehlo.constant dense<[1, -1, 4]> : tensor<3xi4>
  %result = stablehlo.add %lhs, %rhs : tensor<3xi4>
  check.expect_eq_const %result, dense<[-8, 7, 7]> : tensor<3xi4>
  func.return
}

// -----

// Floats: infinities of opposite signs give NaN; overflow gives infinity.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7F800000, 3.0e38, 1.0, 0x7FC00000]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[0xFF800000, 3.0e38, 2.0, 1.0]> : tensor<4xf32>
  %result = stablehlo.add %lhs, %rhs : tensor<4xf32>
  check.expect_eq_const %result, dense<[0x7FC00000, 0x7F800000, 3.0, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// bf16: the exact sum is rounded once, ties to even.
func.func @main() {
  %lhs = stablehlo.constant dense<[256.0, 258.0, 1.0]> : tensor<3xbf16>
  %rhs = stablehlo.constant dense<[1.0, 1.0, 0.00390625]> : tensor<3xbf16>
  %result = stablehlo.add %lhs, %rhs : tensor<3xbf16>
  check.expect_eq_const %result, dense<[256.0, 260.0, 1.0]> : tensor<3xbf16>
  func.return
}

// -----

// f8E4M3FN has no infinity: overflow gives NaN.
func.func @main() {
  %lhs = stablehlo.constant dense<[448.0, 1.0]> : tensor<2xf8E4M3FN>
  %rhs = stablehlo.constant dense<[448.0, 0.5]> : tensor<2xf8E4M3FN>
  %result = stablehlo.add %lhs, %rhs : tensor<2xf8E4M3FN>
  check.expect_eq_const %result, dense<[0x7F, 1.5]> : tensor<2xf8E4M3FN>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (3.0, -1.0)]> : tensor<2xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(0.5, 0.25), (-3.0, 1.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.add %lhs, %rhs : tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.5, 2.25), (0.0, 0.0)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

// A scalar.
func.func @main() {
  %lhs = stablehlo.constant dense<2.5> : tensor<f64>
  %rhs = stablehlo.constant dense<-1.0> : tensor<f64>
  %result = stablehlo.add %lhs, %rhs : tensor<f64>
  check.expect_eq_const %result, dense<1.5> : tensor<f64>
  func.return
}

// -----

// No elements.
func.func @main() {
  %lhs = stablehlo.constant dense<[]> : tensor<0xf32>
  %rhs = stablehlo.constant dense<[]> : tensor<0xf32>
  %result = stablehlo.add %lhs, %rhs : tensor<0xf32>
  check.expect_eq_const %result, dense<[]> : tensor<0xf32>
  func.return
}
