// RUN: stablehlo-interp --split-input-file %s

// The first elements are kept; the bound of the result is the old size.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x?xi32, #stablehlo.bounds<?, 3>>
  %1 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<2x?xi32, #stablehlo.bounds<?, 3>>) -> tensor<i32>
  check.expect_eq_const %1, dense<2> : tensor<i32>
  %2 = stablehlo.add %0, %0 : tensor<2x?xi32, #stablehlo.bounds<?, 3>>
  %shape = stablehlo.constant dense<4> : tensor<1xi32>
  %3 = stablehlo.dynamic_reshape %2, %shape : (tensor<2x?xi32, #stablehlo.bounds<?, 3>>, tensor<1xi32>) -> tensor<4xi32>
  check.expect_eq_const %3, dense<[2, 4, 8, 10]> : tensor<4xi32>
  func.return
}

// -----

// To size 0, and to the old size.
func.func @main() {
  %x = stablehlo.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %zero, dim = 0 : (tensor<2xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<2>>
  %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xf32, #stablehlo.bounds<2>>) -> tensor<i32>
  check.expect_eq_const %1, dense<0> : tensor<i32>
  %2 = stablehlo.set_dimension_size %x, %two, dim = 0 : (tensor<2xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<2>>
  %3 = tensor.cast %2 : tensor<?xf32, #stablehlo.bounds<2>> to tensor<2xf32>
  check.expect_eq_const %3, dense<[1.5, 2.5]> : tensor<2xf32>
  func.return
}
