// XLA on CPUs returns the operand, 3: without dimensions, the only window is the scalar, so the result is 2 * 3.
func.func @main() {
  %operand = stablehlo.constant dense<3.0> : tensor<f32>
  %init = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%operand, %init) <{window_dimensions = array<i64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %0, dense<6.0> : tensor<f32>
  return
}
