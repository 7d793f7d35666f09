// RUN: stablehlo-interp --split-input-file %s

func.func @of_a_shape_that_is_an_argument() {
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_reshape %0, %shape : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  check.expect_eq_const %1, dense<[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf32>
  return
}
