// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %result = stablehlo.broadcast_in_dim %operand, dims = [2, 1] : (tensor<1x3xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %result, dense<[[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]> : tensor<2x3x2xi32>
  func.return
}

// -----

// A scalar.
func.func @main() {
  %operand = stablehlo.constant dense<7.5> : tensor<bf16>
  %result = stablehlo.broadcast_in_dim %operand, dims = [] : (tensor<bf16>) -> tensor<2x2xbf16>
  check.expect_eq_const %result, dense<7.5> : tensor<2x2xbf16>
  func.return
}

// -----

// A column.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi4>
  %result = stablehlo.broadcast_in_dim %operand, dims = [0] : (tensor<2xi4>) -> tensor<2x3xi4>
  check.expect_eq_const %result, dense<[[1, 1, 1], [2, 2, 2]]> : tensor<2x3xi4>
  func.return
}

// -----

// Dimensions in another order.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %result = stablehlo.broadcast_in_dim %operand, dims = [2, 0] : (tensor<2x2xi64>) -> tensor<2x1x2xi64>
  check.expect_eq_const %result, dense<[[[1, 3]], [[2, 4]]]> : tensor<2x1x2xi64>
  func.return
}

// -----

// No elements.
func.func @main() {
  %operand = stablehlo.constant dense<[]> : tensor<0xf32>
  %result = stablehlo.broadcast_in_dim %operand, dims = [0] : (tensor<0xf32>) -> tensor<0xf32>
  check.expect_eq_const %result, dense<[]> : tensor<0xf32>
  func.return
}
