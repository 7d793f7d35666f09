// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @last_dimension() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<1.0> : tensor<2xf64>
  %mean = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %variance = stablehlo.constant dense<1.0> : tensor<2xf64>
  %grad_output = stablehlo.constant dense<0.1> : tensor<2x2x2xf64>
  %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) {
    epsilon = 0.0 : f32, feature_index = 2 : i64
  } : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2x2x2xf64>)
      -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %grad_operand, dense<0.0> : tensor<2x2x2xf64>
  check.expect_almost_eq_const %grad_scale, dense<0.0> : tensor<2xf64>
  check.expect_almost_eq_const %grad_offset, dense<0.4> : tensor<2xf64>
  func.return
}

// -----

// Centered: -3, -1, 1, 3. The standard deviation is sqrt(5 + 4) = 3, n = 4.
// grad_scale = (-3 * 1 + 3 * 5) / 3; grad_operand = 6 / 3 / 4 * (4 * g - 6 - 12 * centered / 9).
func.func @first_dimension() {
  %operand = stablehlo.constant dense<[[1.0, 3.0, 5.0, 7.0]]> : tensor<1x4xf32>
  %scale = stablehlo.constant dense<[6.0]> : tensor<1xf32>
  %mean = stablehlo.constant dense<[4.0]> : tensor<1xf32>
  %variance = stablehlo.constant dense<[5.0]> : tensor<1xf32>
  %grad_output = stablehlo.constant dense<[[1.0, 0.0, 0.0, 5.0]]> : tensor<1x4xf32>
  %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) {
    epsilon = 4.0 : f32, feature_index = 0 : i64
  } : (tensor<1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1x4xf32>)
      -> (tensor<1x4xf32>, tensor<1xf32>, tensor<1xf32>)
  check.expect_almost_eq_const %grad_operand, dense<[[1.0, -2.3333333, -3.6666667, 5.0]]> : tensor<1x4xf32>
  check.expect_almost_eq_const %grad_scale, dense<[4.0]> : tensor<1xf32>
  check.expect_eq_const %grad_offset, dense<[6.0]> : tensor<1xf32>
  func.return
}

// -----

func.func @nothing() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%operand, %one, %one, %one, %operand) {
    epsilon = 0.0 : f32, feature_index = 1 : i64
  } : (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<0x2xf32>)
      -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %grad_operand, dense<> : tensor<0x2xf32>
  check.expect_eq_const %grad_scale, dense<0.0> : tensor<2xf32>
  check.expect_eq_const %grad_offset, dense<0.0> : tensor<2xf32>
  func.return
}
