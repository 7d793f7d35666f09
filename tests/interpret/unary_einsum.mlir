// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = stablehlo.unary_einsum %x, config = "ab->a" : (tensor<2x3xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[6.0, 15.0]> : tensor<2xf32>
  %1 = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  check.expect_eq_const %1, dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %2 = stablehlo.unary_einsum %x, config = "ab->" : (tensor<2x3xf32>) -> tensor<f32>
  check.expect_eq_const %2, dense<21.0> : tensor<f32>
  func.return
}

// -----

// The trace, and the diagonal.
func.func @diagonals() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %0 = stablehlo.unary_einsum %x, config = "aa->" : (tensor<2x2xui8>) -> tensor<ui8>
  check.expect_eq_const %0, dense<5> : tensor<ui8>
  %1 = stablehlo.unary_einsum %x, config = "aa->a" : (tensor<2x2xui8>) -> tensor<2xui8>
  check.expect_eq_const %1, dense<[1, 4]> : tensor<2xui8>
  func.return
}

// -----

// An ellipsis is any number of dimensions.
func.func @ellipsis() {
  %operand = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %0 = stablehlo.unary_einsum %operand, config = "i...->...i" : (tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[1, 5], [2, 6]], [[3, 7], [4, 8]]]> : tensor<2x2x2xi32>
  %1 = stablehlo.unary_einsum %operand, config = "...ij->..." : (tensor<2x2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[10, 26]> : tensor<2xi32>
  func.return
}
