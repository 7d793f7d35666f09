// RUN: stablehlo-interp --split-input-file %s

// 32-bit parts.
func.func @main() {
  %lhs = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %rhs = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %result = stablehlo.complex %lhs, %rhs : tensor<2xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  func.return
}

// -----

// Special parts are unchanged.
func.func @main() {
  %lhs = stablehlo.constant dense<[0x7FF0000000000000, 0.0]> : tensor<2xf64>
  %rhs = stablehlo.constant dense<[0x7FF8000000000000, -0.0]> : tensor<2xf64>
  %result = stablehlo.complex %lhs, %rhs : tensor<2xcomplex<f64>>
  check.expect_eq_const %result, dense<[(0x7FF0000000000000, 0x7FF8000000000000), (0.0, -0.0)]> : tensor<2xcomplex<f64>>
  func.return
}
