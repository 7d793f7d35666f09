// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[1.1, 2.9]> : tensor<2xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

// Signed integers: EQ.
func.func @main() {
  %lhs = stablehlo.constant dense<[-2, -1, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[-1, -1, -1]> : tensor<3xi64>
  %result = stablehlo.compare EQ, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

// Signed integers: NE.
func.func @main() {
  %lhs = stablehlo.constant dense<[-2, -1, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[-1, -1, -1]> : tensor<3xi64>
  %result = stablehlo.compare NE, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

// Signed integers: GE.
func.func @main() {
  %lhs = stablehlo.constant dense<[-2, -1, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[-1, -1, -1]> : tensor<3xi64>
  %result = stablehlo.compare GE, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, true]> : tensor<3xi1>
  func.return
}

// -----

// Signed integers: GT.
func.func @main() {
  %lhs = stablehlo.constant dense<[-2, -1, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[-1, -1, -1]> : tensor<3xi64>
  %result = stablehlo.compare GT, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, false, true]> : tensor<3xi1>
  func.return
}

// -----

// Signed integers: LE.
func.func @main() {
  %lhs = stablehlo.constant dense<[-2, -1, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[-1, -1, -1]> : tensor<3xi64>
  %result = stablehlo.compare LE, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, true, false]> : tensor<3xi1>
  func.return
}

// -----

// Signed integers: LT.
func.func @main() {
  %lhs = stablehlo.constant dense<[-2, -1, 0]> : tensor<3xi64>
  %rhs = stablehlo.constant dense<[-1, -1, -1]> : tensor<3xi64>
  %result = stablehlo.compare LT, %lhs, %rhs, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// Unsigned integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[255, 1, 0]> : tensor<3xui8>
  %rhs = stablehlo.constant dense<[1, 255, 0]> : tensor<3xui8>
  %result = stablehlo.compare GT, %lhs, %rhs, UNSIGNED : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[-8, 7, 1]> : tensor<3xi4>
  %rhs = stablehlo.constant dense<[7, -8, 1]> : tensor<3xi4>
  %result = stablehlo.compare LT, %lhs, %rhs : (tensor<3xi4>, tensor<3xi4>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// Booleans: false is less than true.
func.func @main() {
  %lhs = stablehlo.constant dense<[false, true, true]> : tensor<3xi1>
  %rhs = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %result = stablehlo.compare LT, %lhs, %rhs, UNSIGNED : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// Floats: NaN is unordered, zeros are equal: EQ.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare EQ, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

// Floats: NaN is unordered, zeros are equal: NE.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare NE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

// Floats: NaN is unordered, zeros are equal: GE.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare GE, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

// Floats: NaN is unordered, zeros are equal: LT.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, false, false]> : tensor<3xi1>
  func.return
}

// -----

// TOTALORDER: all numbers and NaNs in order: EQ.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare EQ, %lhs, %rhs, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// TOTALORDER: all numbers and NaNs in order: LT.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, false, true]> : tensor<3xi1>
  func.return
}

// -----

// TOTALORDER: all numbers and NaNs in order: GE.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare GE, %lhs, %rhs, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, true, false]> : tensor<3xi1>
  func.return
}

// -----

// TOTALORDER: all numbers and NaNs in order: GT.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FC00000, 0.0, 1.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, -0.0, 0x7FC00000]> : tensor<3xf32>
  %result = stablehlo.compare GT, %lhs, %rhs, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

// TOTALORDER: a negative NaN is below -infinity.
func.func @main() {
  %lhs = stablehlo.constant dense<[0xFFC00000, -1.0, -0.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[0xFF800000, -2.0, 0.0]> : tensor<3xf32>
  %result = stablehlo.compare LT, %lhs, %rhs, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

// bf16.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0, 2.0, 0x7FC0]> : tensor<3xbf16>
  %rhs = stablehlo.constant dense<[1.0, 1.5, 1.0]> : tensor<3xbf16>
  %result = stablehlo.compare LE, %lhs, %rhs, FLOAT : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

// -----

// Complex numbers, in lexicographic order.
func.func @main() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (1.0, 5.0), (0.0, 9.0)]> : tensor<3xcomplex<f32>>
  %rhs = stablehlo.constant dense<[(1.0, 3.0), (1.0, 5.0), (1.0, 0.0)]> : tensor<3xcomplex<f32>>
  %result = stablehlo.compare LT, %lhs, %rhs, FLOAT : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  check.expect_eq_const %result, dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// -----

// The only NaN of FNUZ formats has its sign bit set, and so comes before all numbers in total order.
func.func @main() {
  %x = stablehlo.constant dense<[0x80, 0x80, 0x80, 0.0, 0xFF]> : tensor<5xf8E4M3FNUZ>
  %y = stablehlo.constant dense<[0x80, 0.0, 0xFF, 0x80, 0x80]> : tensor<5xf8E4M3FNUZ>
  %lt = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<5xf8E4M3FNUZ>, tensor<5xf8E4M3FNUZ>) -> tensor<5xi1>
  check.expect_eq_const %lt, dense<[false, true, true, false, false]> : tensor<5xi1>
  %eq = stablehlo.compare EQ, %x, %y, TOTALORDER : (tensor<5xf8E4M3FNUZ>, tensor<5xf8E4M3FNUZ>) -> tensor<5xi1>
  check.expect_eq_const %eq, dense<[true, false, false, false, false]> : tensor<5xi1>
  func.return
}
