// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[17.1, -17.1, 17.1, -17.1]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[3.0, 3.0, -3.0, -3.0]> : tensor<4xf32>
  %result = stablehlo.divide %lhs, %rhs : tensor<4xf32>
  %expected = stablehlo.constant dense<[5.70000029, -5.70000029, -5.70000029, 5.70000029]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Integers: the fraction is discarded.
func.func @main() {
  %lhs = stablehlo.constant dense<[17, -17, 17, -17]> : tensor<4xi64>
  %rhs = stablehlo.constant dense<[3, 3, -3, -3]> : tensor<4xi64>
  %result = stablehlo.divide %lhs, %rhs : tensor<4xi64>
  check.expect_eq_const %result, dense<[5, -5, -5, 5]> : tensor<4xi64>
  func.return
}

// -----

// Division by zero sets all bits; the smallest number divided by -1 is itself.
func.func @main() {
  %lhs = stablehlo.constant dense<[5, 0, -128, -128]> : tensor<4xi8>
  %rhs = stablehlo.constant dense<[0, 0, -1, 0]> : tensor<4xi8>
  %result = stablehlo.divide %lhs, %rhs : tensor<4xi8>
  check.expect_eq_const %result, dense<[-1, -1, -128, -1]> : tensor<4xi8>
  func.return
}

// -----

// Unsigned integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[255, 7, 1]> : tensor<3xui8>
  %rhs = stablehlo.constant dense<[2, 0, 3]> : tensor<3xui8>
  %result = stablehlo.divide %lhs, %rhs : tensor<3xui8>
  check.expect_eq_const %result, dense<[127, 255, 0]> : tensor<3xui8>
  func.return
}

// -----

// 4-bit integers.
func.func @main() {
  %lhs = stablehlo.constant dense<[-8, 7, -8]> : tensor<3xi4>
  %rhs = stablehlo.constant dense<[3, -2, -1]> : tensor<3xi4>
  %result = stablehlo.divide %lhs, %rhs : tensor<3xi4>
  check.expect_eq_const %result, dense<[-2, -3, -8]> : tensor<3xi4>
  func.return
}

// -----

// Floats divided by zero.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0, -1.0, 0.0, 1.0]> : tensor<4xf32>
  %rhs = stablehlo.constant dense<[0.0, 0.0, 0.0, -0.0]> : tensor<4xf32>
  %result = stablehlo.divide %lhs, %rhs : tensor<4xf32>
  check.expect_eq_const %result, dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800000]> : tensor<4xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0), (4.0, 0.0)]> : tensor<2xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(3.0, -4.0), (0.0, 2.0)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.divide %lhs, %rhs : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(-0.2, 0.4), (0.0, -2.0)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
