// RUN: stablehlo-interp --split-input-file %s

// A reshape under its witness.
func.func @main() {
  %x = stablehlo.iota dim = 0 : tensor<6xi32>
  %n = arith.constant 6 : index
  %s = stablehlo.constant dense<[-1, 3]> : tensor<2xi32>
  %w = stablehlo.cstr_reshapable %n, %s : (index, tensor<2xi32>) -> !shape.witness
  %0 = shape.assuming %w -> (tensor<?x?xi32>) {
    %1 = stablehlo.compute_reshape_shape %n, %s : (index, tensor<2xi32>) -> tensor<2xi32>
    %2 = stablehlo.dynamic_reshape %x, %1 : (tensor<6xi32>, tensor<2xi32>) -> tensor<?x?xi32>
    shape.assuming_yield %2 : tensor<?x?xi32>
  }
  %3 = tensor.cast %0 : tensor<?x?xi32> to tensor<2x3xi32>
  check.expect_eq_const %3, dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  func.return
}
