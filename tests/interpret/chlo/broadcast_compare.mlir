// RUN: stablehlo-interp --split-input-file %s

func.func @float() {
  %lhs = stablehlo.constant dense<[1.0, 0x7FC00000, -0.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[[2.0], [0.0]]> : tensor<2x1xf32>
  %result = chlo.broadcast_compare %lhs, %rhs {comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  check.expect_eq_const %result, dense<[[true, false, true], [false, false, false]]> : tensor<2x3xi1>
  func.return
}

// -----

// In totalOrder -0 is less than +0, and NaN is the greatest.
func.func @total_order() {
  %lhs = stablehlo.constant dense<[1.0, 0x7FC00000, -0.0]> : tensor<3xf32>
  %rhs = stablehlo.constant dense<[[2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %result = chlo.broadcast_compare %lhs, %rhs {
    broadcast_dimensions = array<i64: 1>, comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>
  } : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  check.expect_eq_const %result, dense<[[true, false, true], [false, false, true]]> : tensor<2x3xi1>
  func.return
}
