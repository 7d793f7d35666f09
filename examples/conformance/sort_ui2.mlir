// XLA on CPUs returns other values than the operand has, such as [3, 3, 0, 2].
func.func @main() {
  %x = stablehlo.constant dense<[0, 1, 1, 0]> : tensor<4xui2>
  %given = stablehlo.optimization_barrier %x : tensor<4xui2>
  %0 = "stablehlo.sort"(%given) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<ui2>, %b: tensor<ui2>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<ui2>, tensor<ui2>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xui2>) -> tensor<4xui2>
  check.expect_eq_const %0, dense<[1, 1, 0, 0]> : tensor<4xui2>
  return
}
