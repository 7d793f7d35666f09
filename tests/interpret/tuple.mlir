// RUN: stablehlo-interp --split-input-file %s

// Tuples within tuples.
func.func @main() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %b = stablehlo.constant dense<3> : tensor<i64>
  %tuple = stablehlo.tuple %a, %b : tuple<tensor<2xf64>, tensor<i64>>
  %nested = stablehlo.tuple %tuple, %b : tuple<tuple<tensor<2xf64>, tensor<i64>>, tensor<i64>>
  %inner = stablehlo.get_tuple_element %nested[0] : (tuple<tuple<tensor<2xf64>, tensor<i64>>, tensor<i64>>) -> tuple<tensor<2xf64>, tensor<i64>>
  %result = stablehlo.get_tuple_element %inner[1] : (tuple<tensor<2xf64>, tensor<i64>>) -> tensor<i64>
  check.expect_eq_const %result, dense<3> : tensor<i64>
  func.return
}

// -----

// An empty tuple.
func.func @main() {
  %tuple = stablehlo.tuple  : tuple<>
  %result = stablehlo.constant dense<true> : tensor<i1>
  check.expect_eq_const %result, dense<true> : tensor<i1>
  func.return
}
