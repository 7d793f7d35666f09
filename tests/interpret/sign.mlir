// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[0x7FFFFFFFFFFFFFFF, -1.0, -0.0, 0.0, 1.0]> : tensor<5xf64>
  %result = stablehlo.sign %operand : tensor<5xf64>
  check.expect_eq_const %result, dense<[0x7FFFFFFFFFFFFFFF, -1.0, -0.0, 0.0, 1.0]> : tensor<5xf64>
  func.return
}

// -----

// Integers.
func.func @main() {
  %operand = stablehlo.constant dense<[-128, 0, 5]> : tensor<3xi8>
  %result = stablehlo.sign %operand : tensor<3xi8>
  check.expect_eq_const %result, dense<[-1, 0, 1]> : tensor<3xi8>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(3.0, -4.0), (0.0, 0.0), (0x7FC00000, 1.0)]> : tensor<3xcomplex<f32>>
  %result = stablehlo.sign %operand : tensor<3xcomplex<f32>>
  %expected = stablehlo.constant dense<[(0.6, -0.8), (0.0, 0.0), (0x7FC00000, 0x7FC00000)]> : tensor<3xcomplex<f32>>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
  func.return
}

// -----

// Zero keeps its sign.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0.0, 0xFF800000]> : tensor<3xf32>
  %result = stablehlo.sign %operand : tensor<3xf32>
  %bits = stablehlo.bitcast_convert %result : (tensor<3xf32>) -> tensor<3xui32>
  check.expect_eq_const %bits, dense<[2147483648, 0, 3212836864]> : tensor<3xui32>
  func.return
}
