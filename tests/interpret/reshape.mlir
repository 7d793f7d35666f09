// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %result = stablehlo.reshape %operand : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %result, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  func.return
}

// -----

// To rank 0.
func.func @main() {
  %operand = stablehlo.constant dense<[[[5.0]]]> : tensor<1x1x1xbf16>
  %result = stablehlo.reshape %operand : (tensor<1x1x1xbf16>) -> tensor<bf16>
  check.expect_eq_const %result, dense<5.0> : tensor<bf16>
  func.return
}

// -----

// From rank 0.
func.func @main() {
  %operand = stablehlo.constant dense<true> : tensor<i1>
  %result = stablehlo.reshape %operand : (tensor<i1>) -> tensor<1x1xi1>
  check.expect_eq_const %result, dense<[[true]]> : tensor<1x1xi1>
  func.return
}

// -----

// A transposed operand is read in its new order.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = stablehlo.transpose %operand, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %result = stablehlo.reshape %0 : (tensor<3x2xi32>) -> tensor<6xi32>
  check.expect_eq_const %result, dense<[1, 4, 2, 5, 3, 6]> : tensor<6xi32>
  func.return
}

// -----

// The size of a bounded dimension follows from the others.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3, 4, 5]]> : tensor<1x5xi64>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %three, dim = 1
      : (tensor<1x5xi64>, tensor<i32>) -> tensor<1x?xi64, #stablehlo.bounds<?, 16>>
  %1 = stablehlo.reshape %0 : (tensor<1x?xi64, #stablehlo.bounds<?, 16>>) -> tensor<?xi64, #stablehlo.bounds<16>>
  %shape = shape.shape_of %1 : tensor<?xi64, #stablehlo.bounds<16>> -> tensor<1xindex>
  check.expect_eq_const %shape, dense<3> : tensor<1xindex>
  %2 = stablehlo.reshape %1 : (tensor<?xi64, #stablehlo.bounds<16>>) -> tensor<3x1xi64>
  check.expect_eq_const %2, dense<[[1], [2], [3]]> : tensor<3x1xi64>
  func.return
}
