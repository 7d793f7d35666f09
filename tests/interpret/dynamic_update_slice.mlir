// RUN: stablehlo-interp --split-input-file %s

// The spec's example: start indices are clamped; the operand is not changed.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]> : tensor<4x4xi32>
  %update = stablehlo.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xi32>
  %start0 = stablehlo.constant dense<-1> : tensor<i64>
  %start1 = stablehlo.constant dense<3> : tensor<i64>
  %result = stablehlo.dynamic_update_slice %operand, %update, %start0, %start1 : (tensor<4x4xi32>, tensor<2x2xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>
  check.expect_eq_const %result, dense<[[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]> : tensor<4x4xi32>
  check.expect_eq_const %operand, dense<[[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]> : tensor<4x4xi32>
  func.return
}

// -----

// A start that fits.
func.func @main() {
  %operand = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xbf16>
  %update = stablehlo.constant dense<[8.0, 9.0]> : tensor<2xbf16>
  %start0 = stablehlo.constant dense<1> : tensor<ui8>
  %result = stablehlo.dynamic_update_slice %operand, %update, %start0 : (tensor<4xbf16>, tensor<2xbf16>, tensor<ui8>) -> tensor<4xbf16>
  check.expect_eq_const %result, dense<[1.0, 8.0, 9.0, 4.0]> : tensor<4xbf16>
  check.expect_eq_const %operand, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xbf16>
  func.return
}

// -----

// An update of all elements.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %update = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %start0 = stablehlo.constant dense<1> : tensor<i32>
  %result = stablehlo.dynamic_update_slice %operand, %update, %start0 : (tensor<2xi64>, tensor<2xi64>, tensor<i32>) -> tensor<2xi64>
  check.expect_eq_const %result, dense<[3, 4]> : tensor<2xi64>
  check.expect_eq_const %operand, dense<[1, 2]> : tensor<2xi64>
  func.return
}

// -----

// An update without elements.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %update = stablehlo.constant dense<[]> : tensor<0xi64>
  %start0 = stablehlo.constant dense<1> : tensor<i32>
  %result = stablehlo.dynamic_update_slice %operand, %update, %start0 : (tensor<2xi64>, tensor<0xi64>, tensor<i32>) -> tensor<2xi64>
  check.expect_eq_const %result, dense<[1, 2]> : tensor<2xi64>
  check.expect_eq_const %operand, dense<[1, 2]> : tensor<2xi64>
  func.return
}

// -----

// In a loop, where the array is updated in place.
func.func @main() {
  %array = stablehlo.constant dense<0> : tensor<4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %n, %result = stablehlo.while(%i = %zero, %x = %array) : tensor<i32>, tensor<4xi32>
  cond {
    %goes_on = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes_on : tensor<i1>
  } do {
    %square = stablehlo.multiply %i, %i : tensor<i32>
    %update = stablehlo.reshape %square : (tensor<i32>) -> tensor<1xi32>
    %updated = stablehlo.dynamic_update_slice %x, %update, %i : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %updated : tensor<i32>, tensor<4xi32>
  }
  check.expect_eq_const %result, dense<[0, 1, 4, 9]> : tensor<4xi32>
  check.expect_eq_const %array, dense<0> : tensor<4xi32>
  func.return
}
