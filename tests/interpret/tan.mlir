// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0.0, 1.57079632], [3.14159265, 4.71238898]]> : tensor<2x2xf64>
  %result = stablehlo.tan %operand : tensor<2x2xf64>
  %expected = stablehlo.constant dense<[[0.0, 147169271.76124874], [-3.5897930298416118e-09, 2599497068.2695704]]> : tensor<2x2xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<2x2xf64>, tensor<2x2xf64>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[0.5, -1.0, 100.0, 1.5]> : tensor<4xf32>
  %result = stablehlo.tan %operand : tensor<4xf32>
  %expected = stablehlo.constant dense<[0.5463025, -1.5574077, -0.58721393, 14.10142]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = stablehlo.tan %operand : tensor<4xf32>
  check.expect_eq_const %result, dense<[-0.0, 0x7FC00000, 0x7FC00000, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.tan %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(0.03381282607989669, 1.0147936161466335), (-0.504500702698564, 0.3124206925025888)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
