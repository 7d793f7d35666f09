// RUN: stablehlo-interp --split-input-file %s

// The spec's example; the upper triangle is not read.
func.func @lower() {
  %a = stablehlo.constant dense<[[1.0, 9.0, 9.0], [2.0, 20.0, 9.0], [3.0, 26.0, 70.0]]> : tensor<3x3xf32>
  %result = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
  check.expect_eq_const %result, dense<[[1.0, 0.0, 0.0], [2.0, 4.0, 0.0], [3.0, 5.0, 6.0]]> : tensor<3x3xf32>
  func.return
}

// -----

// The lower triangle is not read.
func.func @upper() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [9.0, 20.0, 26.0], [9.0, 9.0, 70.0]]> : tensor<3x3xf64>
  %result = stablehlo.cholesky %a : tensor<3x3xf64>
  check.expect_eq_const %result, dense<[[1.0, 2.0, 3.0], [0.0, 4.0, 5.0], [0.0, 0.0, 6.0]]> : tensor<3x3xf64>
  func.return
}

// -----

// [[2, 0], [1 + i, 2]] times its adjoint.
func.func @complex_matrix() {
  %a = stablehlo.constant dense<[[(4.0, 0.0), (9.0, 9.0)], [(2.0, 2.0), (6.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %result = stablehlo.cholesky %a, lower = true : tensor<2x2xcomplex<f32>>
  check.expect_eq_const %result, dense<[[(2.0, 0.0), (0.0, 0.0)], [(1.0, 1.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  func.return
}

// -----

// A matrix that is not positive definite gives NaNs; others of the batch are not affected.
func.func @batch() {
  %a = stablehlo.constant dense<[[[4.0, 0.0], [2.0, 2.0]], [[1.0, 0.0], [2.0, 3.0]], [[9.0, 0.0], [0.0, 16.0]]]> : tensor<3x2x2xbf16>
  %result = stablehlo.cholesky %a, lower = true : tensor<3x2x2xbf16>
  check.expect_almost_eq_const %result, dense<[[[2.0, 0.0], [1.0, 1.0]],
    [[0x7FC0, 0x7FC0], [0x7FC0, 0x7FC0]], [[3.0, 0.0], [0.0, 4.0]]]> : tensor<3x2x2xbf16>
  func.return
}

// -----

func.func @nothing() {
  %a = stablehlo.constant dense<> : tensor<2x0x0xf32>
  %result = stablehlo.cholesky %a, lower = true : tensor<2x0x0xf32>
  check.expect_eq_const %result, dense<> : tensor<2x0x0xf32>
  func.return
}
