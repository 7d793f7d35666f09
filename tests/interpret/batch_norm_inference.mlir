// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @last_dimension() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<1.0> : tensor<2xf64>
  %offset = stablehlo.constant dense<1.0> : tensor<2xf64>
  %mean = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %variance = stablehlo.constant dense<1.0> : tensor<2xf64>
  %result = "stablehlo.batch_norm_inference"(%operand, %scale, %offset, %mean, %variance) {
    epsilon = 0.0 : f32, feature_index = 2 : i64
  } : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2x2x2xf64>
  check.expect_eq_const %result, dense<[[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]> : tensor<2x2x2xf64>
  func.return
}

// -----

// (x - 2) / sqrt(3 + 1) * 4 + 10, and x / sqrt(-1 + 1).
func.func @first_dimension() {
  %operand = stablehlo.constant dense<[[2.0, 3.0, 4.0], [-1.0, 0.0, 1.0]]> : tensor<2x3xbf16>
  %scale = stablehlo.constant dense<[4.0, 1.0]> : tensor<2xbf16>
  %offset = stablehlo.constant dense<[10.0, 5.0]> : tensor<2xbf16>
  %mean = stablehlo.constant dense<[2.0, 0.0]> : tensor<2xbf16>
  %variance = stablehlo.constant dense<[3.0, -1.0]> : tensor<2xbf16>
  %result = "stablehlo.batch_norm_inference"(%operand, %scale, %offset, %mean, %variance) {
    epsilon = 1.0 : f32, feature_index = 0 : i64
  } : (tensor<2x3xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<2x3xbf16>
  check.expect_almost_eq_const %result, dense<[[10.0, 12.0, 14.0], [0xFF80, 0x7FC0, 0x7F80]]> : tensor<2x3xbf16>
  func.return
}

// -----

func.func @nothing() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %result = "stablehlo.batch_norm_inference"(%operand, %one, %one, %one, %one) {
    epsilon = 0.0 : f32, feature_index = 1 : i64
  } : (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<0x2xf32>
  check.expect_eq_const %result, dense<> : tensor<0x2xf32>
  func.return
}
