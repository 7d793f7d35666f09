// RUN: stablehlo-interp --split-input-file %s

// The spec's example: start indices are clamped.
func.func @main() {
  %operand = stablehlo.constant dense<[[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]> : tensor<4x4xi32>
  %start0 = stablehlo.constant dense<-1> : tensor<i64>
  %start1 = stablehlo.constant dense<3> : tensor<i64>
  %result = stablehlo.dynamic_slice %operand, %start0, %start1, sizes = [2, 2] : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x2xi32>
  check.expect_eq_const %result, dense<[[1, 1], [1, 1]]> : tensor<2x2xi32>
  func.return
}

// -----

// Starts that fit.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %start0 = stablehlo.constant dense<1> : tensor<i32>
  %result = stablehlo.dynamic_slice %operand, %start0, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  check.expect_eq_const %result, dense<[2.0, 3.0]> : tensor<2xf32>
  func.return
}

// -----

// The largest unsigned start.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi8>
  %start0 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %result = stablehlo.dynamic_slice %operand, %start0, sizes = [1] : (tensor<3xi8>, tensor<ui64>) -> tensor<1xi8>
  check.expect_eq_const %result, dense<[3]> : tensor<1xi8>
  func.return
}

// -----

// A size of zero.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi8>
  %start0 = stablehlo.constant dense<7> : tensor<i32>
  %result = stablehlo.dynamic_slice %operand, %start0, sizes = [0] : (tensor<3xi8>, tensor<i32>) -> tensor<0xi8>
  check.expect_eq_const %result, dense<[]> : tensor<0xi8>
  func.return
}
