// RUN: stablehlo-interp --split-input-file %s

func.func @with_a_padding_that_is_an_operand() {
  %lhs = stablehlo.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32>
  %rhs = stablehlo.constant dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>
  %padding = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%lhs, %rhs, %padding) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    feature_group_count = 1 : i64,
    batch_group_count = 1 : i64
  } : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x3x1xf32>
  // 0*1 + 1*10, 1*1 + 2*10, 2*1 + 3*10
  check.expect_eq_const %0, dense<[[[10.0], [21.0], [32.0]]]> : tensor<1x3x1xf32>
  return
}
