// The compiler of XLA for CPUs dies (signal 6). The only window selects the only element, so the result is 1 + 5.
func.func @main() {
  %operand = stablehlo.constant dense<0> : tensor<i32>
  %source = stablehlo.constant dense<5> : tensor<i32>
  %init = stablehlo.constant dense<1> : tensor<i32>
  %given = stablehlo.optimization_barrier %operand : tensor<i32>
  %0 = "stablehlo.select_and_scatter"(%given, %source, %init) <{window_dimensions = array<i64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<6> : tensor<i32>
  return
}
