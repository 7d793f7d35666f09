// RUN: stablehlo-interp --split-input-file %s

func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.broadcast %x, sizes = [3, 1] : (tensor<2xi32>) -> tensor<3x1x2xi32>
  check.expect_eq_const %0, dense<[[[1, 2]], [[1, 2]], [[1, 2]]]> : tensor<3x1x2xi32>
  %1 = stablehlo.broadcast %x, sizes = [0] : (tensor<2xi32>) -> tensor<0x2xi32>
  check.expect_eq_const %1, dense<> : tensor<0x2xi32>
  %2 = "stablehlo.broadcast"(%x) {broadcast_sizes = dense<> : tensor<0xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[1, 2]> : tensor<2xi32>
  func.return
}
