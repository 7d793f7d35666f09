// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %m = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %v = stablehlo.constant dense<[10, -1]> : tensor<2xi32>
  %w = stablehlo.constant dense<[1, 0, 2]> : tensor<3xi32>
  %0 = stablehlo.dot %m, %v : (tensor<3x2xi32>, tensor<2xi32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[8, 26, 44]> : tensor<3xi32>
  %1 = stablehlo.dot %w, %m, precision = [DEFAULT, HIGHEST] : (tensor<3xi32>, tensor<3x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[11, 14]> : tensor<2xi32>
  %2 = stablehlo.dot %v, %v : (tensor<2xi32>, tensor<2xi32>) -> tensor<i32>
  check.expect_eq_const %2, dense<101> : tensor<i32>
  %n = stablehlo.constant dense<[[1, 0], [0, -1]]> : tensor<2x2xi32>
  %3 = "stablehlo.dot"(%m, %n) : (tensor<3x2xi32>, tensor<2x2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %3, dense<[[1, -2], [3, -4], [5, -6]]> : tensor<3x2xi32>
  func.return
}
