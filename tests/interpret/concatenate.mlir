// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %input0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %input1 = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi64>
  %result = stablehlo.concatenate %input0, %input1, dim = 0 : (tensor<3x2xi64>, tensor<1x2xi64>) -> tensor<4x2xi64>
  check.expect_eq_const %result, dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi64>
  func.return
}

// -----

// Along the last dimension; one input is empty.
func.func @main() {
  %input0 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xbf16>
  %input1 = stablehlo.constant dense<> : tensor<2x0xbf16>
  %input2 = stablehlo.constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xbf16>
  %result = stablehlo.concatenate %input0, %input1, %input2, dim = 1 : (tensor<2x1xbf16>, tensor<2x0xbf16>, tensor<2x2xbf16>) -> tensor<2x3xbf16>
  check.expect_eq_const %result, dense<[[1.0, 3.0, 4.0], [2.0, 5.0, 6.0]]> : tensor<2x3xbf16>
  func.return
}

// -----

// One input.
func.func @main() {
  %input0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %result = stablehlo.concatenate %input0, dim = 0 : (tensor<2xi1>) -> tensor<2xi1>
  check.expect_eq_const %result, dense<[true, false]> : tensor<2xi1>
  func.return
}
