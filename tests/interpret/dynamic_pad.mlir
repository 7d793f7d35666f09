// RUN: stablehlo-interp --split-input-file %s

func.func @by_amounts_that_are_operands() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %low = stablehlo.constant dense<[1]> : tensor<1xi64>
  %high = stablehlo.constant dense<[-1]> : tensor<1xi64>
  %interior = stablehlo.constant dense<[1]> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %x, %zero, %low, %high, %interior : (tensor<3xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
  %size = stablehlo.constant dense<[5]> : tensor<1xi64>
  %1 = stablehlo.dynamic_reshape %0, %size : (tensor<?xi32>, tensor<1xi64>) -> tensor<5xi32>
  check.expect_eq_const %1, dense<[0, 1, 0, 2, 0]> : tensor<5xi32>
  return
}
