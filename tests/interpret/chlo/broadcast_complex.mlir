// RUN: stablehlo-interp --split-input-file %s

func.func @broadcast_complex() {
  %real = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %imag = stablehlo.constant dense<[[3.0], [-0.0]]> : tensor<2x1xf32>
  %result = chlo.broadcast_complex %real, %imag : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xcomplex<f32>>
  check.expect_eq_const %result, dense<[[(1.0, 3.0), (2.0, 3.0)], [(1.0, -0.0), (2.0, -0.0)]]> : tensor<2x2xcomplex<f32>>
  func.return
}
