// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[0.0, -0.999, 7.0, 6.38905621, 15.0]> : tensor<5xf64>
  %result = stablehlo.log_plus_one %operand : tensor<5xf64>
  %expected = stablehlo.constant dense<[0.0, -6.907755278982136, 2.0794415416798357, 2.0000000150316017, 2.772588722239781]> : tensor<5xf64>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<5xf64>, tensor<5xf64>
  func.return
}

// -----

// Other values.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0e-10, -0.5, 1.0e+20, -1.0e-20]> : tensor<4xf32>
  %result = stablehlo.log_plus_one %operand : tensor<4xf32>
  %expected = stablehlo.constant dense<[1.0e-10, -0.6931472, 46.0517, -1.0e-20]> : tensor<4xf32>
  check.expect_close %result, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

// Special values.
func.func @main() {
  %operand = stablehlo.constant dense<[-0.0, -1.0, 0x7F800000, -2.0, 0x7FC00000]> : tensor<5xf32>
  %result = stablehlo.log_plus_one %operand : tensor<5xf32>
  check.expect_eq_const %result, dense<[-0.0, 0xFF800000, 0x7F800000, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>
  func.return
}

// -----

// Complex numbers.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.25)]> : tensor<2xcomplex<f64>>
  %result = stablehlo.log_plus_one %operand : tensor<2xcomplex<f64>>
  %expected = stablehlo.constant dense<[(1.0397207708399179, 0.7853981633974483), (-0.5815754049028404, 0.4636476090008061)]> : tensor<2xcomplex<f64>>
  check.expect_close %result, %expected, max_ulp_difference = 2 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>
  func.return
}
