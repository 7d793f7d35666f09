// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %x = stablehlo.constant dense<[3, -4]> : tensor<2xi32>
  %0:2 = stablehlo.composite "test.sum_and_difference" %x, %x {
    composite_attributes = {scale = 2.0 : f32},
    decomposition = @sum_and_difference,
    version = 1 : i32
  } : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[6, -8]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<0> : tensor<2xi32>
  return
}
func.func private @sum_and_difference(%a: tensor<2xi32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %0 = stablehlo.add %a, %b : tensor<2xi32>
  %1 = stablehlo.subtract %a, %b : tensor<2xi32>
  return %0, %1 : tensor<2xi32>, tensor<2xi32>
}
