// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0.0, 1.57079632], [3.14159265, 4.71238898]]> : tensor<2x2xf32>
  %result = stablehlo.sine %operand : tensor<2x2xf32>
  %expected = stablehlo.constant dense<[[0.0, 1.0], [-8.742278e-08, -1.0]]> : tensor<2x2xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2x2xf32>, tensor<2x2xf32>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[0.5, -1.0, 100.0, 10000000000.0]> : tensor<4xf64>
  %result = stablehlo.sine %operand : tensor<4xf64>
  %expected = stablehlo.constant dense<[0.479425538604203, -0.8414709848078965, -0.5063656411097588, -0.4875060250875107]> : tensor<4xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf64>, tensor<4xf64>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.sine %operand : tensor<4xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7FC00000, 0x7FC00000, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.sine %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(3.165778513216168, 1.9596010414216058), (-0.494485780933195, 0.22168816414957482)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
