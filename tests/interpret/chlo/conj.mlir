// RUN: stablehlo-interp --split-input-file %s

func.func @complex() {
  %operand = stablehlo.constant dense<[(1.0, 2.0), (-3.0, -0.0), (0.0, 0.0)]> : tensor<3xcomplex<f32>>
  %result = chlo.conj %operand : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
  check.expect_eq_const %result, dense<[(1.0, -2.0), (-3.0, 0.0), (0.0, -0.0)]> : tensor<3xcomplex<f32>>
  func.return
}

// -----

// A real number is its own conjugate.
func.func @real() {
  %operand = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %result = chlo.conj %operand : tensor<2xf32> -> tensor<2xf32>
  check.expect_eq_const %result, dense<[1.0, -2.0]> : tensor<2xf32>
  func.return
}
