// RUN: stablehlo-interp --split-input-file %s

func.func @to_a_shape_that_is_an_operand() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1] : (tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  %1 = stablehlo.dynamic_reshape %0, %shape : (tensor<?x?xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %1, dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>
  return
}
