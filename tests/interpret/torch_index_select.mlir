// RUN: stablehlo-interp --split-input-file %s

// Indices out of range are clamped.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[[2, 0], [9, -1]]> : tensor<2x2xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[3, 1], [3, 1]], [[6, 4], [6, 4]]]> : tensor<2x2x2xi32>
  %1 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[3, 1], [6, 4]]> : tensor<2x2xi32>
  %s = stablehlo.constant dense<1> : tensor<i64>
  %2 = "stablehlo.torch_index_select"(%x, %s) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<2x3xi32>, tensor<i64>) -> tensor<3xi32>
  check.expect_eq_const %2, dense<[4, 5, 6]> : tensor<3xi32>
  func.return
}

// -----

// Other dimensions between the batch dimensions and the selected one.
func.func @others_between() {
  %x = stablehlo.iota dim = 2 : tensor<2x2x3x1xi32>
  %i = stablehlo.constant dense<[[2, 1], [0, 0]]> : tensor<2x2xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 2 : i64, batch_dims = 1 : i64} : (tensor<2x2x3x1xi32>, tensor<2x2xi32>) -> tensor<2x2x2x1xi32>
  check.expect_eq_const %0, dense<[[[[2], [1]], [[2], [1]]], [[[0], [0]], [[0], [0]]]]> : tensor<2x2x2x1xi32>
  func.return
}

// -----

// Negative dimensions count from the end: `dim` in the operand, `batch_dims` in the index.
func.func @negative_dimensions() {
  %operand = stablehlo.constant dense<[[[100, 101], [110, 111]], [[200, 201], [210, 211]]]> : tensor<2x2x2xi32>
  %index = stablehlo.constant dense<[[[0, 1], [1, 0]], [[0, 0], [1, 1]]]> : tensor<2x2x2xi32>
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{batch_dims = -1 : i64, dim = -1 : i64}> : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[100, 101], [111, 110]], [[200, 200], [211, 211]]]> : tensor<2x2x2xi32>
  %vector = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi32>
  %1 = "stablehlo.torch_index_select"(%operand, %vector) <{batch_dims = -1 : i64, dim = -2 : i64}> : (tensor<2x2x2xi32>, tensor<3xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %1, dense<[[[110, 111], [100, 101], [110, 111]], [[210, 211], [200, 201], [210, 211]]]> : tensor<2x3x2xi32>
  func.return
}

// -----

// No element is taken, so there is none to clamp indices to.
func.func @empty() {
  %operand = stablehlo.constant dense<> : tensor<0x1x0xf32>
  %index = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %0 = "stablehlo.torch_index_select"(%operand, %index) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<0x1x0xf32>, tensor<2xi32>) -> tensor<2x1x0xf32>
  check.expect_eq_const %0, dense<> : tensor<2x1x0xf32>
  func.return
}
