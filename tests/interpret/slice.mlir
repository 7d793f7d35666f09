// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]> : tensor<3x4xi64>
  %result = stablehlo.slice %operand [1:3, 2:4] : (tensor<3x4xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %result, dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>
  func.return
}

// -----

// Strides that do not divide the size.
func.func @main() {
  %operand = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6]> : tensor<7xi8>
  %result = stablehlo.slice %operand [1:7:2] : (tensor<7xi8>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[1, 3, 5]> : tensor<3xi8>
  func.return
}

// -----

// No elements.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %result = stablehlo.slice %operand [2:2] : (tensor<2xf32>) -> tensor<0xf32>
  check.expect_eq_const %result, dense<[]> : tensor<0xf32>
  func.return
}
