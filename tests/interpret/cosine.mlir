// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0.0, 1.57079632], [3.14159265, 4.71238898]]> : tensor<2x2xf32>
  %result = stablehlo.cosine %operand : tensor<2x2xf32>
  %expected = stablehlo.constant dense<[[1.0, -4.371139e-08], [-1.0, 1.1924881e-08]]> : tensor<2x2xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2x2xf32>, tensor<2x2xf32>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[0.5, -1.0, 100.0, 10000000000.0]> : tensor<4xf64>
  %result = stablehlo.cosine %operand : tensor<4xf64>
  %expected = stablehlo.constant dense<[0.8775825618903728, 0.5403023058681398, 0.8623188722876839, 0.873119622676856]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, -0.0, 0x7F800000, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.cosine %operand : tensor<4xf32>
  check.expect_eq_const %result, dense<[1.0, 1.0, 0x7FC00000, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.cosine %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(2.0327230070196656, -3.0518977991518), (0.9051501505596067, 0.12110879604381165)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
