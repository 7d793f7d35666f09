// RUN: stablehlo-interp --split-input-file %s

func.func @to_a_shape_that_is_computed() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %shape = func.call @shape(%n) : (tensor<i32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<6xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  %1 = stablehlo.add %0, %0 : tensor<?x?xi32>
  %2 = stablehlo.get_dimension_size %1, dim = 1 : (tensor<?x?xi32>) -> tensor<i32>
  check.expect_eq_const %2, dense<2> : tensor<i32>
  %back = stablehlo.constant dense<[6]> : tensor<1xi64>
  %3 = stablehlo.dynamic_reshape %1, %back : (tensor<?x?xi32>, tensor<1xi64>) -> tensor<6xi32>
  check.expect_eq_const %3, dense<[2, 4, 6, 8, 10, 12]> : tensor<6xi32>
  return
}
func.func private @shape(%n: tensor<i32>) -> tensor<2xi32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.concatenate %0, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}
func.func @main() {
  func.call @to_a_shape_that_is_computed() : () -> ()
  return
}
