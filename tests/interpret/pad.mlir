// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @main() {
  %operand = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %padding_value = stablehlo.constant dense<0> : tensor<i32>
  %result = stablehlo.pad %operand, %padding_value, low = [0, 1], high = [2, 1], interior = [1, 2]
    : (tensor<2x3xi32>, tensor<i32>) -> tensor<5x9xi32>
  check.expect_eq_const %result, dense<[[0, 1, 0, 0, 2, 0, 0, 3, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 4, 0, 0, 5, 0, 0, 6, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<5x9xi32>
  func.return
}

// -----

// Edge padding only.
func.func @main() {
  %operand = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %padding_value = stablehlo.constant dense<9.0> : tensor<f32>
  %result = stablehlo.pad %operand, %padding_value, low = [1, 0], high = [0, 1], interior = [0, 0]
    : (tensor<1x2xf32>, tensor<f32>) -> tensor<2x3xf32>
  check.expect_eq_const %result, dense<[[9.0, 9.0, 9.0], [1.0, 2.0, 9.0]]> : tensor<2x3xf32>
  func.return
}

// -----

// Negative padding removes elements.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi8>
  %padding_value = stablehlo.constant dense<0> : tensor<i8>
  %result = stablehlo.pad %operand, %padding_value, low = [-1], high = [-2], interior = [0]
    : (tensor<5xi8>, tensor<i8>) -> tensor<2xi8>
  check.expect_eq_const %result, dense<[2, 3]> : tensor<2xi8>
  func.return
}

// -----

// Negative padding removes padding between elements too.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi8>
  %padding_value = stablehlo.constant dense<0> : tensor<i8>
  %result = stablehlo.pad %operand, %padding_value, low = [-1], high = [-1], interior = [1]
    : (tensor<3xi8>, tensor<i8>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[0, 2, 0]> : tensor<3xi8>
  func.return
}

// -----

// Negative on one side, positive on the other.
func.func @main() {
  %operand = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi8>
  %padding_value = stablehlo.constant dense<7> : tensor<i8>
  %result = stablehlo.pad %operand, %padding_value, low = [-2], high = [2], interior = [0]
    : (tensor<3xi8>, tensor<i8>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[3, 7, 7]> : tensor<3xi8>
  func.return
}

// -----

// An empty operand, and a result with elements.
func.func @main() {
  %operand = stablehlo.constant dense<[]> : tensor<0xi8>
  %padding_value = stablehlo.constant dense<7> : tensor<i8>
  %result = stablehlo.pad %operand, %padding_value, low = [1], high = [2], interior = [3]
    : (tensor<0xi8>, tensor<i8>) -> tensor<3xi8>
  check.expect_eq_const %result, dense<[7, 7, 7]> : tensor<3xi8>
  func.return
}

// -----

// A scalar.
func.func @main() {
  %operand = stablehlo.constant dense<5> : tensor<i8>
  %padding_value = stablehlo.constant dense<7> : tensor<i8>
  %result = stablehlo.pad %operand, %padding_value, low = [], high = [], interior = []
    : (tensor<i8>, tensor<i8>) -> tensor<i8>
  check.expect_eq_const %result, dense<5> : tensor<i8>
  func.return
}
