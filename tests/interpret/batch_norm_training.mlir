// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @last_dimension() {
  %operand = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]> : tensor<2x2x2xf64>
  %scale = stablehlo.constant dense<1.0> : tensor<2xf64>
  %offset = stablehlo.constant dense<1.0> : tensor<2xf64>
  %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%operand, %scale, %offset) {
    epsilon = 0.0 : f32, feature_index = 2 : i64
  } : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  check.expect_eq_const %output, dense<[[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]> : tensor<2x2x2xf64>
  check.expect_eq_const %batch_mean, dense<[2.0, 3.0]> : tensor<2xf64>
  check.expect_eq_const %batch_var, dense<[1.0, 1.0]> : tensor<2xf64>
  func.return
}

// -----

// The mean of 1, 3, 5, 7 is 4, their variance 5; with epsilon 4 they are divided by 3.
func.func @first_dimension() {
  %operand = stablehlo.constant dense<[[[1.0, 3.0], [5.0, 7.0]]]> : tensor<1x2x2xf32>
  %scale = stablehlo.constant dense<[3.0]> : tensor<1xf32>
  %offset = stablehlo.constant dense<[-1.0]> : tensor<1xf32>
  %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%operand, %scale, %offset) {
    epsilon = 4.0 : f32, feature_index = 0 : i64
  } : (tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>)
  check.expect_almost_eq_const %output, dense<[[[-4.0, -2.0], [0.0, 2.0]]]> : tensor<1x2x2xf32>
  check.expect_eq_const %batch_mean, dense<[4.0]> : tensor<1xf32>
  check.expect_eq_const %batch_var, dense<[5.0]> : tensor<1xf32>
  func.return
}

// -----

// The mean of no elements is NaN.
func.func @nothing() {
  %operand = stablehlo.constant dense<> : tensor<0x2xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%operand, %one, %one) {
    epsilon = 0.0 : f32, feature_index = 1 : i64
  } : (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %output, dense<> : tensor<0x2xf32>
  check.expect_almost_eq_const %batch_mean, dense<0x7FC00000> : tensor<2xf32>
  check.expect_almost_eq_const %batch_var, dense<0x7FC00000> : tensor<2xf32>
  func.return
}
