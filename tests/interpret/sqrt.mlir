// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0.0, 1.0], [4.0, 9.0]]> : tensor<2x2xf32>
  %result = stablehlo.sqrt %operand : tensor<2x2xf32>
  check.expect_eq_const %result, dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[2.0, 0.1, 1.0e+30, 1.0e-40]> : tensor<4xf64>
  %result = stablehlo.sqrt %operand : tensor<4xf64>
  %expected = stablehlo.constant dense<[1.4142135623730951, 0.31622776601683794, 1000000000000000.0, 1.0e-20]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, -1.0, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.sqrt %operand : tensor<4xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.sqrt %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(1.272019649514069, 0.7861513777574233), (0.17178037486125622, 0.7276733451126774)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}

// -----

// f8E5M2: the exact result is rounded once.
func.func @main() {
  %operand = stablehlo.constant dense<[2.0, 0.5, 10.0]> : tensor<3xf8E5M2>
  %result = stablehlo.sqrt %operand : tensor<3xf8E5M2>
  check.expect_eq_const %result, dense<[1.5, 0.75, 3.0]> : tensor<3xf8E5M2>
  func.return
}
