// RUN: stablehlo-interp --split-input-file %s

func.func @of_each_dimension() {
  %x = stablehlo.constant dense<0.0> : tensor<2x0x3xf32>
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<2x0x3xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x0x3xf32>) -> tensor<i32>
  %2 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<2x0x3xf32>) -> tensor<i32>
  check.expect_eq_const %0, dense<2> : tensor<i32>
  check.expect_eq_const %1, dense<0> : tensor<i32>
  check.expect_eq_const %2, dense<3> : tensor<i32>
  return
}
