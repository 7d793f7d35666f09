// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %lhs = stablehlo.constant dense<[-2.0, -0.0, -36.0, 5.0, 3.0, 10000.0]> : tensor<6xf64>
  %rhs = stablehlo.constant dense<[2.0, 2.0, 1.1, 2.0, -1.0, 10.0]> : tensor<6xf64>
  %result = stablehlo.power %lhs, %rhs : tensor<6xf64>
  %expected = stablehlo.constant dense<[4.0, 0.0, 0x7FF8000000000000, 25.0, 0.33333333333333331, 1.0e40]> : tensor<6xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<6xf64>, tensor<6xf64>
  func.return
}

// -----

// Integers; anything to the power of zero is one.
func.func @main() {
  %lhs = stablehlo.constant dense<[2, -3, 0, 7]> : tensor<4xi32>
  %rhs = stablehlo.constant dense<[10, 3, 0, 0]> : tensor<4xi32>
  %result = stablehlo.power %lhs, %rhs : tensor<4xi32>
  check.expect_eq_const %result, dense<[1024, -27, 1, 1]> : tensor<4xi32>
  func.return
}

// -----

// Negative exponents: the fraction is discarded.
func.func @main() {
  %lhs = stablehlo.constant dense<[2, 1, -1, -1, 0]> : tensor<5xi64>
  %rhs = stablehlo.constant dense<[-1, -5, -3, -2, -1]> : tensor<5xi64>
  %result = stablehlo.power %lhs, %rhs : tensor<5xi64>
  check.expect_eq_const %result, dense<[0, 1, -1, 1, 0]> : tensor<5xi64>
  func.return
}

// -----

// Integers wrap around.
func.func @main() {
  %lhs = stablehlo.constant dense<[3, 2, 10]> : tensor<3xui8>
  %rhs = stablehlo.constant dense<[6, 8, 3]> : tensor<3xui8>
  %result = stablehlo.power %lhs, %rhs : tensor<3xui8>
  check.expect_eq_const %result, dense<[217, 0, 232]> : tensor<3xui8>
  func.return
}

// -----

// Special values of floats.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0, 0x7FC00000, 0.0, -0.0, 0.0]> : tensor<5xf32>
  %rhs = stablehlo.constant dense<[0x7FC00000, 0.0, -1.0, -3.0, 0.0]> : tensor<5xf32>
  %result = stablehlo.power %lhs, %rhs : tensor<5xf32>
  check.expect_eq_const %result, dense<[1.0, 1.0, 0x7F800000, 0xFF800000, 1.0]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %lhs = stablehlo.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>
  %rhs = stablehlo.constant dense<[(0.5, -1.0)]> : tensor<1xcomplex<f64>>
  %result = stablehlo.power %lhs, %rhs : tensor<1xcomplex<f64>>
  %expected = stablehlo.constant dense<[(4.382565059863359, -1.124397477361155)]> : tensor<1xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 8 : tensor<1xcomplex<f64>>, tensor<1xcomplex<f64>>
  func.return
}
