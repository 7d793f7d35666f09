// RUN: stablehlo-interp --split-input-file %s

// Equal elements keep their order.
func.func @vector() {
  %operand = stablehlo.constant dense<[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]> : tensor<10xi32>
  %values, %indices = chlo.top_k(%operand, k = 4) : tensor<10xi32> -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %values, dense<[9, 6, 5, 5]> : tensor<4xi32>
  check.expect_eq_const %indices, dense<[5, 7, 4, 8]> : tensor<4xi32>
  func.return
}

// -----

// NaN is larger than infinity, +0 is larger than -0, and -NaN is the smallest.
func.func @total_order() {
  %operand = stablehlo.constant dense<[[-0.0, 0.0, 1.0, 0x7FC00000], [0xFFC00000, 0xFF800000, 0x7F800000, 0.0]]> : tensor<2x4xf32>
  %values, %indices = chlo.top_k(%operand, k = 4) : tensor<2x4xf32> -> (tensor<2x4xf32>, tensor<2x4xi32>)
  check.expect_eq_const %values, dense<[[0x7FC00000, 1.0, 0.0, -0.0], [0x7F800000, 0.0, 0xFF800000, 0xFFC00000]]> : tensor<2x4xf32>
  check.expect_eq_const %indices, dense<[[3, 2, 1, 0], [2, 3, 1, 0]]> : tensor<2x4xi32>
  func.return
}

// -----

// A few of many elements, with a tie at the last one.
func.func @selection() {
  %operand = stablehlo.constant dense<[[1, 2, 2, 0, 2, 1, 0, 1, 2, 0, 1, 2, 0, 0, 1, 2, 2, 3]]> : tensor<1x18xui8>
  %values, %indices = chlo.top_k(%operand, k = 2, is_stable = false) : tensor<1x18xui8> -> (tensor<1x2xui8>, tensor<1x2xi32>)
  check.expect_eq_const %values, dense<[[3, 2]]> : tensor<1x2xui8>
  check.expect_eq_const %indices, dense<[[17, 1]]> : tensor<1x2xi32>
  func.return
}

// -----

func.func @none() {
  %operand = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %values, %indices = chlo.top_k(%operand, k = 0) : tensor<2xi1> -> (tensor<0xi1>, tensor<0xi32>)
  check.expect_eq_const %values, dense<> : tensor<0xi1>
  check.expect_eq_const %indices, dense<> : tensor<0xi32>
  func.return
}
