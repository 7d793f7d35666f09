// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.constant dense<0.5> : tensor<f32>
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<2xi32>, tensor<f32>
  check.expect_eq_const %0#0, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<0.5> : tensor<f32>
  %1 = stablehlo.optimization_barrier %x : tensor<2xi32>
  check.expect_eq_const %1, dense<[1, 2]> : tensor<2xi32>
  stablehlo.optimization_barrier ()
  return
}
