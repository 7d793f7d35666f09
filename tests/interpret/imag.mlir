// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %result = stablehlo.imag %operand : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[2.0, 4.0]> : tensor<2xf32>
  func.return
}

// -----

// The imaginary part of real numbers is zero.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf64>
  %result = stablehlo.imag %operand : tensor<2xf64>
  check.expect_eq_const %result, dense<[0.0, 0.0]> : tensor<2xf64>
  func.return
}
