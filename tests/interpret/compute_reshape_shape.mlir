// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %n = arith.constant 12 : index
  %rows = stablehlo.constant dense<[-1, 4]> : tensor<2xi64>
  %0 = stablehlo.compute_reshape_shape %n, %rows : (index, tensor<2xi64>) -> tensor<2xi64>
  check.expect_eq_const %0, dense<[3, 4]> : tensor<2xi64>
  %middle = stablehlo.constant dense<[2, -1, 3]> : tensor<3xi32>
  %1 = stablehlo.compute_reshape_shape %n, %middle : (index, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %1, dense<[2, 2, 3]> : tensor<3xi32>
  %known = stablehlo.constant dense<[6, 2]> : tensor<2xi32>
  %2 = stablehlo.compute_reshape_shape %n, %known : (index, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[6, 2]> : tensor<2xi32>
  %zero = arith.constant 0 : index
  %3 = stablehlo.compute_reshape_shape %zero, %rows : (index, tensor<2xi64>) -> tensor<2xi64>
  check.expect_eq_const %3, dense<[0, 4]> : tensor<2xi64>
  %one = arith.constant 1 : index
  %scalar = stablehlo.constant dense<> : tensor<0xi32>
  %4 = stablehlo.compute_reshape_shape %one, %scalar : (index, tensor<0xi32>) -> tensor<0xi32>
  check.expect_eq_const %4, dense<> : tensor<0xi32>
  func.return
}
