// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]> : tensor<2x3x2xi32>
  %result = stablehlo.transpose %operand, dims = [2, 1, 0] : (tensor<2x3x2xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %result, dense<[[[1, 7], [3, 9], [5, 11]], [[2, 8], [4, 10], [6, 12]]]> : tensor<2x3x2xi32>
  func.return
}

// -----

// A cyclic permutation of dimensions.
func.func @main() {
  %operand = stablehlo.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi8>
  %result = stablehlo.transpose %operand, dims = [2, 0, 1] : (tensor<2x1x3xi8>) -> tensor<3x2x1xi8>
  check.expect_eq_const %result, dense<[[[1], [4]], [[2], [5]], [[3], [6]]]> : tensor<3x2x1xi8>
  func.return
}

// -----

// A scalar.
func.func @main() {
  %operand = stablehlo.constant dense<3.0> : tensor<f64>
  %result = stablehlo.transpose %operand, dims = [] : (tensor<f64>) -> tensor<f64>
  check.expect_eq_const %result, dense<3.0> : tensor<f64>
  func.return
}
