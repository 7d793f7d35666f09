// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %b = stablehlo.constant dense<3> : tensor<i64>
  %tuple = stablehlo.tuple %a, %b : tuple<tensor<2xf64>, tensor<i64>>
  %nested = stablehlo.tuple %tuple, %b : tuple<tuple<tensor<2xf64>, tensor<i64>>, tensor<i64>>
  %inner = stablehlo.get_tuple_element %nested[0] : (tuple<tuple<tensor<2xf64>, tensor<i64>>, tensor<i64>>) -> tuple<tensor<2xf64>, tensor<i64>>
  %result = stablehlo.get_tuple_element %inner[0] : (tuple<tensor<2xf64>, tensor<i64>>) -> tensor<2xf64>
  check.expect_eq_const %result, dense<[1.0, 2.0]> : tensor<2xf64>
  func.return
}
