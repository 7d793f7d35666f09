// RUN: stablehlo-interp --split-input-file %s

// The spec's example; the upper triangle is not read.
func.func @lower() {
  %a = stablehlo.constant dense<[[1.0, 9.0, 9.0], [2.0, 4.0, 9.0], [3.0, 5.0, 6.0]]> : tensor<3x3xf32>
  %b = stablehlo.constant dense<[[2.0, 0.0, 0.0], [4.0, 8.0, 0.0], [6.0, 10.0, 12.0]]> : tensor<3x3xf32>
  %result = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  check.expect_eq_const %result, dense<[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]> : tensor<3x3xf32>
  func.return
}

// -----

// 4 y = 8, 2 x + y = 6.
func.func @upper() {
  %a = stablehlo.constant dense<[[2.0, 1.0], [9.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[6.0], [8.0]]> : tensor<2x1xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_eq_const %result, dense<[[2.0], [2.0]]> : tensor<2x1xf64>
  func.return
}

// -----

// [x y] [[2, 1], [0, 4]] = [6, 11]: 2 x = 6, x + 4 y = 11.
func.func @right_side() {
  %a = stablehlo.constant dense<[[2.0, 1.0], [9.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[6.0, 11.0]]> : tensor<1x2xf64>
  %result = "stablehlo.triangular_solve"(%a, %b) {
    left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<2x2xf64>, tensor<1x2xf64>) -> tensor<1x2xf64>
  check.expect_eq_const %result, dense<[[3.0, 2.0]]> : tensor<1x2xf64>
  func.return
}

// -----

// A transposed upper triangle is a lower one: 2 x = 6, x + 4 y = 11; and the same with left_side = false.
func.func @transpose() {
  %a = stablehlo.constant dense<[[2.0, 1.0], [9.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[6.0], [11.0]]> : tensor<2x1xf32>
  %0 = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>
  } : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %0, dense<[[3.0], [2.0]]> : tensor<2x1xf32>
  %c = stablehlo.constant dense<[[6.0, 8.0]]> : tensor<1x2xf32>
  %1 = "stablehlo.triangular_solve"(%a, %c) {
    left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>
  } : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %1, dense<[[2.0, 2.0]]> : tensor<1x2xf32>
  func.return
}

// -----

// The adjoint of [[i, 0], [1 + i, 2]]: 2 y = 4, -i x + (1 - i) y = 2 - 3 i.
func.func @adjoint() {
  %a = stablehlo.constant dense<[[(0.0, 1.0), (9.0, 9.0)], [(1.0, 1.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %b = stablehlo.constant dense<[[(2.0, -3.0)], [(4.0, 0.0)]]> : tensor<2x1xcomplex<f32>>
  %result = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>
  } : (tensor<2x2xcomplex<f32>>, tensor<2x1xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  check.expect_eq_const %result, dense<[[(1.0, 0.0)], [(2.0, 0.0)]]> : tensor<2x1xcomplex<f32>>
  func.return
}

// -----

// The diagonal is not read: x = 3, 2 x + y = 7.
func.func @unit_diagonal() {
  %a = stablehlo.constant dense<[[5.0, 9.0], [2.0, 0.0]]> : tensor<2x2xf16>
  %b = stablehlo.constant dense<[[3.0], [7.0]]> : tensor<2x1xf16>
  %result = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<2x2xf16>, tensor<2x1xf16>) -> tensor<2x1xf16>
  check.expect_eq_const %result, dense<[[3.0], [1.0]]> : tensor<2x1xf16>
  func.return
}

// -----

// A zero on the diagonal is divided by as in `divide`; matrices of a batch are independent.
func.func @singular() {
  %a = stablehlo.constant dense<[[[0.0]], [[2.0]], [[0.0]]]> : tensor<3x1x1xf32>
  %b = stablehlo.constant dense<[[[-1.0]], [[4.0]], [[0.0]]]> : tensor<3x1x1xf32>
  %result = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<3x1x1xf32>, tensor<3x1x1xf32>) -> tensor<3x1x1xf32>
  check.expect_almost_eq_const %result, dense<[[[0xFF800000]], [[2.0]], [[0x7FC00000]]]> : tensor<3x1x1xf32>
  func.return
}

// -----

func.func @nothing() {
  %a = stablehlo.constant dense<> : tensor<0x0xf32>
  %b = stablehlo.constant dense<> : tensor<0x2xf32>
  %result = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<0x0xf32>, tensor<0x2xf32>) -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
