// RUN: stablehlo-interp --split-input-file %s

func.func @three_ways() {
  %pred = stablehlo.constant dense<[[true], [false]]> : tensor<2x1xi1>
  %on_true = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %on_false = stablehlo.constant dense<0> : tensor<i32>
  %result = chlo.broadcast_select %pred, %on_true, %on_false : (tensor<2x1xi1>, tensor<3xi32>, tensor<i32>) -> tensor<2x3xi32>
  check.expect_eq_const %result, dense<[[1, 2, 3], [0, 0, 0]]> : tensor<2x3xi32>
  func.return
}

// -----

func.func @scalar_predicate() {
  %pred = stablehlo.constant dense<false> : tensor<i1>
  %on_true = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %on_false = stablehlo.constant dense<[[3], [4]]> : tensor<2x1xi32>
  %result = chlo.broadcast_select %pred, %on_true, %on_false : (tensor<i1>, tensor<2xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[3, 3], [4, 4]]> : tensor<2x2xi32>
  func.return
}
