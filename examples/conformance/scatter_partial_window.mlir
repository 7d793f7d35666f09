// XLA on CPUs returns the input: it drops a window that is partly outside. Only index [1] of the window is outside, so
// the last element becomes 10 (spec, "scatter": update_index is skipped if result_index is out of bounds).
func.func @main() {
  %input = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %index = stablehlo.constant dense<1> : tensor<1xi32>
  %update = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %0 = "stablehlo.scatter"(%input, %index, %update) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<2xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 10]> : tensor<2xi32>
  return
}
